/**
 * Translates one segment by one mode. If the reply is faulty, the segment is sent again: first with the words hidden
 * that may have caused the fault, then clause by clause.
 */

import type { FailureReason, Piece } from '../engine.ts';
import { isUpperCase } from './capitals.ts';
import { decode, Garbled } from './decode.ts';
import { encode, hasLetters } from './encode.ts';
import type { EncodingRecord } from './encoding-record.ts';
import { modeNamed } from './modes.ts';
import { OPAQUE, RISKY } from './opaque.ts';
import type { ProcessPool } from './process-pool.ts';

export type HopResult =
  | { ok: true; pieces: readonly Piece[] }
  | { ok: false; reason: FailureReason; detail: string };

/** Sends pieces to the pipelines of a mode. `group` is the request, for fair scheduling. */
export async function hop(pieces: readonly Piece[], pool: ProcessPool, group: object): Promise<HopResult> {
  const first = await attempts(pieces, pool, group);
  if (!mayRetry(first)) return first;
  const clauses = clausesOf(pieces);
  if (clauses.length === 1) return first;
  const translated: Piece[] = [];
  for (const clause of clauses) {
    const result = hasWords(clause) ? await attempts(clause, pool, group) : { ok: true, pieces: clause };
    // The reason of the whole segment says more than that of a clause.
    if (!result.ok) return first;
    translated.push(...result.pieces);
  }
  return { ok: true, pieces: translated };
}

/** Returns whether the text outside protected words has letters. */
export const hasWords = (pieces: readonly Piece[]): boolean =>
  pieces.some((piece) => 'text' in piece && !('keep' in piece) && hasLetters(piece.text));

/** A slow segment is not sent again: it would block its pipeline for another deadline. */
const mayRetry = (result: HopResult): boolean =>
  !result.ok && (result.reason === 'garbled' || result.reason === 'crashed');

/** Sends a segment until its reply is sound: as it is, with plain quotation marks, with risky words hidden. */
async function attempts(pieces: readonly Piece[], pool: ProcessPool, group: object): Promise<HopResult> {
  const tried = new Set<string>();
  let first: HopResult | undefined;
  for (const encoded of [
    () => encode(pieces),
    () => encode(pieces, OPAQUE, false),
    () => encode(pieces, RISKY, false),
  ]) {
    const { stream, record } = encoded();
    if (tried.has(stream)) continue;
    tried.add(stream);
    const result = await attempt(stream, record, pool, group);
    first ??= result;
    if (!mayRetry(result)) return result.ok ? result : first;
  }
  return first!;
}

async function attempt(
  stream: string,
  record: EncodingRecord,
  pool: ProcessPool,
  group: object,
): Promise<HopResult> {
  const capitals = isUpperCase(record.outline) ? /\p{L}[\p{L}\p{M}'’]+/gu : LONG_CAPITALS;
  const cased = PROPER_CASE.has(pool.name) ? stream.replace(capitals, titled) : stream;
  const mode = modeNamed(pool.name);
  const reply = await pool.send(mode?.from === 'en' ? withPronouns(cased) : cased, group);
  if (!reply.ok) return { ...reply, detail: `${pool.name}: ${reply.detail}` };
  try {
    return { ok: true, pieces: decode(reply.stream, record, mode) };
  } catch (error) {
    if (!(error instanceof Garbled)) throw error;
    return { ok: false, reason: 'garbled', detail: `${pool.name}: ${error.message}` };
  }
}

/** Modes that do not know most words in capitals, such as `THE`. They get a text in capitals as `The House Is Big`. */
const PROPER_CASE = new Set(['en-gl', 'gl-en', 'es-gl']);
/** Words that these modes read as an abbreviation of five letters with a word after it: "TEXTDOMAIN" became "OMAINde TEXTD". */
const LONG_CAPITALS = /\p{Lu}{6,}/gu;
const titled = (word: string): string => {
  const [first = '', ...rest] = word;
  return first + rest.join('').toLowerCase();
};

/**
 * Match the English pronoun in small letters, as chats write it, which Apertium takes for an unknown word: in a contraction,
 * with a verb where a clause begins, and behind the verb of a question. Elsewhere it may be a variable or a number.
 */
const SMALL_PRONOUNS = [
  /(?<![\p{L}\p{N}.,(/–-])i(?=['’](?:m|ve|ll|d)(?!\p{L}))/gu,
  /(?<=^|[.!?…,;:]\s|(?<!\p{L})(?:and|but|so|if|when|because|that|what|then|where|how|why|while|since|before|after|though)\s)i(?= (?:am|have|had|was|will|would|can|can['’]t|cannot|could|do|don['’]t|did|didn['’]t|got|get|think|thought|know|want|wanted|need|like|love|see|saw|hope|mean|guess|feel|just|really|still|never|tried|ordered|bought|paid|received)(?!\p{L}))/gu,
  /(?<=(?:^|[.!?…,;:]\s|(?<!\p{L})(?:what|when|where|how|why|and|or|but)\s)(?:[Cc]an|[Cc]ould|[Mm]ay|[Ss]hould|[Ss]hall|[Dd]o|[Dd]id|[Aa]m|[Hh]ave|[Ww]as|[Ww]ill|[Ww]ould)\s)i(?= \p{Ll}{2})/gu,
];

const withPronouns = (text: string): string =>
  SMALL_PRONOUNS.reduce((changed, pattern) => changed.replace(pattern, 'I'), text);

const CLAUSE_MARK = /[,;:](?=\s)|(?<=\s)[-–](?=\s)|[—()[\]«»“”"]/gu;

/** Splits pieces at the marks between clauses, outside of pairs. Each mark is a list of its own. */
function clausesOf(pieces: readonly Piece[]): Piece[][] {
  const clauses: Piece[][] = [[]];
  const push = (piece: Piece): unknown => clauses.at(-1)!.push(piece);
  let depth = 0;
  for (const piece of pieces) {
    if ('open' in piece) depth++;
    if ('close' in piece) depth--;
    if (!('text' in piece) || 'keep' in piece || depth !== 0) {
      push(piece);
      continue;
    }
    let from = 0;
    for (const { 0: mark, index } of piece.text.matchAll(CLAUSE_MARK)) {
      if (index > from) push({ text: piece.text.slice(from, index) });
      clauses.push([{ text: mark }], []);
      from = index + mark.length;
    }
    if (from < piece.text.length) push({ text: piece.text.slice(from) });
  }
  return clauses.filter((clause) => clause.length > 0);
}

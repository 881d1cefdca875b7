/**
 * Converts the pieces of a segment to Apertium's stream format without losing any content.
 *
 * - Stream syntax is escaped with a backslash; `~` is sent as `[~]`.
 * - White space other than a single plain space, and control characters, are sent in superblanks, which come back
 *   unchanged.
 * - A pair of codes around words becomes word-bound blanks (`[[t:b:0]]big red[[/]]`), which move with the words. A pair
 *   that starts or ends inside a word is widened to the whole word, because Apertium would split the word
 *   ("unbelievable" came back in two halves). A pair without letters or digits is not sent this way, because Apertium
 *   would drop it.
 * - Every other code becomes the superblank `[{n}]`, which keeps its position between words.
 *   A pair without letters that touches a word, as in `m<sup>2</sup>`, becomes one superblank with its content.
 * - A protected word becomes an unknown token such as `Xqz7`, or a superblank if it touches a letter. Text that Apertium
 *   would spoil becomes a token too (opaque.ts).
 * - A segment without a final mark gets `[].[]`, which ends the sentence for the tagger. The first `[]` keeps the full
 *   stop from forming an abbreviation: "No" with a plain full stop became "Núm.".
 * - A dash or colon before a capital begins a new sentence for the tagger too: `[].[{.}]`, which is removed again. "Returns
 *   - Only one house" became "Regresos - una casa Única".
 */

import type { Piece } from '../engine.ts';
import type { EncodingRecord, Fixed, Pair } from './encoding-record.ts';
import { turnQuotes } from './marks.ts';
import { JOINER, OPAQUE } from './opaque.ts';
import { CODE, KEEP } from './outline.ts';
import type { Part } from './parts.ts';
import { freeze, hide, isFrozen, joinText, match, touchingWords } from './parts.ts';
import { NO_QUOTES, pairQuotes } from './quotes.ts';

const STEMS = ['Xqz', 'Xqj', 'Zxq', 'Qxj', 'Wqx', 'Jxq', 'Vqx', 'Kzq'];
const WORD = /[\p{L}\p{M}\p{N}_]/u;
const BLANK = /[\s\p{Cc}]+/gu;
/** Marks a full stop that the decoder removes. */
export const CLAUSE = '{.}';
/**
 * Matches the place before a dash or another mark, or after a colon, behind which a clause begins with a capital, and
 * before a title in quotation marks or brackets: a comma or a word such as "called" stands before it, because a clause
 * would cut "the "Titanic film" yesterday".
 */
const CLAUSE_START =
  /(?<=,|\b(?:called|titled|entitled|labeled|labelled))(?=\s["“‘«([]\p{Lu}\p{Ll}+\s\p{Ll})|(?<=^\([^()\n]{1,40}\))(?=\s\p{Lu}\p{Ll}+\s\p{Ll})|(?<=\S)(?=\s{1,3}(?:[-–—•·|│#>→]|\/\/)\s["“‘«(]?\p{Lu})|(?<=[^\s\p{N}]:[*_]{0,3})(?=\s["“‘«(]?\p{Lu})/gu;
/** Matches the end of a text after which a phrase is a title, and no part of what is said about it. */
const BEFORE_TITLE = /(?:,|\b(?:[Ss]ee|called|titled|entitled|labeled|labelled))$/u;
/** Matches a phrase whose first word alone is capitalized, so that it is no name. */
const PHRASE = /^\p{Lu}\p{Ll}+ \p{Ll}/u;
/** Matches the hyphen of "rarely-used memory", which became "memoriararamenteutilizada". */
const COMPOUND =
  /(?<=\p{Ll}{2}ly)(?<!\b(?:supply|only|reply|rally))-(?=\p{Ll}{1,20}(?:ed|en|wn|ught)(?![\p{L}-]))/gu;
const LABEL =
  /^(?:NOTES?|WARNING|CAUTION|IMPORTANT|TIP|HINT|INFO|EXAMPLE|TODO|FIXME|ERROR|NEW|DEPRECATED|EXPERIMENTAL|PREVIEW|ALPHA|BETA|OPTIONAL|REQUIRED)$/;
/** Matches a phrase behind a label. */
const AFTER_LABEL = /^ \p{Lu}\p{Ll}+ \p{Ll}/u;
const LEAD = /^[«“"‘([¿¡]{1,3}[ \u00a0\u202f]?/u;
const TRAIL = /(?<![ \u00a0\u202f])[ \u00a0\u202f]?[»”"’)\]]{1,3}$/u;
/** The marks, the space before them, and the character that decides about it. The rest of a long pair is not searched. */
const LONGEST_TRAIL = 5;
const FINAL_MARK = /[.?!…:;。！？]["'”’»)\]]*\s*$/u;

/** The plain text of a segment. Tokens replace the protected words, and codes are stored with their offsets. */
interface Flat {
  plain: string;
  /** Paired codes around words. `order` is the index of the opening piece, which identifies the pair. */
  ranges: { code: number; start: number; end: number; order: number; hasLetters: boolean }[];
  fixed: { at: number; pieces: readonly Piece[]; within: number[] }[];
  outline: string;
}

/**
 * Returns the stream and the record for {@link decode}. The stream has no id and no final NUL; the pipeline adds
 * them.
 *
 * @param opaque matches text that Apertium must not see, in the outline of the source
 * @param pairs false to send quotation marks as they are
 */
export function encode(
  pieces: readonly Piece[],
  opaque: RegExp = OPAQUE,
  pairs = true,
): { stream: string; record: EncodingRecord } {
  const hidden = hide(joinText(pieces), opaque);
  const { pieces: cut, quotes } = pairs ? pairQuotes(hidden) : { pieces: hidden, quotes: NO_QUOTES };
  const parts = freeze(cut);
  const text = cut.map((piece) => ('text' in piece && !('keep' in piece) ? piece.text : '')).join('');
  const kept: Piece[] = [];
  const count = cut.reduce((sum, piece) => sum + ('keep' in piece ? 1 : 0), 0);
  const stem = freeStem(text);
  const width = String(Math.max(0, count - 1)).length;
  const flat = flatten(parts, (piece) => stem + String(kept.push(piece) - 1).padStart(width, '0'));
  const { plain, outline } = flat;

  const stops = new Set(flat.fixed.map((each) => each.at));
  const spanned: Pair[] = [];
  const spans = flat.ranges
    .map((range) => trim(range.hasLetters ? widen(range, plain, stops) : range, plain))
    .sort((a, b) => a.start - b.start || b.end - a.end || a.order - b.order);
  for (const span of spans) {
    const scale = Math.max(1, plain.length);
    const content = plain.slice(span.start, span.end);
    const [lead, trail] = [
      LEAD.exec(content)?.[0] ?? '',
      TRAIL.exec(content.slice(-LONGEST_TRAIL))?.[0] ?? '',
    ];
    spanned.push({ code: span.code, from: span.start / scale, to: span.end / scale, lead, trail });
  }
  const indexOf = new Map(spans.map((span, index) => [span.order, index]));
  const fixed: Fixed[] = flat.fixed.map((each) => ({
    pieces: each.pieces,
    within: each.within.map((order) => indexOf.get(order)!),
  }));
  const stopAdded = !FINAL_MARK.test(plain);
  const token = kept.length === 0 ? null : new RegExp(`${stem}(\\d{${width}})`, 'gi');
  const { length } = visibleText(hidden);
  const record: EncodingRecord = { pairs: spanned, fixed, kept, token, quotes, stopAdded, outline, length };
  const clauses = new Set([...plain.matchAll(CLAUSE_START)].map(({ index }) => index));
  for (const { start, end } of spans) {
    const before = plain.slice(0, start).trimEnd();
    const isTitle = PHRASE.test(plain.slice(start, Math.min(end, start + 60)));
    if (isTitle && BEFORE_TITLE.test(before.slice(-10))) clauses.add(before.length);
    const isLabel = before === '' && LABEL.test(plain.slice(start, end));
    if (isLabel && AFTER_LABEL.test(plain.slice(end, end + 60))) clauses.add(end);
  }
  return {
    stream:
      write({ ...flat, plain: turnQuotes(plain).replace(COMPOUND, ' ') }, spans, clauses) +
      (stopAdded ? '[].[]' : ''),
    record,
  };
}

export function hasLetters(text: string): boolean {
  return /\p{L}/u.test(text);
}

/** Returns the text that readers see, including protected words. */
export function visibleText(pieces: readonly Piece[]): string {
  return pieces.map((piece) => ('text' in piece ? piece.text : '')).join('');
}

/**
 * Returns a prefix for the tokens that replace protected words, such as `Xqz`. The prefix does not occur in the text,
 * neither in upper nor in lower case.
 */
function freeStem(text: string): string {
  const lower = text.toLowerCase();
  const stem = STEMS.find((each) => !lower.includes(each.toLowerCase()));
  if (stem !== undefined) return stem;
  for (let n = 0; ; n++) {
    const made = `Xq${n.toString(26).replace(/\d/g, (digit) => 'qrstuvwxyz'[Number(digit)]!)}z`;
    if (!lower.includes(made.toLowerCase())) return made;
  }
}

/** Returns whether a piece is a mark that joins two words. */
export const isJoiner = (piece: Piece): boolean =>
  'keep' in piece && piece.keep === -1 && JOINER.test(piece.text);

function flatten(parts: readonly Part[], token: (piece: Piece) => string): Flat {
  const pieces = parts.map((part) => (isFrozen(part) ? { single: -1 } : part));
  const partner = match(pieces);
  const touching = touchingWords(pieces);
  const flat: Flat = { plain: '', ranges: [], fixed: [], outline: '' };
  const starts = new Map<number, { at: number; inner: number }>();
  const fix = (fixed: readonly Piece[]): void => {
    flat.fixed.push({ at: flat.plain.length, pieces: fixed, within: [...starts.keys()] });
    flat.outline += CODE;
  };
  parts.forEach((part, index) => {
    if (isFrozen(part)) fix(part);
    else if ('keep' in part) {
      if (isJoiner(part)) {
        flat.plain += ` ${token(part)} `;
        flat.outline += KEEP;
      } else if (touching.has(index)) fix([part]);
      else {
        flat.plain += token(part);
        flat.outline += KEEP;
      }
    } else if ('text' in part) {
      flat.plain += part.text;
      flat.outline += part.text;
    } else if (!partner.has(index)) fix([part]);
    else if ('open' in part) starts.set(index, { at: flat.plain.length, inner: flat.outline.length });
    else if ('close' in part) {
      const order = partner.get(index)!;
      const { at, inner } = starts.get(order)!;
      const isWords = hasLetters(flat.outline.slice(inner));
      flat.ranges.push({ code: part.close, start: at, end: flat.plain.length, order, hasLetters: isWords });
      starts.delete(order);
    }
  });
  return flat;
}

type Span = Flat['ranges'][number];

function widen(range: Span, plain: string, stops: Set<number>): Span {
  let { start, end } = range;
  while (insideWord(plain, start) && !stops.has(start)) start--;
  while (insideWord(plain, end) && !stops.has(end)) end++;
  return { ...range, start, end };
}

function trim(span: Span, plain: string): Span {
  const inner = plain.slice(span.start, span.end);
  const start = span.start + (inner.length - inner.trimStart().length);
  return { ...span, start, end: start + inner.trim().length };
}

/** Returns whether the offset `at` is inside a word. After an apostrophe a new word starts, as in "l'eau". */
function insideWord(plain: string, at: number): boolean {
  if (at <= 0 || at >= plain.length) return false;
  const before = plain[at - 1]!;
  const after = plain[at]!;
  if (isLow(after)) return true;
  if (wordBefore(plain, at)) return wordAt(plain, at) || (/['’·-]/.test(after) && wordAt(plain, at + 1));
  return /[·-]/.test(before) && wordAt(plain, at) && wordBefore(plain, at - 1);
}

const isLow = (unit: string): boolean => unit >= '\udc00' && unit <= '\udfff';

function wordAt(plain: string, at: number): boolean {
  const point = plain.codePointAt(at);
  return point !== undefined && WORD.test(String.fromCodePoint(point));
}

function wordBefore(plain: string, at: number): boolean {
  return wordAt(plain, at - (isLow(plain[at - 1] ?? '') ? 2 : 1));
}

function write(flat: Flat, spans: readonly Span[], clauses: ReadonlySet<number>): string {
  const { plain, fixed } = flat;
  if (spans.length === 0 && fixed.length === 0 && clauses.size === 0) {
    return writeStretch(plain, '', 0, plain.length - plain.trimStart().length, plain.trimEnd().length);
  }
  const cuts = [
    ...new Set([
      0,
      plain.length,
      ...spans.flatMap((s) => [s.start, s.end]),
      ...fixed.map((f) => f.at),
      ...clauses,
    ]),
  ].sort((a, b) => a - b);
  const lead = plain.length - plain.trimStart().length;
  const tail = plain.trimEnd().length;
  let out = '';
  let nextFixed = 0;
  cuts.forEach((start, index) => {
    if (clauses.has(start)) out += `[].[${CLAUSE}]`;
    for (; fixed[nextFixed]?.at === start; nextFixed++) out += `[{${nextFixed}}]`;
    const end = cuts[index + 1];
    if (end === undefined) return;
    const ids = spans.flatMap((span, id) => (span.start <= start && end <= span.end ? [`t:b:${id}`] : []));
    out += writeStretch(plain.slice(start, end), ids.join('; '), start, lead, tail);
  });
  return out;
}

/**
 * Writes a part of the text that is inside the paired codes `ids`, as word-bound blanks. A word-bound blank
 * cannot contain a superblank, so it is closed before each superblank and reopened after it.
 */
function writeStretch(text: string, ids: string, offset: number, lead: number, tail: number): string {
  let out = '';
  let words = '';
  const flush = (): void => {
    if (words === '') return;
    const bare = words.trim();
    const before = words.length - words.trimStart().length;
    out +=
      ids === '' || bare === ''
        ? escapeText(words)
        : `${' '.repeat(before)}[[${ids}]]${escapeText(bare)}[[/]]${' '.repeat(words.length - before - bare.length)}`;
    words = '';
  };
  let from = 0;
  for (const run of text.matchAll(BLANK_OR_TILDE)) {
    words += text.slice(from, run.index);
    from = run.index + run[0].length;
    const at = offset + run.index;
    const edge = at < lead || at >= tail;
    if (run[0] === ' ' && !edge) words += ' ';
    else {
      flush();
      out += `[${run[0]}]`;
    }
  }
  words += text.slice(from);
  flush();
  return out;
}

const BLANK_OR_TILDE = new RegExp(`${BLANK.source}|~`, 'gu');

const escapeText = (text: string): string => text.replace(/[\\[\]{}^$/@<>]/g, '\\$&');

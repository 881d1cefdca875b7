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
 * - A protected word becomes an unknown token such as `Xqz7`. So does a run of more than 256 characters without white
 *   space, because one unknown word takes quadratic time (100,000 characters: 20 s).
 * - A segment without a final mark gets `[].[]`, which ends the sentence for the tagger. The first `[]` keeps the full
 *   stop from forming an abbreviation: "No" with a plain full stop became "Núm.".
 */

import type { Piece } from '../engine.ts';
import type { EncodingRecord, Fixed, Pair } from './encoding-record.ts';

const MAX_TOKEN = 256;
const STEMS = ['Xqz', 'Xqj', 'Zxq', 'Qxj', 'Wqx', 'Jxq', 'Vqx', 'Kzq'];
const WORD = /[\p{L}\p{M}\p{N}_]/u;
const BLANK = /[\s\p{Cc}]+/gu;
/** Matches quotation marks and brackets with white space on the wrong side, such as after `(`. */
export const LOOSE_MARKS = /[([{“«‘¿¡](?=\s)|(?<=\s)[)\]}”»]|(?<![^\s([{])"(?=\s)/gu;
const FINAL_MARK = /[.?!…:;。！？]["'”’»)\]]*\s*$/u;

/** Replaces NUL, which would end the reply, and lone surrogates, which are not valid UTF-8. */
export function cleanText(text: string): string {
  return text.replaceAll('\0', ' ').toWellFormed();
}

/** The plain text of a segment. Tokens replace the protected words, and codes are stored with their offsets. */
interface Flat {
  plain: string;
  /** Paired codes around words. `order` is the index of the opening piece, which identifies the pair. */
  ranges: { code: number; start: number; end: number; order: number }[];
  fixed: { at: number; piece: Piece; within: number[] }[];
}

/**
 * Returns the stream and the record for {@link decode}. The stream has no id and no final NUL; the pipeline adds
 * them.
 */
export function encode(pieces: readonly Piece[]): { stream: string; record: EncodingRecord } {
  const kept: Piece[] = [];
  const cut = shorten(pieces);
  const text = cut.map((piece) => ('text' in piece && !('keep' in piece) ? piece.text : '')).join('');
  const count = cut.reduce((sum, piece) => sum + ('keep' in piece ? 1 : 0), 0);
  const stem = freeStem(text);
  const width = String(Math.max(0, count - 1)).length;
  const flat = flatten(cut, (piece) => stem + String(kept.push(piece) - 1).padStart(width, '0'));
  const { plain } = flat;

  const stops = new Set(flat.fixed.map((each) => each.at));
  const pairs: Pair[] = [];
  const spans = flat.ranges
    .map((range) => trim(widen(range, plain, stops), plain))
    .sort((a, b) => a.start - b.start || b.end - a.end || a.order - b.order);
  for (const span of spans) {
    const scale = Math.max(1, plain.length);
    pairs.push({ code: span.code, from: span.start / scale, to: span.end / scale });
  }
  const indexOf = new Map(spans.map((span, index) => [span.order, index]));
  const fixed: Fixed[] = flat.fixed.map(({ piece, within }) => ({
    piece,
    within: within.map((order) => indexOf.get(order)!),
  }));

  const visible = visibleText(pieces);
  const stopAdded = !FINAL_MARK.test(plain);
  const first = /[\p{L}]/u.exec(plain);
  const record: EncodingRecord = {
    pairs,
    fixed,
    kept,
    token: kept.length === 0 ? null : new RegExp(`${stem}(\\d{${width}})`, 'gi'),
    stopAdded,
    spacedMarks: (plain.match(/(?<=\s)[.,;:!?]/g) ?? []).join(''),
    capitalStart: first !== null && isCapital(first[0]) && !plain.startsWith(stem, first.index),
    lowerCaseStart: isSmall(/\p{L}/u.exec(text)?.[0] ?? ''),
    capitals: capitalsOf(text),
    looseMarks: (plain.match(LOOSE_MARKS) ?? []).map((each) => each.trim()).join(''),
    letters: hasLetters(text),
    length: visible.length,
    ats: occurrences(text, '@'),
    hashes: occurrences(text, '#'),
    joins: (text.match(/(?<=\p{L})\+(?=\p{L})/gu) ?? []).length,
  };
  return { stream: write(flat, spans) + (stopAdded ? '[].[]' : ''), record };
}

export function hasLetters(text: string): boolean {
  return /\p{L}/u.test(text);
}

/** Returns the text that readers see, including protected words. */
export function visibleText(pieces: readonly Piece[]): string {
  return pieces.map((piece) => ('text' in piece ? piece.text : '')).join('');
}

export function isCapital(letter: string): boolean {
  return letter === letter.toUpperCase() && letter !== letter.toLowerCase();
}

const isSmall = (letter: string): boolean => letter !== letter.toUpperCase();

/** Counts words that begin with a capital, except the English word `I`. */
export function capitalsOf(text: string): number {
  return (text.match(/(?<![\p{L}\p{M}\p{N}])(?!I(?![\p{L}\p{M}\p{N}]))\p{Lu}/gu) ?? []).length;
}

export function occurrences(text: string, mark: string): number {
  return text.split(mark).length - 1;
}

/**
 * Merges adjacent pieces of text and replaces invalid characters. A run of more than 256 characters without white space
 * becomes a protected word with the number -1.
 */
function shorten(pieces: readonly Piece[]): Piece[] {
  const joined: Piece[] = [];
  for (const piece of pieces) {
    const last = joined.at(-1);
    const isText = 'text' in piece && !('keep' in piece);
    if (isText && last !== undefined && 'text' in last && !('keep' in last)) last.text += piece.text;
    else joined.push(isText ? { text: piece.text } : piece);
  }
  const out: Piece[] = [];
  for (const piece of joined) {
    if (!('text' in piece) || 'keep' in piece) {
      out.push(piece);
      continue;
    }
    const text = cleanText(piece.text);
    let from = 0;
    // Searching /\S{257,}/ directly would be slow, because it restarts at every character of every word.
    for (const run of text.length > MAX_TOKEN ? text.matchAll(/\S+/g) : []) {
      if (run[0].length <= MAX_TOKEN) continue;
      if (run.index > from) out.push({ text: text.slice(from, run.index) });
      out.push({ keep: -1, text: run[0] });
      from = run.index + run[0].length;
    }
    if (from < text.length) out.push({ text: text.slice(from) });
  }
  return out;
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

function flatten(pieces: readonly Piece[], token: (piece: Piece) => string): Flat {
  const partner = match(pieces);
  const flat: Flat = { plain: '', ranges: [], fixed: [] };
  const starts = new Map<number, number>();
  pieces.forEach((piece, index) => {
    const at = flat.plain.length;
    if ('keep' in piece) flat.plain += token(piece);
    else if ('text' in piece) flat.plain += piece.text;
    else if (!partner.has(index)) flat.fixed.push({ at, piece, within: [...starts.keys()] });
    else if ('open' in piece) starts.set(index, at);
    else if ('close' in piece) {
      const order = partner.get(index)!;
      flat.ranges.push({ code: piece.close, start: starts.get(order)!, end: at, order });
      starts.delete(order);
    }
  });
  return flat;
}

/** Maps the index of each half of a paired code to the index of its other half, for pairs with words between them. */
function match(pieces: readonly Piece[]): Map<number, number> {
  const words: number[] = [];
  let sum = 0;
  for (const piece of pieces) {
    words.push(sum);
    if ('text' in piece && ('keep' in piece || /[\p{L}\p{N}]/u.test(piece.text))) sum++;
  }
  const open = new Map<number, number>();
  const partner = new Map<number, number>();
  pieces.forEach((piece, index) => {
    if ('open' in piece) open.set(piece.open, index);
    if (!('close' in piece)) return;
    const start = open.get(piece.close);
    open.delete(piece.close);
    if (start === undefined || words[start] === words[index]) return;
    partner.set(start, index);
    partner.set(index, start);
  });
  return partner;
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

function write(flat: Flat, spans: readonly Span[]): string {
  const { plain, fixed } = flat;
  if (spans.length === 0 && fixed.length === 0) {
    return writeStretch(plain, '', 0, plain.length - plain.trimStart().length, plain.trimEnd().length);
  }
  const cuts = [
    ...new Set([0, plain.length, ...spans.flatMap((s) => [s.start, s.end]), ...fixed.map((f) => f.at)]),
  ].sort((a, b) => a - b);
  const lead = plain.length - plain.trimStart().length;
  const tail = plain.trimEnd().length;
  let out = '';
  let nextFixed = 0;
  cuts.forEach((start, index) => {
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

/**
 * The form in which a segment is stored. Codes and kept words (variables, addresses, `notranslate`) are numbered in the
 * order of the source, each in a sequence of its own. So an entry of one document serves another, and a kept word is
 * found by its number, never by its text: two variables may show the same example, and `A` is a word of its own.
 *
 * Entries of files from elsewhere, and those that were stored before kept words had numbers, hold them as bare text.
 */
import { createHash } from 'node:crypto';
import { isRight, mergeText, type Piece } from '@dragoman/documents';

export interface Remembered {
  source: Piece[];
  target: Piece[];
}

/** A pair of segments as it is stored. */
export function remember(source: readonly Piece[], target: readonly Piece[]): Remembered {
  const numbers = numbersOf(source);
  return { source: numbered(source, numbers), target: numbered(target, numbers) };
}

/**
 * Finds the entries of a source: the SHA-256 of its visible text, in one Unicode form, with its codes. Kept words count
 * as text, so that entries which hold them as bare text are found too; `fit` then compares which words are kept.
 */
export function hashOf(source: readonly Piece[]): Buffer {
  const parts: string[] = [];
  let text = '';
  for (const piece of bare(numbered(source, numbersOf(source)))) {
    if ('text' in piece) {
      text += piece.text;
      continue;
    }
    parts.push(text, codeOf(piece));
    text = '';
  }
  parts.push(text);
  return createHash('sha256').update(JSON.stringify(parts).normalize('NFC')).digest();
}

/** The neighbours of a segment, as they are compared; undefined for one that stands alone, which says nothing. */
export function contextOf(
  previous: readonly Piece[] | undefined,
  next: readonly Piece[] | undefined,
  hash: (source: readonly Piece[]) => Buffer = hashOf,
): Buffer | undefined {
  if (previous === undefined && next === undefined) return undefined;
  const both = [previous, next].map((one) => (one === undefined ? Buffer.alloc(32) : hash(one)));
  return createHash('sha256').update(Buffer.concat(both)).digest().subarray(0, 16);
}

/** What a reader sees, codes left out. */
export function textOf(pieces: readonly Piece[]): string {
  return pieces.map((piece) => ('text' in piece ? piece.text : '')).join('');
}

/** Longer texts are found by their beginning. */
const MAX_SEARCHED = 4_000;

/**
 * A text as it is searched: words in lower case, in ASCII alone. What is not is written as the number of its character,
 * since what counts as a letter depends on a database's locale: in the embedded one no trigram would be left of it.
 */
export function searchable(text: string): string {
  let out = '';
  for (const character of text.slice(0, MAX_SEARCHED).normalize('NFKC').toLowerCase()) {
    if (/[a-z0-9]/.test(character)) out += character;
    else out += /[\p{L}\p{N}\p{M}]/u.test(character) ? character.codePointAt(0)!.toString(16) : ' ';
  }
  return out.replaceAll(/ +/g, ' ').trim();
}

/**
 * Fits a stored target to a source.
 * @returns its pieces in the numbers of the source. `complete`: every code and kept word of the source is in it, each
 * where the person who translated it put it. Otherwise only its words remain, without codes
 */
export function fit(
  source: readonly Piece[],
  remembered: Remembered,
): { pieces: Piece[]; complete: boolean } {
  const numbers = numbersOf(source);
  const asked = numbered(source, numbers);
  const isBare = asked.some(isKept) && !remembered.source.some(isKept);
  const target = isBare ? bindKept(asked, remembered.target) : remembered.target;
  if (target !== undefined && isAlike(isBare ? bare(asked) : asked, remembered.source)) {
    const own = new Map<string, number>();
    for (const [key, number] of numbers) own.set(`${key[0]}${number}`, Number(key.slice(1)));
    const words = new Map(asked.flatMap((piece) => ('keep' in piece ? [[piece.keep, piece.text]] : [])));
    const pieces = target
      .map((piece) => ('keep' in piece ? { ...piece, text: words.get(piece.keep) ?? piece.text } : piece))
      .map((piece) => renumber(piece, (kind, number) => own.get(`${kind}${number}`) ?? number));
    if (isRight(source, pieces)) return { pieces, complete: true };
  }
  return { pieces: bare(remembered.target.filter((piece) => 'text' in piece)), complete: false };
}

/** Whether the codes of one fit the other: the same, in the same places where the visible text is the same. */
function isAlike(one: readonly Piece[], other: readonly Piece[]): boolean {
  const form = (pieces: readonly Piece[]) => JSON.stringify(pieces).normalize('NFC');
  if (textOf(one).normalize('NFC') === textOf(other).normalize('NFC')) return form(one) === form(other);
  const isCode = (piece: Piece) => !('text' in piece) || isKept(piece);
  return form(one.filter(isCode)) === form(other.filter(isCode));
}

/**
 * Makes the bare words of a target the kept words that they were, where there is no doubt: each has a text that no
 * other has, and that occurs once in the source and once in the target, as a word of its own.
 * @returns undefined where there is doubt
 */
function bindKept(source: readonly Piece[], target: readonly Piece[]): Piece[] | undefined {
  const places: { at: number; end: number; word: Piece }[] = [];
  const [sourceText, targetText] = [textOf(source), textOf(target)];
  for (const word of source) {
    if (!isKept(word)) continue;
    const at = onlyPlaceOf(word.text, targetText);
    if (at === undefined || onlyPlaceOf(word.text, sourceText) === undefined) return undefined;
    places.push({ at, end: at + word.text.length, word });
  }
  places.sort((a, b) => a.at - b.at);
  const pieces: Piece[] = [];
  let next = 0;
  let start = 0;
  for (const piece of target) {
    if (!('text' in piece)) {
      pieces.push(piece);
      continue;
    }
    const end = start + piece.text.length;
    let from = start;
    for (; next < places.length && places[next]!.at < end; next++) {
      const place = places[next]!;
      // Two words overlap, or a code stands inside one.
      if (place.at < from || place.end > end) return undefined;
      pieces.push({ text: targetText.slice(from, place.at) }, place.word);
      from = place.end;
    }
    pieces.push({ text: targetText.slice(from, end) });
    start = end;
  }
  return mergeText(pieces);
}

const WORD = '[\\p{L}\\p{N}\\p{M}_]';
/** Joins two parts of a word or number: `3.5`, `l'heure`. */
const JOINT = "[.,:/'\u2019-]?";
const STARTS_IN_WORD = new RegExp(`^${WORD}`, 'u');
const ENDS_IN_WORD = new RegExp(`${WORD}$`, 'u');
const GOES_ON_BEFORE = new RegExp(`${WORD}${JOINT}$`, 'u');
const GOES_ON_AFTER = new RegExp(`^${JOINT}${WORD}`, 'u');
/** Holds a joint and a character of two UTF-16 units. */
const NEIGHBOUR = 3;

/** Finds a word that occurs once in a text, and not inside another word or number. @returns its UTF-16 index */
function onlyPlaceOf(word: string, text: string): number | undefined {
  const at = text.indexOf(word);
  if (word === '' || at < 0 || text.indexOf(word, at + 1) >= 0) return undefined;
  const end = at + word.length;
  const before = text.slice(Math.max(0, at - NEIGHBOUR), at);
  const after = text.slice(end, end + NEIGHBOUR);
  if (STARTS_IN_WORD.test(word) && GOES_ON_BEFORE.test(before)) return undefined;
  if (ENDS_IN_WORD.test(word) && GOES_ON_AFTER.test(after)) return undefined;
  return /^\p{M}/u.test(after) ? undefined : at;
}

export function isKept(piece: Piece): piece is { keep: number; text: string } {
  return 'keep' in piece;
}

/** Of a piece that is a code, and no kept word. */
function codeOf(piece: Piece): string {
  return 'open' in piece
    ? `o${piece.open}`
    : 'close' in piece
      ? `c${piece.close}`
      : `s${(piece as { single: number }).single}`;
}

/** A pair, a standalone code, a kept word. */
type Kind = 'p' | 's' | 'k';

/**
 * New numbers of the codes of a source by their old ones (`p1`, `s2`, `k3`). Kept words are counted by themselves: in
 * entries that hold them as bare text the other codes have the same numbers.
 */
function numbersOf(source: readonly Piece[]): Map<string, number> {
  const numbers = new Map<string, number>();
  let codes = 0;
  let kept = 0;
  for (const piece of source) {
    renumber(piece, (kind, number) => {
      const name = `${kind}${number}`;
      if (!numbers.has(name)) numbers.set(name, kind === 'k' ? ++kept : ++codes);
      return number;
    });
  }
  return numbers;
}

function numbered(pieces: readonly Piece[], numbers: ReadonlyMap<string, number>): Piece[] {
  return mergeText(
    pieces.map((piece) => renumber(piece, (kind, number) => numbers.get(`${kind}${number}`) ?? number)),
  );
}

/** Kept words as text. */
function bare(pieces: readonly Piece[]): Piece[] {
  return mergeText(pieces.map((piece) => (isKept(piece) ? { text: piece.text } : piece)));
}

function renumber(piece: Piece, number: (kind: Kind, given: number) => number): Piece {
  if ('keep' in piece) return { keep: number('k', piece.keep), text: piece.text };
  if ('open' in piece) return { open: number('p', piece.open) };
  if ('close' in piece) return { close: number('p', piece.close) };
  if ('single' in piece) return { single: number('s', piece.single) };
  return piece;
}

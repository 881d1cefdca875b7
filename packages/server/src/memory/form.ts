/**
 * How a segment is remembered: codes numbered in the order in which they come in the source, protected words as the
 * text that a reader sees. So a memory from elsewhere serves a document of ours, and one document another.
 */
import { createHash } from 'node:crypto';
import { isRight, type Piece } from '@dragoman/documents';

export interface Remembered {
  source: Piece[];
  target: Piece[];
}

/** A pair of segments as it is stored. */
export function remember(source: readonly Piece[], target: readonly Piece[]): Remembered {
  const numbers = numbersOf(source);
  return { source: plain(source, numbers), target: plain(target, numbers) };
}

/** A source as it is compared, in one Unicode form. */
export function hashOf(source: readonly Piece[]): Buffer {
  const parts: string[] = [];
  let text = '';
  for (const piece of plain(source, numbersOf(source))) {
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
 * A remembered target for a source that asks.
 * @returns its pieces in the numbers of the source, and whether every code and protected word of the source is in it;
 * where one is not, the codes are left out and only the words remain
 */
export function fit(
  source: readonly Piece[],
  remembered: Remembered,
): { pieces: Piece[]; complete: boolean } {
  const numbers = numbersOf(source);
  const own = new Map([...numbers].map(([key, number]) => [`${key[0]}${number}`, Number(key.slice(1))]));
  const kept = keepWords(source, remembered.target);
  const alike = shapeOf(plain(source, numbers)) === shapeOf(remembered.source);
  const pieces = kept.pieces.map(
    (piece): Piece => renumber(piece, (key, number) => own.get(`${key}${number}`) ?? number),
  );
  if (alike && kept.complete && isRight(source, pieces)) return { pieces, complete: true };
  const words = kept.pieces.filter((piece) => 'text' in piece);
  return { pieces: joinText(words), complete: false };
}

/** The protected words of a source, found again in a target. */
function keepWords(
  source: readonly Piece[],
  target: readonly Piece[],
): { pieces: Piece[]; complete: boolean } {
  let pieces = [...target];
  let complete = true;
  for (const kept of source) {
    if (!('keep' in kept)) continue;
    const at = pieces.findIndex(
      (piece) => 'text' in piece && !('keep' in piece) && piece.text.includes(kept.text),
    );
    if (at < 0) {
      complete = false;
      continue;
    }
    const { text } = pieces[at] as { text: string };
    const start = text.indexOf(kept.text);
    const around = [{ text: text.slice(0, start) }, kept, { text: text.slice(start + kept.text.length) }];
    pieces = pieces.toSpliced(at, 1, ...around.filter((piece) => !('text' in piece) || piece.text !== ''));
  }
  return { pieces, complete };
}

/** Which codes, in which order. */
function shapeOf(pieces: readonly Piece[]): string {
  return pieces.map((piece) => ('text' in piece ? '' : codeOf(piece))).join('');
}

function codeOf(piece: Piece): string {
  return 'open' in piece
    ? `o${piece.open}`
    : 'close' in piece
      ? `c${piece.close}`
      : `s${(piece as { single: number }).single}`;
}

/** New numbers of the codes of a source by their old ones (`p1`: a pair, `s2`: a single one). */
function numbersOf(source: readonly Piece[]): Map<string, number> {
  const numbers = new Map<string, number>();
  for (const piece of source) {
    renumber(piece, (key, number) => {
      const name = `${key}${number}`;
      if (!numbers.has(name)) numbers.set(name, numbers.size + 1);
      return number;
    });
  }
  return numbers;
}

function plain(pieces: readonly Piece[], numbers: ReadonlyMap<string, number>): Piece[] {
  return joinText(
    pieces.map(
      (piece): Piece =>
        'keep' in piece
          ? { text: piece.text }
          : renumber(piece, (key, number) => numbers.get(`${key}${number}`) ?? number),
    ),
  );
}

function renumber(piece: Piece, number: (key: 'p' | 's', given: number) => number): Piece {
  if ('text' in piece) return piece;
  if ('open' in piece) return { open: number('p', piece.open) };
  if ('close' in piece) return { close: number('p', piece.close) };
  return { single: number('s', piece.single) };
}

function joinText(pieces: readonly Piece[]): Piece[] {
  const out: Piece[] = [];
  for (const piece of pieces) {
    const last = out.at(-1);
    if ('text' in piece && !('keep' in piece) && last !== undefined && 'text' in last && !('keep' in last)) {
      out[out.length - 1] = { text: last.text + piece.text };
    } else if (!('text' in piece) || piece.text !== '') out.push(piece);
  }
  return out;
}

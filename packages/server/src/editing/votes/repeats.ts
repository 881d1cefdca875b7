/**
 * Finds the segments of a job that have the same text, and copies the target of one such segment to another.
 */
import type { Piece } from '@dragoman/documents';

/**
 * Returns a key for a text from its words and the kinds and order of its codes. Code numbers are left out,
 * because they differ from unit to unit.
 */
export function readingOf(pieces: readonly Piece[]): string {
  const numbers = new Map<string, number>();
  const parts = pieces.map((piece) => {
    if ('keep' in piece) return ['keep', piece.text];
    if ('text' in piece) return piece.text;
    const [kind, number] = codeOf(piece);
    const key = `${kind === 'single' ? 's' : 'p'}${number}`;
    const known = numbers.get(key) ?? numbers.size;
    numbers.set(key, known);
    return [kind, known];
  });
  return JSON.stringify(parts);
}

/** Returns a function to call with each segment in order. It returns the position of the first with the same text. */
export function createRepeats(): (pieces: readonly Piece[]) => number | undefined {
  const first = new Map<string, number>();
  let position = -1;
  return (pieces) => {
    position++;
    const reading = readingOf(pieces);
    const earlier = first.get(reading);
    if (earlier === undefined) first.set(reading, position);
    return earlier;
  };
}

/** Rewrites the target of segment `from` with the codes of segment `to`, which has the same text. */
export function carry(from: readonly Piece[], to: readonly Piece[], target: readonly Piece[]): Piece[] {
  const own = to.filter(isCode);
  const codes = new Map(from.filter(isCode).map((piece, index) => [codeOf(piece).join(), own[index]!]));
  return target.flatMap((piece) => (isCode(piece) ? (codes.get(codeOf(piece).join()) ?? []) : piece));
}

function isCode(piece: Piece): boolean {
  return 'keep' in piece || !('text' in piece);
}

function codeOf(piece: Piece): [kind: 'open' | 'close' | 'single' | 'keep' | 'text', number: number] {
  if ('keep' in piece) return ['keep', piece.keep];
  if ('open' in piece) return ['open', piece.open];
  if ('close' in piece) return ['close', piece.close];
  if ('single' in piece) return ['single', piece.single];
  return ['text', 0];
}

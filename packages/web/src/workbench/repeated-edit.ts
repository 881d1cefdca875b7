/** Repeats an edit of a text in a longer text that begins with the same text. */
import { codeOf, type Piece } from './pieces.ts';

/** Stands for a code, which has the length 1 in the editor. */
const CODE = '\ufffc';

const signsOf = (pieces: readonly Piece[]): string =>
  pieces.map((piece) => (codeOf(piece) ? CODE : (piece as { text: string }).text)).join('');

/**
 * Returns the text that the edit from `before` to `after` wrote, and the range of `now` that the text replaces. Returns
 * undefined if nothing was edited, if codes were moved, or if `now` does not begin with `before`. The codes of `now` may
 * have other numbers.
 */
export function repeatedEdit(
  before: readonly Piece[],
  after: readonly Piece[],
  now: readonly Piece[],
): { from: number; to: number; text: string } | undefined {
  const [old, edited] = [signsOf(before), signsOf(after)];
  if (old === edited || !signsOf(now).startsWith(old)) return undefined;
  const shorter = Math.min(old.length, edited.length);
  let from = 0;
  while (from < shorter && old[from] === edited[from]) from += 1;
  let same = 0;
  while (same < shorter - from && old.at(-1 - same) === edited.at(-1 - same)) same += 1;
  const to = old.length - same;
  const text = edited.slice(from, edited.length - same);
  return (old.slice(from, to) + text).includes(CODE) ? undefined : { from, to, text };
}

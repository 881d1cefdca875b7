/** Repeats an edit of a text in a longer text that begins with the same text, or in the same text with other cuts. */
import { codeOf, type Piece, samePieces, withoutCuts } from './pieces.ts';

/** Stands for a code, which has the length 1 in the editor. */
const CODE = '\ufffc';

const signsOf = (pieces: readonly Piece[]): string =>
  withoutCuts(pieces)
    .map((piece) => (codeOf(piece) ? CODE : (piece as { text: string }).text))
    .join('');

/** Returns the offsets of the cuts in the text without cuts, in ascending order. */
function cutsOf(pieces: readonly Piece[]): number[] {
  return pieces.flatMap((piece, index) => ('cut' in piece ? signsOf(pieces.slice(0, index)).length : []));
}

/**
 * Returns the text that the edit from `before` to `after` wrote, and the range of `now` that the text replaces. Returns
 * undefined if nothing was edited, if codes were moved, or if `now` does not begin with `before`. The codes of `now` may
 * have other numbers, and its cuts other places.
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
  if ((old.slice(from, to) + text).includes(CODE)) return undefined;
  const cuts = cutsOf(now);
  const start = from + cuts.filter((cut) => cut <= from).length;
  return { from: start, to: Math.max(start, to + cuts.filter((cut) => cut < to).length), text };
}

/**
 * Returns the edited text without its cuts if `now` differs from `before` only in its cuts, so that the edited text can
 * take its place although codes were moved. Returns undefined if nothing was edited.
 */
export function wholeEdit(
  before: readonly Piece[],
  after: readonly Piece[],
  now: readonly Piece[],
): Piece[] | undefined {
  const [old, edited, shown] = [withoutCuts(before), withoutCuts(after), withoutCuts(now)];
  return samePieces(old, shown) && !samePieces(old, edited) ? edited : undefined;
}

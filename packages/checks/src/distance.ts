/**
 * Levenshtein distance: the smallest number of characters (or words) to insert, delete or replace. The
 * algorithm only fills in a band of cells along the diagonal and widens the band until it contains the
 * distance (Ukkonen 1985). Similar texts are therefore fast at any length. Only two rows of the table are in
 * memory.
 */
import { graphemesOf, wordsOf } from './tokens.ts';

/** The unit in which the distance is counted. With `word`, white space is ignored. */
export type Unit = 'grapheme' | 'word';

/**
 * The maximum number of table cells to fill in, which takes about 50 ms. Two unrelated texts of 2,000
 * characters need 8 million. Above the maximum, the band stays narrow and the result is an upper bound of the
 * distance.
 */
const MAX_CELLS = 16_000_000;
const FIRST_WIDTH = 8;

/**
 * Returns the distance as a whole number. Texts that differ only in Unicode normalization have distance 0.
 */
export function distance(one: string, other: string, by: Unit = 'grapheme'): number {
  const [a, b] = numbered(one, other, by);
  return distanceOf(a, b, Number.POSITIVE_INFINITY);
}

/**
 * Returns 1 for equal texts and 0 for texts with nothing in common. The formula is 1 − distance / length of
 * the longer text.
 *
 * @param least results below this value are returned as 0, which saves time
 */
export function similarity(one: string, other: string, by: Unit = 'grapheme', least = 0): number {
  const [a, b] = numbered(one, other, by);
  const longest = Math.max(a.length, b.length);
  if (longest === 0) return 1;
  const result = 1 - distanceOf(a, b, Math.floor((1 - least) * longest + 1e-9)) / longest;
  return result < least ? 0 : result;
}

/** Replaces each distinct character or word of the two texts with a number, so that comparisons are fast. */
function numbered(one: string, other: string, by: Unit): [Int32Array, Int32Array] {
  const numbers = new Map<string, number>();
  const split = by === 'word' ? wordsOf : graphemesOf;
  const numberOf = (unit: string) => {
    let number = numbers.get(unit);
    if (number === undefined) {
      number = numbers.size;
      numbers.set(unit, number);
    }
    return number;
  };
  return [Int32Array.from(split(one), numberOf), Int32Array.from(split(other), numberOf)];
}

/**
 * Returns the edit distance of two sequences of numbers.
 *
 * @param most a distance above this value is returned as the length of the longer text
 */
function distanceOf(one: Int32Array, other: Int32Array, most: number): number {
  const longest = Math.max(one.length, other.length);
  let start = 0;
  let [a, b] = one.length <= other.length ? [one, other] : [other, one];
  while (start < a.length && a[start] === b[start]) start++;
  let end = 0;
  while (end < a.length - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end++;
  a = a.subarray(start, a.length - end);
  b = b.subarray(start, b.length - end);
  if (a.length === 0) return b.length;
  const apart = b.length - a.length;
  const widest = Math.min(b.length, most, Math.floor(MAX_CELLS / (2 * a.length)));
  if (apart > widest) return longest;
  for (let width = Math.max(FIRST_WIDTH, apart); ; width *= 2) {
    const tried = Math.min(width, widest);
    const found = within(a, b, tried);
    if (found <= tried) return found;
    if (tried === widest) return widest < most ? Math.min(found, longest) : longest;
  }
}

/**
 * Computes the distance inside a band of cells. The result is exact if it is at most `width`; otherwise it is
 * an upper bound.
 */
function within(a: Int32Array, b: Int32Array, width: number): number {
  const far = a.length + b.length;
  let previous = new Int32Array(b.length + 1).fill(far);
  let current = new Int32Array(b.length + 1).fill(far);
  for (let j = 0; j <= Math.min(width, b.length); j++) previous[j] = j;
  for (let i = 1; i <= a.length; i++) {
    const from = Math.max(1, i - width);
    const to = Math.min(b.length, i + width);
    current[from - 1] = from === 1 && i <= width ? i : far;
    const unit = a[i - 1];
    let left = current[from - 1]!;
    for (let j = from; j <= to; j++) {
      const above = previous[j]! + 1;
      let best = previous[j - 1]!;
      if (b[j - 1] !== unit) best++;
      if (above < best) best = above;
      if (left + 1 < best) best = left + 1;
      current[j] = best;
      left = best;
    }
    // The computation of the next row also reads the cell to the right of the band. This cell still contains a value
    // of an earlier row, which must never be the minimum.
    if (to < b.length) current[to + 1] = far;
    [previous, current] = [current, previous];
  }
  return previous[b.length]!;
}

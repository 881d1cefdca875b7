/**
 * How far two texts are apart: the fewest characters (or words) to add, take away or put in place of another, after
 * Levenshtein. Only cells near the diagonal are filled in, and the stripe is widened until the distance lies inside
 * (Ukkonen 1985), so texts that are alike cost little however long they are. Memory is two rows.
 */
import { graphemesOf, wordsOf } from './tokens.ts';

/** White space does not count by word. */
export type Unit = 'grapheme' | 'word';

/**
 * Cells that are filled in at most, some 50 ms. Two texts of 2,000 characters with nothing in common need 8 million.
 * Beyond, the stripe is as wide as it may be and the distance may be said greater than it is, never smaller.
 */
const MAX_CELLS = 16_000_000;
const FIRST_WIDTH = 8;

/** A whole number; 0 for the same text in any Unicode form. */
export function distance(one: string, other: string, by: Unit = 'grapheme'): number {
  const [a, b] = numbered(one, other, by);
  return distanceOf(a, b, Number.POSITIVE_INFINITY);
}

/**
 * 1 for the same text, 0 where nothing is shared: the distance by the length of the longer text.
 *
 * @param least less than this is of no interest: it is answered as 0, in less time
 */
export function similarity(one: string, other: string, by: Unit = 'grapheme', least = 0): number {
  const [a, b] = numbered(one, other, by);
  const longest = Math.max(a.length, b.length);
  if (longest === 0) return 1;
  const result = 1 - distanceOf(a, b, Math.floor((1 - least) * longest + 1e-9)) / longest;
  return result < least ? 0 : result;
}

/** The units of both texts as numbers, what they begin and end with in common left in. */
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

/** @param most a greater distance is of no interest: it is answered as the length of the longer */
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

/** The distance if it is not more than `width`; otherwise something that is not less than it. */
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
    // The next row looks one further to the right; what stands there is of two rows ago.
    if (to < b.length) current[to + 1] = far;
    [previous, current] = [current, previous];
  }
  return previous[b.length]!;
}

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { distance, similarity, type Unit } from './distance.ts';
import { graphemesOf, wordsOf } from './tokens.ts';

describe('edit distance', () => {
  it.each<[one: string, other: string, by: Unit, distance: number]>([
    ['', '', 'grapheme', 0],
    ['', 'abc', 'grapheme', 3],
    ['kitten', 'sitting', 'grapheme', 3],
    ['flaw', 'lawn', 'grapheme', 2],
    ['cafe\u0301', 'caf\u00e9', 'grapheme', 0],
    ['👩‍👩‍👧 here', '👩 here', 'grapheme', 1],
    ['नमस्ते', 'नमस्कार', 'grapheme', 2],
    ['the big house', 'the small house', 'word', 1],
    ['the  house', 'the house', 'word', 0],
    ['one two three', 'three two one', 'word', 2],
    ['我爱你', '我想你', 'word', 1],
    ['Yes.', 'Yes!', 'word', 1],
  ])('between %j and %j, counted in %ss, is %i', (one, other, by, expected) => {
    expect(distance(one, other, by)).toBe(expected);
    expect(distance(other, one, by)).toBe(expected);
  });

  const text = fc.string({ unit: fc.constantFrom('a', 'b', 'c', ' ', '.', 'é', '漢', '🙂', '\u0301') });
  const unit = fc.constantFrom<Unit>('grapheme', 'word');

  it('equals the result of the full-table Levenshtein algorithm', () => {
    const splitters = { grapheme: graphemesOf, word: wordsOf };
    fc.assert(
      fc.property(text, text, unit, (one, other, by) => {
        expect(distance(one, other, by)).toBe(byTable(splitters[by](one), splitters[by](other)));
      }),
    );
  });

  it('is symmetric, is zero only for equal texts, and satisfies the triangle inequality', () => {
    fc.assert(
      fc.property(text, text, text, unit, (one, other, third, by) => {
        const direct = distance(one, other, by);
        expect(distance(other, one, by)).toBe(direct);
        expect(distance(one, one, by)).toBe(0);
        if (by === 'grapheme') expect(direct === 0).toBe(one.normalize() === other.normalize());
        expect(direct).toBeLessThanOrEqual(distance(one, third, by) + distance(third, other, by));
      }),
    );
  });

  it('is exact for texts with many differences, and an upper bound for texts that need too many table cells', () => {
    const one = 'abcdefghij'.repeat(60);
    const other = `${'x'.repeat(150)}${one.slice(0, 450)}`;
    expect(distance(one, other)).toBe(byTable([...one], [...other]));
    const long = 'ab'.repeat(100_000);
    const far = 'cd'.repeat(100_000);
    expect(distance(long, far)).toBe(200_000);
    expect(distance(long, `${long.slice(5)}zz`)).toBeLessThanOrEqual(7);
    expect(distance(long, far.slice(1000))).toBe(200_000);
  });
});

describe('similarity of two texts', () => {
  it.each<[one: string, other: string, by: Unit, similarity: number]>([
    ['', '', 'word', 1],
    ['', 'a', 'word', 0],
    ['same', 'same', 'grapheme', 1],
    ['abcd', 'abcx', 'grapheme', 0.75],
    ['Open the old file', 'Open the new file', 'word', 0.75],
    ['abc', 'xyz', 'grapheme', 0],
  ])('of %j and %j, counted in %ss, is %d', (one, other, by, expected) => {
    expect(similarity(one, other, by)).toBe(expected);
  });

  it('is 0 when it is below the minimum that the caller passes, and exact otherwise', () => {
    const word = fc.array(fc.constantFrom('a', 'b', 'c', 'd'), { maxLength: 40 });
    fc.assert(
      fc.property(word, word, fc.constantFrom(0.5, 0.7, 0.75, 0.9, 1), (one, other, least) => {
        const whole = similarity(one.join(' '), other.join(' '), 'word');
        const withMinimum = similarity(one.join(' '), other.join(' '), 'word', least);
        expect(withMinimum).toBe(whole < least ? 0 : whole);
        expect(whole).toBeGreaterThanOrEqual(0);
        expect(whole).toBeLessThanOrEqual(1);
      }),
    );
  });
});

/** Computes the Levenshtein distance with the textbook algorithm, which fills in every cell of the table. */
function byTable(a: readonly string[], b: readonly string[]): number {
  let row = b.map((_, j) => j + 1);
  row.unshift(0);
  for (const [i, unit] of a.entries()) {
    const next = [i + 1];
    for (const [j, other] of b.entries()) {
      next.push(Math.min(row[j + 1]! + 1, next[j]! + 1, row[j]! + (unit === other ? 0 : 1)));
    }
    row = next;
  }
  return row.at(-1)!;
}

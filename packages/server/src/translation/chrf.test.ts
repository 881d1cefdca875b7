import { expect, it } from 'vitest';
import { addOverlap, chrf, noOverlap, overlapOf, reversed, sequencesOf } from './chrf.ts';

it.each([
  // One of the two characters matches, and no pair of characters does: the mean of 1/2 and 0.
  [['aa'], ['ab'], 25],
  [['a'], ['a'], 100],
  [['a b c'], ['abc'], 100],
  [['abcdefg'], ['hijklmnop'], 0],
  [[''], ['b'], 0],
  [[], [], 0],
  // Recall counts more than precision, so a text that is too short gets a lower score than one that is too long.
  [['ab'], ['abab'], 47.17],
  [['abab'], ['ab'], 78.13],
  // The texts are scored together: half of the characters and half of the pairs match.
  [['ab', 'xy'], ['ab', 'uv'], 50],
])('chrf compares %j with the references %j: %d', (texts, references, expected) => {
  const [sum, back] = [noOverlap(), noOverlap()];
  for (const [index, text] of texts.entries()) {
    const [one, other] = [sequencesOf(text), sequencesOf(references[index]!)];
    addOverlap(sum, overlapOf(one, other));
    addOverlap(back, reversed(overlapOf(other, one)));
  }
  expect(chrf(sum)).toBeCloseTo(expected, 2);
  expect(chrf(back)).toBeCloseTo(expected, 2);
});

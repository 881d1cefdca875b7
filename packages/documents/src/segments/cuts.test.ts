import { describe, expect, test } from 'vitest';
import {
  divide,
  isWhole,
  lengthOf,
  likelyPlace,
  mergeText,
  type Piece,
  placeAt,
  plainText,
  trimPart,
} from '../documents.ts';

const [open, close, single]: Piece[] = [{ open: 1 }, { close: 1 }, { single: 2 }];
const keep: Piece = { keep: 3, text: '{dog}' };

describe('placeAt', () => {
  test.each([
    [[{ text: 'One. Two.' }], 4, ['One. ', 'Two.']],
    [[{ text: 'One. Two.' }], 5, ['One. ', 'Two.']],
    [[open, { text: 'One.' }, close, { text: ' Two.' }], 4, ['One. ', 'Two.']],
    [[{ text: 'One. ' }, open, { text: 'Two.' }, close], 4, ['One. ', 'Two.']],
    [[{ text: 'One ' }, keep, { text: ' two' }], 4, ['One ', '{dog} two']],
    [[{ text: 'One ' }, keep, { text: ' two' }], 9, ['One {dog} ', 'two']],
    [[{ text: '👍👍' }], 1, ['', '👍👍']],
    [[{ text: 'One' }], 99, ['One', '']],
  ] as [Piece[], number, string[]][])('divides %j at %i', (pieces, offset, texts) => {
    const parts = divide(pieces, [placeAt(pieces, offset)!]);
    expect(parts.map(plainText)).toEqual(texts);
    expect(parts.every(isWhole)).toBe(true);
    expect(mergeText(parts.flat())).toEqual(pieces);
  });

  test('finds no place inside a protected word', () => {
    expect(placeAt([{ text: 'One ' }, keep], 6)).toBeUndefined();
  });
});

test('divide() returns all pieces in order, also for places outside', () => {
  const pieces: Piece[] = [single!, { text: 'ab' }, open!, { text: 'cd' }, close!];
  for (let one = 0; one <= lengthOf(pieces) + 1; one += 1) {
    for (let two = one; two <= lengthOf(pieces) + 1; two += 1) {
      const parts = divide(pieces, [one, two]);
      expect(parts).toHaveLength(3);
      expect(mergeText(parts.flat())).toEqual(pieces);
      expect(lengthOf(parts[0]!)).toBe(Math.min(one, lengthOf(pieces)));
    }
  }
});

test('trimPart() removes only the white space at the ends', () => {
  expect(trimPart([{ text: ' a ' }, open!, { text: ' b ' }])).toEqual([{ text: 'a ' }, open, { text: ' b' }]);
});

describe('likelyPlace', () => {
  const textBefore = (pieces: Piece[], share: number) =>
    plainText(divide(pieces, [likelyPlace(pieces, share, 'es')])[0]!);

  test('prefers the end of a sentence to the start of a word', () => {
    expect(textBefore([{ text: 'Ladra mucho el perro. El gato duerme ya.' }], 0.3)).toBe(
      'Ladra mucho el perro. ',
    );
    expect(textBefore([{ text: 'el perro y el gato' }], 0.5)).toBe('el perro ');
  });

  test('divides no pair, and returns the end of one word', () => {
    expect(textBefore([open!, { text: 'uno dos' }, close!, { text: ' tres' }], 0.4)).toBe('uno dos ');
    expect(textBefore([{ text: 'perro' }], 0.5)).toBe('perro');
    expect(likelyPlace([], 0.5, 'es')).toBe(0);
  });
});

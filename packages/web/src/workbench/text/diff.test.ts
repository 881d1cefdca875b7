import fc from 'fast-check';
import { expect, test } from 'vitest';
import { diff } from './diff.ts';
import { countIn, replaceIn } from './find.ts';
import { codesOf } from './pieces.ts';
import { somePieces } from './testing-pieces.ts';

const words = fc.array(fc.constantFrom('the ', 'red ', 'house ', 'is ', 'old. ', '家'), { maxLength: 12 });

test('a difference contains all words of both texts in order', () => {
  fc.assert(
    fc.property(words, words, (old, now) => {
      const parts = diff(old.join(''), now.join(''), 'en');
      const of = (change: string) =>
        parts
          .filter((part) => part.change !== change)
          .map(({ text }) => text)
          .join('');
      expect(of('added')).toBe(old.join(''));
      expect(of('removed')).toBe(now.join(''));
      if (old.join() === now.join()) expect(parts.every(({ change }) => change === 'same')).toBe(true);
    }),
  );
});

test('a difference marks only the changed word', () => {
  expect(diff('The red house is old.', 'The blue house is old.', 'en')).toEqual([
    { text: 'The ', change: 'same' },
    { text: 'red', change: 'removed' },
    { text: 'blue', change: 'added' },
    { text: ' house is old.', change: 'same' },
  ]);
});

test('a difference shows removed and added words as two texts, not word by word', () => {
  expect(diff('The old red house stands.', 'The new blue house stands.', 'en')).toEqual([
    { text: 'The ', change: 'same' },
    { text: 'old red', change: 'removed' },
    { text: 'new blue', change: 'added' },
    { text: ' house stands.', change: 'same' },
  ]);
  expect(diff('One two.', 'One, two.', 'en')).toEqual([
    { text: 'One', change: 'same' },
    { text: ',', change: 'added' },
    { text: ' two.', change: 'same' },
  ]);
});

test('replacing all matches of a search leaves no match, and keeps every code', () => {
  fc.assert(
    fc.property(somePieces, fc.constantFrom('a', ' ', '{', '1}', '.*', '$&', '次'), (pieces, wanted) => {
      const replaced = replaceIn(pieces, wanted, '');
      expect(codesOf(replaced)).toEqual(codesOf(pieces));
      if (countIn(pieces, wanted) === 0) expect(replaced).toBe(pieces);
      const marked = replaceIn(pieces, wanted, '\u0001');
      expect(countIn(marked, '\u0001')).toBe(countIn(pieces, wanted));
    }),
  );
});

import { isRight } from '@dragoman/documents';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { documentOf, piecesOf } from './model.ts';
import { type Code, codesOf, complete, crossed, keyOf, nested, tidy } from './pieces.ts';
import { somePieces } from './testing-pieces.ts';

test('pieces become a document and pieces again, with no character changed', () => {
  fc.assert(
    fc.property(somePieces, (pieces) => {
      expect(piecesOf(documentOf(pieces))).toEqual(tidy(pieces));
    }),
  );
});

test('dealing codes out anew keeps every one of them and nests every pair', () => {
  fc.assert(
    fc.property(
      somePieces.chain((pieces) =>
        fc.shuffledSubarray(codesOf(pieces), { minLength: codesOf(pieces).length }),
      ),
      (codes) => {
        const dealt = nested(codes);
        expect(crossed(dealt).size).toBe(0);
        expect(dealt.map(keyOf).sort()).toEqual(codes.map(keyOf).sort());
        if (crossed(codes).size === 0) expect(dealt).toEqual(codes);
      },
    ),
  );
});

test('pairs that cross are named', () => {
  const half = (kind: 'open' | 'close', number: number): Code => ({ kind, number, text: '' });
  const crossing = [half('open', 1), half('open', 2), half('close', 1), half('close', 2)];
  expect([...crossed(crossing)].sort()).toEqual([1, 2]);
  expect([...crossed([half('close', 3), half('open', 3)])]).toEqual([3]);
  expect(crossed([half('open', 1), half('close', 1), half('open', 2), half('close', 2)]).size).toBe(0);
});

test('a translation is completed with what its source has, and freed of what it has not', () => {
  fc.assert(
    fc.property(somePieces, somePieces, (target, source) => {
      const completed = complete(target, source);
      expect(codesOf(completed).map(keyOf).sort()).toEqual(codesOf(source).map(keyOf).sort());
      expect(complete(completed, source)).toEqual(completed);
      if (isRight(source, target)) expect(completed).toEqual(tidy(target));
    }),
  );
});

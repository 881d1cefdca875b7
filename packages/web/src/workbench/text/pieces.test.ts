import { isCorrect } from '@dragoman/documents';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { documentOf, piecesOf } from '../editor/model.ts';
import {
  type Code,
  codesOf,
  complete,
  crossed,
  keyOf,
  labelOf,
  nested,
  normalize,
  type Piece,
  runsOf,
  shownCode,
  withoutCuts,
  withPart,
} from './pieces.ts';
import { somePieces } from './testing-pieces.ts';

test('converting pieces to a document and back changes nothing', () => {
  fc.assert(
    fc.property(somePieces, (pieces) => {
      expect(piecesOf(documentOf(pieces))).toEqual(normalize(pieces));
    }),
  );
});

test('nested() keeps every code and nests every pair', () => {
  fc.assert(
    fc.property(
      somePieces.chain((pieces) =>
        fc.shuffledSubarray(codesOf(pieces), { minLength: codesOf(pieces).length }),
      ),
      (codes) => {
        const reordered = nested(codes);
        expect(crossed(reordered).size).toBe(0);
        expect(reordered.map(keyOf).sort()).toEqual(codes.map(keyOf).sort());
        if (crossed(codes).size === 0) expect(reordered).toEqual(codes);
      },
    ),
  );
});

test('crossed() returns the numbers of crossing pairs', () => {
  const half = (kind: 'open' | 'close', number: number): Code => ({ kind, number, text: '' });
  const crossing = [half('open', 1), half('open', 2), half('close', 1), half('close', 2)];
  expect([...crossed(crossing)].sort()).toEqual([1, 2]);
  expect([...crossed([half('close', 3), half('open', 3)])]).toEqual([3]);
  expect(crossed([half('open', 1), half('close', 1), half('open', 2), half('close', 2)]).size).toBe(0);
});

test('complete() returns a target with exactly the codes of the source', () => {
  fc.assert(
    fc.property(somePieces, somePieces, (target, source) => {
      const completed = complete(target, source);
      expect(codesOf(completed).map(keyOf).sort()).toEqual(codesOf(source).map(keyOf).sort());
      expect(complete(completed, source)).toEqual(completed);
      if (isCorrect(withoutCuts(source), withoutCuts(target))) expect(completed).toEqual(normalize(target));
    }),
  );
});

test('shownCode() numbers tags and protected words separately and without gaps', () => {
  const source: Piece[] = [
    { open: 3 },
    { keep: 4, text: '{name}' },
    { close: 3 },
    { single: 6 },
    { keep: 7, text: '' },
  ];
  const shown = codesOf(source).map((code) => labelOf(shownCode(code, source)));
  expect(shown).toEqual(['1', '{name}', '/1', '2/', '2']);
  fc.assert(
    fc.property(somePieces, (pieces) => {
      const numbers = codesOf(pieces).map((code) => {
        const { kind, number } = shownCode(code, pieces);
        return `${kind} ${number}`;
      });
      expect(new Set(numbers).size).toBe(
        new Set(codesOf(pieces).map(({ kind, number }) => `${kind} ${number}`)).size,
      );
    }),
  );
});

test('runsOf() returns neighboring tags, and a protected word ends a run', () => {
  const pieces: Piece[] = [{ open: 1 }, { single: 2 }, { keep: 3, text: 'x' }, { close: 1 }, { text: 'a' }];
  const items = codesOf(pieces).map((code, at) => ({ code, at }));
  const runs = runsOf(items, (one, next) => next.at === one.at + 1);
  expect(runs.map((run) => run.map(({ at }) => at))).toEqual([[0, 1]]);
});

test('withPart() replaces one part of a split segment, and keeps its tags and the spaces around it', () => {
  const source: Piece[] = [
    { text: 'One ' },
    { open: 1 },
    { text: 'dog; ' },
    { close: 1 },
    { cut: 1 },
    { text: 'two cats' },
  ];
  const target: Piece[] = [
    { open: 1 },
    { text: 'A' },
    { close: 1 },
    { text: '; ' },
    { cut: 1 },
    { text: 'B ' },
  ];
  expect(withPart(target, source, 2, [{ text: 'deux chats' }])).toEqual([
    ...target.slice(0, 5),
    { text: 'deux chats ' },
  ]);
  expect(withPart(target, source, 1, [{ text: 'un chien' }])).toEqual([
    { text: 'un chien' },
    { open: 1 },
    { close: 1 },
    { text: ' ' },
    ...target.slice(4),
  ]);
  // In another order, nothing shows which text belongs to which part. Nothing is lost.
  const reversed: Piece[] = [{ cut: 2 }, { text: 'B' }, { cut: 1 }];
  expect(withPart(reversed, source, 1, [{ text: 'A' }])).toEqual([...reversed, { text: ' ' }, { text: 'A' }]);
});

test('withoutCuts() returns the pieces of the document', () => {
  expect(withoutCuts([{ text: 'a ' }, { cut: 1 }, { text: 'b' }, { single: 1 }])).toEqual([
    { text: 'a b' },
    { single: 1 },
  ]);
});

test('a cut is not counted among the tags', () => {
  const source: Piece[] = [{ single: 7 }, { cut: 1 }, { single: 9 }];
  expect(codesOf(source).map((code) => labelOf(shownCode(code, source)))).toEqual(['1/', '|1', '2/']);
});

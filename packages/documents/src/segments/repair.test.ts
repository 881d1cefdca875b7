import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Piece } from '../model/document.ts';
import { isCorrect, keyOf, mergeText, plainText, repair } from './repair.ts';

/** A random segment with nested pairs, single codes and protected words. Each code has its own number. */
const source: fc.Arbitrary<Piece[]> = fc
  .array(fc.constantFrom('text', 'open', 'close', 'single', 'keep'), { maxLength: 14 })
  .chain((kinds) =>
    fc
      .array(fc.string({ maxLength: 5 }), { minLength: 14, maxLength: 14 })
      .map((words) => build(kinds, words)),
  );

function build(kinds: string[], words: string[]): Piece[] {
  const pieces: Piece[] = [];
  const open: number[] = [];
  kinds.forEach((kind, index) => {
    const number = index + 1;
    if (kind === 'text') pieces.push({ text: words[index]! });
    else if (kind === 'single') pieces.push({ single: number });
    else if (kind === 'keep') pieces.push({ keep: number, text: words[index]! });
    else if (kind === 'open') {
      open.push(number);
      pieces.push({ open: number });
    } else if (open.length > 0) pieces.push({ close: open.pop()! });
  });
  while (open.length > 0) pieces.push({ close: open.pop()! });
  return mergeText(pieces);
}

/**
 * A random reply of an engine: pieces of the source (some lost, duplicated or in another order) and invented pieces.
 */
const reply = (pieces: readonly Piece[]): fc.Arbitrary<Piece[]> =>
  fc.array(
    fc.oneof(
      pieces.length > 0 ? fc.constantFrom(...pieces) : fc.constant<Piece>({ text: '' }),
      fc.string({ maxLength: 6 }).map((text): Piece => ({ text })),
      fc.nat(20).map((number): Piece => ({ single: number })),
      fc.nat(20).map((number): Piece => ({ open: number })),
      fc.nat(20).map((number): Piece => ({ close: number })),
      fc.nat(20).map((number): Piece => ({ keep: number, text: 'changed' })),
    ),
    { maxLength: 24 },
  );

const pair = source.chain((pieces) => reply(pieces).map((given) => [pieces, given] as const));

describe("repair of an engine's reply", () => {
  test('returns every code of the source once, nests pairs correctly, and leaves protected words unchanged', () => {
    fc.assert(
      fc.property(pair, ([pieces, given]) => {
        expect(isCorrect(pieces, repair(pieces, given).pieces)).toBe(true);
      }),
    );
  });

  test('preserves every word of the reply, in order', () => {
    fc.assert(
      fc.property(pair, ([pieces, given]) => {
        const words = (all: readonly Piece[]) => plainText(all.filter((piece) => !('keep' in piece)));
        const kept = words(repair(pieces, given).pieces).replace(/\s/g, '');
        // A protected word that is not in the source becomes text.
        const known = new Set(pieces.map(keyOf));
        const expected = plainText(given.filter((piece) => !('keep' in piece) || !known.has(keyOf(piece))));
        expect(kept).toBe(expected.replace(/\s/g, ''));
      }),
    );
  });

  test('changes nothing and adds no note when the reply is correct', () => {
    fc.assert(
      fc.property(source, (pieces) => {
        expect(repair(pieces, pieces)).toEqual({ pieces, notes: [] });
      }),
    );
  });

  test('adds a note for every change, and a second repair changes nothing', () => {
    fc.assert(
      fc.property(pair, ([pieces, given]) => {
        const once = repair(pieces, given);
        expect(repair(pieces, once.pieces)).toEqual({ pieces: once.pieces, notes: [] });
        expect(once.notes.length === 0).toBe(isCorrect(pieces, given));
        expect(new Set(once.notes).size).toBe(once.notes.length);
      }),
    );
  });

  const bold: Piece[] = [{ text: 'A ' }, { open: 1 }, { text: 'bold' }, { close: 1 }, { text: ' move' }];
  const rows: [string, Piece[], Piece[], Piece[], string[]][] = [
    [
      'adds a lost pair around everything',
      bold,
      [{ text: 'Un coup' }],
      [{ open: 1 }, { text: 'Un coup' }, { close: 1 }],
      ['code restored'],
    ],
    [
      'adds a lost close half at the end',
      bold,
      [{ open: 1 }, { text: 'Un coup' }],
      [{ open: 1 }, { text: 'Un coup' }, { close: 1 }],
      ['code restored'],
    ],
    [
      'corrects a reversed pair',
      bold,
      [{ close: 1 }, { text: 'x' }, { open: 1 }],
      [{ open: 1 }, { text: 'x' }, { close: 1 }],
      ['code moved'],
    ],
    [
      'removes a duplicate code',
      [{ text: 'a' }, { single: 1 }],
      [{ single: 1 }, { text: 'a' }, { single: 1 }],
      [{ single: 1 }, { text: 'a' }],
      ['code removed'],
    ],
    [
      'adds a lost single code at the end',
      [{ text: 'a' }, { single: 1 }, { text: 'b' }],
      [{ text: 'c' }],
      [{ text: 'c' }, { single: 1 }],
      ['code restored'],
    ],
    [
      'adds a lost kept word with its space',
      [{ text: 'Hi ' }, { keep: 1, text: '{name}' }],
      [{ text: 'Hallo' }],
      [{ text: 'Hallo ' }, { keep: 1, text: '{name}' }],
      ['code restored'],
    ],
    [
      'restores a changed kept word',
      [{ keep: 1, text: '{name}' }, { text: '!' }],
      [{ keep: 1, text: '{nom}' }, { text: ' !' }],
      [{ keep: 1, text: '{name}' }, { text: ' !' }],
      ['code restored'],
    ],
    [
      'nests crossing pairs',
      [{ open: 1 }, { open: 2 }, { text: 'a' }, { close: 2 }, { close: 1 }],
      [{ open: 1 }, { text: 'a' }, { open: 2 }, { text: 'b' }, { close: 1 }, { text: 'c' }, { close: 2 }],
      [{ open: 1 }, { text: 'a' }, { open: 2 }, { text: 'b' }, { close: 2 }, { close: 1 }, { text: 'c' }],
      ['code moved'],
    ],
    [
      'removes an invented code',
      [{ text: 'a' }],
      [{ open: 7 }, { text: 'b' }, { close: 7 }],
      [{ text: 'b' }],
      ['code removed'],
    ],
  ];
  test.each(rows)('corrects the codes of the reply: %s', (_, pieces, given, wanted, notes) => {
    expect(repair(pieces, given)).toEqual({ pieces: wanted, notes });
  });
});

test('isCorrect returns false for a reply with any kind of error in its codes', () => {
  const pieces: Piece[] = [{ open: 1 }, { text: 'a' }, { close: 1 }, { single: 2 }, { keep: 3, text: 'k' }];
  expect(isCorrect(pieces, pieces)).toBe(true);
  for (let i = 0; i < pieces.length; i += 1) {
    if (i === 1) continue;
    expect(
      isCorrect(
        pieces,
        pieces.filter((_, index) => index !== i),
      ),
    ).toBe(false);
    expect(isCorrect(pieces, [...pieces, pieces[i]!])).toBe(false);
  }
  expect(
    isCorrect(pieces, [{ close: 1 }, { text: 'a' }, { open: 1 }, { single: 2 }, { keep: 3, text: 'k' }]),
  ).toBe(false);
  expect(isCorrect(pieces, [...pieces.slice(0, 4), { keep: 3, text: 'other' }])).toBe(false);
  expect(isCorrect(pieces, [...pieces, { single: 9 }])).toBe(false);
});

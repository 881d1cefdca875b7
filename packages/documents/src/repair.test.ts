import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Piece } from './document.ts';
import { isRight, keyOf, mergeText, plainText, repair } from './repair.ts';

/** A segment: nested pairs, standalone codes and kept words, each number used once. */
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

/** Anything an engine may send: pieces of the source, dropped, doubled, shuffled, and some it made up. */
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

describe('repair', () => {
  test('gives every code of the source once, pairs nested, kept words unchanged', () => {
    fc.assert(
      fc.property(pair, ([pieces, given]) => {
        expect(isRight(pieces, repair(pieces, given).pieces)).toBe(true);
      }),
      { numRuns: 2_000 },
    );
  });

  test('keeps every word of the reply, in order', () => {
    fc.assert(
      fc.property(pair, ([pieces, given]) => {
        const words = (all: readonly Piece[]) => plainText(all.filter((piece) => !('keep' in piece)));
        const kept = words(repair(pieces, given).pieces).replace(/\s/g, '');
        // Kept words nobody asked for stay as text.
        const known = new Set(pieces.map(keyOf));
        const expected = plainText(given.filter((piece) => !('keep' in piece) || !known.has(keyOf(piece))));
        expect(kept).toBe(expected.replace(/\s/g, ''));
      }),
      { numRuns: 1_000 },
    );
  });

  test('says nothing about a right reply and leaves it alone', () => {
    fc.assert(
      fc.property(source, (pieces) => {
        expect(repair(pieces, pieces)).toEqual({ pieces, notes: [] });
      }),
    );
  });

  test('is done after one pass, and notes whatever it changed', () => {
    fc.assert(
      fc.property(pair, ([pieces, given]) => {
        const once = repair(pieces, given);
        expect(repair(pieces, once.pieces)).toEqual({ pieces: once.pieces, notes: [] });
        expect(once.notes.length === 0).toBe(isRight(pieces, given));
        expect(new Set(once.notes).size).toBe(once.notes.length);
      }),
      { numRuns: 1_000 },
    );
  });

  const bold: Piece[] = [{ text: 'A ' }, { open: 1 }, { text: 'bold' }, { close: 1 }, { text: ' move' }];
  const rows: [string, Piece[], Piece[], Piece[], string[]][] = [
    [
      'a lost pair goes round everything',
      bold,
      [{ text: 'Un coup' }],
      [{ open: 1 }, { text: 'Un coup' }, { close: 1 }],
      ['code restored'],
    ],
    [
      'a lost end goes to the end',
      bold,
      [{ open: 1 }, { text: 'Un coup' }],
      [{ open: 1 }, { text: 'Un coup' }, { close: 1 }],
      ['code restored'],
    ],
    [
      'a turned pair is turned back',
      bold,
      [{ close: 1 }, { text: 'x' }, { open: 1 }],
      [{ open: 1 }, { text: 'x' }, { close: 1 }],
      ['code moved'],
    ],
    [
      'a doubled code stays once',
      [{ text: 'a' }, { single: 1 }],
      [{ single: 1 }, { text: 'a' }, { single: 1 }],
      [{ single: 1 }, { text: 'a' }],
      ['code removed'],
    ],
    [
      'a lost standalone code goes to the end',
      [{ text: 'a' }, { single: 1 }, { text: 'b' }],
      [{ text: 'c' }],
      [{ text: 'c' }, { single: 1 }],
      ['code restored'],
    ],
    [
      'a lost word keeps its distance',
      [{ text: 'Hi ' }, { keep: 1, text: '{name}' }],
      [{ text: 'Hallo' }],
      [{ text: 'Hallo ' }, { keep: 1, text: '{name}' }],
      ['code restored'],
    ],
    [
      'a changed word is put back',
      [{ keep: 1, text: '{name}' }, { text: '!' }],
      [{ keep: 1, text: '{nom}' }, { text: ' !' }],
      [{ keep: 1, text: '{name}' }, { text: ' !' }],
      ['code restored'],
    ],
    [
      'crossing pairs are nested',
      [{ open: 1 }, { open: 2 }, { text: 'a' }, { close: 2 }, { close: 1 }],
      [{ open: 1 }, { text: 'a' }, { open: 2 }, { text: 'b' }, { close: 1 }, { text: 'c' }, { close: 2 }],
      [{ open: 1 }, { text: 'a' }, { open: 2 }, { text: 'b' }, { close: 2 }, { close: 1 }, { text: 'c' }],
      ['code moved'],
    ],
    [
      'an invented code goes',
      [{ text: 'a' }],
      [{ open: 7 }, { text: 'b' }, { close: 7 }],
      [{ text: 'b' }],
      ['code removed'],
    ],
  ];
  test.each(rows)('%s', (_, pieces, given, wanted, notes) => {
    expect(repair(pieces, given)).toEqual({ pieces: wanted, notes });
  });
});

test('the check sees each planted fault', () => {
  const pieces: Piece[] = [{ open: 1 }, { text: 'a' }, { close: 1 }, { single: 2 }, { keep: 3, text: 'k' }];
  expect(isRight(pieces, pieces)).toBe(true);
  for (let i = 0; i < pieces.length; i += 1) {
    if (i === 1) continue;
    expect(
      isRight(
        pieces,
        pieces.filter((_, index) => index !== i),
      ),
    ).toBe(false);
    expect(isRight(pieces, [...pieces, pieces[i]!])).toBe(false);
  }
  expect(
    isRight(pieces, [{ close: 1 }, { text: 'a' }, { open: 1 }, { single: 2 }, { keep: 3, text: 'k' }]),
  ).toBe(false);
  expect(isRight(pieces, [...pieces.slice(0, 4), { keep: 3, text: 'other' }])).toBe(false);
  expect(isRight(pieces, [...pieces, { single: 9 }])).toBe(false);
});

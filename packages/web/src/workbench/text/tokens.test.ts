import fc from 'fast-check';
import { expect, test } from 'vitest';
import { codesOf, normalize, type Piece } from './pieces.ts';
import { somePieces } from './testing-pieces.ts';
import { readTokens, withTokens } from './tokens.ts';

test('parsing a text with tokens returns the pieces that it was made from', () => {
  fc.assert(
    fc.property(somePieces, (pieces) => {
      const same = { pieces: normalize(pieces), missing: [], doubled: [], unknown: [] };
      expect(readTokens(withTokens(pieces, pieces), pieces)).toEqual(same);
    }),
  );
});

test('parsing any text returns no doubled and no foreign code', () => {
  const typed = fc.stringMatching(/^([{}/=0-9 a]|\{1\}|\{\/1\}|\{=2\}){0,12}$/);
  fc.assert(
    fc.property(somePieces, typed, (source, text) => {
      const { pieces, missing } = readTokens(text, source);
      const has = codesOf(pieces).map((code) => JSON.stringify(code));
      const had = codesOf(source).map((code) => JSON.stringify(code));
      expect(new Set(has).size).toBe(has.length);
      expect([...has, ...missing.map((code) => JSON.stringify(code))].sort()).toEqual(had.sort());
    }),
  );
});

test('parsing reports missing, doubled and unknown tokens', () => {
  const source = [{ text: 'a ' }, { open: 1 }, { text: 'b' }, { close: 1 }, { keep: 2, text: '{name}' }];
  // Protected words are numbered separately from tags, so `{name}` has the number 1.
  expect(withTokens(source, source)).toBe('a {1}b{/1}{=1}');
  const read = readTokens('{1}b {7} {{x}} {1}', source);
  expect(read.missing).toEqual([
    { kind: 'close', number: 1, text: '' },
    { kind: 'keep', number: 2, text: '{name}' },
  ]);
  expect(read.doubled).toHaveLength(1);
  expect(read.unknown).toEqual(['{7}']);
  expect(read.pieces).toEqual([{ open: 1 }, { text: 'b {7} {x} ' }]);
});

test('readTokens() reads cuts', () => {
  const pieces: Piece[] = [{ text: 'a|1 ' }, { cut: 1 }, { text: 'b' }];
  expect(withTokens(pieces, pieces)).toBe('a|1 {|1}b');
  expect(readTokens('a|1 {|1}b', pieces)).toMatchObject({ pieces, missing: [], unknown: [] });
});

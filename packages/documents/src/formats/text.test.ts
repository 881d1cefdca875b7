import fc from 'fast-check';
import { expect, test } from 'vitest';
import { silent, upperCasing } from '../../test/engines.ts';
import { result, sent } from '../../test/helpers.ts';

test('plain text: line ends, blank lines, tabs and white space at the edges stay unchanged', () => {
  const text = '\ufeff  One two.  Three.\r\n\r\n\tfour\tfive   six \n\n\rseven\u2028eight\f\n';
  expect(result(text, 'text', silent)).toBe(text);
  expect(result(text, 'text')).toBe(text.toUpperCase());
});

test.each([
  ['Hello. World!\nNext line', ['Hello.', 'World!', 'Next line']],
  ['a paragraph\nover two lines', ['a paragraph', 'over two lines']],
  ['Name\tAge\n--\t12', ['Name', 'Age']],
  ['See {x} at https://a.example/b?c.', ['See [{x}] at [https://a.example/b?c].']],
  ['12 345\n***\n{x}\nhttps://a.example', []],
  ['I  like   it', ['I  like', 'it']],
] as [string, string[]][])('plain text: %j is divided into the expected segments', (text, wanted) => {
  expect(sent(text, 'text')).toEqual(wanted);
});

test('plain text: only the branches of ICU messages are translated', () => {
  const text = 'You have {n, plural, =0 {no files} one {# file} other {# files in {folder}}} left.';
  expect(sent(text, 'text')).toEqual([
    'You have [# files in folder] left.',
    'no files',
    '# file',
    '# files in [{folder}]',
  ]);
  expect(result(text, 'text')).toBe(
    'YOU HAVE {n, plural, =0 {NO FILES} one {# FILE} other {# FILES IN {folder}}} LEFT.',
  );
});

test('plain text: the branches of nested ICU messages are translated', () => {
  const text = "{g, select, f {{n, plural, one {her file} other {her '{' files}}} other {their files}}";
  expect(sent(text, 'text')).toEqual(['her file', "her '{' files", 'their files']);
  expect(result(text, 'text')).toBe(
    "{g, select, f {{n, plural, one {HER FILE} other {HER '{' FILES}}} other {THEIR FILES}}",
  );
});

test('plain text: the result equals the source when the engine changes nothing', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 200 }), (text) => {
      fc.pre(text.isWellFormed() && !text.includes('\0'));
      expect(result(text, 'text', silent)).toBe(text);
    }),
  );
});

const words = fc.constantFrom(
  'hello',
  'world',
  'it is.',
  'Go!',
  '{x}',
  '%s',
  'https://a.example/x',
  'a@b.example',
  '12',
  'é',
  '😀',
  '',
);
const gaps = fc.constantFrom(' ', '  ', '\t', '\n', '\r\n', '\r', '\n\n', '\u00a0', ' \t ', '');

test('plain text: only letters change when the engine translates to upper case', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(words, gaps), { maxLength: 30 }), (parts) => {
      const text = parts.flat().join('');
      const upperCased = result(text, 'text', upperCasing);
      expect(upperCased.length).toBe(text.length);
      expect(upperCased.toLowerCase()).toBe(text.toLowerCase());
      expect(upperCased.replace(/\S/gu, '')).toBe(text.replace(/\S/gu, ''));
    }),
  );
});

test('plain text: a very long line is divided into segments without losing text', () => {
  const text = `${'word, '.repeat(2_000)}${'无'.repeat(9_000)}. ${'a'.repeat(5_000)} end`;
  for (const segment of sent(text, 'text')) expect(segment.length).toBeLessThanOrEqual(2_000);
  expect(result(text, 'text', silent)).toBe(text);
  expect(result(text, 'text').toLowerCase()).toBe(text);
});

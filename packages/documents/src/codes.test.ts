import { expect, test } from 'vitest';
import { protectedRanges } from './codes.ts';
import { Limits } from './limits.ts';

const found = (text: string) => protectedRanges(text).map(({ from, to }) => text.slice(from, to));

test.each([
  ['Hi {{name}}!', ['{{name}}']],
  ['Hi {{ user.name | upcase }}!', ['{{ user.name | upcase }}']],
  ['{{{raw}}} text', ['{{{raw}}}']],
  ['{% if x %}yes{% endif %}', ['{% if x %}', '{% endif %}']],
  ['{x} and {0} and {user.name}', ['{x}', '{0}', '{user.name}']],
  ['{0,number,#.##} left', ['{0,number,#.##}']],
  ['$' + '{x} and %{y} and #{z}', ['$' + '{x}', '%{y}', '#{z}']],
  ['%s and %1$d, %@ or %.2f, %lld', ['%s', '%1$d', '%@', '%.2f', '%lld']],
  ['%(name)s is %name%', ['%(name)s', '%name%']],
  ['<%= name %> came', ['<%= name %>']],
  ['50% of all, 100%sure, 5 % off', []],
  ['{some words in braces}', []],
  ['a @ b, C++ {, }', []],
  ['See https://example.com/a?b=c&d=e#f.', ['https://example.com/a?b=c&d=e#f']],
  ['(http://example.com/x)', ['http://example.com/x']],
  ['请访问http://example.com看看', ['http://example.com']],
  ['www.example.com, please', ['www.example.com']],
  ['Write to a.b+c@example.co.uk.', ['a.b+c@example.co.uk']],
  ['1 < 2 and "x"', []],
] as [string, string[]][])('protectedRanges finds the variables and addresses in: %s', (text, wanted) => {
  expect(found(text)).toEqual(wanted);
});

test('protectedRanges protects words that are too long for an engine, but not long sentences without spaces', () => {
  const just = 'x'.repeat(Limits.word);
  expect(found(`a ${just} b`)).toEqual([]);
  expect(found(`a ${just}x b`)).toEqual([`${just}x`]);
  expect(found(`a ${just}x{y} b`)).toEqual([`${just}x{y}`]);
  expect(found('这'.repeat(1_000))).toEqual([]);
  expect(protectedRanges(`${just}x`)[0]!.code!.text!.length).toBe(Limits.word);
});

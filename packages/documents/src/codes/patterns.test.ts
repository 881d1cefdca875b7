import { describe, expect, test } from 'vitest';
import { ratioOf } from '../../test/growth.ts';
import { result, sent, target, xliff } from '../../test/helpers.ts';
import { countWords, type Format, PatternLimits, patternFaults, protectedParts, scan } from '../documents.ts';
import { patternRanges } from './patterns.ts';

const PROTECT = [String.raw`(?i)\bacme (?:pro|mini)\b`, String.raw`Order \d+`, 'R&D|Ωmega'];
const protect = { protect: PROTECT };

test.each<[Format, string, string]>([
  ['text', 'buy Acme Pro with Order 66 or ACME mini', 'BUY Acme Pro WITH Order 66 OR ACME mini'],
  ['text', '{% if x %}our R&D{% endif %}, Ωmega', '{% if x %}OUR R&D{% endif %}, Ωmega'],
  ['html', '<p>buy Acme Pro</p><p title="our acme mini">the R&amp;D <b>Order 5</b></p>', ''],
  ['srt', '1\n00:00:01,000 --> 00:00:02,000\nbuy <i>Acme Pro</i>\nnow\n', ''],
])('copies what a pattern matches in %s: %s', (format, text, wanted) => {
  const changed = result(text, format, undefined, 'de', protect);
  if (wanted !== '') expect(changed).toBe(wanted);
  for (const word of ['Acme Pro', 'acme mini', 'R&amp;D', 'Order 5'].filter((one) => text.includes(one))) {
    expect(changed).toContain(word);
  }
  expect(changed).not.toContain('buy');
});

test('copies what a pattern matches in XLIFF, also in escaped HTML', () => {
  const text = xliff(
    '<trans-unit id="1"><source>buy &lt;b&gt;Acme Pro&lt;/b&gt; <g id="1">Order 7</g> now</source></trans-unit>',
  );
  expect(target(result(text, 'xliff', undefined, 'de', protect))).toContain(
    'BUY &lt;b&gt;Acme Pro&lt;/b&gt; <g id="1">Order 7</g> NOW',
  );
});

test('does not count the words that a pattern matches', () => {
  const text = 'Buy Acme Pro with Order 66 today.';
  expect(countWords(scan(text, 'text', protect), 'en')).toBe(3);
  expect(countWords(scan(text, 'text'), 'en')).toBe(7);
  expect(countWords(scan('Acme Pro', 'text', protect), 'en')).toBe(0);
});

test('joins a match with a protected word that it overlaps', () => {
  expect(sent('see ACME_HOUSE-12 now', 'text', 'en', { protect: [String.raw`HOUSE-\d+`] })).toEqual([
    'see [ACME_HOUSE-12] now',
  ]);
  expect(sent('see abcd now', 'text', 'en', { protect: ['bcd?', 'ab'] })).toEqual(['see [abcd] now']);
});

test('finds a match at any place of a long text, and ignores one that is longer than a word may be', () => {
  const text = `${'word '.repeat(49)}😀 ACME-1 ${'word '.repeat(51)}ACME-2${' word'.repeat(60)} ACME-3`;
  const found = patternRanges(text, [String.raw`\bACME-\d\b`, 'x{257}']);
  expect(found.map(({ from, to }) => text.slice(from, to))).toEqual(['ACME-1', 'ACME-2', 'ACME-3']);
  expect(patternRanges('x'.repeat(300), ['x+'])).toEqual([]);
  expect(patternRanges('x'.repeat(256), ['x+'])).toHaveLength(1);
  for (let before = 500; before < 520; before += 1) {
    const [only, ...rest] = patternRanges(`${'-'.repeat(before)}ACME PRO!`, ['ACME PRO']);
    expect([only?.from, only?.to, rest]).toEqual([before, before + 8, []]);
  }
});

test('shows all that is protected in a sample', () => {
  const text = 'Acme Pro for {name}';
  const parts = protectedParts(text, PROTECT).map(({ start, end }) => text.slice(start, end));
  expect(parts).toEqual(['Acme Pro', '{name}']);
});

describe('patternFaults', () => {
  test.each([
    [String.raw`(a)\1`, 'has a backreference, which is not supported.'],
    [String.raw`(?<n>a)\k<n>`, 'has a backreference, which is not supported.'],
    ['a(?=b)', 'has a lookahead or lookbehind, which is not supported.'],
    ['(?<!a)b', 'has a lookahead or lookbehind, which is not supported.'],
    ['a*', 'matches without any character.'],
    [String.raw`\b`, 'matches without any character.'],
    ['^|x', 'matches without any character.'],
    ['', 'is empty.'],
    ['(a', 'is not a regular expression: missing closing ).'],
    ['[a', 'is not a regular expression: missing closing ].'],
    ['a{2,2000}', 'is not a regular expression: invalid repeat count.'],
    ['x'.repeat(PatternLimits.length + 1), `is longer than ${PatternLimits.length} characters.`],
  ])('refuses %j', (pattern, fault) => {
    expect(patternFaults(['fine', pattern])).toEqual([{ index: 1, fault }]);
  });

  test('refuses too many patterns, and patterns that are too large together', () => {
    const many = Array.from({ length: PatternLimits.patterns + 1 }, (_, index) => `x${index}`);
    expect(patternFaults(many)).toEqual([{ index: -1, fault: 'has more than 50 patterns.' }]);
    expect(patternFaults(many.slice(1))).toEqual([]);
    expect(patternFaults(['[A-Z][a-z ]{0,200}Ltd', String.raw`\bACME-\d+`])).toEqual([]);
    const tooLarge = {
      index: -1,
      fault: 'has patterns that are too large together. Use smaller repetitions.',
    };
    expect(patternFaults(Array(2).fill('[A-Z][a-z ]{0,200}Ltd'))).toEqual([tooLarge]);
    // What comes after them is not read.
    expect(patternFaults(['(a', String.raw`\w{0,900}`, '(b'])).toEqual([
      { index: 0, fault: 'is not a regular expression: missing closing ).' },
      tooLarge,
    ]);
  });
});

test('never matches half a character', () => {
  const text = `x${'😀'.repeat(400)}`;
  expect(patternRanges(text, ['[^x]']).every(({ from, to }) => text.slice(from, to) === '😀')).toBe(true);
  expect(patternRanges(text, ['[^x]'])).toHaveLength(400);
});

test.each([
  ['many matches', 'ACME-12 ', [String.raw`ACME-\d+`, 'AC']],
  ['a search that goes on behind each match', 'a', ['a.*b|a', 'a.{0,200}b|aa']],
  ['states that double', 'ab', ['(?:a|b)*a(?:a|b){12}c', '(?:a|aa)+$', '(?:[ab]+)+c']],
])('takes linear time for %s', (_name, part, list) => {
  const work = (length: number) => () => patternRanges(part.repeat(length / part.length), list);
  expect(ratioOf(work, 8_192, 3)).toBeLessThan(3);
});

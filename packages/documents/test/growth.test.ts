/** The cost of a document grows in proportion to its length, whatever it holds. */

import { describe, expect, test } from 'vitest';
import { type Format, scan } from '../src/documents.ts';
import { growths, handle, ratioOf } from './growth.ts';
import { xliff } from './helpers.ts';

/** Work in proportion doubles, work that grows with the square becomes four times as much. */
const MOST = 3;

test('takes less than three times as long when an atom of any kind is written twice as often', () => {
  const found = [...growths(MOST)].filter(({ ratio }) => ratio !== undefined && ratio >= MOST);
  expect(found.map(({ atom, place, ratio }) => ({ atom, place, ratio }))).toEqual([]);
});

describe('the measurement', () => {
  const spaces = (length: number) => ' '.repeat(length);

  test.each<[string, (text: string) => unknown]>([
    ['an expression that tries again at every space', (text) => /\s+$/.test(`${text}x`)],
    [
      'a list that is searched for each of its members',
      (text) => {
        const seen: number[] = [];
        for (let at = 0; at < text.length; at += 1) if (!seen.includes(at)) seen.push(at);
      },
    ],
  ])('finds %s', (_, work) => {
    // Measured as often as can be, so that one disturbed measurement does not count.
    expect(ratioOf((length) => () => work(spaces(length)), 8_192, 1)).toBeGreaterThanOrEqual(MOST);
  });

  test('finds nothing wrong with work in proportion', () => {
    const work = (length: number) => () => spaces(length).replace(/\s/g, (space) => space + space);
    expect(ratioOf(work, 32_768, MOST)).toBeLessThan(MOST);
  });
});

/** Texts that took minutes, or that ended in an error of the machine. The measure is that there is an answer at all. */
const unit = (source: string) => `<trans-unit id="0">${source}</trans-unit>`;
const long: [string, Format, string][] = [
  [
    'a self-closing target with spaces',
    'xliff',
    xliff(unit(`<source>House</source><target${' '.repeat(62_000)}state="new"/>`).repeat(20)),
  ],
  [
    'a long prefix',
    'xliff',
    xliff(unit(`<${'x'.repeat(60_000)}:source>House</${'x'.repeat(60_000)}:source>`).repeat(10)),
  ],
  [
    'texts inside codes inside a text',
    'xliff',
    xliff(
      unit(`<source><ph id="1"><sub>${'<ph id="1"><sub>a</sub></ph>'.repeat(200_000)}</sub></ph></source>`),
    ),
  ],
  [
    'spaces between the sentences of a cue',
    'srt',
    `1\n00:00:01,000 --> 00:00:04,000\nHello.${' '.repeat(95_000)}How are you?\n\n`.repeat(10),
  ],
  [
    'carriage returns in a cue',
    'srt',
    `1\n00:00:01,000 --> 00:00:04,000\nHello.${'\r'.repeat(95_000)}How are you?\n\n`.repeat(10),
  ],
  ['open tags in a message', 'text', `{n, plural, other {${'< '.repeat(1_000_000)}`],
  ['a word', 'text', `The house ${'a'.repeat(10_000_000)} is big.`],
  ['a word of letters in pairs', 'text', `The house ${'𝐛'.repeat(2_500_000)} is big.`],
  ['an address', 'text', `Write to a@a${'.a'.repeat(4_900_000)} now.`],
  ['sentences without letters', 'text', `${'1! '.repeat(30_000)} Yes.`],
];

test.each(long)('answers for millions of characters: %s', (_, format, text) => {
  handle(text, format);
  if (format !== 'xliff') expect(scan(text, format).units.length).toBeGreaterThan(0);
});

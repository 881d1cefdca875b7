/** Tests that the processing time of a document is linear in its length, whatever the document contains. */

import { describe, expect, test } from 'vitest';
import { FULL } from '../../../scripts/full.ts';
import { type Format, scan } from '../src/documents.ts';
import { growths, handle, ratioOf } from './growth.ts';
import { xliff } from './helpers.ts';

/**
 * The largest accepted ratio between the time for a text and the time for half of it. The ratio of linear work is 2,
 * that of quadratic work 4.
 */
const MOST = 3;
/** Each text is repeated in every fourth place, and white space or with `FULL=1` all texts in every place. */
const SHARE = FULL ? 1 : 4;

test('document processing takes less than three times as long when any text is repeated twice as often', () => {
  const found = [...growths(MOST, SHARE)].filter(({ ratio }) => ratio !== undefined && ratio >= MOST);
  expect(found.map(({ atom, place, ratio }) => ({ atom, place, ratio }))).toEqual([]);
});

describe('ratioOf, which measures how work grows with the length', () => {
  const spaces = (length: number) => ' '.repeat(length);

  test.each<[string, (text: string) => unknown]>([
    ['a regular expression that restarts at every space', (text) => /\s+$/.test(`${text}x`)],
    [
      'a list that is searched for each of its elements',
      (text) => {
        const seen: number[] = [];
        for (let at = 0; at < text.length; at += 1) if (!seen.includes(at)) seen.push(at);
      },
    ],
  ])('reports %s as more than linear', (_, work) => {
    // The measurement is repeated, so that one disturbed measurement has no effect.
    expect(ratioOf((length) => () => work(spaces(length)), 8_192, 1, 6)).toBeGreaterThanOrEqual(MOST);
  });

  test('accepts linear work', () => {
    const work = (length: number) => () => spaces(length).replace(/\s/g, (space) => space + space);
    expect(ratioOf(work, 32_768, MOST)).toBeLessThan(MOST);
  });
});

/** Texts that took minutes or overflowed the stack in earlier versions. The test only checks that they complete. */
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
  ['an address', 'text', `Write to a@a${'.a'.repeat(1_000_000)} now.`],
  ['sentences without letters', 'text', `${'1! '.repeat(30_000)} Yes.`],
];

test.each(long)('document processing completes for millions of characters: %s', (_, format, text) => {
  handle(text, format);
  if (format !== 'xliff') expect(scan(text, format).units.length).toBeGreaterThan(0);
});

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  countRepeatedWords,
  countSegmentWords,
  countWords,
  DocumentError,
  type Format,
  scan,
  segments,
} from '../src/documents.ts';
import { samples } from './corpus.ts';

function count(text: string, format: Format, language = 'en') {
  const document = scan(text, format);
  return {
    words: countWords(document, language),
    repeated: countRepeatedWords(document, language, segments(document, language)),
  };
}

/** Returns true if a sentence ends inside a word (`a.b`). The two parts then have more words than the whole. */
function endsInsideWord(line: string): boolean {
  const sentences = segments(scan(line, 'text'), 'en').map(({ pieces }) =>
    pieces.map((piece) => ('text' in piece ? piece.text : '')).join(''),
  );
  return sentences.some((sentence, index) => index > 0 && line.includes(sentences[index - 1]! + sentence));
}

describe('countWords', () => {
  const XLIFF = (units: string) =>
    `<xliff version="1.2"><file source-language="en" original="x" datatype="plaintext"><body>${units}</body></file></xliff>`;

  it.each([
    ['html', '<p>un<b>fair</b>ly</p>', 1],
    ['html', '<p>one<img src="x">two</p>', 2],
    ['html', '<p>See <span translate="no">the big house</span> now.</p>', 2],
    ['html', '<p>17 — 4</p><p>17 houses</p>', 2],
    ['text', 'The house.\n\n17\n', 2],
    [
      'xliff',
      XLIFF(
        '<trans-unit id="1"><source>The house.</source></trans-unit>' +
          '<trans-unit id="2" translate="no"><source>Leave me alone.</source></trans-unit>',
      ),
      2,
    ],
  ] as const)('counts only words that are translated: %s %j', (format, text, words) => {
    expect(count(text, format).words).toBe(words);
    // Counting the words segment by segment must give the same number as counting those of the whole document.
    const document = scan(text, format);
    const sum = segments(document, 'en').reduce(
      (all, { pieces }) => all + countSegmentWords(pieces, 'en'),
      0,
    );
    expect(sum).toBe(words);
  });
});

describe('countRepeatedWords', () => {
  it.each([
    ['text', 'The house is big. The house is big.', 4],
    ['text', 'The house is big. The house is red.', 0],
    ['text', 'The house.\nThe house.\n\nThe house.', 4],
    ['text', '17\n17\n…\n…', 0],
    ['html', '<p>The <b>house</b>.</p><p title="The house.">The <i>house</i>.</p>', 2],
    ['html', '<p>The house.</p><p>The <b>house</b>.</p>', 0],
    ['html', '<p>un<b>fair</b>ly</p><p>un<i>fair</i>ly</p>', 1],
    ['html', '<p>See <b>it</b> now.</p><p>See <b><span translate="no">it</span></b> now.</p>', 0],
    ['html', '<p>one<img src="x">two</p><p>one<img src="y">two</p>', 2],
    ['html', '<p>one<b>two</b>three</p><p>one<img src="x">two<img src="y">three</p>', 0],
    ['html', '<p>See {one} now.</p><p>See {two} now.</p><p>See {one} now.</p>', 2],
    ['srt', '1\n00:00:01,000 --> 00:00:02,000\nNo.\n\n2\n00:00:03,000 --> 00:00:04,000\nNo.\n', 1],
  ] as const)('counts the words of repeated segments: %s %j', (format, text, repeated) => {
    expect(count(text, format).repeated).toBe(repeated);
  });

  it('counts every occurrence of a sentence except the first', () => {
    const sentences = ['The house is big.', 'Nobody came.', 'It rains in May!', 'Why?'];
    const lengths = [4, 2, 4, 1];
    fc.assert(
      fc.property(fc.array(fc.nat(sentences.length - 1), { minLength: 1, maxLength: 30 }), (chosen) => {
        const { words, repeated } = count(chosen.map((index) => sentences[index]).join('\n'), 'text');
        const sum = (indexes: Iterable<number>) => [...indexes].reduce((all, one) => all + lengths[one]!, 0);
        expect(words).toBe(sum(chosen));
        expect(repeated).toBe(sum(chosen) - sum(new Set(chosen)));
      }),
    );
  });

  it('never exceeds countWords, and counts the whole second half of a text that is written twice', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 60 }), (line) => {
        fc.pre(!line.includes('\0') && line.isWellFormed() && !endsInsideWord(line));
        const once = count(line, 'text');
        const twice = count(`${line}\n${line}`, 'text');
        expect(once.repeated).toBeLessThanOrEqual(once.words);
        expect(twice.words - twice.repeated).toBe(once.words - once.repeated);
      }),
    );
  });

  const readable = (['html', 'srt', 'xliff'] as const).flatMap(samples).filter(({ text, format }) => {
    try {
      return scan(text, format);
    } catch (error) {
      if (error instanceof DocumentError) return false;
      throw error;
    }
  });
  it.each(readable)('never exceeds countWords in the sample file $name', ({ text, format }) => {
    const { words, repeated } = count(text, format);
    expect(repeated).toBeGreaterThanOrEqual(0);
    expect(repeated).toBeLessThanOrEqual(words);
  });
});

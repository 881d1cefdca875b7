import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { countWordLike } from './count.ts';

function bySegmenter(text: string, language: string): number {
  const segmenter = new Intl.Segmenter(language, { granularity: 'word' });
  return [...segmenter.segment(text)].filter(({ isWordLike }) => isWordLike).length;
}

const counted = (text: string, language = 'en') =>
  countWordLike(text, new Intl.Segmenter(language, { granularity: 'word' }));

/** Characters that stand near each other in the rules, so that short texts meet them. */
const tricky = fc.constantFrom(
  ...[
    'a',
    'Z',
    'é',
    'ß',
    'ŀ',
    '0',
    '9',
    ' ',
    '  ',
    '\n',
    '\r\n',
    '\t',
    '.',
    ',',
    ';',
    ':',
    "'",
    '’',
    '‘',
    '_',
    '-',
  ],
  ...[
    '"',
    '“',
    '…',
    '–',
    '/',
    '@',
    '#',
    '·',
    '‧',
    '\u00a0',
    '\u00ad',
    '\u0301',
    '\u200d',
    '\u200b',
    '½',
    '²',
    'ª',
    'µ',
  ],
  ...[
    'א',
    'ב',
    'ا',
    'я',
    '中',
    '文',
    'カ',
    'か',
    'ไ',
    'ท',
    '한',
    '😀',
    '👩‍👩‍👧',
    '\u202e',
    '×',
    '÷',
    '$',
    '%',
    '\u3000',
  ],
);

describe('counting words', () => {
  it('counts as Intl.Segmenter does, whatever stands side by side', () => {
    fc.assert(
      fc.property(
        fc.array(tricky, { maxLength: 24 }),
        fc.constantFrom('en', 'es', 'sv', 'fi', 'de', 'ja'),
        (parts, language) => {
          const text = parts.join('');
          expect(counted(text, language)).toBe(bySegmenter(text, language));
        },
      ),
      { numRuns: 20_000 },
    );
  });

  it('counts as Intl.Segmenter does in any text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 60 }), (text) => {
        expect(counted(text)).toBe(bySegmenter(text, 'en'));
      }),
      { numRuns: 3_000 },
    );
  });

  it.each([
    ['It’s the 3rd house, isn’t it?', 6],
    ['e.g. 1,500 x 2.5', 4],
    ['well-known', 2],
    ['', 0],
    ['— … !', 0],
  ])('finds the words of %j', (text, words) => {
    expect(counted(text)).toBe(words);
  });
});

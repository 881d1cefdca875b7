import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { countWordLike } from './count.ts';

function bySegmenter(text: string, language: string): number {
  const segmenter = new Intl.Segmenter(language, { granularity: 'word' });
  return [...segmenter.segment(text)].filter(({ isWordLike }) => isWordLike).length;
}

const counted = (text: string, language = 'en') =>
  countWordLike(text, new Intl.Segmenter(language, { granularity: 'word' }));

/**
 * Characters whose combinations UAX #29 treats specially. Short random texts made of them contain many special cases.
 */
const tricky = fc.constantFrom(
  ...(
    'a Z é ß ŀ 0 9 . , ; : ’ ‘ _ - " “ … – / @ # · ‧ \u00ad \u0301 \u200d \u200b ½ ² ª µ א ב ا я 中 文 ' +
    'カ か ไ ท 한 😀 👩‍👩‍👧 \u202e × ÷ $ %'
  ).split(' '),
  ...[' ', '  ', '\n', '\r\n', '\t', "'", '\u00a0', '\u3000'],
);

describe('word counting', () => {
  it('returns the same count as Intl.Segmenter for any combination of special characters', () => {
    fc.assert(
      fc.property(
        fc.array(tricky, { maxLength: 24 }),
        fc.constantFrom('en', 'es', 'sv', 'fi', 'de', 'ja'),
        (parts, language) => {
          const text = parts.join('');
          expect(counted(text, language)).toBe(bySegmenter(text, language));
        },
      ),
    );
  });

  it('returns the same count as Intl.Segmenter for any text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 60 }), (text) => {
        expect(counted(text)).toBe(bySegmenter(text, 'en'));
      }),
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

/** Returns the texts that `countWordLike` passes to the slow `Intl.Segmenter`. */
function segmented(text: string): string[] {
  const segmenter = new Intl.Segmenter('en', { granularity: 'word' });
  const found: string[] = [];
  const listening = {
    segment(part: string) {
      found.push(part);
      return segmenter.segment(part);
    },
  } as Intl.Segmenter;
  expect(countWordLike(text, listening)).toBe(bySegmenter(text, 'en'));
  return found;
}

describe('countWordLike', () => {
  const letters = Array.from({ length: 0x250 }, (_, code) => String.fromCharCode(code)).filter(
    (letter) => /[\p{Lu}\p{Ll}]/u.test(letter) && /\p{sc=Latin}/u.test(letter),
  );
  const marks = [...'!"#$%&()*+-/<=>?@[\\]^`{|}~¡¿«»“”„–—…'];

  it('does not call Intl.Segmenter for words of Latin letters and digits', () => {
    expect(letters.length).toBeGreaterThan(400);
    expect(segmented(letters.join(' '))).toEqual([]);
    expect(segmented(letters.join(''))).toEqual([]);
    expect(segmented('0 1 2 3 4 5 6 7 8 9 0123456789 3rd A4\ta\nb\rc')).toEqual([]);
  });

  it.each(marks)('does not call Intl.Segmenter for words around the character %s', (mark) => {
    expect(segmented(`${mark} a${mark} ${mark}b a${mark}b 1${mark}2 ${mark}${mark}`)).toEqual([]);
  });

  it.each([..."'’.,;:"])(
    'does not call Intl.Segmenter for the character %s at the start or end of a word',
    (mark) => {
      expect(segmented(`${mark} a${mark} 1${mark} ${mark}b ${mark}2 a${mark}) ${mark}`)).toEqual([]);
    },
  );

  it('calls Intl.Segmenter for an apostrophe next to a digit, but not for one between two letters', () => {
    expect(segmented("It’s its house, isn't it? o’clock")).toEqual([]);
    expect(segmented("1'a b'2 3’4")).toEqual(["1'a", "b'2", '3’4']);
  });

  it('calls Intl.Segmenter only for the parts of a text that special rules may join or divide', () => {
    expect(segmented('The a.b house 1,500 is 2:3 x;y.')).toEqual(['a.b', '1,500', '2:3', 'x;y.']);
    expect(segmented('The 日本 house µm, a_b — ½ ‰ me.')).toEqual(['日本', 'µm,', 'a_b', '½', '‰']);
    expect(segmented('(日)\n日')).toEqual(['(日)', '日']);
  });
});

/**
 * Tests of references to noncharacters of Unicode, such as `&#xFFFF;`. They are not decoded: segments do not
 * contain them, and the result has them unchanged.
 */
import { describe, expect, it } from 'vitest';
import { FULL } from '../../../../scripts/full.ts';
import { result, sent, xliff } from '../../test/helpers.ts';
import { protectedRanges } from './codes.ts';
import { cleanText } from './escapes.ts';

const NONCHARACTER = /\p{Noncharacter_Code_Point}/u;
const REFERENCES = [
  '&#xFFFF;',
  '&#xffff',
  '&#X0FFFE;',
  '&#65535;',
  '&#0065534',
  '&#xFDD0;',
  '&#xfdef;',
  '&#64976;',
  '&#x1FFFF;',
  '&#x10fffe;',
  '&#1114111;',
  '&#131070;',
];
const unit = (source: string) => xliff(`<trans-unit id="1"><source>${source}</source></trans-unit>`);

describe('reference to a noncharacter', () => {
  it.each(REFERENCES)('%s is copied unchanged in HTML', (reference) => {
    const text = `<p title="A ${reference} door">The house ${reference} is big.</p>`;
    expect(JSON.stringify(sent(text, 'html'))).not.toMatch(NONCHARACTER);
    expect(result(text, 'html')).toBe(`<p title="A ${reference} DOOR">THE HOUSE ${reference} IS BIG.</p>`);
  });

  it.each(REFERENCES)('%s is copied unchanged in subtitles', (reference) => {
    const cue = (text: string) => `1\n00:00:01,000 --> 00:00:02,000\n${text}\n`;
    expect(JSON.stringify(sent(cue(`The house ${reference} is big.`), 'srt'))).not.toMatch(NONCHARACTER);
    expect(result(cue(`The house ${reference} is big.`), 'srt')).toBe(cue(`THE HOUSE ${reference} IS BIG.`));
  });

  it.each(REFERENCES.filter((reference) => reference.endsWith(';')))(
    '%s is copied unchanged in XLIFF',
    (reference) => {
      const escaped = reference.replace('&', '&amp;');
      const text = unit(`The &lt;b&gt;house&lt;/b&gt; ${escaped} is big.`);
      expect(JSON.stringify(sent(text, 'xliff'))).not.toMatch(NONCHARACTER);
      expect(result(text, 'xliff')).toContain(
        `<target>THE &lt;b&gt;HOUSE&lt;/b&gt; ${escaped} IS BIG.</target>`,
      );
    },
  );

  it('is copied unchanged in XLIFF if XML allows the character, and is rejected otherwise', () => {
    const text = unit('The house &#xFDD0; is big.');
    expect(result(text, 'xliff')).toContain('<target>THE HOUSE &#xFDD0; IS BIG.</target>');
    expect(() => sent(unit('The house &#xFFFF; is big.'), 'xliff')).toThrow(/not well-formed/);
  });

  it('does not prevent the decoding of references to characters with similar numbers', () => {
    expect(sent('<p>&#xFFFD; &#xFDCF; &#xFDF0; &#65533; &#xFFF; &#xAFFF; &#655350; a</p>', 'html')).toEqual([
      '\ufffd \ufdcf \ufdf0 \ufffd \u0fff \uafff \u{9fff6} a',
    ]);
  });
});

/** The distance between the tried characters. It is a prime number, so that they end in different digits. */
const STEP = FULL ? 1 : 31;

it('protectedRanges protects references to noncharacters, decimal and hexadecimal, and no other references without a semicolon', () => {
  const isKept = (reference: string) => protectedRanges(reference).length > 0;
  for (let code = 1; code <= 0x10ffff; code += 1) {
    if (code >= 0xd800 && code <= 0xdfff) continue;
    const expected = NONCHARACTER.test(String.fromCodePoint(code));
    const isNear = NONCHARACTER.test(
      String.fromCodePoint(code > 2 ? code - 2 : 1, Math.min(code + 2, 0x10ffff)),
    );
    if (code % STEP !== 0 && !expected && !isNear) continue;
    const references = [`&#${code}`, `&#x${code.toString(16)}`];
    if (references.some((reference) => isKept(reference) !== expected)) throw new Error(references[0]);
  }
});

it('cleanText removes every noncharacter from translations', () => {
  expect(cleanText('a\ufdd0b\uffffc\u{1fffe}d\u{10ffff}e\u{1f642}', 'html')).toBe('abcde\u{1f642}');
});

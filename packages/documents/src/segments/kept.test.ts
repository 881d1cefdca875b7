import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { countRepeatedWords, countWords, type Format, rebuild, scan, segments } from '../documents.ts';
import { isPlain, primaryLanguage } from '../model/scripts.ts';

/** Returns the text of each segment, the reason if the segment is not translated, and the number of counted words. */
function read(text: string, format: Format = 'text', language = 'en') {
  const document = scan(text, format, { sourceLanguage: language, targetLanguage: 'es' });
  const found = segments(document, language).map(({ pieces, kept }) => [
    pieces.map((piece) => ('text' in piece ? piece.text : '')).join(''),
    kept,
  ]);
  return { found, words: countWords(document, language) };
}

/** Returns why the only segment of a line is not translated. */
const reasonOf = (line: string, language = 'en') => read(line, 'text', language).found[0]?.[1];

describe('script of a segment', () => {
  it.each([
    ['Русский', 'en', 'script'],
    ['日本語', 'en', 'script'],
    ['Привет, как дела? ', 'en', 'script'],
    ['𝐛𝐨𝐥𝐝 𝐥𝐞𝐭𝐭𝐞𝐫𝐬', 'en', 'script'],
    ['Français, Español, Türkçe, Tiếng Việt', 'en', undefined],
    ['The word Привет means hello.', 'en', undefined],
    ['Hello there', 'ru', 'script'],
    ['Дом NBA большой', 'ru', undefined],
    ['Скачайте Adobe Acrobat Reader DC.', 'ru', undefined],
    ['قم بتنزيل Google Chrome Enterprise Browser الآن.', 'ar', undefined],
    ['Κατεβάστε το Visual Studio Code Insiders', 'el', undefined],
    ['Привет, как дела? Это довольно длинное предложение (id).', 'en', 'script'],
    ['Ovo je kuća', 'sr', undefined],
    ['Ово је кућа', 'sr', undefined],
    ['日本語', 'sr', 'script'],
    ['iPhone Pro Max', 'ja', undefined],
    ['コーヒー', 'ja', undefined],
    ['한국어', 'ja', 'script'],
    ['iPhone Pro Max', 'zh-hant', undefined],
    ['한국어', 'ko', undefined],
    ['ኣብ ቤት', 'ti', undefined],
    ['Привет', 'und', undefined],
    ['Привет', 'no language', undefined],
  ])(
    'decides whether %s is copied instead of translated when the source language is %s',
    (line, language, reason) => {
      expect(reasonOf(line, language)).toBe(reason);
    },
  );
});

describe('share of symbols in a segment', () => {
  it.each([
    ['🎉🎉🎉🎉🎉🎉 ok 🎉', 'symbols'],
    ['→→→ x', 'symbols'],
    ['★★★★★ Good', undefined],
    ['Price: $4,500.00', undefined],
    ['-------- Chapter --------', undefined],
  ])(
    'decides whether the segment is copied instead of translated (limit: three symbols per letter): %s',
    (line, reason) => {
      expect(reasonOf(line)).toBe(reason);
      expect(reasonOf(line, 'und')).toBe(reason);
    },
  );
});

describe('language declared in a document', () => {
  it('causes a segment to be copied when most of its letters are declared to be in another language', () => {
    const html =
      '<ul><li><a lang="de" href="#">Deutsch</a></li><li lang=fr title="En français">Français<li>Home</ul>' +
      '<p>He said <q lang="de">Das ist gut</q> and left the house.</p><img alt="Das Haus" lang=de><img alt="A house">';
    expect(read(html, 'html')).toEqual({
      found: [
        ['Deutsch', 'language'],
        ['En français', 'language'],
        ['Français', 'language'],
        ['Home', undefined],
        ['He said Das ist gut and left the house.', undefined],
        ['Das Haus', 'language'],
        ['A house', undefined],
      ],
      words: 12,
    });
  });

  it.each([
    ['<html lang="de"><body lang="fr"><p>The house', undefined],
    ['<p lang="en-GB">The house', undefined],
    ['<p lang="eng">The house', undefined],
    ['<p lang="">The house', undefined],
    ['<p lang="us">The house', undefined],
    ['<p lang="english">The house', undefined],
    ['<p lang="mul">The house', undefined],
    ['<p xml:lang="de">Das Haus', 'language'],
    ['<p lang="de">a<p>The house', undefined],
    ['<p lang="de"><script>x</script><b class="notranslate" lang="fr">x</b>Das Haus', 'language'],
    ['<p><b class="notranslate" lang="fr">x</b> The house', undefined],
    ['<p><script lang="ts">x</script>The house', undefined],
    ['<div lang="de"><p lang="en">The house', undefined],
    ['<div lang="de"><p lang="en">x</p>Das Haus', 'language'],
  ])('comes from the nearest element below the root: %s', (html, reason) => {
    expect(read(html, 'html').found.at(-1)?.[1]).toBe(reason);
  });

  it('applies to elements inside the source of a trans-unit', () => {
    const xliff = (source: string) =>
      `<xliff version="1.2"><file original="a" source-language="en" xml:lang="fr" datatype="plaintext"><body><trans-unit id="1">${source}</trans-unit></body></file></xliff>`;
    const inline = '<source xml:lang="de">The house. <g id="1" xml:lang="de">Das Haus.</g> Big.</source>';
    expect(read(xliff(inline), 'xliff').found).toEqual([
      ['The house.', undefined],
      ['Das Haus.', 'language'],
      ['Big.', undefined],
    ]);
  });

  it.each([
    ['nb', 'no'],
    ['iw', 'he'],
    ['zh-Hant', 'zh'],
    ['EN_us', 'en'],
    ['x-klingon', undefined],
    ['en-\u0000', undefined],
  ])('is the primary language of the language tag %s', (tag, language) => {
    expect(primaryLanguage(tag)).toBe(language);
  });
});

const WRAPS: Record<Format, (segments: readonly string[]) => string> = {
  text: (all) => all.join('\n'),
  html: (all) => all.map((one) => `<p>${one}</p>`).join('\n'),
  srt: (all) =>
    all.map((one, at) => `${at + 1}\n00:${10 + at}:00,000 --> 00:${10 + at}:02,000\n${one}\n`).join('\n'),
  vtt: (all) =>
    `WEBVTT\n\n${all.map((one, at) => `00:${10 + at}:00.000 --> 00:${10 + at}:02.000\n${one}\n`).join('\n')}`,
  xliff: (all) =>
    `<xliff version="1.2"><file original="a" source-language="en" datatype="plaintext"><body>${all
      .map((one, at) => `<trans-unit id="${at}"><source>${one}</source><target>${one}</target></trans-unit>`)
      .join('')}</body></file></xliff>`,
};
const OWN = ['The house is big.', 'A red door', 'We like it here, near the river.'];
const FOREIGN = ['Привет, как дела?', '日本語', 'العربية', '𝐛𝐨𝐥𝐝', '🎉🎉🎉🎉 a', 'Ελλάδα 2024'];

describe.each(Object.keys(WRAPS) as Format[])('segments in %s', (format) => {
  const mixed = fc.array(
    fc.oneof(
      fc.constantFrom(...OWN).map((text) => ({ text, kept: false })),
      fc.constantFrom(...FOREIGN).map((text) => ({ text, kept: true })),
    ),
    { minLength: 1, maxLength: 12 },
  );

  it('are copied byte for byte and not counted when they are not in the source language', () => {
    fc.assert(
      fc.property(mixed, (all) => {
        const wrap = WRAPS[format];
        const text = wrap(all.map((one) => one.text));
        const document = scan(text, format, { sourceLanguage: 'en', targetLanguage: 'es' });
        const found = segments(document, 'en');
        expect(found.map(({ kept }) => kept !== undefined)).toEqual(all.map(({ kept }) => kept));
        const own = all.filter(({ kept }) => !kept).map((one) => one.text);
        const alone = scan(wrap(own.length > 0 ? own : ['1']), format, { sourceLanguage: 'en' });
        expect(countWords(document, 'en')).toBe(countWords(alone, 'en'));
        expect(countRepeatedWords(document, 'en', found)).toBe(
          countRepeatedWords(alone, 'en', segments(alone, 'en')),
        );
        const drafts = found.map(({ id, pieces, kept }) => [id, kept ? pieces : [{ text: 'X' }]] as const);
        const made = rebuild(document, new Map(drafts), 'es');
        for (const one of all) if (one.kept) expect(made).toContain(one.text);
        for (const one of own) expect(made.split(`<source>${one}</source>`).join('')).not.toContain(one);
      }),
    );
  });
});

it('isPlain returns false for symbols and for letters of scripts other than Latin', () => {
  for (let code = 0; code < 0xd800; code++) {
    const character = String.fromCharCode(code);
    if (isPlain(character, 'en')) expect(character).not.toMatch(/[[\p{L}--\p{scx=Latn}]\p{S}]/v);
  }
});

import { FORMATS } from '@dragoman/documents';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import type { AccountRef } from '../base/account.ts';
import { createScanner, INLINE_LENGTH, type Scanner } from './scanner.ts';
import { type AssembleTask, examine, open } from './tasks.ts';

const account = { part: 1, accountId: 'a' } as AccountRef;
const scanner = createScanner();
afterAll(() => scanner.close());

const task = {
  format: 'text' as const,
  settings: {},
  sourceLanguage: 'en' as string | undefined,
  targetLanguage: 'es',
  offered: ['en', 'fr'],
  suppliedText: undefined,
};
const sentence = 'The house stands near the river. ';
const large = `${sentence.repeat(Math.ceil((INLINE_LENGTH + 1) / sentence.length))}\n`;

describe('Scanner.examine', () => {
  it('returns the same result in this process and in a scanner process', async () => {
    expect(large.length).toBeGreaterThan(INLINE_LENGTH);
    expect(await scanner.examine(account, { ...task, text: large })).toEqual(
      examine({ ...task, text: large }),
    );
    expect(await scanner.examine(account, { ...task, text: sentence })).toEqual({
      kind: 'valid',
      sourceLanguage: 'en',
      words: 6,
      repeatedWords: 0,
    });
  });

  it('leaves the event loop free while a large text is scanned', async () => {
    let turns = 0;
    const turning = setInterval(() => turns++, 1);
    await scanner.examine(account, { ...task, text: large.repeat(32) });
    clearInterval(turning);
    expect(turns).toBeGreaterThan(1);
  });

  it('detects which of the offered languages a text has, or reports that the language is undetermined', async () => {
    const asked = { ...task, sourceLanguage: undefined };
    expect(await scanner.examine(account, { ...asked, text: sentence.repeat(3) })).toMatchObject({
      sourceLanguage: 'en',
    });
    const short = await scanner.examine(account, { ...asked, text: '12' });
    expect(short).toMatchObject({
      kind: 'languageUndetermined',
      sentence: expect.stringMatching(/source_language/),
    });
  });

  it.each([
    ['xliff', '<xliff version="2.0"/>', /XLIFF 2/],
    ['xliff', '<xliff version="1.2">\n<file></xliff>', /line 2, column \d+/],
    ['xliff', '<!DOCTYPE xliff [<!ENTITY a "b">]><xliff version="1.2"/>', /line 1/],
    ['srt', 'no times in here', /line 1/],
  ] as const)('reports the fault of an invalid %s text and its line', async (format, text, sentence) => {
    const found = await scanner.examine(account, { ...task, format, text });
    expect(found).toMatchObject({
      kind: 'invalid',
      field: 'text',
      sentence: expect.stringMatching(sentence),
    });
  });

  it('reports an invalid text in a scanner process too', async () => {
    const broken = `<xliff version="1.2">${' '.repeat(INLINE_LENGTH)}<file>`;
    const found = await scanner.examine(account, { ...task, format: 'xliff', text: broken });
    expect(found).toMatchObject({ kind: 'invalid', field: 'text' });
  });

  it('requires a supplied translation to have as many units as the text', async () => {
    const html = { ...task, format: 'html' as const, text: '<p>One.</p><p>Two.</p>' };
    expect(await scanner.examine(account, { ...html, suppliedText: '<p>Uno.</p><p>Dos.</p>' })).toMatchObject(
      {
        kind: 'valid',
      },
    );
    expect(await scanner.examine(account, { ...html, suppliedText: '<p>Uno.</p>' })).toEqual({
      kind: 'invalid',
      field: 'target_text',
      sentence: 'has 1 units where text has 2; both must have the same.',
    });
  });
});

const { offered: _, suppliedText: __, ...languages } = { ...task, sourceLanguage: 'en' };

describe('Scanner.open', () => {
  it('returns the same segments in this process and in a scanner process', async () => {
    for (const text of [sentence, large]) {
      const { segments } = await scanner.open(account, { ...languages, text });
      expect(segments).toEqual(open({ ...languages, text }));
    }
  });

  it('returns a text whose `assemble` gives the same result as Scanner.assemble', async () => {
    for (const format of FORMATS) {
      const text = {
        text: 'One. Two.\n',
        html: '<p>One <b>big</b> house. Two.</p>',
        srt: '1\n00:00:01,000 --> 00:00:02,000\nOne sentence that\n\n2\n00:00:02,100 --> 00:00:03,000\ngoes on.\n',
        vtt: 'WEBVTT\n\n00:01.000 --> 00:02.000\nOne sentence that\n\n00:02.100 --> 00:03.000\ngoes on.\n',
        xliff:
          '<xliff version="1.2"><file source-language="en" original="a" datatype="plaintext"><body><trans-unit id="1"><source>One. Two.</source></trans-unit></body></file></xliff>',
      }[format];
      const opened = await scanner.open(account, { ...languages, format, text });
      const drafts = opened.segments.map(({ id }) => [id, [{ text: `Frase ${id}.` }]] as const);
      const result = await opened.assemble(drafts.map(([id, pieces]) => [id, [...pieces]]));
      expect(result).toContain('Frase');
      expect(result).toBe(
        await scanner.assemble(account, {
          ...languages,
          format,
          text,
          drafts: drafts.map(([id, pieces]) => [id, [...pieces]]),
        }),
      );
    }
  });
});

describe('Scanner.assemble', () => {
  const paragraph = '<p>The <b>big</b> house stands near {{river}}.</p>\n';
  const upper = (text: string): AssembleTask => {
    const wanted = { ...languages, format: 'html' as const, text };
    const drafts = open(wanted).map(
      ({ id, pieces }) =>
        [
          id,
          pieces.map((piece) =>
            'text' in piece && !('keep' in piece) ? { text: piece.text.toUpperCase() } : piece,
          ),
        ] as const,
    );
    return { ...wanted, drafts };
  };
  const translated = '<p>THE <b>BIG</b> HOUSE STANDS NEAR {{river}}.</p>\n';

  it.each([
    ['at once', 1],
    ['in a process of its own', Math.ceil(INLINE_LENGTH / paragraph.length) + 1],
  ])('inserts every draft and leaves the rest of the document unchanged: %s', async (_name, times) => {
    const result = await scanner.assemble(account, upper(paragraph.repeat(times)));
    expect(result === translated.repeat(times)).toBe(true);
  });

  it('leaves segments without a draft in the source language', async () => {
    const wanted = upper(paragraph.repeat(2));
    expect(await scanner.assemble(account, { ...wanted, drafts: wanted.drafts.slice(1) })).toBe(
      paragraph + translated,
    );
  });
});

describe('texts that wait for a scanner process', () => {
  const apart = { ...task, text: large };
  const refusal = {
    name: 'ApiError',
    code: 'unavailable',
    status: 503,
    headers: { 'retry-after': expect.any(String) },
  };
  let small: Scanner;
  afterEach(() => small.close());

  const other = { part: 1, accountId: 'b' } as AccountRef;

  it('are refused when too many texts wait, and accepted when fewer texts wait', async () => {
    small = createScanner({ maxWaiting: 2 });
    const first = [small.examine(account, apart), small.examine(other, apart)];
    await expect(small.examine(account, apart)).rejects.toMatchObject(refusal);
    expect(await small.examine(account, { ...task, text: sentence })).toMatchObject({ kind: 'valid' });
    const opened = await small.open(account, { ...languages, text: large });
    // `open` is for workers and is not refused when the queue is full.
    expect(opened.segments).not.toHaveLength(0);
    await Promise.all(first);
    expect(await small.examine(account, apart)).toMatchObject({ kind: 'valid' });
  });

  it('are refused when they are too long in total, but a single text is accepted', async () => {
    small = createScanner({ maxWaitingLength: large.length - 1 });
    const first = small.examine(account, apart);
    await expect(small.examine(account, apart)).rejects.toMatchObject(refusal);
    expect(await first).toMatchObject({ kind: 'valid' });
    expect(await small.examine(account, apart)).toMatchObject({ kind: 'valid' });
  });

  it.each([
    ['count', { maxWaiting: 4 }],
    ['length', { maxWaitingLength: large.length * 4 }],
  ])(
    'are refused when their account already fills half of the allowed %s, while texts of other accounts are accepted',
    async (_, options) => {
      small = createScanner(options);
      const first = [small.examine(account, apart), small.examine(account, apart)];
      await expect(small.examine(account, apart)).rejects.toMatchObject(refusal);
      expect(await small.examine(other, apart)).toMatchObject({ kind: 'valid' });
      await Promise.all(first);
    },
  );
});

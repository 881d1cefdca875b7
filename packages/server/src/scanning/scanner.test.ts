import { afterAll, describe, expect, it } from 'vitest';
import { createScanner, INLINE_LENGTH } from './scanner.ts';
import { examine, open } from './tasks.ts';

const scanner = createScanner();
afterAll(() => scanner.close());

const task = {
  format: 'text' as const,
  sourceLanguage: 'en' as string | undefined,
  targetLanguage: 'es',
  offered: ['en', 'fr'],
  suppliedText: undefined,
};
const sentence = 'The house stands near the river. ';
const large = `${sentence.repeat(Math.ceil((INLINE_LENGTH + 1) / sentence.length))}\n`;

describe('examining a text', () => {
  it('gives the same answer at once and in a thread', async () => {
    expect(large.length).toBeGreaterThan(INLINE_LENGTH);
    expect(await scanner.examine({ ...task, text: large })).toEqual(examine({ ...task, text: large }));
    expect(await scanner.examine({ ...task, text: sentence })).toEqual({
      kind: 'sound',
      sourceLanguage: 'en',
      words: 6,
    });
  });

  it('leaves the event loop free while a large text is looked at', async () => {
    let turns = 0;
    const turning = setInterval(() => turns++, 1);
    await scanner.examine({ ...task, text: large.repeat(8) });
    clearInterval(turning);
    expect(turns).toBeGreaterThan(1);
  });

  it('detects the language among those offered, or says that it cannot', async () => {
    const asked = { ...task, sourceLanguage: undefined };
    expect(await scanner.examine({ ...asked, text: sentence.repeat(3) })).toMatchObject({
      sourceLanguage: 'en',
    });
    const short = await scanner.examine({ ...asked, text: 'ok' });
    expect(short).toMatchObject({ kind: 'undecided', sentence: expect.stringMatching(/source_language/) });
  });

  it.each([
    ['xliff', '<xliff version="2.0"/>', /XLIFF 2/],
    ['xliff', '<xliff version="1.2">\n<file></xliff>', /line 2, column \d+/],
    ['xliff', '<!DOCTYPE xliff [<!ENTITY a "b">]><xliff version="1.2"/>', /line 1/],
    ['srt', 'no times in here', /line 1/],
  ] as const)('says what is wrong with a broken %s, and where', async (format, text, sentence) => {
    const found = await scanner.examine({ ...task, format, text });
    expect(found).toMatchObject({
      kind: 'unsound',
      field: 'text',
      sentence: expect.stringMatching(sentence),
    });
  });

  it('says what is wrong in a thread too', async () => {
    const broken = `<xliff version="1.2">${' '.repeat(INLINE_LENGTH)}<file>`;
    const found = await scanner.examine({ ...task, format: 'xliff', text: broken });
    expect(found).toMatchObject({ kind: 'unsound', field: 'text' });
  });

  it('wants as many units in a supplied translation as in its text', async () => {
    const html = { ...task, format: 'html' as const, text: '<p>One.</p><p>Two.</p>' };
    expect(await scanner.examine({ ...html, suppliedText: '<p>Uno.</p><p>Dos.</p>' })).toMatchObject({
      kind: 'sound',
    });
    expect(await scanner.examine({ ...html, suppliedText: '<p>Uno.</p>' })).toEqual({
      kind: 'unsound',
      field: 'target_text',
      sentence: 'has 1 units where text has 2; both must have the same.',
    });
  });
});

describe('opening a text', () => {
  it('gives the same segments at once and in a thread', async () => {
    const { offered: _, suppliedText: __, ...languages } = task;
    const opened = { ...languages, sourceLanguage: 'en', text: large };
    expect(await scanner.open(opened)).toEqual(open(opened));
  });
});

/**
 * Tests that glossary files are written and read back without changes, and that faults are reported with the
 * right line numbers.
 */
import type { Term } from '@dragoman/engines';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readBrandFile, toBrandFile } from './brand.ts';
import { readCsv, writeCsv } from './csv.ts';
import { readTbx, writeTbx } from './tbx.ts';
import { checkTerms, createFaults, MAX_TERMS } from './terms.ts';

const plain = { caseSensitive: false, forbidden: false, doNotTranslate: false };
const complaint = async (read: () => unknown): Promise<string> => {
  try {
    await read();
  } catch (error) {
    return (error as Error).message;
  }
  return 'no complaint';
};

/** Generates valid glossaries with words that are difficult for CSV, spreadsheets and XML. */
const words = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        '=',
        '+1',
        '-',
        '@',
        "'",
        '"',
        ',',
        ';',
        '&lt;',
        '<b>',
        ']]>',
        '\t',
        '\r',
        '\n',
        ' ',
        '＝',
      ),
      fc.constantFrom('\u00a0', '\u2028', '\ufeff', '0', 'true', '\u{1f600}', '\u200f'),
      fc.string({ unit: 'grapheme', maxLength: 8 }),
    ),
    { minLength: 1, maxLength: 6 },
  )
  .map((parts) => parts.join(''));
const glossary = fc
  .array(
    fc.record({
      source: words,
      target: fc.oneof(words, fc.constant('')),
      caseSensitive: fc.boolean(),
      forbidden: fc.boolean(),
      doNotTranslate: fc.boolean(),
      note: words,
    }),
    { maxLength: 12 },
  )
  .map((terms) => {
    const written = terms.map((term, index) => ({ where: String(index), term }));
    return checkTerms(written, createFaults());
  });

describe('a written glossary', () => {
  it('is read back from JSON without changes', () => {
    fc.assert(
      fc.property(glossary, (terms) => {
        const languages = new Map([['es', { tone: 'Formal' as const, instructions: 'x', terms }]]);
        const brand = { externalId: 'acme', name: 'Acme', languages };
        const file = JSON.stringify(toBrandFile(brand, true));
        expect(readBrandFile('f', file)).toEqual({ ...brand, default: true });
      }),
    );
  });

  it('is read back from CSV without changes', async () => {
    await fc.assert(
      fc.asyncProperty(glossary, async (terms) => {
        expect(await readCsv('f', writeCsv(terms))).toEqual(terms);
      }),
    );
  });

  it('is read back from TBX without changes', async () => {
    await fc.assert(
      fc.asyncProperty(
        glossary.filter((terms) => terms.length > 0),
        fc.constantFrom('und', 'en', 'de-at'),
        fc.constantFrom('es', 'pt-br', 'de'),
        async (terms, from, into) => {
          const read = await readTbx('f', writeTbx(terms, from, into), into, undefined);
          expect(read).toEqual({ terms, from, skipped: 0 });
        },
      ),
    );
  });

  it('is reported as changed by these tests when an apostrophe, a character reference or a flag of a term is lost', async () => {
    const terms = [{ ...plain, source: '=a', target: 'b & c', forbidden: true }];
    expect(await readCsv('f', writeCsv([{ ...terms[0]!, source: "'=a" }]).replace("''=", "'="))).toEqual(
      terms,
    );
    expect(await readCsv('f', writeCsv(terms).replace(',true', ','))).not.toEqual(terms);
    const termbase = writeTbx(terms, 'en', 'es');
    expect((await readTbx('f', termbase.replace('&amp;', '&amp;amp;'), 'es', 'en')).terms).not.toEqual(terms);
    expect((await readTbx('f', termbase.replace('deprecated', 'admitted'), 'es', 'en')).terms).not.toEqual(
      terms,
    );
  });

  it('has no CSV cell that a spreadsheet would execute', () => {
    expect(writeCsv([{ ...plain, source: '=A1', target: "'=A1", note: '+1' }])).toBe(
      "\ufeffsource,target,case_sensitive,forbidden,do_not_translate,note\r\n'=A1,''=A1,,,,'+1\r\n",
    );
  });
});

describe('a glossary in CSV', () => {
  const terms: Term[] = [
    { ...plain, source: 'shopping cart', target: 'carrito', note: 'two\nlines' },
    { ...plain, source: 'Acme', target: '', caseSensitive: true, doNotTranslate: true },
    { ...plain, source: 'car', target: 'carro', forbidden: true },
  ];
  const rows = (delimiter: string, lineEnd: string) =>
    [
      ['source', 'Target', 'case sensitive', 'forbidden', 'do-not-translate', 'note', ''],
      ['shopping  cart ', 'carrito', '', 'no', '0', '"two\nlines"', ''],
      ['', '', '', '', '', '', ''],
      ['Acme', '', 'x', '', 'TRUE', '', ''],
      ['car', 'carro', 'false', 'Yes', '', '', ''],
    ]
      .map((row) => row.join(delimiter))
      .join(lineEnd);

  it.each([
    ['commas', rows(',', '\n')],
    ['a line for Excel that names the delimiter', `\ufeffsep=;\r\n${rows(';', '\r\n')}`],
    ['a line that names another delimiter', `SEP=|\n${rows('|', '\n')}`],
    ['semicolons and a byte order mark', `\ufeff${rows(';', '\r\n')}`],
    ['tabs and a last line end', `${rows('\t', '\r\n')}\r\n`],
  ])('is accepted with %s', async (_, text) => {
    expect(await readCsv('f', text)).toEqual(terms);
  });

  it('needs only the source column, and can have its columns in any order', async () => {
    expect(await readCsv('f', 'do_not_translate,source\nyes,Acme\n')).toEqual([
      { ...plain, source: 'Acme', target: '', doNotTranslate: true },
    ]);
    expect(await readCsv('f', 'source,target\n')).toEqual([]);
  });

  it.each([
    ['nothing', '', 'f: is empty; it needs a header row.'],
    ['no header', 'house,casa\n', /line 1: "house" is not one of source, .*\n.*"casa".*\n.*no column source/],
    ['an unknown column', 'source,target,color\n', 'f: line 1: "color" is not one of source, target,'],
    ['a column twice', 'source,target,target\n', 'f: line 1: has the column target twice.'],
    ['an invalid flag', 'source,target,forbidden\na,b,maybe\n', 'f: line 2: forbidden: "maybe" is neither'],
    ['no source', 'source,target\n,casa\n', 'f: line 2: source: must not be empty.'],
    ['no target', 'source,target\nhouse,\n', 'f: line 2: target: must not be empty, unless'],
    ['a cell too many', 'source,target\na,b,c\n', 'f: line 2: has 3 cells; the header has 2.'],
    [
      'a quote that is not closed',
      'source,target\na,"b\nc,d\n',
      /^f: line \d: a quote is opened before here/,
    ],
    ['a quote within a cell', 'source,target\na,b"c\n', /^f: line 2: .*quote.* twice\.$/],
    ['a control character', 'source,target\na,b\u0001\n', 'f: line 2: target: must not contain control'],
    ['NUL', 'source,target\na\0,b\n', 'f: line 2: source: must not contain control characters'],
    [
      'a term that is too long',
      `source,target\n${'a'.repeat(501)},b\n`,
      'line 2: source: must be at most 500',
    ],
    [
      'a term that is both do_not_translate and forbidden',
      'source,forbidden,do_not_translate\na,x,x\n',
      'f: line 2: forbidden: must be false if do_not_translate is set.',
    ],
    [
      'a term that contradicts one above',
      'source,target,forbidden\na,b,\nc,d,\na,b,x\n',
      'line 4: contradicts line 2',
    ],
    [
      'do_not_translate for a source with a translation above',
      'source,target,do_not_translate\na,b,\na,,x\n',
      'f: line 3: contradicts line 2: "a": it has a translation there.',
    ],
  ])('is refused when it has %s', async (_, text, message) => {
    const said = await complaint(() => readCsv('f', text));
    if (typeof message === 'string') expect(said).toContain(message);
    else expect(said).toMatch(message);
  });

  it('is refused with the right line numbers after empty lines and after line breaks in quotes', async () => {
    const text = 'source,target,note\r\na,b,"1\r\n2\r\n3"\r\n\r\n,x,\r\nc,,\r\n';
    expect((await complaint(() => readCsv('f', text))).split('\n')).toEqual([
      'f: line 6: source: must not be empty.',
      'f: line 7: target: must not be empty, unless do_not_translate is set.',
    ]);
  });

  it('is refused with at most 20 faults in the message and the number of the omitted faults', async () => {
    const text = `source,target\n${',x\n'.repeat(30)}`;
    const lines = (await complaint(() => readCsv('f', text))).split('\n');
    expect(lines).toHaveLength(21);
    expect(lines.at(-1)).toBe('f: and 10 more like these');
  });

  it('is refused with more than the maximum number of terms', async () => {
    const rows = Array.from({ length: MAX_TERMS + 1 }, (_, index) => `s${index},t\n`);
    const text = `source,target\n${rows.join('')}`;
    expect(await complaint(() => readCsv('f', text))).toBe(
      `f: line ${MAX_TERMS + 2}: a glossary has at most ${MAX_TERMS} terms a language; there are ${MAX_TERMS + 1}.`,
    );
    expect(await readCsv('f', text.slice(0, text.lastIndexOf('s')))).toHaveLength(MAX_TERMS);
  });

  it('is read without damage to emoji, wherever the file is cut', async () => {
    const written = Array.from({ length: 400 }, (_, index) => ({
      ...plain,
      source: `${'a'.repeat(index % 7)} ${index} 😀`,
      target: '😀'.repeat(20),
    }));
    const terms = checkTerms(
      written.map((term) => ({ where: '', term })),
      createFaults(),
    );
    expect(await readCsv('f', writeCsv(terms))).toEqual(terms);
  });

  it('is refused with more cells in a row than any table has', async () => {
    expect(await complaint(() => readCsv('f', `source,target\na,b${','.repeat(1_000)}\n`))).toBe(
      'f: line 2: has more than 1000 cells.',
    );
  });

  it('is refused with a line that is longer than a row, also if its cells are empty', async () => {
    const long = 'a row is too long; perhaps a quote is opened and never closed.';
    for (const cells of [',', ' ,', ';', '\t', 'a', '"",'].map((one) => one.repeat(120_000))) {
      expect(await complaint(() => readCsv('f', `source,target\na,b\n${cells}\n`))).toBe(
        `f: line 3: ${long}`,
      );
    }
  });

  it('is refused with more rows than twice the terms of a glossary', async () => {
    const text = `source,target\n${'a,b\n'.repeat(2 * MAX_TERMS + 1)}`;
    expect(await complaint(() => readCsv('f', text))).toBe(
      `f: line ${2 * MAX_TERMS + 1}: the file has more than ${2 * MAX_TERMS} rows up to here.`,
    );
  });

  it('is read without duplicate terms and with the first note of each term', async () => {
    expect(await readCsv('f', 'source,target,note\na,b,\na,b,n\na,b,m\n')).toEqual([
      { ...plain, source: 'a', target: 'b', note: 'n' },
    ]);
  });
});

/** Runs a short proof of real texts, and tests that each fault of a translation is counted. */
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { FULL } from '../../scripts/full.ts';
import { shortRun } from '../harness/testing.ts';
import { readLines, runText, type TextHistory } from './run.ts';
import { faultsOf as faultsOfSentences, readCatalog } from './sentences.ts';
import { faultsOf, judge } from './text.ts';

const files = join(import.meta.dirname, '../../node_modules');

describe.runIf(FULL)('proof of real texts', () => {
  it('changes no protected text and moves no text over a separator in 200 lines', async () => {
    const { directory, say } = shortRun('text');
    const history = await runText({ directory, say, files, from: 'en', to: 'es', most: 200 });
    expect(history).toMatchObject({ lines: 200, jobs: 5, failedJobs: 0 });
    const changed = history.pairs.filter(({ source, target }) => {
      const faults = faultsOf(source, target);
      return faults['protected texts changed'] + faults['text moved over a separator'] > 0;
    });
    expect(changed).toEqual([]);
  });
});

it('reads distinct lines of prose from many files', () => {
  const lines = readLines(files, 100);
  expect(new Set(lines).size).toBe(100);
});

it.each([
  ['protected texts changed', 'Run `git push` now.', 'Ejecuta `git empuja` ahora.'],
  ['protected texts changed', 'See https://a.example/house now.', 'Ve https://a.example/casa ahora.'],
  ['capitals gained in mid-sentence', 'Shopify is a shop.', 'Shopify es Una tienda.'],
  ['spaces lost or gained round marks', 'The "x" house.', 'La "x"casa.'],
  ['numbers changed', 'The 2 houses.', 'Las 3 casas.'],
  ['text moved over a separator', 'Size 2 | Weight 5', 'Talla 5 | Peso 2'],
] as const)('text proof counts the planted fault: %s', (fault, source, target) => {
  expect(faultsOf(source, source)[fault]).toBe(0);
  expect(faultsOf(source, target)[fault]).toBe(1);
  const history: TextHistory = {
    lines: 1,
    jobs: 1,
    failedJobs: 0,
    untranslated: 0,
    pairs: [{ source, target }],
  };
  const figures = judge(history).filter(({ name }) => name.includes(fault));
  if (fault !== 'numbers changed') expect(figures).toMatchObject([{ held: false }]);
});

it.each([
  ['The Linux kernel and Shopify', 'El kernel de Linux y Shopify', 'es'],
  ['A “Linux house” is big', 'Una “casa de Linux” es grande', 'es'],
  ['-b FICHERO existe', '-b File exists', 'en'],
  ['La traducción al español de mayo', 'The translation to Spanish of May', 'en'],
  ['Los perros marroquíes y afganos', 'The Moroccan and Afghan dogs', 'en'],
  ['Dirham des Émirats arabes', 'Dirham de los Emiratos Árabes Unidos', 'es'],
  ['<a href="#The-House">The House</a>', '<a href="#The-House">La Casa</a>', 'es'],
  ['2020 Free Software Foundation', '2020 Software Libre Fundación', 'es'],
])('text proof counts no capital that a name has taken with it: %s', (source, target, to) => {
  expect(faultsOf(source, target, to)['capitals gained in mid-sentence']).toBe(0);
});

it('reads the messages of a catalog without their contexts and plural forms', () => {
  const messages = [
    ['menu\u0004One.', 'Eins.'],
    ['%d day\0%d days', '%d Tag\0%d Tage'],
  ];
  const header = Buffer.alloc(28 + 16 * messages.length);
  [0x950412de, 0, messages.length, 28, 28 + 8 * messages.length].forEach((word, at) => {
    header.writeUInt32LE(word, 4 * at);
  });
  let length = header.length;
  const texts = messages.flatMap((pair, index) =>
    pair.map((text, side) => {
      const bytes = Buffer.from(text);
      header.writeUInt32LE(bytes.length, 28 + 8 * (side * messages.length + index));
      header.writeUInt32LE(length, 32 + 8 * (side * messages.length + index));
      length += bytes.length;
      return bytes;
    }),
  );
  expect(readCatalog(Buffer.concat([header, ...texts]))).toEqual([['One.', 'Eins.']]);
});

it.each([
  [['It is 5 p.m. in Rome.', 'They left.'], { wrong: 0, missed: [], false: [] }],
  [
    ['I saw Dr. Jones.', 'They are two. And more.'],
    { wrong: 1, missed: [], false: ['They are two. ¦ And more.'] },
  ],
  [['it ends with e.g.', 'They left.'], { wrong: 2, missed: ['it ends with e.g. They left.'], false: [] }],
])('compares the segments of a paragraph with its sentences: %j', (sentences, faults) => {
  expect(faultsOfSentences(sentences, 'en')).toEqual(faults);
});

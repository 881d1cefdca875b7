/**
 * Draws texts of the repository at random, for a reader who judges whether they are clear at first reading.
 * `node scripts/sample.ts --seed N` prints 80 comments, 50 test titles, 50 English UI messages and 25 guide paragraphs.
 * The same seed and the same files give the same texts.
 */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { readComments, readMessages, readParagraphs, readTitles, type Text } from './texts.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');
const find = (pattern: string): string[] =>
  globSync(pattern, {
    cwd: ROOT,
    exclude: (path) => /(?:^|\/)(?:node_modules|dist|\.\w+)$/.test(path),
  }).sort();

const readAll = (paths: readonly string[], readTexts: (path: string, content: string) => Text[]): Text[] =>
  paths.flatMap((path) => readTexts(path, read(path)));

const { values } = parseArgs({ options: { seed: { type: 'string', default: '1' } } });
const random = createRandom(Number(values.seed));
const sources = find('{bench,examples,packages,prove,scripts}/**/*.{ts,tsx}').filter(
  (path) => !/generated\.ts$|\.d\.ts$/.test(path),
);
const tests = sources.filter((path) => path.endsWith('.test.ts'));
const pages = find('docs/*.md').filter((path) => !path.endsWith('conformance.md'));
print('Comments', draw(readAll(sources, readComments), 80));
print('Test titles', draw(readAll(tests, readTitles), 50));
print('English UI messages', draw(readAll(find('packages/web/src/**/messages/en.json'), readMessages), 50));
print('Guide paragraphs', draw(readAll(pages, readParagraphs), 25));

/** Draws `count` items without repetition (Fisher–Yates). */
function draw(items: readonly Text[], count: number): Text[] {
  const left = [...items];
  return Array.from({ length: Math.min(count, left.length) }, () => {
    const index = Math.floor(random() * left.length);
    return left.splice(index, 1)[0]!;
  });
}

/** Returns numbers in [0, 1) that depend on the seed alone (mulberry32). */
function createRandom(seed: number): () => number {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

function print(title: string, texts: readonly Text[]): void {
  console.log(`\n## ${title}\n`);
  for (const [index, { where, text }] of texts.entries()) console.log(`${index + 1}. ${text}\n   (${where})`);
}

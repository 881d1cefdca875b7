/**
 * Draws texts of the repository at random, for a reader who judges whether they are clear at first reading.
 * `node scripts/sample.ts --seed N` prints 80 comments, 50 test titles, 50 English UI messages and 25 guide paragraphs.
 * The same seed and the same files give the same texts.
 */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { parseSync } from 'vite';

interface Node {
  type: string;
  [key: string]: unknown;
}

interface Text {
  where: string;
  text: string;
}

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');
const find = (pattern: string): string[] =>
  globSync(pattern, {
    cwd: ROOT,
    exclude: (path) => /(?:^|\/)(?:node_modules|dist|\.\w+)$/.test(path),
  }).sort();

const { values } = parseArgs({ options: { seed: { type: 'string', default: '1' } } });
const random = createRandom(Number(values.seed));
const sources = find('{bench,examples,packages,prove,scripts}/**/*.{ts,tsx}').filter(
  (path) => !/generated\.ts$|\.d\.ts$/.test(path),
);
const pages = find('docs/*.md').filter((path) => !path.endsWith('conformance.md'));
print('Comments', draw(sources.flatMap(readComments), 80));
print('Test titles', draw(sources.filter((path) => path.endsWith('.test.ts')).flatMap(readTitles), 50));
print('English UI messages', draw(find('packages/web/src/**/messages/en.json').flatMap(readMessages), 50));
print('Guide paragraphs', draw(pages.flatMap(readParagraphs), 25));

/** Returns the comments of a file. Consecutive line comments are one comment. Directives for tools are left out. */
function readComments(path: string): Text[] {
  const code = read(path);
  const found: Text[] = [];
  let end = -1;
  for (const comment of parseSync(path, code).comments) {
    const text = comment.value.replace(/^[ \t]*\*+ ?/gm, '').trim();
    const line = code.slice(0, comment.start).split('\n').length;
    const previous = found.at(-1);
    const adjacent = comment.type === 'Line' && end >= 0 && /^\n[ \t]*$/.test(code.slice(end, comment.start));
    if (adjacent && previous !== undefined) previous.text += ` ${text}`;
    else if (/[a-z] [a-z]/i.test(text) && !/^(?:biome-|@ts-|v8 )/.test(text))
      found.push({ where: `${path}:${line}`, text });
    end = comment.type === 'Line' ? comment.end : -1;
  }
  return found;
}

/** Returns the titles of a file's tests, each after the titles of its `describe` blocks. */
function readTitles(path: string): Text[] {
  const found: Text[] = [];
  const visit = (value: unknown, blocks: readonly string[]): void => {
    if (Array.isArray(value)) for (const item of value) visit(item, blocks);
    if (value === null || typeof value !== 'object' || !('type' in value)) return;
    const node = value as Node;
    const title = node.type === 'CallExpression' ? titleOf(node) : undefined;
    const inner = title?.kind === 'describe' ? [...blocks, title.text] : blocks;
    if (title !== undefined && title.kind !== 'describe')
      found.push({ where: path, text: [...blocks, title.text].join(' › ') });
    for (const child of Object.values(node)) visit(child, inner);
  };
  visit(parseSync(path, read(path)).program as unknown as Node, []);
  return found;
}

function titleOf(call: Node): { kind: string; text: string } | undefined {
  let callee = call.callee as Node;
  while (callee.type === 'MemberExpression' || callee.type === 'CallExpression')
    callee = (callee.object ?? callee.callee) as Node;
  const kind = String(callee.name);
  const [first] = call.arguments as Node[];
  if (!['describe', 'it', 'test'].includes(kind) || typeof first?.value !== 'string') return undefined;
  return { kind, text: first.value };
}

function readMessages(path: string): Text[] {
  const messages: Record<string, string> = JSON.parse(read(path));
  return Object.entries(messages).map(([where, text]) => ({ where, text }));
}

/** Returns the paragraphs and list items of a page, without headings, tables and code. */
function readParagraphs(path: string): Text[] {
  return read(path)
    .replace(/^```[\s\S]*?^```$/gm, '')
    .split(/\n\n+|\n(?=(?:- |\d+\. ))/)
    .map((text) => ({ where: path, text: text.trim() }))
    .filter(({ text }) => /^[^#|<]/.test(text) && text.split(' ').length > 4);
}

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

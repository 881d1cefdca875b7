/** Tests of the compressed size of the sign-in page, of the shell of signed-in users, and of the workbench. */
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

const DIST = new URL('../dist/', import.meta.url);
const KILOBYTE = 1000;

interface Chunk {
  file: string;
  src?: string;
  imports?: string[];
  css?: string[];
  isEntry?: boolean;
}

const manifest: Record<string, Chunk> = JSON.parse(
  readFileSync(new URL('.vite/manifest.json', DIST), 'utf8'),
);

/** Returns the files of a chunk with its static imports. */
function filesOf(name: string, found = new Set<string>()): Set<string> {
  const { file, css = [], imports = [] } = manifest[name]!;
  if (found.has(file)) return found;
  for (const one of [file, ...css]) found.add(one);
  for (const needed of imports) filesOf(needed, found);
  return found;
}

const sizeOf = (files: Iterable<string>) =>
  [...files].reduce((sum, file) => sum + readFileSync(new URL(`${file}.gz`, DIST)).length, 0);

const entry = Object.keys(manifest).find((name) => manifest[name]!.isEntry)!;
const signIn = filesOf(entry);
const shell = signIn.union(filesOf('src/SignedInLayout.tsx'));

it('the sign-in page has at most 180 kB, and the shell of signed-in users has at most 245 kB', () => {
  expect(sizeOf(signIn) / KILOBYTE).toBeLessThan(180);
  expect(sizeOf(shell) / KILOBYTE).toBeLessThan(245);
});

it('the workbench adds at most 95 kB to the app’s shell, and each of its chunks has at most 110 kB', () => {
  const over = (page: string) => sizeOf(filesOf(page).difference(shell)) / KILOBYTE;
  expect(over('src/workbench/Task.tsx')).toBeLessThan(95);
  const pages = Object.keys(manifest).filter((name) => /^src\/workbench\/.*\.tsx?$/.test(name));
  expect(Math.max(...pages.map(over))).toBeLessThan(110);
});

it('the app’s shell loads no chunk of the areas that only one role uses', () => {
  const areas = ['workbench', 'account', 'console'];
  for (const area of areas) {
    const pages = Object.keys(manifest).filter((name) => name.startsWith(`src/${area}/`));
    expect(pages.length).toBeGreaterThan(0);
    for (const page of pages) expect(shell).not.toContain(manifest[page]!.file);
  }
});

/** Tests of the compressed size of the sign-in page, of the shell of signed-in users, and of the workbench. */
import { expect, it } from 'vitest';
import { BuiltApp, kilobytesOf, MAX_WORKBENCH_KB } from '../../../scripts/web-size.ts';

const app = new BuiltApp();

it('the sign-in page has at most 180 kB, and the shell of signed-in users has at most 245 kB', () => {
  expect(kilobytesOf(app.signIn)).toBeLessThan(180);
  expect(kilobytesOf(app.shell)).toBeLessThan(245);
});

it('the workbench adds at most 95 kB to the app’s shell, and each of its chunks has at most 110 kB', () => {
  expect(app.kilobytesOver('src/workbench/Task.tsx')).toBeLessThan(MAX_WORKBENCH_KB);
  const pages = app.names.filter((name) => /^src\/workbench\/.*\.tsx?$/.test(name));
  expect(Math.max(...pages.map((page) => app.kilobytesOver(page)))).toBeLessThan(110);
});

it('the app’s shell loads no chunk of the areas that only one role uses', () => {
  const areas = ['workbench', 'account', 'console'];
  for (const area of areas) {
    const pages = app.names.filter((name) => name.startsWith(`src/${area}/`));
    expect(pages.length).toBeGreaterThan(0);
    for (const page of pages) expect(app.shell).not.toContain(app.fileOf(page));
  }
});

/** Checks that the image and the repository contain the program but no secrets. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

const ROOT = new URL('../../../', import.meta.url);
const read = (file: string): string => readFileSync(new URL(file, ROOT), 'utf8');

it('the container image contains only the files and folders that this test lists', () => {
  const rules = read('.dockerignore')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'));
  expect(rules[0]).toBe('*');
  const allowed = rules.filter((rule) => rule.startsWith('!')).map((rule) => rule.slice(1));
  expect(allowed).toEqual([
    'package.json',
    'package-lock.json',
    'packages',
    'scripts',
    'docs',
    'CHANGELOG.md',
    'LICENSE',
    'README.md',
    'tsconfig.json',
  ]);
  for (const secret of ['**/.env*', '**/secret.key']) {
    expect(rules.indexOf(secret)).toBeGreaterThan(rules.lastIndexOf('!scripts'));
  }
});

it.each(['.env', '.env.local', 'secret.key', 'acme.json', 'nightly.backup'])('git ignores %s', (file) => {
  const ignored = execFileSync('git', ['check-ignore', '--no-index', file], {
    cwd: ROOT,
    encoding: 'utf8',
  });
  expect(ignored.trim()).toBe(file);
});

it('compose.yaml passes on the settings that a reverse proxy and mail need', () => {
  const compose = read('compose.yaml');
  for (const name of ['DRAGOMAN_TRUSTED_PROXIES', 'DRAGOMAN_SMTP_URL', 'DRAGOMAN_MAIL_FROM']) {
    expect(compose).toContain(`${name}: \${${name}:-`);
  }
});

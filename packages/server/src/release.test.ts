/** Runs the release script in a copy of the files that it reads and changes. */
import { spawnSync } from 'node:child_process';
import { cpSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const MANIFESTS = ['package.json', ...globSync('packages/*/package.json', { cwd: ROOT })];
const VERSION = '7.8.9-rc.1';

const copy = mkdtempSync(join(tmpdir(), 'dragoman-release-'));
const read = (path: string) => readFileSync(join(copy, path), 'utf8');
const { version: before } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));

/** Runs a program in the copy. @returns its exit status and its output */
function run(command: string, ...args: string[]) {
  const { status, stdout, stderr } = spawnSync(command, args, {
    cwd: copy,
    encoding: 'utf8',
    env: { ...process.env, npm_config_offline: 'true' },
  });
  return { status, output: stdout + stderr };
}

function git(...args: string[]): string {
  const settings = ['user.name=Test', 'user.email=test@example.com', 'commit.gpgsign=false'];
  const { status, output } = run('git', ...settings.flatMap((one) => ['-c', one]), ...args);
  if (status !== 0) throw new Error(output);
  return output;
}

const release = (...args: string[]) => run(process.execPath, 'scripts/release.ts', ...args);

/** Replaces the changelog and commits it. */
function log(heading: string): void {
  writeFileSync(join(copy, 'CHANGELOG.md'), `# Changelog\n\n## ${heading}\n\nThe next version.\n`);
  git('commit', '-qam', 'changelog');
}

beforeAll(() => {
  for (const path of [...MANIFESTS, 'package-lock.json', 'CHANGELOG.md', 'scripts/release.ts']) {
    cpSync(join(ROOT, path), join(copy, path));
  }
  git('init', '-q');
  git('add', '.');
  git('commit', '-qm', 'files');
});
afterAll(() => rmSync(copy, { recursive: true, force: true }));

it.each([
  ['no version', [], 'Usage: npm run release -- VERSION'],
  ['a version with a prefix', ['v1.0.0'], 'Usage: npm run release -- VERSION'],
  ['a version that the changelog does not have', [VERSION], `CHANGELOG.md has no section "## ${VERSION}".`],
])('the release script refuses %s and changes nothing', (_, args, reason) => {
  const { status, output } = release(...args);
  expect(output).toContain(reason);
  expect(status).toBe(1);
  expect(git('status', '--porcelain')).toBe('');
});

it('the release script refuses a version without a date, and a tree with changes', () => {
  log(`${VERSION}, not released`);
  expect(release(VERSION)).toMatchObject({
    status: 1,
    output: expect.stringContaining('Write the date there.'),
  });
  log(`${VERSION}, 2027-01-15`);
  writeFileSync(join(copy, 'new.txt'), '');
  expect(release(VERSION)).toMatchObject({
    status: 1,
    output: expect.stringContaining('Commit them first.'),
  });
  rmSync(join(copy, 'new.txt'));
});

it('the release script sets the version of every package and changes nothing else', () => {
  const wanted = [...MANIFESTS, 'package-lock.json'].map((path) => [path, JSON.parse(read(path))] as const);
  log(`${VERSION}, 2027-01-15 (beta)`);
  const { status, output } = release(VERSION);
  expect(output).toContain(`git tag v${VERSION}`);
  expect(status).toBe(0);
  for (const [path, content] of wanted) {
    expect(read(path)).toContain(`"version": "${VERSION}"`);
    expect(JSON.parse(read(path).replaceAll(`"${VERSION}"`, JSON.stringify(before)))).toEqual(content);
  }
  const changed = git('diff', '--name-only').trim().split('\n');
  expect(changed.sort()).toEqual(wanted.map(([path]) => path).sort());
  expect(git('status', '--porcelain', '--untracked-files')).not.toContain('??');

  git('commit', '-qam', 'release');
  git('tag', `v${VERSION}`);
  expect(release(VERSION)).toMatchObject({ status: 1, output: `The tag v${VERSION} exists.\n` });
});

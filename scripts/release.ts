/**
 * Prepares a release: `npm run release -- VERSION`. It checks that the changelog has a section for the version, then
 * sets the version of every package and of the lock file. It commits nothing, but prints the commands that remain.
 */
import { execFileSync } from 'node:child_process';
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const VERSION = /^\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?$/;

function fail(sentence: string): never {
  console.error(sentence);
  process.exit(1);
}

/** Sets the version of one package, and the versions of the workspace packages that it depends on. */
function setVersion(path: string, version: string): void {
  const manifest = JSON.parse(readFileSync(path, 'utf8'));
  manifest.version = version;
  for (const name of Object.keys(manifest.dependencies ?? {})) {
    if (name.startsWith('@dragoman/')) manifest.dependencies[name] = version;
  }
  writeFileSync(path, `${JSON.stringify(manifest, null, 2)}\n`);
}

const [version = ''] = process.argv.slice(2);
if (!VERSION.test(version)) fail('Usage: npm run release -- VERSION, such as 0.2.0');
const git = (...args: string[]) => execFileSync('git', args, { cwd: ROOT, encoding: 'utf8' });
if (git('status', '--porcelain') !== '') fail('The working tree has changes. Commit them first.');
if (git('tag', '--list', `v${version}`) !== '') fail(`The tag v${version} exists.`);
const changelog = readFileSync(join(ROOT, 'CHANGELOG.md'), 'utf8');
const heading = changelog.split('\n').find((line) => line.split(/[ ,]/, 2).join(' ') === `## ${version}`);
if (heading === undefined) fail(`CHANGELOG.md has no section "## ${version}".`);
if (heading.includes('not released')) fail(`CHANGELOG.md says "${heading}". Write the date there.`);

for (const path of ['package.json', ...globSync('packages/*/package.json', { cwd: ROOT })]) {
  setVersion(join(ROOT, path), version);
}
execFileSync('npm', ['install', '--package-lock-only', '--ignore-scripts', '--no-audit', '--no-fund'], {
  cwd: ROOT,
  stdio: 'inherit',
});
console.log(`The version is ${version}. Next:
  npm cit
  git commit -am "release: ${version}" && git tag v${version}
  npm run package        # writes the tarballs, the bill of materials and the checksums to dist/`);

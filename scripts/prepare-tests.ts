// Makes what the tests need: the web app, where its sources are newer than what is built, and from Debian's packages
// the offline engine (Apertium), what the examples are written with, and the browser in which the web app is tested.
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { findApertium, installApertium } from '../packages/engines/src/engines.ts';

const ROOT = join(import.meta.dirname, '..');
const BUILT = join(ROOT, 'packages/web/dist/.vite/manifest.json');

/** When anything that the web app is built from was last changed, added or removed. */
function lastChange(): number {
  const packages = ['web', 'checks', 'documents'].map((name) => join(ROOT, 'packages', name));
  const folders = packages.map((one) => join(one, 'src'));
  const below = folders.flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name)),
  );
  const web = ['index.html', 'vite.config.ts', 'package.json'].map((name) => join(packages[0]!, name));
  const all = [...folders, ...below, ...web, join(ROOT, 'package-lock.json')];
  return Math.max(...all.map((path) => statSync(path).mtimeMs));
}

// `npm ci` has just built it in a fresh clone.
if (!existsSync(BUILT) || statSync(BUILT).mtimeMs < lastChange()) {
  execFileSync('npm', ['run', 'build'], { cwd: ROOT, stdio: 'inherit' });
}

const { missing } = await findApertium({});
if (missing.length > 0) {
  console.error(`Installing the offline engine for the tests (${missing.length} packages) …`);
  await installApertium({ onProgress: (line) => console.error(`  ${line}`) });
}

const wanted = [
  { name: 'curl', there: ['curl', '--version'] },
  { name: 'python3-requests', there: ['python3', '-c', 'import requests'] },
].filter(({ there: [command, ...args] }) => spawnSync(command!, args, { stdio: 'ignore' }).status !== 0);
if (!['/usr/bin/chromium-headless-shell', '/usr/bin/chromium'].some((path) => existsSync(path))) {
  wanted.push({ name: 'chromium-headless-shell', there: [] });
}
if (wanted.length > 0) {
  const names = wanted.map(({ name }) => name);
  if (process.getuid?.() !== 0) {
    console.error(`The tests need ${names.join(' and ')}. As root: apt-get install ${names.join(' ')}`);
    process.exit(1);
  }
  console.error(`Installing ${names.join(' and ')} for the tests …`);
  const options = { stdio: 'ignore', env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' } } as const;
  execFileSync('apt-get', ['update', '-qq'], options);
  execFileSync('apt-get', ['install', '-y', '-qq', '--no-install-recommends', ...names], options);
}

// Prepares the tests. It builds the web app if its sources are newer than the build. It installs from Debian the
// offline engine (Apertium), the tools that the examples need, and a browser.
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { findApertium, installApertium } from '../packages/engines/src/engines.ts';

const ROOT = join(import.meta.dirname, '..');
const BUILT = join(ROOT, 'packages/web/dist/.vite/manifest.json');

/** Returns when a source of the web app was last changed, added or removed. */
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

// In a fresh clone, `npm ci` has built the web app already.
if (!existsSync(BUILT) || statSync(BUILT).mtimeMs < lastChange()) {
  execFileSync('npm', ['run', 'build'], { cwd: ROOT, stdio: 'inherit' });
}

const { missing } = await findApertium({});
if (missing.length > 0) {
  console.error(`Installing the offline engine for the tests (${missing.length} packages) …`);
  await installApertium({ onProgress: (line) => console.error(`  ${line}`) });
}

const wanted = [
  { name: 'curl', check: ['curl', '--version'] },
  { name: 'python3-requests', check: ['python3', '-c', 'import requests'] },
].filter(({ check: [command, ...args] }) => spawnSync(command!, args, { stdio: 'ignore' }).status !== 0);
if (!['/usr/bin/chromium-headless-shell', '/usr/bin/chromium'].some((path) => existsSync(path))) {
  wanted.push({ name: 'chromium-headless-shell', check: [] });
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

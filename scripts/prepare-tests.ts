// Puts on the machine what the tests need, from Debian's packages: the offline engine (Apertium), what the examples
// are written with, and the browser in which the web app is tested.
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { findApertium, installApertium } from '../packages/engines/src/engines.ts';

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

// Prepares the tests. It builds the web app if its sources are newer than the build. It installs from Debian the
// offline engine (Apertium), the tools that the examples need, and a browser: for the system as root or with sudo,
// otherwise in a folder of the repository.
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { APERTIUM_PACKAGES, findApertium, InstallError } from '@dragoman/engines';
import { installPackages, libraryFolders, MANIFEST } from '@dragoman/engines/debian';
import { BROWSERS } from './browser.ts';
import { writeClientTypes } from './client-types.ts';
import { privateApertium, TOOLS } from './test-tools.ts';

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

// The server's API descriptions may have changed since the web app was built.
await writeClientTypes('web');
// In a fresh clone, `npm ci` has built the web app already.
if (!existsSync(BUILT) || statSync(BUILT).mtimeMs < lastChange()) {
  execFileSync('npm', ['run', 'build'], { cwd: ROOT, stdio: 'inherit' });
}

const works = (command: string, ...args: string[]): boolean =>
  spawnSync(command, args, { stdio: 'ignore' }).status === 0;
const { missing } = await findApertium(privateApertium());
const wanted = [
  ...missing,
  ...(works('curl', '--version') ? [] : ['curl']),
  ...(works('python3', '-c', 'import requests') ? [] : ['python3-requests']),
  ...(BROWSERS.some((path) => existsSync(path)) ? [] : ['chromium-headless-shell']),
];
const manifest = join(TOOLS, MANIFEST);
const own = existsSync(manifest) ? JSON.parse(readFileSync(manifest, 'utf8')) : {};
if (wanted.some((name) => !(name in own))) {
  console.error(`Installing for the tests: ${wanted.join(', ')} …`);
  try {
    await installPackages([...wanted, ...(missing.length > 0 ? APERTIUM_PACKAGES.optional : [])], {
      root: TOOLS,
      ...APERTIUM_PACKAGES,
      onProgress: (line) => console.error(`  ${line}`),
    });
  } catch (error) {
    if (!(error instanceof InstallError)) throw error;
    console.error(error.message);
    process.exit(1);
  }
}
if (existsSync(TOOLS)) writeWrappers();

/** Writes scripts that start the private programs with their libraries, fonts and modules. */
function writeWrappers(): void {
  // The library of PulseAudio loads another one from a folder of its own.
  const libraries = libraryFolders(TOOLS).flatMap((folder) => [folder, join(folder, 'pulseaudio')]);
  const fonts = join(TOOLS, 'fonts.conf');
  const folders = ['/usr/share/fonts', join(TOOLS, 'usr/share/fonts')].map((path) => `<dir>${path}</dir>`);
  writeFileSync(
    fonts,
    `<fontconfig>${folders.join('')}<cachedir prefix="xdg">fontconfig</cachedir></fontconfig>\n`,
  );
  const environment = {
    LD_LIBRARY_PATH: libraries.join(':'),
    FONTCONFIG_FILE: fonts,
    PYTHONPATH: join(TOOLS, 'usr/lib/python3/dist-packages'),
  };
  const exports = Object.entries(environment).map(([name, value]) => `export ${name}='${value}'\n`);
  mkdirSync(join(TOOLS, 'bin'), { recursive: true });
  const programs = ['usr/bin/curl', 'usr/bin/python3', 'usr/lib/chromium/chromium-headless-shell'];
  for (const program of programs) {
    const path = [TOOLS, '/'].map((root) => join(root, program)).find((one) => existsSync(one));
    if (path === undefined) continue;
    const wrapper = `#!/bin/sh\n${exports.join('')}exec '${path}' "$@"\n`;
    writeFileSync(join(TOOLS, 'bin', basename(program)), wrapper, { mode: 0o755 });
  }
}

/** Tests that the program and its build find Node 24, and what they say without one. */
import { spawn, spawnSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const LIBRARY = `node-linux-${process.arch}`;
const { linkNode } = createRequire(import.meta.url)(join(ROOT, 'scripts/link-node.cjs'));

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'dragoman-node-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Writes the package that brings Node 24, with a script as its program. */
function installNode(script: string): void {
  const bin = join(folder, 'node_modules', LIBRARY, 'bin');
  mkdirSync(bin, { recursive: true });
  writeFileSync(join(bin, 'node'), `#!/bin/sh\n${script}\n`);
  chmodSync(join(bin, 'node'), 0o755);
}

describe('the link to Node 24', () => {
  const link = () => join(folder, 'node_modules/.bin/node');

  it('is set when npm removed it', () => {
    installNode('exit 0');
    expect(linkNode(folder, '18.20.4')).toBeUndefined();
    expect(readlinkSync(link())).toBe(`../${LIBRARY}/bin/node`);
  });

  it('is set again when it names the package for the other processor', () => {
    installNode('exit 0');
    mkdirSync(join(folder, 'node_modules/.bin'));
    symlinkSync('../node-linux-other/bin/node', link());
    expect(linkNode(folder, '24.0.0')).toBeUndefined();
    expect(readlinkSync(link())).toBe(`../${LIBRARY}/bin/node`);
  });

  it.each([
    ['is missing', () => {}],
    ['does not run on this machine', () => installNode('exit 127')],
  ])(
    'is not set when the package %s; linkNode then returns the remedy for an older Node only',
    (_, prepare) => {
      prepare();
      expect(linkNode(folder, '24.0.0')).toBeUndefined();
      expect(() => lstatSync(link())).toThrow('ENOENT');
      expect(linkNode(folder, '22.1.0')).toBe(
        'Dragoman needs Node 24 or later. This is Node 22.1.0, and npm installed no Node 24 that runs on this machine. ' +
          'Install Node 24, then run npm ci again, without --omit=optional.',
      );
    },
  );
});

const OLDER = `data:text/javascript,${encodeURIComponent(
  'Object.defineProperty(process,"versions",{value:{...process.versions,node:"18.20.4"}})',
)}`;

/** Places a copy of the command, which does not find the Node of this repository. */
function copyCommand(): string {
  const bin = join(folder, 'packages/server/bin/dragoman.js');
  cpSync(join(ROOT, 'packages/server/bin/dragoman.js'), bin);
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
  return bin;
}

describe('the command dragoman on an older Node', () => {
  function run() {
    const bin = copyCommand();
    const args = ['--import', OLDER, bin, '--version'];
    const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
    return { status, stdout, stderr };
  }

  it('runs on the Node of the package', () => {
    installNode('echo "$@"');
    const program = join(folder, 'packages/server/src/main.ts');
    expect(run()).toEqual({ status: 0, stdout: `${program} --version\n`, stderr: '' });
  });

  it('names the remedy when there is no such package', () => {
    expect(run()).toEqual({
      status: 1,
      stdout: '',
      stderr:
        'dragoman needs Node 24 or later; this is Node 18.20.4. Run npm ci in the repository, or install Node 24.\n',
    });
  });
});

describe('the command dragoman of npx', () => {
  /** A program that ends on SIGTERM, and stands for the server. */
  const SERVER = `
    process.once('SIGTERM', () => {
      console.log('stopped');
      process.exit();
    });
    setInterval(() => {}, 60_000);
    console.log('running');
    export const main = () => {};
  `;

  it.each([
    ['the caller’s Node', {}],
    ['the Node of the package', { NODE_OPTIONS: `--import=${OLDER}` }],
  ])('stops when npx is stopped, on %s', async (_, environment) => {
    const bin = copyCommand();
    installNode(`exec ${process.execPath} "$@"`);
    mkdirSync(join(folder, 'packages/server/src'), { recursive: true });
    writeFileSync(join(folder, 'packages/server/src/main.ts'), SERVER);
    mkdirSync(join(folder, 'node_modules/.bin'), { recursive: true });
    symlinkSync(bin, join(folder, 'node_modules/.bin/dragoman'));
    chmodSync(bin, 0o755);
    const npx = spawn('npx', ['--offline', 'dragoman', 'serve'], {
      cwd: folder,
      env: { ...process.env, ...environment },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const lines = createInterface(npx.stdout)[Symbol.asyncIterator]();
    expect((await lines.next()).value).toBe('running');
    npx.kill('SIGTERM');
    expect((await lines.next()).value).toBe('stopped');
    expect((await lines.next()).done).toBe(true);
  });
});

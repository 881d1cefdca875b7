/** Runs every code block of docs/install.md in one shell, in the order of the page, as a reader would paste them. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, it } from 'vitest';
import { apertiumWith } from '../scripts/test-tools.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const page = readFileSync(join(root, 'docs/install.md'), 'utf8');
/**
 * The kind of each block decides what the test does: `sh` is run; `json` is compared with the output of the block
 * before it; `install` is skipped, because the tests' setup has done it.
 */
const blocks = [...page.matchAll(/^```([^\n]+)\n([\s\S]*?)^```$/gm)].map(([, kind, code]) => ({
  kind: kind!,
  code: code!,
}));

/** The reader's folder: the files of the repository, but a separate data directory. */
const directory = mkdtempSync(join(tmpdir(), 'dragoman-quick-start-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

it('docs/install.md has only code blocks that a test can run', () => {
  expect(new Set(blocks.map(({ kind }) => kind))).toEqual(new Set(['sh install', 'sh', 'json']));
  expect(page.match(/^```/gm)).toHaveLength(2 * blocks.length);
  const installed = blocks.filter(({ kind }) => kind === 'sh install').map(({ code }) => code);
  expect(installed).toEqual(['npm ci\n', 'dragoman engine install\n']);
});

it('docs/install.md produces the results that it shows', async () => {
  for (const name of ['packages', 'examples', 'node_modules', 'package.json', 'docs']) {
    symlinkSync(join(root, name), join(directory, name));
  }
  mkdirSync(join(directory, 'data'));
  const [port, receiver] = await Promise.all([freePort(), freePort()]);
  const answers = blocks.map(({ kind, code }, index) =>
    kind === 'json' ? { index: index - 1, fields: JSON.parse(code) } : undefined,
  );
  const script = blocks
    .map(({ kind, code }, index) => (kind === 'sh' ? `echo '=== ${index}'\n${code}echo` : ''))
    .join('\n')
    .replaceAll('8080', String(port))
    .replaceAll('8081', String(receiver));
  const { root: engine } = apertiumWith(join(directory, 'apertium'), ['eng-spa']);
  const printed = await run(`set -eu\n${script}\n`, {
    DRAGOMAN_PORT: String(port),
    DRAGOMAN_APERTIUM_ROOT: engine,
  });
  // The last block has stopped the server and its database.
  await expect(fetch(`http://127.0.0.1:${port}/healthz`)).rejects.toThrow();
  expect(existsSync(join(directory, 'data/postgres/PG_VERSION'))).toBe(true);
  expect(existsSync(join(directory, 'data/postgres/postmaster.pid'))).toBe(false);
  expect(statSync(join(directory, 'acme.json')).mode & 0o777).toBe(0o600);
  const outputs = new Map(
    printed.split(/^=== /m).map((part) => {
      const [, index, output] = /^(\d+)\n([\s\S]*)$/.exec(part) ?? [];
      return [Number(index), output ?? ''];
    }),
  );
  for (const answer of answers) {
    if (answer !== undefined) {
      expect(JSON.parse(outputs.get(answer.index)!)).toMatchObject(answer.fields);
    }
  }
});

/** Runs the script in its own process group, so that all its processes can be ended at once, even if it fails. */
async function run(script: string, environment: Record<string, string>): Promise<string> {
  const { DATABASE_URL: _, DRAGOMAN_DATA: __, ...inherited } = process.env;
  const child = spawn('bash', ['-c', script], {
    cwd: directory,
    env: { ...inherited, ...environment },
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let printed = '';
  let complaints = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    printed += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    complaints += text;
  });
  const [status] = await once(child, 'exit');
  try {
    process.kill(-child.pid!, 'SIGTERM');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
  if (status !== 0) throw new Error(`ended with ${status}: ${complaints}\n${printed}`);
  return printed;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, 'close');
  return port;
}

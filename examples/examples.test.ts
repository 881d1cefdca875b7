/** Runs the examples against the service in a separate process, with real engines. */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { believeEngine, createAccount, isInstalled, type Program, startProgram } from '../scripts/program.ts';

const directory = mkdtempSync(join(tmpdir(), 'dragoman-examples-'));
let program: Program;
let environment: Record<string, string>;
beforeAll(async () => {
  await believeEngine(directory);
  program = await startProgram({ directory, environment: { DRAGOMAN_SANDBOX_HOLD: '2' } });
  const { production_key, sandbox_key } = await createAccount(directory, 'reader', 100_000);
  environment = {
    DRAGOMAN_URL: program.url,
    DRAGOMAN_KEY: production_key,
    DRAGOMAN_SANDBOX_KEY: sandbox_key,
  };
});
afterAll(async () => {
  await program.stop();
  rmSync(directory, { recursive: true, force: true });
});

it.each([
  ['python', 'python3', 'python/whole_interface.py'],
  ['curl', 'bash', 'curl/whole_interface.sh'],
])('example in %s calls the whole API and gets the expected responses', async (_, command, script) => {
  const { stdout } = await promisify(execFile)(command, [join(import.meta.dirname, script)], {
    env: { ...process.env, ...environment },
  });
  expect(stdout).toContain('The whole interface answered as expected.');
});

describe.each([
  ['TypeScript', process.execPath, 'quick_start.ts'],
  ['Python', 'python3', 'quick_start.py'],
  ['PHP', 'php', 'quick_start.php'],
  ['Ruby', 'ruby', 'quick_start.rb'],
  ['Go', 'go', 'quick_start.go'],
  ['Java', 'java', 'QuickStart.java'],
])('quick start in %s', (_, command, file) => {
  const args = [...(command === 'go' ? ['run'] : []), join(import.meta.dirname, 'quick-start', file)];
  const start = (more: Record<string, string>) =>
    promisify(execFile)(command, args, { env: { ...process.env, ...environment, ...more } });

  it.skipIf(!isInstalled(command))(
    `prints a translation when the key is valid, and fails when it is wrong (${command})`,
    async () => {
      expect((await start({})).stdout).toBe('La casa es grande.\n');
      const failed = await start({ DRAGOMAN_KEY: 'nobody:wrong' }).catch((error) => error);
      expect(failed.code).not.toBe(0);
      expect(failed.stderr).toContain('401');
    },
  );
});

it.each([
  ['python', 'python3', 'python/whole_interface.py'],
  ['curl', 'bash', 'curl/whole_interface.sh'],
])(
  'example in %s exits with status 1 when a response differs from the expected one',
  async (_, command, script) => {
    const run = promisify(execFile)(command, [join(import.meta.dirname, script)], {
      env: { ...process.env, ...environment, DRAGOMAN_KEY: 'nobody:wrong' },
    });
    await expect(run).rejects.toMatchObject({ code: 1, stderr: expect.stringContaining('401') });
  },
);

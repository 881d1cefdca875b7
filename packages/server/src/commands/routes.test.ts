/** `dragoman route` and `dragoman memory`, by way of the command line and the tables. */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createAccount } from '../accounts/accounts.ts';
import { createVault } from '../accounts/secrets.ts';
import { createTestDatabase, type TestDatabase } from '../testing/harness.ts';

const MAIN = fileURLToPath(new URL('../main.ts', import.meta.url));
const directory = mkdtempSync(join(tmpdir(), 'dragoman-routes-'));
let test: TestDatabase;
let url: string;

beforeAll(async () => {
  test = await createTestDatabase();
  const { host, port, user, database } = test.connection;
  url =
    test.connection.connectionString ??
    `postgres:///${database}?host=${encodeURIComponent(host!)}&port=${port ?? 5432}&user=${user}`;
  await createAccount(test.database, createVault(Buffer.alloc(32, 1)), {
    username: 'acme',
    email: undefined,
    balanceCents: 0,
    dialect: 'spec',
    chat: false,
  });
});
afterAll(async () => {
  await test.drop();
  rmSync(directory, { recursive: true, force: true });
});

function dragoman(...args: string[]): Promise<{ status: number; stdout: string; stderr: string }> {
  return new Promise((resolve) => {
    const env = { ...process.env, DATABASE_URL: url, DRAGOMAN_DATA: directory };
    execFile(process.execPath, [MAIN, ...args], { env }, (error, stdout, stderr) =>
      resolve({ status: (error?.code as number | undefined) ?? 0, stdout, stderr }),
    );
  });
}

describe('routes', () => {
  it('are set, listed from the general to the special, changed and removed', async () => {
    expect((await dragoman('route', 'list')).stdout).toMatch(/^There are no routes/);
    await dragoman(
      'route',
      'set',
      'apertium',
      '--account',
      'acme',
      '--brand',
      'b',
      '--from',
      'en',
      '--to',
      'es',
    );
    await dragoman('route', 'set', 'apertium', '--tier', 'chat');
    const again = await dragoman('route', 'set', 'apertium', '--tier', 'chat');
    expect(again).toEqual({ status: 0, stdout: '*>*, chat: apertium\n', stderr: '' });
    expect((await dragoman('route', 'list')).stdout).toBe(
      '*>*, chat: apertium\nen>es, account acme, brand b: apertium\n',
    );
    expect(JSON.parse((await dragoman('route', 'list', '--json')).stdout).routes).toHaveLength(2);
    expect((await dragoman('route', 'remove', '--tier', 'chat')).stdout).toBe(
      'Removed the route for *>*, chat.\n',
    );
    const gone = await dragoman('route', 'remove', '--tier', 'chat');
    expect(gone).toEqual({ status: 1, stdout: '', stderr: 'There is no route for *>*, chat.\n' });
  });

  it.each([
    ['an engine that there is not', 2, ['set', 'magic']],
    ['a tier that there is not', 2, ['set', 'apertium', '--tier', 'boss']],
    ['an account that there is not', 1, ['set', 'apertium', '--account', 'nobody']],
    ['a brand of nobody', 1, ['set', 'apertium', '--brand', 'b']],
  ])('for %s are refused', async (_what, status, args) => {
    const refused = await dragoman('route', ...args);
    expect(refused).toMatchObject({ status, stdout: '' });
    expect(refused.stderr).not.toBe('');
  });
});

describe('a memory', () => {
  const file = join(directory, 'memory.tmx');
  const unit = (source: string, target: string, to = 'es-ES') =>
    `<tu><tuv xml:lang="en-US"><seg>${source}</seg></tuv><tuv xml:lang="${to}"><seg>${target}</seg></tuv></tu>`;

  it('is brought in once, however often, and what is not of the pair is left out', async () => {
    const units = [unit('One.', 'Uno.'), unit('Two.', 'Deux.', 'fr'), unit('One.', 'El uno.')];
    writeFileSync(file, `<tmx version="1.4"><body>\n${units.join('\n')}\n</body></tmx>`);
    const args = ['memory', 'import', 'acme', file, '--from', 'en', '--to', 'es', '--json'];
    for (let times = 0; times < 2; times++) {
      const { stdout } = await dragoman(...args);
      expect(JSON.parse(stdout)).toEqual({ read: 3, written: 1, skipped: 1 });
    }
  });

  it('that is broken is refused with file and line', async () => {
    writeFileSync(file, '<tmx version="1.4"><body>\n<tu>\n</body></tmx>');
    const refused = await dragoman('memory', 'import', 'acme', file, '--from', 'en', '--to', 'es');
    expect(refused).toMatchObject({ status: 1, stdout: '' });
    expect(refused.stderr).toMatch(/memory\.tmx: This is not well-formed XML: .*\(line 3\)\.\n$/);
  });
});

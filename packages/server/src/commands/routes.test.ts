/** `dragoman route` and `dragoman memory`, by way of the command line and the tables. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createAccount } from '../accounts/accounts.ts';
import { createVault } from '../accounts/secrets.ts';
import { createTestDatabase, type TestDatabase } from '../testing/harness.ts';
import { dragoman, type Ended, urlOf } from '../testing/programs.ts';

const directory = mkdtempSync(join(tmpdir(), 'dragoman-routes-'));
let test: TestDatabase;

beforeAll(async () => {
  test = await createTestDatabase();
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

const command = (...args: string[]): Promise<Ended> =>
  dragoman([...args, '--data', directory], { DATABASE_URL: urlOf(test.connection) });

describe('routes', () => {
  it('are set, listed from the general to the special, changed and removed', async () => {
    expect((await command('route', 'list')).stdout).toMatch(/^There are no routes/);
    await command(
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
    await command('route', 'set', 'apertium', '--tier', 'chat');
    const again = await command('route', 'set', 'apertium', '--tier', 'chat');
    expect(again).toEqual({ status: 0, stdout: '*>*, chat: apertium\n', stderr: '' });
    expect((await command('route', 'list')).stdout).toBe(
      '*>*, chat: apertium\nen>es, account acme, brand b: apertium\n',
    );
    expect(JSON.parse((await command('route', 'list', '--json')).stdout).routes).toHaveLength(2);
    expect((await command('route', 'remove', '--tier', 'chat')).stdout).toBe(
      'Removed the route for *>*, chat.\n',
    );
    const gone = await command('route', 'remove', '--tier', 'chat');
    expect(gone).toEqual({ status: 1, stdout: '', stderr: 'There is no route for *>*, chat.\n' });
  });

  it.each([
    ['an engine that there is not', 2, ['set', 'magic']],
    ['a tier that there is not', 2, ['set', 'apertium', '--tier', 'boss']],
    ['an account that there is not', 1, ['set', 'apertium', '--account', 'nobody']],
    ['a brand of nobody', 1, ['set', 'apertium', '--brand', 'b']],
  ])('for %s are refused', async (_what, status, args) => {
    const refused = await command('route', ...args);
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
      const { stdout } = await command(...args);
      expect(JSON.parse(stdout)).toEqual({ read: 3, written: 1, skipped: 1 });
    }
  });

  it('that is broken is refused with file and line', async () => {
    writeFileSync(file, '<tmx version="1.4"><body>\n<tu>\n</body></tmx>');
    const refused = await command('memory', 'import', 'acme', file, '--from', 'en', '--to', 'es');
    expect(refused).toMatchObject({ status: 1, stdout: '' });
    expect(refused.stderr).toMatch(/memory\.tmx: This is not well-formed XML: .*\(line 3\)\.\n$/);
  });
});

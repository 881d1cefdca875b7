/** `dragoman route` and `dragoman memory`, by way of the command line and the tables. */
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
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

async function asked(...args: string[]) {
  const { status, stdout, stderr } = await command(...args);
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  return JSON.parse(stdout);
}

describe('a memory', () => {
  const file = join(directory, 'memory.tmx');
  const unit = (source: string, target: string, to = 'es-ES') =>
    `<tu><tuv xml:lang="en-US"><seg>${source}</seg></tuv><tuv xml:lang="${to}"><seg>${target}</seg></tuv></tu>`;

  it('is brought in once, however often, and what is not of the pair is left out', async () => {
    const units = [unit('One.', 'Uno.'), unit('Two.', 'Deux.', 'fr'), unit('One.', 'El uno.')];
    writeFileSync(file, `<tmx version="1.4"><body>\n${units.join('\n')}\n</body></tmx>`);
    const args = ['memory', 'import', 'acme', file, '--from', 'en', '--to', 'es', '--json'];
    expect(await asked(...args, '--dry-run')).toEqual({ read: 3, written: 2, skipped: 1 });
    expect(await asked('memory', 'list', 'acme', '--json')).toEqual({ memory: [] });
    for (let times = 0; times < 2; times++) {
      expect(await asked(...args)).toEqual({ read: 3, written: 2, skipped: 1 });
    }
    const { memory } = await asked('memory', 'list', 'acme', '--json');
    expect(memory).toMatchObject([{ source_language: 'en', target_language: 'es', brand: null, entries: 2 }]);
  });

  it('is searched, taken back, and written to a file', async () => {
    const { entries } = await asked('memory', 'search', 'acme', 'EL', 'one', '--json');
    expect(entries).toMatchObject([{ source: 'One.', target: 'El uno.', weight: 1, origin: 'import' }]);
    const id = entries[0].memory_id;
    const retract = ['memory', 'retract', 'acme', id, '--json'];
    expect(await asked(...retract, '--reason', 'old')).toEqual({ memory_id: id, changed: true, touched: [] });
    expect(await asked(...retract)).toMatchObject({ changed: false });
    expect((await asked('memory', 'search', 'acme', '--json')).entries).toHaveLength(1);
    const out = join(directory, 'out.tmx');
    await asked('memory', 'export', 'acme', out, '--json');
    // Only its writer may read a customer's sentences.
    expect(statSync(out).mode & 0o777).toBe(0o600);
    const written = readFileSync(out, 'utf8');
    expect(written).toContain('<seg>Uno.</seg>');
    expect(written).not.toContain('El uno.');
    expect(await asked(...retract, '--restore')).toMatchObject({ changed: true });
    await asked('memory', 'export', 'acme', out, '--from', 'en', '--json');
    expect(readFileSync(out, 'utf8')).toContain('El uno.');
    const unknown = await command('memory', 'retract', 'acme', 'nothing');
    expect(unknown).toMatchObject({ status: 1, stderr: 'acme has no entry nothing.\n' });
    const nowhere = await command('memory', 'export', 'acme', join(directory, 'no', 'where'));
    expect(nowhere).toMatchObject({ status: 1, stdout: '' });
  });

  it('that is broken is refused with file and line', async () => {
    writeFileSync(file, '<tmx version="1.4"><body>\n<tu>\n</body></tmx>');
    const refused = await command('memory', 'import', 'acme', file, '--from', 'en', '--to', 'es');
    expect(refused).toMatchObject({ status: 1, stdout: '' });
    expect(refused.stderr).toMatch(/memory\.tmx: This is not well-formed XML: .*\(line 3\)\.\n$/);
  });
});

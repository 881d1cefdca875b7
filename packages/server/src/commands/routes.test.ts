/** Tests the commands `dragoman route` and `dragoman memory`, and the rows that they write. */
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createVault } from '../access/secrets.ts';
import { createAccount } from '../accounts/accounts.ts';
import { createTestDatabase, type TestDatabase } from '../testing/harness.ts';
import { dragoman, type Ended, urlOf } from '../testing/programs.ts';

const directory = mkdtempSync(join(tmpdir(), 'dragoman-routes-'));
let test: TestDatabase;

beforeAll(async () => {
  test = await createTestDatabase();
  await createAccount(test.database, createVault(Buffer.alloc(32, 1)), 'command', {
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

describe('dragoman route', () => {
  it('sets, lists from general to specific, changes and removes engine routes', async () => {
    expect((await command('route', 'list')).stdout).toMatch(/^There are no engine routes/);
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
      'FROM  TO  TIER  ACCOUNT  BRAND  ENGINES\n' +
        '*     *   chat  *        *      apertium\n' +
        'en    es  *     acme     b      apertium\n',
    );
    expect(JSON.parse((await command('route', 'list', '--json')).stdout).routes).toHaveLength(2);
    expect((await command('route', 'remove', '--tier', 'chat')).stdout).toBe(
      'Removed the route for *>*, chat.\n',
    );
    const gone = await command('route', 'remove', '--tier', 'chat');
    expect(gone).toEqual({ status: 1, stdout: '', stderr: 'There is no route for *>*, chat.\n' });
  });

  it.each<[string, number, string[], RegExp?]>([
    ['an unknown engine', 2, ['set', 'magic']],
    [
      'a language model with a wrong name',
      2,
      ['set', 'llm:4b'],
      /NAME: up to 20 lower-case letters and digits/,
    ],
    ['a language model that is not configured', 1, ['set', 'llm:unknown'], /^There is no engine llm:unknown/],
    ['an unknown tier', 2, ['set', 'apertium', '--tier', 'boss']],
    ['an unknown account', 1, ['set', 'apertium', '--account', 'nobody']],
    ['a brand without an account', 1, ['set', 'apertium', '--brand', 'b']],
  ])('refuses routes for %s', async (_what, status, args, sentence = /./) => {
    const refused = await command('route', ...args);
    expect(refused).toMatchObject({ status, stdout: '' });
    expect(refused.stderr).toMatch(sentence);
  });
});

async function runJson(...args: string[]) {
  const { status, stdout, stderr } = await command(...args);
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  return JSON.parse(stdout);
}

describe('dragoman memory', () => {
  const file = join(directory, 'memory.tmx');
  const unit = (source: string, target: string, to = 'es-ES') =>
    `<tu><tuv xml:lang="en-US"><seg>${source}</seg></tuv><tuv xml:lang="${to}"><seg>${target}</seg></tuv></tu>`;

  it('imports an entry once, even when the import is repeated, and skips other language pairs', async () => {
    const units = [unit('One.', 'Uno.'), unit('Two.', 'Deux.', 'fr'), unit('One.', 'El uno.')];
    writeFileSync(file, `<tmx version="1.4"><body>\n${units.join('\n')}\n</body></tmx>`);
    const args = ['memory', 'import', 'acme', file, '--from', 'en', '--to', 'es', '--json'];
    expect(await runJson(...args, '--dry-run')).toEqual({ read: 3, written: 2, skipped: 1 });
    expect(await runJson('memory', 'list', 'acme', '--json')).toEqual({ memory: [] });
    for (let times = 0; times < 2; times++) {
      expect(await runJson(...args)).toEqual({ read: 3, written: 2, skipped: 1 });
    }
    const { memory } = await runJson('memory', 'list', 'acme', '--json');
    expect(memory).toMatchObject([{ source_language: 'en', target_language: 'es', brand: null, entries: 2 }]);
  });

  it('finds, withdraws and exports entries', async () => {
    const { entries } = await runJson('memory', 'search', 'acme', 'EL', 'one', '--json');
    expect(entries).toMatchObject([{ source: 'One.', target: 'El uno.', weight: 1, origin: 'import' }]);
    const id = entries[0].memory_id;
    const withdraw = ['memory', 'withdraw', 'acme', id, '--json'];
    expect(await runJson(...withdraw, '--reason', 'old')).toEqual({
      memory_id: id,
      changed: true,
      touched: [],
    });
    expect(await runJson(...withdraw)).toMatchObject({ changed: false });
    expect((await runJson('memory', 'search', 'acme', '--json')).entries).toHaveLength(1);
    const out = join(directory, 'out.tmx');
    await runJson('memory', 'export', 'acme', out, '--json');
    // The exported file is readable only by the user who ran the command, because it contains a customer's
    // sentences.
    expect(statSync(out).mode & 0o777).toBe(0o600);
    const written = readFileSync(out, 'utf8');
    expect(written).toContain('<seg>Uno.</seg>');
    expect(written).not.toContain('El uno.');
    expect(await runJson(...withdraw, '--restore')).toMatchObject({ changed: true });
    await runJson('memory', 'export', 'acme', out, '--from', 'en', '--json');
    expect(readFileSync(out, 'utf8')).toContain('El uno.');
    const unknown = await command('memory', 'withdraw', 'acme', 'nothing');
    expect(unknown).toMatchObject({ status: 1, stderr: 'acme has no entry nothing.\n' });
    const nowhere = await command('memory', 'export', 'acme', join(directory, 'no', 'where'));
    expect(nowhere).toMatchObject({ status: 1, stdout: '' });
  });

  it('imports a file in the encoding that it declares, and refuses others', async () => {
    const written = `<?xml version="1.0" encoding="ISO-8859-1"?>\n<tmx version="1.4"><body>${unit('Tomorrow.', 'Mañana.')}</body></tmx>`;
    const args = ['memory', 'import', 'acme', file, '--from', 'en', '--to', 'es'];
    writeFileSync(file, Buffer.from(written, 'latin1'));
    expect(await runJson(...args, '--json')).toMatchObject({ written: 1 });
    const { entries } = await runJson('memory', 'search', 'acme', 'Tomorrow', '--json');
    expect(entries).toMatchObject([{ target: 'Mañana.' }]);
    writeFileSync(file, Buffer.from(written.replace('ISO-8859-1', 'UTF-8'), 'latin1'));
    expect(await command(...args)).toEqual({
      status: 1,
      stdout: '',
      stderr: `${file} is not text in UTF-8; save it as UTF-8.\n`,
    });
  });

  it('refuses a malformed TMX file and names file and line', async () => {
    writeFileSync(file, '<tmx version="1.4"><body>\n<tu>\n</body></tmx>');
    const refused = await command('memory', 'import', 'acme', file, '--from', 'en', '--to', 'es');
    expect(refused).toMatchObject({ status: 1, stdout: '' });
    expect(refused.stderr).toMatch(/memory\.tmx: This is not well-formed XML: .*\(line 3\)\.\n$/);
  });
});

/**
 * Tests the secret key, which all processes of a database must share: errors at the start, the report of the
 * doctor, and the replacement of a lost key.
 */
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { administer, withDatabase } from '../testing/cluster.ts';
import { createTestDatabase, type TestDatabase } from '../testing/harness.ts';
import {
  dragoman,
  dragomanProcess,
  engineWithoutLanguages,
  killPrograms,
  serve,
  urlOf,
} from '../testing/programs.ts';

const directory = mkdtempSync(join(tmpdir(), 'dragoman-secret-key-'));
const key = (byte: number) => Buffer.alloc(32, byte).toString('base64');
const at = (name: string) => ['--data', join(directory, name)];

afterAll(async () => {
  await killPrograms();
  rmSync(directory, { recursive: true, force: true });
});

describe('the secret key of an external database', () => {
  let database: TestDatabase;
  const place = (secret: string) => ({
    DATABASE_URL: urlOf(database.connection),
    DRAGOMAN_SECRET_KEY: secret,
  });
  const findings = async (secret: string): Promise<{ check: string; ok: boolean; detail: string }[]> => {
    const own = { ...place(secret), ...engineWithoutLanguages(directory) };
    return JSON.parse((await dragoman(['doctor', '--json', ...at('doctor')], own)).stdout).findings;
  };
  beforeAll(async () => {
    database = await createTestDatabase();
  });
  afterAll(() => database.drop());

  it.each([
    ['serve', ['serve']],
    ['account create', ['account', 'create', 'acme']],
    ['webhook-secret roll', ['webhook-secret', 'roll', 'acme', '--environment', 'sandbox']],
  ])('must be set for %s, which creates no key itself', async (_, command) => {
    // Only `serve` runs in a separate process, to test that the process ends.
    const run = command[0] === 'serve' ? dragomanProcess : dragoman;
    const { status, stdout, stderr } = await run([...command, ...at('none')], place(''));
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
    expect(stderr).toMatch(/^DRAGOMAN_SECRET_KEY must be set when DATABASE_URL is set: [^\n]*\n$/);
    expect(existsSync(join(directory, 'none', 'secret.key'))).toBe(false);
  });

  it('must be set before serve changes anything in an empty database', async () => {
    const { connection } = inject('cluster');
    const name = `dragoman_empty_${process.pid}`;
    await administer(connection, `create database ${name}`);
    const empty = withDatabase(connection, name);
    const own = { DATABASE_URL: urlOf(empty), DRAGOMAN_SECRET_KEY: '' };
    expect((await dragoman(['serve', ...at('none')], own)).status).toBe(1);
    const tables = await administer(empty, `select from pg_tables where schemaname = 'public'`);
    expect(tables).toHaveLength(0);
    await administer(connection, `drop database ${name}`);
  });

  it('must be the key of the first process, or further processes do not start', async () => {
    const first = await serve([...at('d1'), '--role', 'api'], place(key(1)));
    await first.answers('/healthz');
    const second = await serve([...at('d2'), '--role', 'api'], place(key(1)));
    await second.answers('/healthz');
    for (const role of ['api', 'worker', 'all']) {
      const other = await dragoman(['serve', '--role', role, ...at('d3')], place(key(2)));
      expect(other, role).toMatchObject({ status: 1, stdout: '' });
      expect(other.stderr, role).toMatch(
        /^DRAGOMAN_SECRET_KEY is not the key of this database: set DRAGOMAN_SECRET_KEY to /,
      );
    }
    const created = await dragoman(['account', 'create', 'other', ...at('d3')], place(key(2)));
    expect(created).toMatchObject({ status: 1, stderr: expect.stringContaining('is not the key') });
    expect(await Promise.all([first.terminate(), second.terminate()])).toEqual([0, 0]);
  });

  it('is compared by the doctor with the key of the database', async () => {
    const named = async (secret: string) =>
      (await findings(secret)).find(({ check }) => check === 'secret key');
    expect(await named(key(1))).toMatchObject({ ok: true });
    expect(await named(key(2))).toMatchObject({
      ok: false,
      detail: 'DRAGOMAN_SECRET_KEY is not the key of this database',
      remedy: expect.stringContaining('set DRAGOMAN_SECRET_KEY to the key of the other processes'),
    });
    expect(await named('')).toMatchObject({ ok: false });
  });

  it('is needed only by commands that encrypt or decrypt a secret', async () => {
    expect(await dragoman(['ledger', 'verify', ...at('d4')], place(''))).toMatchObject({ status: 0 });
    expect(await dragoman(['ledger', 'verify', ...at('d4')], place(key(2)))).toMatchObject({ status: 0 });
  });

  it('can be replaced when it is lost', async () => {
    expect(await dragoman(['secret-key', 'replace', ...at('d5')], place(key(2)))).toMatchObject({
      status: 0,
    });
    // A second run changes nothing and does not ask for new webhook secrets.
    expect(await dragoman(['secret-key', 'replace', ...at('d5')], place(key(2)))).toMatchObject({
      status: 0,
      stdout: 'The database already uses this secret key. Nothing was changed.\n',
      stderr: '',
    });
    const program = await serve([...at('d5'), '--role', 'api'], place(key(2)));
    await program.answers('/healthz');
    expect(await program.terminate()).toBe(0);
    expect(await dragoman(['serve', ...at('d1')], place(key(1)))).toMatchObject({ status: 1 });
  });

  it('must decrypt the stored secrets when the database has no fingerprint of its key', async () => {
    const made = await dragoman(['account', 'create', 'sealed', ...at('d5')], place(key(2)));
    expect(made).toMatchObject({ status: 0 });
    // Databases have no fingerprint after an upgrade from a version without fingerprints, or after a restore of such a
    // database.
    await query('delete from secret_key_mark');
    const role = ['--role', 'api'];
    const refused = /^DRAGOMAN_SECRET_KEY is not the key of this database: /;
    const created = await dragoman(['account', 'create', 'late', ...at('d6')], place(key(3)));
    expect(created).toMatchObject({ status: 1, stderr: expect.stringMatching(refused) });
    const other = await dragoman(['serve', ...role, ...at('d6')], place(key(3)));
    expect(other).toMatchObject({ status: 1, stdout: '', stderr: expect.stringMatching(refused) });
    const ok = async (secret: string) =>
      (await findings(secret)).find(({ check }) => check === 'secret key')?.ok;
    expect([await ok(key(3)), await ok(key(2))]).toEqual([false, true]);
    expect((await query('select from secret_key_mark')).rowCount).toBe(0);
    const program = await serve([...role, ...at('d6')], place(key(2)));
    await program.answers('/healthz');
    expect(await program.terminate()).toBe(0);
    expect((await query('select from secret_key_mark')).rowCount).toBe(1);
  });

  it('is recorded in the database by a fingerprint that does not reveal the key', async () => {
    const { rows } = await query('select mark from secret_key_mark');
    expect(rows).toHaveLength(1);
    expect(rows[0].mark).toHaveLength(32);
    expect(rows[0].mark.equals(Buffer.alloc(32, 2))).toBe(false);
  });

  async function query(sql: string) {
    const { createConnection } = await import('../database/connections.ts');
    const client = createConnection(database.connection);
    await client.connect();
    try {
      return await client.query(sql);
    } finally {
      await client.end();
    }
  }
});

describe('the secret key of an embedded database', () => {
  it('is created once, and the server does not start without it', async () => {
    const own = at('embedded');
    const program = await serve([...own, '--role', 'api']);
    await program.answers('/healthz');
    expect(await program.terminate()).toBe(0);
    rmSync(join(directory, 'embedded', 'secret.key'));
    const { status, stderr } = await dragomanProcess(['serve', ...own]);
    expect(status).toBe(1);
    expect(stderr).toMatch(/^The secret key of this database is missing: put its secret\.key into /);
    expect(existsSync(join(directory, 'embedded', 'secret.key'))).toBe(false);
  });
});

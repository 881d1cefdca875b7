/**
 * Tests the secret key, which all processes of a database must share: errors at the start, the report of the
 * doctor, and the replacement of a lost key.
 */
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest';
import { accountNamed } from '../access/accounts.ts';
import {
  beginSecondFactor,
  renewRecoveryCodes,
  requireCode,
  secondFactorContext,
} from '../access/second-factor.ts';
import { createVault, secretContext, type Vault } from '../access/secrets.ts';
import { insertWebhookSecret, listSealedSecrets } from '../access/webhook-secret-store.ts';
import { webhookSecrets } from '../access/webhook-secrets.ts';
import type { AccountRef } from '../base/account.ts';
import { uuidv7 } from '../base/ids.ts';
import { createLog } from '../base/log.ts';
import { openStore } from '../roles/program.ts';
import { loadSettings } from '../settings/settings.ts';
import { administer, withDatabase } from '../testing/cluster.ts';
import { createTestDatabase, type TestDatabase, until } from '../testing/harness.ts';
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
    const made = await dragoman(['account', 'create', 'losing', ...at('d5')], place(key(1)));
    expect(made).toMatchObject({ status: 0 });
    expect(await dragoman(['secret-key', 'replace', ...at('d5')], place(key(2)))).toEqual({
      status: 1,
      stdout: '',
      stderr:
        '2 webhook secrets and 0 second factors would be lost. If you have the old key, use: dragoman secret-key rotate. If it is lost, add --yes.\n',
    });
    const both = { ...place(key(2)), DRAGOMAN_SECRET_KEY_PREVIOUS: key(1) };
    expect(await dragoman(['secret-key', 'replace', '--yes', ...at('d5')], both)).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('so the previous key is not lost'),
    });
    const roll = (secret: string) =>
      dragoman(['webhook-secret', 'roll', 'losing', '--environment', 'sandbox', ...at('d5')], place(secret));
    expect((await roll(key(1))).status).toBe(0);
    expect(await dragoman(['secret-key', 'replace', '--yes', ...at('d5')], place(key(2)))).toMatchObject({
      status: 0,
    });
    // A second run changes nothing and does not ask for new webhook secrets.
    expect(await dragoman(['secret-key', 'replace', ...at('d5')], place(key(2)))).toMatchObject({
      status: 0,
      stdout: 'The database already uses this secret key. Nothing was changed.\n',
      stderr: '',
    });
    expect([(await roll(key(2))).status, (await roll(key(1))).status]).toEqual([0, 1]);
  });

  it('must decrypt the stored secrets when the database has no fingerprint of its key', async () => {
    const made = await dragoman(['account', 'create', 'sealed', ...at('d5')], place(key(2)));
    expect(made).toMatchObject({ status: 0 });
    // Databases have no fingerprint after an upgrade from a version without fingerprints, or after a restore of such a
    // database.
    await query('delete from secret_key_mark');
    const refused = /^DRAGOMAN_SECRET_KEY is not the key of this database: /;
    const created = await dragoman(['account', 'create', 'late', ...at('d6')], place(key(3)));
    expect(created).toMatchObject({ status: 1, stderr: expect.stringMatching(refused) });
    const other = await dragoman(['serve', '--role', 'api', ...at('d6')], place(key(3)));
    expect(other).toMatchObject({ status: 1, stdout: '', stderr: expect.stringMatching(refused) });
    const ok = async (secret: string) =>
      (await findings(secret)).find(({ check }) => check === 'secret key')?.ok;
    expect([await ok(key(3)), await ok(key(2))]).toEqual([false, true]);
    expect((await query('select from secret_key_mark')).rowCount).toBe(0);
    expect((await dragoman(['account', 'create', 'late', ...at('d6')], place(key(2)))).status).toBe(0);
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

describe('the rotation of the secret key', () => {
  let test: TestDatabase;
  let account: AccountRef;
  let owner: pg.Client;
  const [old, next] = [createVault(Buffer.alloc(32, 1)), createVault(Buffer.alloc(32, 2))];
  const place = (secret: string, previous = '') => ({
    DATABASE_URL: urlOf(test.connection),
    DRAGOMAN_SECRET_KEY: secret,
    DRAGOMAN_SECRET_KEY_PREVIOUS: previous,
  });
  const both = () => place(key(2), key(1));
  const rotate = (own = both()) => dragoman(['secret-key', 'rotate', '--json', ...at('rotate')], own);
  const USE = { environment: 'production', endpointId: null } as const;

  /** Counts the stored secrets by the key that opens them. */
  async function openedBy(vault: Vault): Promise<number> {
    const secrets = await listSealedSecrets(test.database, undefined, 10_000);
    const { rows: factors } = await owner.query('select user_id, sealed from second_factors');
    const all = [
      ...secrets.map(({ account, use, sealed }) => [sealed, secretContext(account, use)]),
      ...factors.map(({ user_id, sealed }) => [sealed, secondFactorContext(user_id)]),
    ] as [Buffer, string][];
    return all.filter(([sealed, context]) => {
      try {
        return vault.open(sealed, context).length > 0;
      } catch {
        return false;
      }
    }).length;
  }

  /** An account with its two secrets and 250 more, more than a batch, and a user with a second factor. */
  beforeEach(async () => {
    test = await createTestDatabase();
    owner = await test.connectOwner();
    expect(await dragoman(['account', 'create', 'acme', ...at('rotate')], place(key(1)))).toMatchObject({
      status: 0,
    });
    account = (await accountNamed(test.database, 'acme')).ref;
    for (let n = 0; n < 250; n++) {
      const sealed = old.seal(Buffer.from(`whsec_${n}`), secretContext(account, USE));
      await insertWebhookSecret(test.database, { ...USE, account, secretId: uuidv7(), sealed });
    }
    await owner.query(
      `insert into users (user_id, email, name, role) values ('01a22426-c40a-7000-8000-000000000001', 'op@example.com', 'Op', 'operator')`,
    );
    const { rows } = await owner.query('select user_id as "userId", email from users');
    await beginSecondFactor(test.database, old, rows[0]);
  });
  afterEach(() => test.drop());

  it('encrypts everything with the new key, while processes with both keys go on, and once', async () => {
    const store = await openStore(
      loadSettings({ ...both(), DRAGOMAN_DATA: directory }),
      'serve',
      createLog('silent'),
    );
    const seals = (vault: Vault) => {
      try {
        return vault.open(store.vault.seal(Buffer.from('a'), 'b'), 'b').toString() === 'a';
      } catch {
        return false;
      }
    };
    // Processes that have the old key alone read what this one writes.
    expect([seals(old), seals(next)]).toEqual([true, false]);
    expect(await dragoman(['account', 'create', 'during', ...at('rotate')], both())).toMatchObject({
      status: 0,
    });
    expect([await openedBy(old), await openedBy(next)]).toEqual([255, 0]);
    const rotated = await rotate();
    expect(rotated).toMatchObject({ status: 0, stderr: '' });
    expect(JSON.parse(rotated.stdout)).toEqual({
      begun: true,
      sealed: 255,
      left: 0,
      unreadable: 0,
      recoveryCodes: 0,
    });
    expect([await openedBy(old), await openedBy(next)]).toEqual([0, 255]);
    await until(() => seals(next));
    expect(await webhookSecrets(test.database, store.vault, account, 'production')).toContain('whsec_0');
    await store.close();
    const again = JSON.parse((await rotate()).stdout);
    expect(again).toMatchObject({ begun: false, sealed: 0, left: 0, unreadable: 0 });
    const create = (own: Record<string, string>) =>
      dragoman(['account', 'create', 'after', ...at('rotate')], own);
    expect(await create(place(key(1)))).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('is not the key of this database'),
    });
    expect(await create(place(key(2)))).toMatchObject({ status: 0 });
    const { rows } = await owner.query(`select from audit where action = 'secret_key.rotated'`);
    expect(rows).toHaveLength(1);
  });

  it('can be interrupted at any secret and repeated, and loses none', async () => {
    const victim = (await listSealedSecrets(test.database, undefined, 240)).at(-1)!.secretId;
    await owner.query(
      `create function fail() returns trigger language plpgsql as 'begin raise exception ''interrupted''; end';
       create trigger fail before update on webhook_secrets for each row
         when (old.secret_id = '${victim}') execute function fail()`,
    );
    expect(await rotate()).toMatchObject({ status: 1 });
    expect([await openedBy(old), await openedBy(next)]).toEqual([53, 200]);
    // Processes with both keys read all of them meanwhile.
    const store = await openStore(
      loadSettings({ ...both(), DRAGOMAN_DATA: directory }),
      'serve',
      createLog('silent'),
    );
    expect(await openedBy(store.vault)).toBe(253);
    await store.close();
    await owner.query('drop trigger fail on webhook_secrets');
    expect(JSON.parse((await rotate()).stdout)).toMatchObject({ begun: false, sealed: 53, left: 0 });
    expect(await openedBy(next)).toBe(253);
  });

  it('names secrets that neither key opens, and users with recovery codes, which work with both keys', async () => {
    const lost = createVault(Buffer.alloc(32, 9)).seal(
      Buffer.from('whsec_lost'),
      secretContext(account, USE),
    );
    await insertWebhookSecret(test.database, { ...USE, account, secretId: uuidv7(), sealed: lost });
    await owner.query('update second_factors set confirmed_at = now(), last_step = 0');
    const { rows } = await owner.query('select user_id as "userId", user_id, email from users');
    const [code] = await renewRecoveryCodes(test.database, old, rows[0]);
    const { stdout, stderr } = await dragoman(['secret-key', 'rotate', ...at('rotate')], both());
    expect(stdout).toBe('253 secrets encrypted with the new key, 0 left.\n');
    expect(stderr).toBe(
      '1 secret can be read with neither key: their key was lost before.\n' +
        '1 user has recovery codes. Those from before the rotation work only while DRAGOMAN_SECRET_KEY_PREVIOUS is set.\n',
    );
    const store = await openStore(
      loadSettings({ ...both(), DRAGOMAN_DATA: directory }),
      'serve',
      createLog('silent'),
    );
    await expect(requireCode(test.database, next, rows[0], code)).rejects.toThrow('Is not a valid code');
    await requireCode(test.database, store.vault, rows[0], code);
    await store.close();
  });

  it.each([
    [
      'only the new key',
      [key(2)],
      /^{"error":"To rotate the secret key, set DRAGOMAN_SECRET_KEY to the new key and /,
    ],
    ['the same key twice', [key(1), key(1)], /^{"error":"To rotate the secret key, set /],
    [
      'another previous key',
      [key(2), key(3)],
      /^{"error":"Neither DRAGOMAN_SECRET_KEY nor DRAGOMAN_SECRET_KEY_PREVIOUS is /,
    ],
  ] as [string, [string, string?], RegExp][])('is refused with %s', async (_, keys, sentence) => {
    expect(await rotate(place(...keys))).toMatchObject({
      status: 1,
      stdout: '',
      stderr: expect.stringMatching(sentence),
    });
    expect(await openedBy(old)).toBe(253);
  });

  it('is shown by the doctor until it is done', async () => {
    const finding = async () => {
      const own = { ...both(), ...engineWithoutLanguages(directory) };
      const { findings } = JSON.parse((await dragoman(['doctor', '--json', ...at('rotate')], own)).stdout);
      return findings.find(({ check }: { check: string }) => check === 'secret key');
    };
    expect(await finding()).toMatchObject({
      ok: true,
      detail: 'the database uses DRAGOMAN_SECRET_KEY_PREVIOUS',
      remedy: 'When all processes have both keys, run: dragoman secret-key rotate',
    });
    await rotate();
    expect(await finding()).toEqual({ check: 'secret key', ok: true, detail: 'matches the database' });
  });
});

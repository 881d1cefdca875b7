/** Keys and webhook secrets that an operator makes, ends and rolls, against a running server. */
import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createConnection } from '../database/connections.ts';
import { parseSecret, type SignatureHeaders, verify } from '../deliveries/signature.ts';
import {
  createClient,
  type Receiver,
  startReceiver,
  startTestServer,
  type TestServer,
  until,
} from '../testing/harness.ts';
import {
  type Account,
  accountNamed,
  createDoorkeeper,
  rollWebhookSecret,
  webhookSecrets,
} from './accounts.ts';
import { type Alongside, listKeys, makeKey, type NewKey, revokeKey, rollKey } from './keys.ts';

const HUMAN = '/tapi/v2/translation/';
const MACHINE = '/tapi/v2/mt_translation/';
let server: TestServer;
let receiver: Receiver;
let owner: pg.Client;
beforeAll(async () => {
  receiver = await startReceiver();
  server = await startTestServer();
  owner = createConnection(server.connection);
  await owner.connect();
});
afterAll(async () => {
  await owner.end();
  await server.stop();
  await receiver.close();
});

const PLAIN: NewKey = {
  environment: 'production',
  name: 'build',
  dialect: 'spec',
  readOnly: false,
  expiresAt: undefined,
  madeBy: undefined,
};
const job = { text: 'The house.', source_language: 'en', target_language: 'es' };

async function createCustomer() {
  const made = await server.createAccount();
  const account = await accountNamed(server.database, made.username);
  return {
    ...made,
    account,
    make: (fields: Partial<NewKey> = {}) =>
      server.database.transaction((transaction) => makeKey(transaction, account, { ...PLAIN, ...fields })),
  };
}
const knock = async (key: string) => (await createClient(server.url, key)('GET', HUMAN)).status;

describe('a key', () => {
  it('of an account opens beside its others, with what it was made for', async () => {
    const { make, account, production_key } = await createCustomer();
    const reader = await make({ readOnly: true, name: 'reader' });
    expect(await Promise.all([production_key, reader.key].map(knock))).toEqual([200, 200]);
    expect((await createClient(server.url, reader.key)('POST', HUMAN, job)).status).toBe(403);
    const old = await make({ dialect: 'legacy', environment: 'sandbox' });
    expect(await knock(old.key)).toBe(401);
    const sandbox = createClient(`${server.url}/sandbox`, old.key);
    expect((await sandbox('GET', HUMAN)).status).toBe(200);
    const keys = await listKeys(server.database, account.ref);
    expect(keys.map(({ name, live, read_only, dialect }) => [name, live, read_only, dialect])).toEqual([
      ['first', true, false, 'spec'],
      ['first', true, false, 'spec'],
      ['reader', true, true, 'spec'],
      ['build', true, false, 'legacy'],
    ]);
    expect(JSON.stringify(keys)).not.toMatch(/hash|dgm_/);
  });

  it('that is revoked is refused at once, though it was used just now', async () => {
    const { make, account } = await createCustomer();
    const { key, key_id } = await make();
    expect(await knock(key)).toBe(200);
    await revokeKey(server.database, account.ref, key_id, 0);
    // The server is told after the commit. That it does not wait for its memory to end is what the doorkeeper's
    // own tests show; here it is that it is told at all.
    await until(async () => (await knock(key)) === 401);
    const again = revokeKey(server.database, account.ref, key_id, 0);
    await expect(again).rejects.toThrow(/no key .* that has not ended/);
  });

  it.each<[string, (account: Account, keyId: string, alongside: Alongside) => Promise<unknown>]>([
    ['revoked', ({ ref }, keyId, alongside) => revokeKey(server.database, ref, keyId, 0, alongside)],
    ['rolled', (account, keyId, alongside) => rollKey(server.database, account, keyId, 0, alongside)],
  ])('is %s with what is written alongside, or not at all', async (what, deed) => {
    const { make, account } = await createCustomer();
    const { key_id } = await make();
    const keys = async () => (await listKeys(server.database, account.ref)).map(({ live }) => live);
    const heard: string[] = [];
    const ears = createConnection(server.connection);
    await ears.connect();
    ears.on('notification', ({ payload }) => heard.push(payload ?? ''));
    await ears.query('listen dragoman_keys');
    const before = await keys();
    const failing = deed(account, key_id, () => Promise.reject(new Error('cannot be written')));
    await expect(failing).rejects.toThrow('cannot be written');
    expect(await keys()).toEqual(before);
    let written: string[] = [];
    await expect(
      deed(account, 'ffffffff', async (_transaction, subject) => void written.push(subject)),
    ).rejects.toThrow(/no key .* that has not ended/);
    expect(written).toEqual([]);
    // Notices come in their order: had there been one of what failed, it would be the first.
    await owner.query(`notify dragoman_keys, 'mine'`);
    await until(() => heard.length > 0);
    expect(heard).toEqual(['mine']);
    await deed(account, key_id, async (transaction, subject) => {
      written = (await listKeys(transaction, account.ref)).map((key) => key.key_id);
      expect(written).toContain(subject);
    });
    expect(written).not.toEqual([]);
    // Told to every process, and not before it is so.
    await until(() => heard.length > 1);
    expect(heard).toEqual(['mine', '']);
    expect((await keys()).filter((live) => live)).toHaveLength(before.length - (what === 'revoked' ? 1 : 0));
    await ears.end();
  });

  it('of another account cannot be revoked or rolled', async () => {
    const [one, other] = [await createCustomer(), await createCustomer()];
    const { key, key_id } = await one.make();
    for (const deed of [
      () => revokeKey(server.database, other.account.ref, key_id, 0),
      () => rollKey(server.database, other.account, key_id, 0),
    ]) {
      await expect(deed()).rejects.toMatchObject({ name: 'AccountError' });
    }
    expect(await knock(key)).toBe(200);
  });

  it('that is rolled opens beside the new one through the overlap, and no longer', async () => {
    const { make, account } = await createCustomer();
    const expiresAt = new Date('2999-01-01');
    const old = await make({ readOnly: true, expiresAt });
    const rolled = await rollKey(server.database, account, old.key_id, 3600);
    expect(await Promise.all([old.key, rolled.key].map(knock))).toEqual([200, 200]);
    expect(rolled.previous_ends.getTime()).toBeGreaterThan(Date.now() + 1_800_000);
    const key = (await listKeys(server.database, account.ref)).find((one) => one.key_id === rolled.key_id);
    expect(key).toMatchObject({ name: 'build', read_only: true, expires_at: expiresAt, revoked_at: null });
    // A later end does not put off a nearer one.
    expect(await revokeKey(server.database, account.ref, old.key_id, 7200)).toEqual(rolled.previous_ends);
    await owner.query(`update keys set revoked_at = now() where key_id = $1`, [old.key_id]);
    await owner.query('notify dragoman_keys');
    await until(async () => (await knock(old.key)) === 401);
    expect(await knock(rolled.key)).toBe(200);
  });

  it('is not remembered beyond its end', async () => {
    const { make } = await createCustomer();
    const { key, key_id } = await make({ expiresAt: new Date('2999-01-01') });
    await owner.query(`update keys set expires_at = now() + interval '1 hour' where key_id = $1`, [key_id]);
    let now = 0;
    const doorkeeper = createDoorkeeper(server.database, () => now);
    const recognise = () => doorkeeper.recognise(`ApiKey ${key}`, 'production');
    const caller = await recognise();
    now += 4_999;
    expect(await recognise()).toBe(caller);
    // With four and a half seconds left it is remembered for no more than them.
    const soon = `clock_timestamp() + interval '4.5 seconds'`;
    await owner.query(`update keys set expires_at = ${soon} where key_id = $1`, [key_id]);
    now += 1;
    const last = await recognise();
    expect(await recognise()).toBe(last);
    await owner.query(`update keys set expires_at = now() where key_id = $1`, [key_id]);
    now += 4_600;
    await expect(recognise()).rejects.toMatchObject({ code: 'unauthorized' });
  });

  it('remembers the hour of its use, at one write an hour', async () => {
    const { make, account } = await createCustomer();
    const { key, key_id } = await make();
    const used = async () =>
      (await listKeys(server.database, account.ref)).find((one) => one.key_id === key_id)?.last_used_at;
    expect(await used()).toBeNull();
    await knock(key);
    const first = await until(async () => (await used()) ?? undefined);
    const doorkeeper = createDoorkeeper(server.database);
    for (let again = 0; again < 3; again++) {
      await doorkeeper.recognise(`ApiKey ${key}`, 'production');
      doorkeeper.forget();
    }
    expect(await used()).toEqual(first);
    await owner.query(`update keys set last_used_at = now() - interval '61 minutes' where key_id = $1`, [
      key_id,
    ]);
    await doorkeeper.recognise(`ApiKey ${key}`, 'production');
    await until(async () => Number(await used()) >= Number(first));
  });
});

describe('a webhook secret', () => {
  it('that is rolled signs beside the new one through the overlap', async () => {
    const { account, production_key, webhook_secret_production: old } = await createCustomer();
    const { store } = server;
    const made = await rollWebhookSecret(server.database, store.vault, account.ref, 'production', 3600);
    const call = createClient(server.url, production_key);
    const send = async (path: string) => {
      await call('POST', MACHINE, { ...job, callback_url: `${receiver.url}/${path}` });
      return receiver.next((one) => one.path === `/${path}`);
    };
    const opens = ({ headers, body }: Awaited<ReturnType<typeof send>>, secret: string) =>
      verify([parseSecret(secret)!], headers as unknown as SignatureHeaders, body, new Date()).ok;
    const both = await send('both');
    expect([opens(both, old), opens(both, made)]).toEqual([true, true]);

    const last = await rollWebhookSecret(server.database, store.vault, account.ref, 'production', 0);
    const one = await send('one');
    expect([opens(one, old), opens(one, made), opens(one, last)]).toEqual([false, false, true]);
    expect(await webhookSecrets(server.database, store.vault, account.ref, 'sandbox')).toHaveLength(1);
  });
});

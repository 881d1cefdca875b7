/** Tests creating, revoking and rolling API keys and webhook secrets on a running server. */
import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Actor, listAudit } from '../audit/audit.ts';
import { createConnection } from '../database/connections.ts';
import { parseSecret, type SignatureHeaders, verify } from '../deliveries/signature.ts';
import {
  createClient,
  createPerson,
  type Receiver,
  startReceiver,
  startTestServer,
  type TestServer,
  until,
} from '../testing/harness.ts';
import { type Account, accountNamed } from './accounts.ts';
import { createApiKeyAuthenticator } from './api-keys.ts';
import { listKeys, makeKey, type NewKey, revokeKey, rollKey } from './keys.ts';
import { rollWebhookSecret, webhookSecrets } from './webhook-secrets.ts';

const HUMAN = '/tapi/v2/translation/';
const MACHINE = '/tapi/v2/mt_translation/';
let server: TestServer;
let receiver: Receiver;
let owner: pg.Client;
beforeAll(async () => {
  receiver = await startReceiver();
  server = await startTestServer();
  owner = await server.connectOwner();
});
afterAll(async () => {
  await server.stop();
  await receiver.close();
});

const PLAIN: NewKey = {
  environment: 'production',
  name: 'build',
  dialect: 'spec',
  readOnly: false,
  scopes: undefined,
  expiresAt: undefined,
};
const job = { text: 'The house.', source_language: 'en', target_language: 'es' };

async function createCustomer() {
  const made = await server.createAccount();
  const account = await accountNamed(server.database, made.username);
  return {
    ...made,
    account,
    make: (fields: Partial<NewKey> = {}) =>
      server.database.transaction((transaction) =>
        makeKey(transaction, 'command', account, { ...PLAIN, ...fields }),
      ),
  };
}
const statusWith = async (key: string) => (await createClient(server.url, key)('GET', HUMAN)).status;

describe('API keys', () => {
  it('are refused outside their scopes, with the name of the missing scope', async () => {
    const { make } = await createCustomer();
    const call = createClient(server.url, (await make({ scopes: ['deliveries', 'jobs'] })).key);
    expect((await call('POST', HUMAN, job)).status).toBe(201);
    expect((await call('GET', '/api/v1/events/')).status).toBe(200);
    expect((await call('GET', '/tapi/v2/language_pair/')).status).toBe(200);
    const refused = await call('GET', '/tapi/v2/account/');
    expect(refused).toMatchObject({
      status: 403,
      body: { error: 'This key does not have the scope "account".' },
    });
    expect(refused.headers.get('www-authenticate')).toBe(
      'ApiKey error="insufficient_scope", scope="account"',
    );
    // Answers 403 of the chat interface have no body, so only the header names the scope.
    const chat = await call('POST', '/chats', {});
    expect([chat.status, chat.text]).toEqual([403, '']);
    expect(chat.headers.get('www-authenticate')).toMatch(/scope="chat"/);
  });

  it('keep their scopes when they are rolled', async () => {
    const { make, account } = await createCustomer();
    const old = await make({ scopes: ['jobs'] });
    const rolled = await rollKey(server.database, 'command', account, old.key_id, 0);
    const [key] = (await listKeys(server.database, account.ref)).filter(
      ({ key_id }) => key_id === rolled.key_id,
    );
    expect(key?.scopes).toEqual(['jobs']);
    expect((await createClient(server.url, rolled.key)('GET', '/tapi/v2/account/')).status).toBe(403);
  });

  it('are accepted together with other keys of the account, each only in its own environment and with its own scopes', async () => {
    const { make, account, production_key } = await createCustomer();
    const reader = await make({ readOnly: true, name: 'reader' });
    expect(await Promise.all([production_key, reader.key].map(statusWith))).toEqual([200, 200]);
    expect((await createClient(server.url, reader.key)('POST', HUMAN, job)).status).toBe(403);
    const old = await make({ dialect: 'legacy', environment: 'sandbox' });
    expect(await statusWith(old.key)).toBe(401);
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

  it('are refused at once after they are revoked, even if they were used before', async () => {
    const { make, account } = await createCustomer();
    const { key, key_id } = await make();
    expect(await statusWith(key)).toBe(200);
    await revokeKey(server.database, 'command', account.ref, key_id, 0);
    // The 401 shows that the server received the notification of the revoked key. Tests of the authenticator show that
    // a notification clears its cache.
    await until(async () => (await statusWith(key)) === 401);
    const again = revokeKey(server.database, 'command', account.ref, key_id, 0);
    await expect(again).rejects.toThrow(/no active key/);
  });

  it.each<[string, (by: Actor, account: Account, keyId: string) => Promise<unknown>]>([
    ['revoked', (by, { ref }, keyId) => revokeKey(server.database, by, ref, keyId, 0)],
    ['rolled', (by, account, keyId) => rollKey(server.database, by, account, keyId, 0)],
  ])('are %s only together with their audit entry', async (what, act) => {
    const { make, account } = await createCustomer();
    const { key_id } = await make();
    const keys = async () => (await listKeys(server.database, account.ref)).map(({ live }) => live);
    const notifications: string[] = [];
    const listener = createConnection(server.connection);
    await listener.connect();
    listener.on('notification', ({ payload }) => notifications.push(payload ?? ''));
    await listener.query('listen dragoman_keys');
    const before = await keys();
    const { userId } = await createPerson(server, { role: 'operator' });
    const unwritable = { userId, email: 'no\0text' };
    await expect(act(unwritable, account, key_id)).rejects.toThrow(/0x00/);
    await expect(act('command', account, 'ffffffff')).rejects.toThrow(/no active key/);
    expect(await keys()).toEqual(before);
    const entries = () => listAudit(server.database, { account: account.ref, action: `key.${what}` }, 5);
    expect(await entries()).toEqual([]);
    // Notifications arrive in order. If one of the failed attempts had sent a notification, it would arrive before
    // `mine`, which the next line sends.
    await owner.query(`notify dragoman_keys, 'mine'`);
    await until(() => notifications.length > 0);
    expect(notifications).toEqual(['mine']);
    await act('command', account, key_id);
    expect(await entries()).toHaveLength(1);
    await until(() => notifications.length > 1);
    expect(notifications).toEqual(['mine', '']);
    expect((await keys()).filter((live) => live)).toHaveLength(before.length - (what === 'revoked' ? 1 : 0));
    await listener.end();
  });

  it('cannot be revoked or rolled through another account', async () => {
    const [one, other] = [await createCustomer(), await createCustomer()];
    const { key, key_id } = await one.make();
    for (const act of [
      () => revokeKey(server.database, 'command', other.account.ref, key_id, 0),
      () => rollKey(server.database, 'command', other.account, key_id, 0),
    ]) {
      await expect(act()).rejects.toMatchObject({ name: 'AccountError' });
    }
    expect(await statusWith(key)).toBe(200);
  });

  it('are accepted together with their successor until the overlap ends', async () => {
    const { make, account } = await createCustomer();
    const expiresAt = new Date('2999-01-01');
    const old = await make({ readOnly: true, expiresAt });
    const rolled = await rollKey(server.database, 'command', account, old.key_id, 3600);
    expect(await Promise.all([old.key, rolled.key].map(statusWith))).toEqual([200, 200]);
    expect(rolled.previous_ends.getTime()).toBeGreaterThan(Date.now() + 1_800_000);
    const key = (await listKeys(server.database, account.ref)).find((one) => one.key_id === rolled.key_id);
    expect(key).toMatchObject({ name: 'build', read_only: true, expires_at: expiresAt, revoked_at: null });
    // If a key is revoked again with a later end, the earlier end still applies.
    expect(await revokeKey(server.database, 'command', account.ref, old.key_id, 7200)).toEqual(
      rolled.previous_ends,
    );
    await owner.query(`update keys set revoked_at = now() where key_id = $1`, [old.key_id]);
    await owner.query('notify dragoman_keys');
    await until(async () => (await statusWith(old.key)) === 401);
    expect(await statusWith(rolled.key)).toBe(200);
  });

  it('are not cached beyond their expiry', async () => {
    const { make } = await createCustomer();
    const { key, key_id } = await make({ expiresAt: new Date('2999-01-01') });
    await owner.query(`update keys set expires_at = now() + interval '1 hour' where key_id = $1`, [key_id]);
    let now = 0;
    const authenticator = createApiKeyAuthenticator(server.database, () => now);
    const authenticate = () => authenticator.authenticate(`ApiKey ${key}`, 'production');
    const caller = await authenticate();
    now += 4_999;
    expect(await authenticate()).toBe(caller);
    // A key that expires in 4.5 seconds is cached for at most 4.5 seconds.
    const soon = `clock_timestamp() + interval '4.5 seconds'`;
    await owner.query(`update keys set expires_at = ${soon} where key_id = $1`, [key_id]);
    now += 1;
    const last = await authenticate();
    expect(await authenticate()).toBe(last);
    await owner.query(`update keys set expires_at = now() where key_id = $1`, [key_id]);
    now += 4_600;
    await expect(authenticate()).rejects.toMatchObject({ code: 'unauthorized' });
  });

  it('record their last use at most once an hour', async () => {
    const { make, account } = await createCustomer();
    const { key, key_id } = await make();
    const used = async () =>
      (await listKeys(server.database, account.ref)).find((one) => one.key_id === key_id)?.last_used_at;
    expect(await used()).toBeNull();
    await statusWith(key);
    const first = await until(async () => (await used()) ?? undefined);
    const authenticator = createApiKeyAuthenticator(server.database);
    for (let again = 0; again < 3; again++) {
      await authenticator.authenticate(`ApiKey ${key}`, 'production');
      authenticator.clearCache();
    }
    expect(await used()).toEqual(first);
    await owner.query(`update keys set last_used_at = now() - interval '61 minutes' where key_id = $1`, [
      key_id,
    ]);
    await authenticator.authenticate(`ApiKey ${key}`, 'production');
    await until(async () => Number(await used()) >= Number(first));
  });
});

describe('webhook secrets', () => {
  it('sign deliveries together with their successor until the overlap ends', async () => {
    const { account, production_key, webhook_secret_production: old } = await createCustomer();
    const { store } = server;
    const made = await rollWebhookSecret(
      server.database,
      store.vault,
      'command',
      account.ref,
      'production',
      3600,
    );
    const call = createClient(server.url, production_key);
    const send = async (path: string) => {
      await call('POST', MACHINE, { ...job, callback_url: `${receiver.url}/${path}` });
      return receiver.next((one) => one.path === `/${path}`);
    };
    const opens = ({ headers, body }: Awaited<ReturnType<typeof send>>, secret: string) =>
      verify([parseSecret(secret)!], headers as unknown as SignatureHeaders, body, new Date()).ok;
    const both = await send('both');
    expect([opens(both, old), opens(both, made)]).toEqual([true, true]);

    const last = await rollWebhookSecret(
      server.database,
      store.vault,
      'command',
      account.ref,
      'production',
      0,
    );
    const one = await send('one');
    expect([opens(one, old), opens(one, made), opens(one, last)]).toEqual([false, false, true]);
    expect(await webhookSecrets(server.database, store.vault, account.ref, 'sandbox')).toHaveLength(1);
  });
});

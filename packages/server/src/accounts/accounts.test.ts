/**
 * Tests API-key authentication, the storage of secrets, the creation of accounts, and the API format `legacy`, on a
 * running server.
 */
import { randomBytes } from 'node:crypto';
import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AccountError } from '../access/accounts.ts';
import { createApiKeyAuthenticator } from '../access/api-keys.ts';
import { createVault } from '../access/secrets.ts';
import { createSecretReader, webhookSecrets } from '../access/webhook-secrets.ts';
import type { AccountRef } from '../base/account.ts';
import { parseSecret, signatureHeaders } from '../deliveries/signature.ts';
import {
  createClient,
  type Receiver,
  startReceiver,
  startTestServer,
  type TestServer,
  until,
} from '../testing/harness.ts';
import type { AccountCredentials } from './accounts.ts';

const HUMAN = '/tapi/v2/translation/';
const MACHINE = '/tapi/v2/mt_translation/';
const UNAUTHORIZED = { status: 401, text: '{"error":"Unauthorized"}' };

let server: TestServer;
let receiver: Receiver;
let owner: pg.Client;

beforeAll(async () => {
  receiver = await startReceiver();
  server = await startTestServer({ settings: { DRAGOMAN_SANDBOX_HOLD: '0' } });
  owner = await server.connectOwner();
});
afterAll(async () => {
  await server.stop();
  await receiver.close();
});

const job = (fields: object = {}) => ({
  text: 'The house is big.',
  source_language: 'en',
  target_language: 'es',
  ...fields,
});

const secretOf = (credential: string) => credential.slice(credential.indexOf(':') + 1);
const keyId = (credential: string) => secretOf(credential).slice(9, 17);

/** Sets a column of a key and notifies the server, as revoking a key does. */
async function change(credential: string, assignment: string): Promise<void> {
  await owner.query(`update keys set ${assignment} where key_id = $1`, [keyId(credential)]);
  await owner.query('notify dragoman_keys');
}

async function refOf({ username }: AccountCredentials): Promise<AccountRef> {
  const { rows } = await owner.query('select part, account_id from accounts where username = $1', [username]);
  return { part: rows[0].part, accountId: rows[0].account_id } as AccountRef;
}

describe('API keys', () => {
  it('are accepted in their own environment only', async () => {
    const account = await server.createAccount();
    const keys = { production: account.production_key, sandbox: account.sandbox_key };
    for (const [requested, prefix] of [
      ['production', ''],
      ['sandbox', '/sandbox'],
    ] as const) {
      for (const [environment, key] of Object.entries(keys)) {
        for (const path of [HUMAN, MACHINE, `${HUMAN}nobody/`]) {
          const answer = await createClient(`${server.url}${prefix}`, key)('GET', path);
          const what = `${environment} key in ${requested} ${path}`;
          if (environment === requested)
            expect(answer.status, what).toBe(path.endsWith('nobody/') ? 404 : 200);
          else expect(answer, what).toMatchObject(UNAUTHORIZED);
        }
      }
    }
  });

  it('are refused with the user name of another account', async () => {
    const [one, other] = [await server.createAccount(), await server.createAccount()];
    const mixed = `${one.username}:${secretOf(other.production_key)}`;
    expect(await createClient(server.url, mixed)('GET', HUMAN)).toMatchObject(UNAUTHORIZED);
    const shouted = `${one.username.toUpperCase()}:${secretOf(one.production_key)}`;
    expect(await createClient(server.url, shouted)('GET', HUMAN)).toMatchObject(UNAUTHORIZED);
  });

  it('are refused with an existing id and a wrong secret', async () => {
    const { production_key } = await server.createAccount();
    const forged = production_key.slice(0, -43) + randomBytes(32).toString('base64url');
    expect(await createClient(server.url, forged)('GET', HUMAN)).toMatchObject(UNAUTHORIZED);
  });

  it('are refused with 401 at once after they are revoked', async () => {
    const { production_key } = await server.createAccount();
    const call = createClient(server.url, production_key);
    expect((await call('GET', HUMAN)).status).toBe(200);
    await change(production_key, 'revoked_at = now()');
    await until(async () => (await call('GET', HUMAN)).status === 401);
    expect(await call('POST', HUMAN, job())).toMatchObject(UNAUTHORIZED);
  });

  it('are accepted until they expire', async () => {
    const { production_key } = await server.createAccount();
    const call = createClient(server.url, production_key);
    await change(production_key, `expires_at = now() + interval '1 hour'`);
    expect((await call('GET', HUMAN)).status).toBe(200);
    await change(production_key, `expires_at = now() - interval '1 second'`);
    await until(async () => (await call('GET', HUMAN)).status === 401);
    expect(await call('GET', HUMAN)).toMatchObject(UNAUTHORIZED);
  });

  it('with read-only access get 403 for requests that change data', async () => {
    const { production_key, sandbox_key } = await server.createAccount();
    await change(production_key, 'read_only = true');
    const call = createClient(server.url, production_key);
    for (const path of [HUMAN, MACHINE]) {
      const refused = await call('POST', path, job({ uid: 'forbidden' }));
      expect(refused).toMatchObject({
        status: 403,
        body: { error: 'This key is read-only.' },
      });
      expect((await call('GET', path)).body.meta.total_count).toBe(0);
      expect((await call('GET', `${path}forbidden/`)).status).toBe(404);
    }
    expect((await call('DELETE', HUMAN)).status).toBe(403);
    // The account's other key, which is not read-only, can still create jobs.
    expect((await createClient(`${server.url}/sandbox`, sandbox_key)('POST', HUMAN, job())).status).toBe(201);
  });
});

describe('the cache of API keys', () => {
  it('keeps a key for five seconds or until the cache is cleared', async () => {
    const { production_key } = await server.createAccount();
    let now = 1_000_000;
    const authenticator = createApiKeyAuthenticator(server.database, () => now);
    const authenticate = () => authenticator.authenticate(`ApiKey ${production_key}`, 'production');
    const caller = await authenticate();
    expect(caller).toMatchObject({ environment: 'production', dialect: 'spec', readOnly: false });
    await owner.query('update keys set revoked_at = now() where key_id = $1', [keyId(production_key)]);
    now += 4_999;
    expect(await authenticate()).toBe(caller);
    now += 1;
    await expect(authenticate()).rejects.toMatchObject({ code: 'unauthorized' });
    await owner.query('update keys set revoked_at = null where key_id = $1', [keyId(production_key)]);
    await authenticate();
    await owner.query('update keys set revoked_at = now() where key_id = $1', [keyId(production_key)]);
    authenticator.clearCache();
    await expect(authenticate()).rejects.toMatchObject({ code: 'unauthorized' });
  });

  it('keeps a key for one environment only', async () => {
    const { production_key } = await server.createAccount();
    const authenticator = createApiKeyAuthenticator(server.database);
    await authenticator.authenticate(`ApiKey ${production_key}`, 'production');
    await expect(authenticator.authenticate(`ApiKey ${production_key}`, 'sandbox')).rejects.toMatchObject({
      code: 'unauthorized',
    });
  });

  it('does not contain failed authentications, so a new key is accepted at once', async () => {
    const { production_key } = await server.createAccount();
    const authenticator = createApiKeyAuthenticator(server.database);
    const authenticate = () => authenticator.authenticate(`ApiKey ${production_key}`, 'production');
    await owner.query('update keys set revoked_at = now() where key_id = $1', [keyId(production_key)]);
    await expect(authenticate()).rejects.toMatchObject({ code: 'unauthorized' });
    await owner.query('update keys set revoked_at = null where key_id = $1', [keyId(production_key)]);
    expect(await authenticate()).toMatchObject({ environment: 'production' });
  });
});

describe('stored secrets', () => {
  /** Returns every value of every table as bytes. */
  async function everyValue(): Promise<Buffer[]> {
    const { rows: tables } = await owner.query(
      `select tablename from pg_tables where schemaname = 'public' order by 1`,
    );
    const values: Buffer[] = [];
    for (const { tablename } of tables) {
      for (const row of (await owner.query(`select * from ${tablename}`)).rows) {
        for (const value of Object.values(row)) {
          if (Buffer.isBuffer(value)) values.push(value);
          else if (value !== null)
            values.push(Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)));
        }
      }
    }
    return values;
  }

  /** Returns all forms of a secret that a table could contain. */
  function formsOf(secret: string, bytes: Buffer): Buffer[] {
    const hex = bytes.toString('hex');
    return [Buffer.from(secret), bytes, Buffer.from(hex), Buffer.from(bytes.toString('base64'))];
  }
  const secretForms = (account: AccountCredentials) => [
    ...[account.production_key, account.sandbox_key].flatMap((credential) => {
      const secret = secretOf(credential).slice(17);
      return formsOf(secret, Buffer.from(secret, 'base64url'));
    }),
    ...[account.webhook_secret_production, account.webhook_secret_sandbox].flatMap((written) => {
      const secret = written.slice('whsec_'.length);
      return formsOf(secret, Buffer.from(secret, 'base64'));
    }),
  ];

  it('never appear in clear text in any column of any table', async () => {
    const account = await server.createAccount();
    const callback_url = `${receiver.url}/used`;
    await createClient(server.url, account.production_key)('POST', MACHINE, job({ callback_url }));
    await createClient(`${server.url}/sandbox`, account.sandbox_key)('POST', HUMAN, job());
    await receiver.next(({ path }) => path === '/used');
    const leaks = (values: Buffer[]) =>
      secretForms(account).filter((form) => values.some((value) => value.includes(form))).length;
    const values = await everyValue();
    expect(values.length).toBeGreaterThan(100);
    expect(values.some((value) => value.includes(Buffer.from(account.username)))).toBe(true);
    expect(leaks(values)).toBe(0);
    // Tests `leaks` itself: it must find a key that was added to the values as text or as bytes.
    expect(leaks([...values, Buffer.from(`x ${account.sandbox_key} y`)])).toBe(1);
    expect(leaks([Buffer.from(secretOf(account.sandbox_key).slice(17), 'base64url')])).toBe(1);
  });

  it('of webhooks are decrypted to the secret of their environment', async () => {
    const account = await server.createAccount();
    const ref = await refOf(account);
    const open = (environment: 'production' | 'sandbox') =>
      webhookSecrets(server.database, server.store.vault, ref, environment);
    expect(await open('production')).toEqual([account.webhook_secret_production]);
    expect(await open('sandbox')).toEqual([account.webhook_secret_sandbox]);
  });

  it('of webhooks are read in batches, and a damaged secret does not affect the others', async () => {
    const [one, broken] = [await server.createAccount(), await server.createAccount()];
    const [oneRef, brokenRef] = [await refOf(one), await refOf(broken)];
    const read = createSecretReader(server.database, server.store.vault);
    await owner.query(`update webhook_secrets set sealed = '\\x00' where account_id = $1`, [
      brokenRef.accountId,
    ]);
    const [production, sandbox] = (['production', 'sandbox'] as const).map((environment) => ({
      environment,
      endpointId: null,
    }));
    const reading = [
      read(oneRef, production!),
      read(brokenRef, production!),
      read(oneRef, sandbox!),
      read(oneRef, production!),
    ];
    expect(
      (await Promise.allSettled(reading)).map((one) => ('value' in one ? one.value : 'rejected')),
    ).toEqual([
      [one.webhook_secret_production],
      'rejected',
      [one.webhook_secret_sandbox],
      [one.webhook_secret_production],
    ]);
  });

  it('of webhooks cannot be decrypted with another key, in another environment, or for another account', async () => {
    const [one, other] = [await server.createAccount(), await server.createAccount()];
    const [oneRef, otherRef] = [await refOf(one), await refOf(other)];
    const { vault } = server.store;
    const anotherVault = createVault(randomBytes(32));
    await expect(webhookSecrets(server.database, anotherVault, oneRef, 'production')).rejects.toThrow();
    const { rows } = await owner.query(
      `select sealed from webhook_secrets where account_id = $1 and environment = 'production'`,
      [oneRef.accountId],
    );
    await owner.query('update webhook_secrets set sealed = $1 where account_id = $2', [
      rows[0].sealed,
      otherRef.accountId,
    ]);
    await expect(webhookSecrets(server.database, vault, otherRef, 'production')).rejects.toThrow();
    await owner.query(
      `update webhook_secrets set environment = case environment when 'sandbox' then 'production' else 'sandbox' end
        where account_id = $1`,
      [oneRef.accountId],
    );
    await expect(webhookSecrets(server.database, vault, oneRef, 'production')).rejects.toThrow();
  });

  it('of webhooks sign the deliveries of their own environment', async () => {
    const account = await server.createAccount();
    const callback_url = `${receiver.url}/signed`;
    await createClient(`${server.url}/sandbox`, account.sandbox_key)('POST', HUMAN, job({ callback_url }));
    const { headers, body } = await receiver.next(({ path }) => path === '/signed');
    const at = new Date(Number(headers['webhook-timestamp']) * 1000);
    const signedWith = (secret: string) =>
      signatureHeaders([parseSecret(secret)!], String(headers['webhook-id']), at, Buffer.from(body));
    expect(signedWith(account.webhook_secret_sandbox)).toMatchObject({
      'webhook-signature': headers['webhook-signature'],
    });
    expect(signedWith(account.webhook_secret_production)['webhook-signature']).not.toBe(
      headers['webhook-signature'],
    );
  });
});

describe('creating an account', () => {
  it.each(['', 'a b', 'a:b', 'ü', 'a/b', 'x'.repeat(65), 'a\n'])(
    'refuses the username %j',
    async (username) => {
      await expect(server.createAccount({ username })).rejects.toThrow(
        new AccountError('A username must have 1 to 64 characters of A-Z a-z 0-9 . _ @ + -'),
      );
    },
  );

  it.each(['x', 'x'.repeat(64), 'Some.One_else+tag@example-site.org'])(
    'accepts the username %s',
    async (username) => {
      const account = await server.createAccount({ username });
      expect((await createClient(server.url, account.production_key)('GET', HUMAN)).status).toBe(200);
    },
  );

  it('refuses a taken username and does not change the first account', async () => {
    const first = await server.createAccount({ username: 'taken', balanceCents: 7 });
    await expect(server.createAccount({ username: 'taken', balanceCents: 9 })).rejects.toThrow(
      new AccountError('There is already an account named taken.'),
    );
    const { rows } = await owner.query(
      `select (select count(*) from accounts where username = 'taken')::int as accounts,
              (select count(*) from keys)::int - 2 * (select count(*) from accounts)::int as orphans`,
    );
    expect(rows).toEqual([{ accounts: 1, orphans: 0 }]);
    const { body } = await createClient(server.url, first.production_key)('POST', HUMAN, job());
    expect(body.balance).toBe(7 - 12);
  });

  it('creates only one account for ten concurrent requests with the same user name', async () => {
    const made = await Promise.allSettled(
      Array.from({ length: 10 }, () => server.createAccount({ username: 'rush' })),
    );
    expect(made.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  });
});

describe('API keys with the API format legacy', () => {
  const ACCEPTED_KEYS = [
    'uid',
    'text',
    'translatedText',
    'target_language',
    'source_language',
    'status',
    'translators',
    'topics',
    'price',
    'text_format',
    'origin',
    'price_plan',
    'balance',
    'client',
    'order_number',
    'brand',
  ];
  let account: AccountCredentials;
  beforeAll(async () => {
    account = await server.createAccount({ dialect: 'legacy' });
  });
  const calls = () => ({
    production: createClient(server.url, account.production_key),
    sandbox: createClient(`${server.url}/sandbox`, account.sandbox_key),
  });

  it('get a completed machine job with the status deliver_ok, the field translatedText and no unknown fields', async () => {
    const { production } = calls();
    const created = await production('POST', MACHINE, job({ uid: 'mt' }));
    expect(created.body.status).toBe('machine_translate_in_progress');
    const { body } = await until(async () => {
      const read = await production('GET', `${MACHINE}mt/`);
      return read.body.status === 'deliver_ok' && read;
    });
    expect(body).toMatchObject({ uid: 'mt', translatedText: 'THE HOUSE IS BIG.', text: 'The house is big.' });
    expect(body.order_number).toBe(1);
    expect(Object.keys(body).filter((key) => !ACCEPTED_KEYS.includes(key))).toEqual([]);
    const list = await production('GET', MACHINE);
    expect(list.body.objects[0]).toMatchObject({ uid: 'mt', status: 'deliver_ok' });
    const asked = await production('GET', `${MACHINE}?status=deliver_ok`);
    expect(asked.body.objects).toMatchObject([{ uid: 'mt', status: 'deliver_ok' }]);
    expect(Object.keys(list.body.objects[0]).filter((key) => !ACCEPTED_KEYS.includes(key))).toEqual([]);
  });

  it('get the status completed when a human job has its translation', async () => {
    const { sandbox } = calls();
    await sandbox('POST', HUMAN, job({ uid: 'human' }));
    const { body } = await until(async () => {
      const read = await sandbox('GET', `${HUMAN}human/`);
      return read.body.status === 'completed' && read;
    });
    expect(body.translatedText).toBe('THE HOUSE IS BIG.');
    expect(body).not.toHaveProperty('translated_text');
    expect(Object.keys(body).filter((key) => !ACCEPTED_KEYS.includes(key))).toEqual([]);
  });

  it('receive a callback as a form with the documented fields when a human job is completed', async () => {
    const { sandbox } = calls();
    const callback_url = `${receiver.url}/legacy-human`;
    const text = 'Tea & 50 % “more” + ünï';
    const { body: created } = await sandbox(
      'POST',
      HUMAN,
      job({ uid: 'form', text, callback_url, tone: 'Formal' }),
    );
    const { headers, body } = await receiver.next(({ path }) => path === '/legacy-human');
    expect(headers['content-type']).toBe('application/x-www-form-urlencoded');
    expect(Object.fromEntries(new URLSearchParams(body))).toEqual({
      uid: 'form',
      status: 'completed',
      order_number: String(created.order_number),
      price: String(created.price),
      source_language: 'en',
      target_language: 'es',
      text,
      text_format: 'text',
      translated_text: text.toUpperCase(),
    });
  });

  it('receive a callback without order number and price when a machine job is completed', async () => {
    const { production } = calls();
    const callback_url = `${receiver.url}/legacy-machine`;
    await production('POST', MACHINE, job({ uid: 'mt-form', callback_url }));
    const { headers, body } = await receiver.next(({ path }) => path === '/legacy-machine');
    expect(headers['content-type']).toBe('application/x-www-form-urlencoded');
    expect(Object.fromEntries(new URLSearchParams(body))).toEqual({
      uid: 'mt-form',
      status: 'deliver_ok',
      source_language: 'en',
      target_language: 'es',
      text: 'The house is big.',
      text_format: 'text',
      translated_text: 'THE HOUSE IS BIG.',
    });
  });

  it('get the same answers when they create jobs, and the same errors, as API keys with the API format spec', async () => {
    const plain = await server.createAccount();
    const spec = createClient(server.url, plain.production_key);
    const { production } = calls();
    const body = job({ uid: 'same', tone: 'Formal' });
    const [one, other] = [await production('POST', HUMAN, body), await spec('POST', HUMAN, body)];
    expect(Object.keys(one.body)).toEqual(Object.keys(other.body));
    for (const wrong of [{}, job({ text: '' }), job({ tone: 'Rude' })]) {
      expect((await production('POST', HUMAN, wrong)).text).toBe((await spec('POST', HUMAN, wrong)).text);
    }
  });
});

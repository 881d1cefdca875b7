/** Tests the daily limits of keys, and the scope for machine jobs, on a running server. */
import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createClient, startTestServer, type TestServer } from '../testing/harness.ts';
import { accountNamed } from './accounts.ts';
import { listKeys, makeKey, type NewKey, rollKey } from './keys.ts';

const HUMAN = '/tapi/v2/translation/';
const MACHINE = '/tapi/v2/mt_translation/';
const JOB = { text: 'The house.', source_language: 'en', target_language: 'es' };
const UPGRADE = { status: 'upgrade', properties: null };
/** The price of `JOB` for humans, in cents. */
const PRICE = 6;

let server: TestServer;
let owner: pg.Client;
beforeAll(async () => {
  server = await startTestServer();
  owner = await server.connectOwner();
});
afterAll(() => server.stop());

async function createCustomer() {
  const made = await server.createAccount();
  const account = await accountNamed(server.database, made.username);
  const client = createClient(server.url, made.production_key);
  const make = async (fields: Partial<NewKey>) => {
    const key = await server.database.transaction((transaction) =>
      makeKey(transaction, 'command', account, {
        environment: 'production',
        name: 'agent',
        dialect: 'spec',
        readOnly: false,
        scopes: undefined,
        expiresAt: undefined,
        ...fields,
      }),
    );
    return { ...key, call: createClient(server.url, key.key) };
  };
  const ordered = async (keyId: string) =>
    (await listKeys(server.database, account.ref)).find(({ key_id }) => key_id === keyId)!.ordered_cents;
  const jobs = async () => (await client('GET', HUMAN)).body.meta.total_count;
  return { account, make, ordered, jobs, call: client };
}

describe('the daily limit of a key', () => {
  it('refuses an order above it, and only that', async () => {
    const { make, ordered, jobs, call } = await createCustomer();
    const { call: limited, key_id } = await make({ dailyCents: 2 * PRICE + 1 });
    const first = await limited('POST', HUMAN, JOB);
    expect(first).toMatchObject({ status: 201, body: { price: PRICE } });
    expect((await limited('POST', HUMAN, { ...JOB, uid: 'second' })).status).toBe(201);
    const left = (await call('GET', '/tapi/v2/account/')).body.balance;
    expect(await limited('POST', HUMAN, JOB)).toMatchObject({
      status: 403,
      body: { error: 'This key may order for 13 cents a day (UTC); 6 cents more would be above that.' },
    });
    expect(await limited('PATCH', HUMAN, { objects: [JOB] })).toMatchObject({ status: 403 });
    expect((await call('GET', '/tapi/v2/account/')).body.balance).toBe(left);
    expect([await ordered(key_id), await jobs()]).toEqual([2 * PRICE, 2]);
    // A repeat of an order finds what it made, and other keys of the account may go on.
    expect((await limited('POST', HUMAN, { ...JOB, uid: 'second' })).status).toBe(200);
    expect((await call('POST', HUMAN, JOB)).status).toBe(201);
  });

  it('holds for orders at the same time, and counts a bulk as one', async () => {
    const { make, ordered, jobs } = await createCustomer();
    const { call, key_id } = await make({ dailyCents: 5 * PRICE });
    const answers = await Promise.all(Array.from({ length: 20 }, () => call('POST', HUMAN, JOB)));
    expect(answers.map(({ status }) => status).sort()).toEqual([
      ...Array(5).fill(201),
      ...Array(15).fill(403),
    ]);
    expect([await ordered(key_id), await jobs()]).toEqual([5 * PRICE, 5]);

    const bulk = await make({ dailyCents: 3 * PRICE });
    expect((await bulk.call('PATCH', HUMAN, { objects: Array(4).fill(JOB) })).status).toBe(403);
    expect((await bulk.call('PATCH', HUMAN, { objects: Array(3).fill(JOB) })).status).toBe(202);
    expect([await ordered(bulk.key_id), await jobs()]).toEqual([3 * PRICE, 8]);
  });

  it('counts the price of an upgrade', async () => {
    const { make, ordered } = await createCustomer();
    const { call, key_id } = await make({ dailyCents: PRICE });
    const { body } = await call('POST', MACHINE, JOB);
    await expect
      .poll(async () => (await call('GET', `${MACHINE}${body.uid}/`)).body.status)
      .toBe('completed');
    expect((await call('PATCH', `${MACHINE}${body.uid}/`, UPGRADE)).status).toBe(202);
    expect(await ordered(key_id)).toBe(PRICE);
    expect((await call('POST', HUMAN, JOB)).status).toBe(403);
  });

  it('is kept by an order that began before midnight and came after one of the new day', async () => {
    const { make, ordered } = await createCustomer();
    const { call, key_id } = await make({ dailyCents: 3 * PRICE });
    expect((await call('POST', HUMAN, JOB)).status).toBe(201);
    await owner.query('update keys set ordered_on = ordered_on + 1 where key_id = $1', [key_id]);
    expect((await call('POST', HUMAN, JOB)).status).toBe(201);
    const { rows } = await owner.query(
      'select ordered_on > now() as later, ordered_cents from keys where key_id = $1',
      [key_id],
    );
    expect(rows).toEqual([{ later: true, ordered_cents: 2 * PRICE }]);
    expect(await ordered(key_id)).toBe(0);
  });

  it('is for one day (UTC), and stays with a key that is rolled', async () => {
    const { account, make, ordered } = await createCustomer();
    const { call, key_id } = await make({ dailyCents: PRICE });
    expect((await call('POST', HUMAN, JOB)).status).toBe(201);
    expect((await call('POST', HUMAN, JOB)).status).toBe(403);
    await owner.query('update keys set ordered_on = ordered_on - 1 where key_id = $1', [key_id]);
    expect(await ordered(key_id)).toBe(0);
    expect((await call('POST', HUMAN, JOB)).status).toBe(201);
    expect((await call('POST', HUMAN, JOB)).status).toBe(403);
    const rolled = await rollKey(server.database, 'command', account, key_id, 60);
    const again = createClient(server.url, rolled.key);
    expect((await again('POST', HUMAN, JOB)).status).toBe(201);
    expect((await again('POST', HUMAN, JOB)).status).toBe(403);
  });
});

describe('a key for machine jobs', () => {
  it('orders and reads machine jobs, and nothing that people work on', async () => {
    const { make } = await createCustomer();
    const { call } = await make({ scopes: ['machine'] });
    const { status, body } = await call('POST', MACHINE, JOB);
    expect(status).toBe(201);
    const one = `${MACHINE}${body.uid}/`;
    const allowed = [
      await call('GET', MACHINE),
      await call('GET', one),
      await call('POST', '/api/v1/quote/', JOB),
      await call('POST', '/tapi/v2/wordcount/', { text: 'The house.', source_language: 'en' }),
    ];
    expect(allowed.map((answer) => answer.status)).toEqual([200, 200, 200, 201]);
    await expect.poll(async () => (await call('GET', one)).body.status).toBe('completed');
    const refused = [
      await call('POST', HUMAN, JOB),
      await call('PATCH', HUMAN, { objects: [JOB] }),
      await call('GET', HUMAN),
      await call('PATCH', one, UPGRADE),
      await call('GET', '/api/v1/events/'),
    ];
    expect(refused.map((answer) => answer.status)).toEqual([403, 403, 403, 403, 403]);
    expect(refused[3]!.headers.get('www-authenticate')).toBe(
      'ApiKey error="insufficient_scope", scope="jobs"',
    );
  });
});

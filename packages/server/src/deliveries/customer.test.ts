/** Tests of a customer's callbacks in the web app: replays of dead ones, their requests, and tests of a URL. */
import { once } from 'node:events';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { accountNamed } from '../access/accounts.ts';
import { listAudit } from '../audit/audit.ts';
import { selfSigned } from '../testing/certificate.ts';
import {
  createClient,
  createPerson,
  type Receiver,
  startReceiver,
  startTestServer,
  type TestPerson,
  type TestServer,
  until,
} from '../testing/harness.ts';
import { replayDead } from './log.ts';

const OWN = '/api/account/deliveries';
const ALL = { environment: 'production', since: '2020-01-01' };
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

/** Creates a customer with `count` dead deliveries in each environment. */
async function createUnlucky(count: number): Promise<TestPerson & { path: string }> {
  const account = await server.createAccount();
  const person = await createPerson(server, { role: 'customer', account });
  const path = `/${account.username}`;
  receiver.answer((received) => (received.path === path ? 410 : 200));
  for (const [prefix, key] of [
    ['', account.production_key],
    ['/sandbox', account.sandbox_key],
  ] as const) {
    const call = createClient(server.url, key);
    for (let at = 0; at < count; at++) {
      await call('POST', `${prefix}/api/v1/test-event/`, { url: `${receiver.url}${path}` });
    }
  }
  for (const environment of ['production', 'sandbox']) {
    await until(async () => (await failed(person, environment)).failed === count);
  }
  return { ...person, path };
}

const failed = async ({ call }: TestPerson, environment: string) =>
  (await call('GET', `${OWN}/failed?environment=${environment}`)).body;
const arrived = (path: string) => receiver.received.filter((received) => received.path === path);

it("a customer's replay sends each dead delivery of one environment once, even when requested repeatedly", async () => {
  const customer = await createUnlucky(3);
  const stranger = await createUnlucky(1);
  receiver.answer((received) => (received.path === stranger.path ? 410 : 200));
  const { until: then } = await failed(customer, 'production');
  const ask = () => customer.call('POST', `${OWN}/replay`, { ...ALL, until: then });
  const answers = await Promise.all([ask(), ask(), ask()]);
  expect(answers.map(({ status }) => status)).toEqual([202, 202, 202]);
  expect(answers.reduce((sum, { body }) => sum + body.replayed, 0)).toBe(3);
  await until(() => arrived(customer.path).length === 6 + 3);
  const ids = arrived(customer.path).map(({ headers }) => headers['webhook-id']);
  expect(new Set(ids).size).toBe(6);
  await until(async () => {
    const { body } = await customer.call('GET', `${OWN}?status=delivered`);
    return body.objects.length === 3;
  });
  expect(await failed(customer, 'production')).toMatchObject({ failed: 0 });
  expect(await failed(customer, 'sandbox')).toMatchObject({ failed: 3 });
  expect(await failed(stranger, 'production')).toMatchObject({ failed: 1 });
  const { ref } = await accountNamed(server.database, customer.account!.username);
  const audit = await listAudit(server.database, { account: ref, action: 'deliveries.replayed' }, 50);
  expect(audit.reduce((sum, { detail }) => sum + Number(detail.replayed), 0)).toBe(3);
});

it('a repeated replay request leaves out deliveries that died again since the first request', async () => {
  const customer = await createUnlucky(2);
  const { until: then } = await failed(customer, 'production');
  const ask = async () => (await customer.call('POST', `${OWN}/replay`, { ...ALL, until: then })).body;
  expect(await ask()).toEqual({ replayed: 2, left: 0 });
  await until(() => arrived(customer.path).length === 4 + 2);
  await until(async () => (await failed(customer, 'production')).failed === 2);
  expect(await ask()).toEqual({ replayed: 0, left: 0 });
  // A request without `until` also replays the deliveries that died again after their first replay.
  const later = await customer.call('POST', `${OWN}/replay`, ALL);
  expect(later.body).toEqual({ replayed: 2, left: 0 });
});

it('a replay sends at most the requested number of deliveries, and only those that died since the requested time', async () => {
  const customer = await createUnlucky(3);
  const { ref } = await accountNamed(server.database, customer.account!.username);
  const some = await replayDead(
    server.database,
    { keyId: 'one' },
    { ref, username: 'acme' },
    'production',
    new Date(0),
    undefined,
    { most: 2 },
  );
  expect(some).toBe(2);
  const future = new Date(Date.now() + 86_400_000).toISOString();
  const none = await customer.call('POST', `${OWN}/replay`, { environment: 'sandbox', since: future });
  expect(none.body).toEqual({ replayed: 0, left: 0 });
});

it('a replay request names every invalid field', async () => {
  const { call } = await createPerson(server, { role: 'customer' });
  const wrong = { environment: 'both', since: 'today', until: 7 };
  const { status, body } = await call('POST', `${OWN}/replay`, wrong);
  expect([status, Object.keys(body.error.fields).sort()]).toEqual([400, ['environment', 'since', 'until']]);
  expect((await call('GET', `${OWN}/failed?since=today`)).body.error.fields).toHaveProperty('since');
});

it('a failed attempt that a customer requests does not move the next scheduled attempt, even near the end of the 72 hours of its delivery', async () => {
  const { account, call } = await createPerson(server, { role: 'customer' });
  receiver.answer(() => 500);
  const client = createClient(server.url, account!.production_key);
  await client('POST', '/api/v1/test-event/', { url: `${receiver.url}/by-hand` });
  const attempted = (attempts: number) =>
    until(async () => {
      const { rows } = await owner.query(
        `select d.*, attempts - attempts_before as step from deliveries d
          where url = $1 and attempts = $2 and lease_token is null and status = 'pending'`,
        [`${receiver.url}/by-hand`, attempts],
      );
      return rows[0];
    });
  const { delivery_id: id } = await attempted(1);
  await owner.query(
    `update deliveries set queued_at = now() - interval '71.9 hours', due_at = now() + interval '5 minutes',
            attempts = 12, attempts_before = 0 where delivery_id = $1`,
    [id],
  );
  const before = await attempted(12);
  for (const attempts of [13, 14]) {
    expect((await call('POST', `${OWN}/${id}/replay`)).status).toBe(202);
    const { due_at, step } = await attempted(attempts);
    expect([due_at, step]).toEqual([before.due_at, 12]);
  }
});

const ended = (person: TestPerson, id: string) =>
  until(async () => {
    const { body } = await person.call('GET', `${OWN}/${id}`);
    return body.status !== 'pending' && body;
  });
const testUrl = (person: TestPerson, url: string, environment = 'production') =>
  person.call('POST', `${OWN}/test`, { url, environment });

it('a customer sends a signed test event to a URL and sees its request, without the signature, and the answer', async () => {
  const customer = await createPerson(server, { role: 'customer' });
  const stranger = await createPerson(server, { role: 'customer' });
  receiver.answer(() => 204);
  for (const environment of ['production', 'sandbox']) {
    const url = `${receiver.url}/tested/${environment}?token=7`;
    const { status, body } = await testUrl(customer, url, environment);
    expect([status, body]).toEqual([202, expect.objectContaining({ event: 'test', url, status: 'pending' })]);
    const delivery = await ended(customer, body.id);
    expect(delivery).toMatchObject({ status: 'delivered', attempts: [{ attempt: 1, status_code: 204 }] });
    const [sent] = arrived(`/tested/${environment}?token=7`);
    const { headers, ...request } = delivery.request;
    expect(request).toEqual({
      method: 'POST',
      content_type: 'application/json',
      body: sent!.body.toString(),
      body_bytes: sent!.body.length,
    });
    expect(JSON.parse(request.body)).toMatchObject({ type: 'test', environment });
    const { host: _, connection: __, 'webhook-timestamp': stamp, ...rest } = sent!.headers;
    expect(stamp).toMatch(/^\d+$/);
    expect(rest['webhook-signature']).toMatch(/^v1,.{40,}/);
    expect(headers).toEqual({ ...rest, 'webhook-signature': 'v1,…' });
    expect((await stranger.call('GET', `${OWN}/${body.id}`)).status).toBe(404);
  }
  const { ref } = await accountNamed(server.database, customer.account!.username);
  const audit = await listAudit(server.database, { account: ref, action: 'callback.tested' }, 50);
  const host = new URL(receiver.url).host;
  expect(audit.map(({ detail }) => detail)).toEqual([
    { host, environment: 'sandbox' },
    { host, environment: 'production' },
  ]);
});

it('a test of a URL that fails is attempted once, says why, and counts as no failed callback', async () => {
  const customer = await createPerson(server, { role: 'customer' });
  const { cert, key } = selfSigned('sink.test');
  const untrusted = createServer({ cert, key }, (_, response) => response.end());
  await once(untrusted.listen(0, '127.0.0.1'), 'listening');
  const closed = createServer();
  await once(closed.listen(0, '127.0.0.1'), 'listening');
  const free = (closed.address() as AddressInfo).port;
  closed.close();
  receiver.answer(() => 500);
  const attempts = {
    [`${receiver.url}/broken`]: { status_code: 500, outcome: 'answered' },
    [`https://127.0.0.1:${(untrusted.address() as AddressInfo).port}/`]: {
      outcome: 'tls',
      detail: 'the TLS connection failed (DEPTH_ZERO_SELF_SIGNED_CERT)',
    },
    [`http://127.0.0.1:${free}/`]: { outcome: 'connect', detail: 'no connection to the host (ECONNREFUSED)' },
  };
  for (const [url, attempt] of Object.entries(attempts)) {
    const { body } = await testUrl(customer, url);
    const delivery = await ended(customer, body.id);
    expect(delivery).toMatchObject({ status: 'dead', failure: 'test failed', attempts: [attempt] });
    expect(delivery.attempts).toHaveLength(1);
  }
  untrusted.close();
  expect(await failed(customer, 'production')).toMatchObject({ failed: 0 });
  const replayed = await customer.call('POST', `${OWN}/replay`, ALL);
  expect(replayed.body).toEqual({ replayed: 0, left: 0 });
});

it('failed tests of a URL do not pause the callbacks to its host', async () => {
  const customer = await createPerson(server, { role: 'customer' });
  const { ref } = await accountNamed(server.database, customer.account!.username);
  receiver.answer(() => 503);
  for (let at = 0; at < 6; at++) {
    const { body } = await testUrl(customer, `${receiver.url}/wrong`);
    await ended(customer, body.id);
  }
  const breakers = await owner.query('select from breakers where part = $1 and account_id = $2', [
    ref.part,
    ref.accountId,
  ]);
  expect(breakers.rowCount).toBe(0);
});

it('a test of a URL overtakes waiting callbacks to a host whose circuit breaker is open', async () => {
  const customer = await createPerson(server, { role: 'customer' });
  const { host } = new URL(receiver.url);
  const { ref } = await accountNamed(server.database, customer.account!.username);
  await owner.query(
    `insert into breakers (part, account_id, host, failures, openings, open_until)
     values ($1, $2, $3, 9, 3, now() + interval '1 hour')`,
    [ref.part, ref.accountId, host],
  );
  const client = createClient(server.url, customer.account!.production_key);
  for (let at = 0; at < 3; at++) {
    await client('POST', '/api/v1/test-event/', { url: `${receiver.url}/overtaken` });
  }
  receiver.answer(() => 200);
  const { body } = await testUrl(customer, `${receiver.url}/overtaken`);
  expect(Date.parse(body.next_attempt_at)).toBeGreaterThanOrEqual(Date.parse(body.created_at));
  await ended(customer, body.id);
  // The test closed the breaker, so the others follow.
  await until(() => arrived('/overtaken').length === 4);
  expect(arrived('/overtaken')[0]!.headers['webhook-id']).toBe(body.id);
});

it('a test of a URL refuses addresses to which no callback may be sent, and too many tests of one account', async () => {
  const customer = await createPerson(server, { role: 'customer' });
  const other = await createPerson(server, { role: 'customer' });
  for (const url of [
    'http://10.0.0.1/',
    'http://169.254.169.254/',
    'http://user:pass@example.com/',
    'x',
    '',
  ]) {
    const { status, body } = await testUrl(customer, url);
    expect([url, status, Object.keys(body.error.fields ?? {})]).toEqual([url, 400, ['url']]);
  }
  receiver.answer(() => 200);
  const url = `${receiver.url}/often`;
  const statuses: number[] = [];
  // The delays of further tests are 1, 3, 7 … s, so the first may have passed on a busy machine.
  for (let at = 0; at < 26; at++) statuses.push((await testUrl(customer, url)).status);
  expect(statuses.slice(0, 20)).toEqual(Array.from({ length: 20 }, () => 202));
  expect(statuses).toContain(429);
  expect((await testUrl(other, url)).status).toBe(202);
});

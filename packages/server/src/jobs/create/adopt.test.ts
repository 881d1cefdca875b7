/**
 * Tests of new jobs that are leased to the worker of the same process by their insert, so that the worker
 * need not claim them.
 */
import { createFake, type FakeEngine } from '@dragoman/engines/fake';
import type pg from 'pg';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { createPool } from '../../database/connections.ts';
import { createClient, startTestServer, type TestServer, until } from '../../testing/harness.ts';

const MACHINE = '/tapi/v2/mt_translation/';
/** Seconds. The worker extends its leases after a third of this time, which no test may reach: an extension moves `due_at`. */
const LEASE = 3600;

let server: TestServer;
let owner: pg.Pool;
let key: string;
let engine: FakeEngine;

beforeAll(async () => {
  server = await startTestServer({
    engine: () => {
      engine = createFake();
      return engine;
    },
    settings: { DRAGOMAN_LEASE: String(LEASE), DRAGOMAN_WORKER_JOBS: '8', DRAGOMAN_PRICE_MACHINE: '1' },
  });
  owner = createPool(server.connection);
  key = (await server.createAccount({ balanceCents: 1000 })).production_key;
});
afterEach(() => engine.resume());
afterAll(async () => {
  await owner.end();
  await server.stop();
});

const call = (method: string, path: string, body?: unknown) =>
  createClient(server.url, key)(method, path, body);

async function order(uid: string, text = `The text of ${uid}.`): Promise<void> {
  const body = { uid, text, source_language: 'en', target_language: 'es' };
  expect((await call('POST', MACHINE, body)).status).toBe(201);
}

const ended = (uid: string) =>
  until(async () => {
    const { body } = await call('GET', `${MACHINE}${uid}/`);
    return ['completed', 'failed'].includes(body.status) && body;
  });

/** Lists the jobs that were leased by their insert. A later claim would have set a later `due_at`. */
async function leasedAtOnce(): Promise<string[]> {
  const { rows } = await owner.query<{ uid: string }>(
    `select uid from jobs where lease_token is not null and attempts = 1
        and due_at = created_at + make_interval(secs => $1) order by order_number`,
    [LEASE],
  );
  return rows.map(({ uid }) => uid);
}
const waiting = async () =>
  (await owner.query('select from jobs where lease_token is null and due_at is not null')).rowCount;

/**
 * Creates jobs until one is leased by its insert, while the engine is stalled. An insert leases no job before
 * the worker has seen an empty queue.
 */
async function adopted(): Promise<string> {
  for (let n = 0; ; n++) {
    const uid = `job-${performance.now()}-${n}`;
    engine.stall();
    await order(uid, 'The house is big.');
    if ((await leasedAtOnce()).includes(uid)) return uid;
    engine.resume();
    await ended(uid);
  }
}

it('a job that is leased to the worker by the statement that inserts it is translated and charged once', async () => {
  const uid = await adopted();
  engine.resume();
  expect(await ended(uid)).toMatchObject({
    status: 'completed',
    text: 'The house is big.',
    translated_text: 'THE HOUSE IS BIG.',
    price: 4,
  });
  const { rows } = await owner.query(
    `select kind from transfers join jobs using (part, account_id, job_id) where uid = $1 order by transfer_id`,
    [uid],
  );
  expect(rows.map(({ kind }) => kind)).toEqual(['hold', 'capture']);
});

it('an insert leases new jobs to the worker only while the worker has capacity; later jobs are queued', async () => {
  await ended(await adopted().finally(() => engine.resume()));
  engine.stall();
  for (let n = 0; n < 12; n++) await order(`many-${n}`);
  // One account may use half of the worker's capacity. New jobs queue behind jobs that are waiting.
  const atOnce = await leasedAtOnce();
  expect(atOnce.length).toBeLessThanOrEqual(4);
  expect(atOnce).toEqual(Array.from(atOnce, (_, n) => `many-${n}`));
  expect(await waiting()).toBeGreaterThanOrEqual(4);
  engine.resume();
  for (let n = 0; n < 12; n++) expect((await ended(`many-${n}`)).status).toBe('completed');
});

it('the first job of an account is leased by its insert and takes the interactive lane while another account’s jobs wait', async () => {
  await ended(await adopted().finally(() => engine.resume()));
  engine.stall();
  for (let n = 0; n < 40; n++) await order(`flood-${n}`);
  expect(await waiting()).toBeGreaterThanOrEqual(20);
  const { production_key } = await server.createAccount({ username: 'small', balanceCents: 1000 });
  const body = { uid: 'small-1', text: 'A word.', source_language: 'en', target_language: 'es' };
  expect((await createClient(server.url, production_key)('POST', MACHINE, body)).status).toBe(201);
  expect(await leasedAtOnce()).toContain('small-1');
  await order('flood-last');
  expect(await leasedAtOnce()).not.toContain('flood-last');
  const asked = await until(() =>
    engine.requests.find(({ segments }) => JSON.stringify(segments).includes('A word.')),
  );
  expect(asked.lane).toBe('interactive');
  engine.resume();
  expect((await ended('flood-last')).status).toBe('completed');
});

it("a text above the account's share of the worker's capacity is queued until a worker claims it", async () => {
  await ended(await adopted().finally(() => engine.resume()));
  engine.stall();
  await order('large', 'The house is big. '.repeat(4_000));
  expect(await leasedAtOnce()).toEqual([]);
  engine.resume();
  expect((await ended('large')).status).toBe('completed');
});

it('a worker that stops releases jobs that were leased to it by their insert, without counting an attempt', async () => {
  const uid = await adopted();
  await server.server.stop(0);
  const { rows } = await owner.query(`select attempts, lease_token from jobs where uid = $1`, [uid]);
  expect(rows).toEqual([{ attempts: 0, lease_token: null }]);
  engine.resume();
  await server.restart();
  expect((await ended(uid)).status).toBe('completed');
});

it('a uid that is sent eight times at once creates and translates one job', async () => {
  await ended(await adopted().finally(() => engine.resume()));
  const body = { uid: 'twice', text: 'Twice.', source_language: 'en', target_language: 'es' };
  const answers = await Promise.all(Array.from({ length: 8 }, () => call('POST', MACHINE, body)));
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 200, 200, 200, 200, 200, 201]);
  expect((await ended('twice')).translated_text).toBe('TWICE.');
  expect(engine.requests.filter(({ segments }) => JSON.stringify(segments).includes('Twice.'))).toHaveLength(
    1,
  );
});

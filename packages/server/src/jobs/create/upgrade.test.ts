/** Tests over HTTP of upgrading a machine job to a human job: its queue, draft, price and callback. */
import { createFake, type FakeEngine } from '@dragoman/engines/fake';
import type pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { accountNamed } from '../../access/accounts.ts';
import type { AccountRef } from '../../base/account.ts';
import { uuidv7 } from '../../base/ids.ts';
import { createConnection } from '../../database/connections.ts';
import { verifyLedger } from '../../ledger/ledger.ts';
import {
  createClient,
  createPerson,
  type Receiver,
  startReceiver,
  startTestServer,
  type TestServer,
  until,
  waitForStatus,
} from '../../testing/harness.ts';
import { expectSoundLedger } from '../../testing/ledger.ts';
import { createJobSettler, type JobHooks } from '../jobs.ts';

const HUMAN = '/tapi/v2/translation/';
const MACHINE = '/tapi/v2/mt_translation/';
const BALANCE = 1_000;

let server: TestServer;
let receiver: Receiver;
let engine: FakeEngine;
let owner: pg.Client;
let account: Awaited<ReturnType<TestServer['createAccount']>>;
let production: ReturnType<typeof createClient>;
let sandbox: ReturnType<typeof createClient>;

beforeAll(async () => {
  receiver = await startReceiver();
  server = await startTestServer({
    engine: () => {
      engine = createFake();
      return engine;
    },
    settings: { DRAGOMAN_SANDBOX_HOLD: '0', DRAGOMAN_PRICE_HUMAN: '3', DRAGOMAN_PRICE_MACHINE: '1' },
  });
  owner = await server.connectOwner();
});
beforeEach(async () => {
  account = await server.createAccount({ balanceCents: BALANCE });
  production = createClient(server.url, account.production_key);
  sandbox = createClient(`${server.url}/sandbox`, account.sandbox_key);
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
const UPGRADE = { status: 'upgrade', properties: null };

async function completed(
  call: typeof production,
  fields: { uid: string; [field: string]: unknown },
): Promise<void> {
  await call('POST', MACHINE, job(fields));
  await waitForStatus(call, `${MACHINE}${fields.uid}/`);
}
const has = (call: typeof production, uid: string, status: string) =>
  waitForStatus(call, `${HUMAN}${uid}/`, status);
const noDiscrepancies = () => expectSoundLedger(server.database);

describe('an upgrade (PATCH /mt_translation/:uid/)', () => {
  it('turns the machine job into a human job with the same uid, for the price of a human job', async () => {
    await completed(production, { uid: 'up' });
    const answer = await production('PATCH', `${MACHINE}up/`, UPGRADE);
    expect(answer.status).toBe(202);
    expect(answer.body).toMatchObject({ uid: 'up', price: 12, balance: BALANCE - 4 - 12, text: job().text });
    expect(['new', 'translating']).toContain(answer.body.status);
    expect((await production('GET', `${MACHINE}up/`)).status).toBe(404);
    const read = await has(production, 'up', 'translating');
    expect(read).not.toHaveProperty('translated_text');
    expect((await production('GET', MACHINE)).body.meta.total_count).toBe(0);
    const list = await production('GET', HUMAN);
    expect(list.body.objects).toMatchObject([{ uid: 'up', status: 'translating', price: 12 }]);
    await noDiscrepancies();
  });

  it('keeps the machine’s result as the draft, and leaves other jobs unchanged', async () => {
    await completed(production, { uid: 'draft' });
    await completed(production, { uid: 'beside' });
    const before = (await production('GET', `${MACHINE}beside/`)).body;
    const { balance } = (await production('PATCH', `${MACHINE}draft/`, UPGRADE)).body;
    expect((await production('GET', `${MACHINE}beside/`)).body).toEqual({ ...before, balance });
    const { rows } = await owner.query(
      `select kind, body from job_texts join jobs using (part, account_id, job_id)
        where uid = 'draft' and account_id = (select account_id from accounts where username = $1) order by kind`,
      [account.username],
    );
    expect(rows).toEqual([
      { kind: 'source', body: 'The house is big.' },
      { kind: 'supplied', body: 'THE HOUSE IS BIG.' },
    ]);
  });

  it('creates segments with drafts for the editor', async () => {
    await completed(production, { uid: 'cut', text: 'The house. It is big.' });
    await production('PATCH', `${MACHINE}cut/`, UPGRADE);
    await has(production, 'cut', 'translating');
    const { rows } = await owner.query(
      `select draft from segments join jobs using (part, account_id, job_id) where uid = 'cut' order by position`,
    );
    expect(rows.map(({ draft }) => draft)).toEqual([[{ text: 'THE HOUSE.' }], [{ text: 'IT IS BIG.' }]]);
  });

  it('completes with the machine’s result and sends a second callback in the sandbox', async () => {
    const callback_url = `${receiver.url}/sandboxed`;
    await completed(sandbox, { uid: 'trial', callback_url });
    await receiver.next(({ path }) => path === '/sandboxed');
    expect((await sandbox('PATCH', `${MACHINE}trial/`, UPGRADE)).status).toBe(202);
    const read = await has(sandbox, 'trial', 'completed');
    expect(read).toMatchObject({ translated_text: 'THE HOUSE IS BIG.', price: 12, balance: -16 });
    await until(() => receiver.received.filter(({ path }) => path === '/sandboxed').length === 2);
    const [first, second] = receiver.received.filter(({ path }) => path === '/sandboxed');
    expect(JSON.parse(second!.body)).toMatchObject({ uid: 'trial', status: 'completed', price: 12 });
    expect(second!.headers['webhook-id']).not.toBe(first!.headers['webhook-id']);
    await noDiscrepancies();
  });

  it('has the same delivery delay as a create in the sandbox', async () => {
    await completed(sandbox, { uid: 'patience' });
    await server.restart({ DRAGOMAN_SANDBOX_HOLD: '3600' });
    sandbox = createClient(`${server.url}/sandbox`, account.sandbox_key);
    await sandbox('PATCH', `${MACHINE}patience/`, UPGRADE);
    const { rows } = await owner.query(
      `select hold_until > now() + interval '59 minutes' as held from jobs where uid = 'patience'`,
    );
    expect(rows).toEqual([{ held: true }]);
    await has(sandbox, 'patience', 'translating');
    await server.restart();
  });

  it('replaces the properties that the request contains and keeps the others', async () => {
    await completed(production, { uid: 'anew', tone: 'Formal', topics: ['tech'], instructions: 'Old.' });
    const properties = { tone: 'Informal', callback_url: `${receiver.url}/anew`, instructions: 'New.' };
    const { body } = await production('PATCH', `${MACHINE}anew/`, { status: 'upgrade', properties });
    expect(body).toMatchObject({ tone: 'Informal', topics: ['tech'], callback_url: properties.callback_url });
    const { rows } = await owner.query(
      `select body from job_texts join jobs using (part, account_id, job_id)
        where uid = 'anew' and kind = 'instructions'`,
    );
    expect(rows).toEqual([{ body: 'New.' }]);
  });

  it('returns the same job to ten equal requests, at once or later, and charges once', async () => {
    await completed(production, { uid: 'again' });
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => production('PATCH', `${MACHINE}again/`, UPGRADE)),
    );
    answers.push(await production('PATCH', `${MACHINE}again/`, { status: 'upgrade' }));
    for (const answer of answers) {
      expect(answer).toMatchObject({ status: 202, body: { price: 12, balance: BALANCE - 16 } });
    }
    const other = { status: 'upgrade', properties: { tone: 'Formal' } };
    expect(await production('PATCH', `${MACHINE}again/`, other)).toMatchObject({
      status: 400,
      body: { error: 'status: the job has been upgraded already, by another request.' },
    });
    await noDiscrepancies();
  });

  it.each([
    ['was judged', `status = 'accepted'`],
    ['went to a human', `tier = 'human'`],
  ])('answers 404 and changes nothing when the job %s at the same moment', async (_, change) => {
    await completed(production, { uid: 'moment' });
    const other = createConnection(server.connection);
    await other.connect();
    await other.query('begin');
    const own = `uid = 'moment' and account_id = (select account_id from accounts where username = $1)`;
    await other.query(`update jobs set ${change} where ${own}`, [account.username]);
    const answer = production('PATCH', `${MACHINE}moment/`, UPGRADE);
    await until(async () => {
      const waiting = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
      return (await owner.query(waiting)).rowCount === 1;
    });
    await other.query('commit');
    await other.end();
    expect((await answer).status).toBe(404);
    const { rows } = await owner.query(`select charge, upgrade_hash from jobs where ${own}`, [
      account.username,
    ]);
    expect(rows).toEqual([{ charge: 1, upgrade_hash: null }]);
    await noDiscrepancies();
  });

  it('is reported by ledger verification when the price of the machine job was not captured', async () => {
    await completed(production, { uid: 'fault' });
    await production('PATCH', `${MACHINE}fault/`, UPGRADE);
    await owner.query('begin');
    const OF = `job_id = (select job_id from jobs where uid = 'fault')`;
    const kept = await owner.query(`delete from transfers where ${OF} and kind = 'capture' returning *`);
    expect(kept.rowCount).toBe(1);
    await owner.query('commit');
    expect((await verifyLedger(server.database)).discrepancies.map(({ rule }) => rule)).toEqual(['earlier']);
    const row = kept.rows[0];
    const columns = Object.keys(row);
    await owner.query(
      `insert into transfers (${columns}) values (${columns.map((_, index) => `$${index + 1}`)})`,
      Object.values(row),
    );
    await noDiscrepancies();
  });
});

describe('canceling an upgrade', () => {
  const eventsOf = async (call: typeof production, uid: string) =>
    (await call('GET', '/api/v1/events/?limit=100')).body.objects
      .filter(({ job }: { job?: { uid: string } }) => job?.uid === uid)
      .map(({ type, delivery }: { type: string; delivery?: object }) => [type, Boolean(delivery)]);

  it('restores the completed machine job with its price, and sends no callback', async () => {
    const callback_url = `${receiver.url}/back`;
    const fields = { uid: 'back', callback_url, tone: 'Formal', topics: ['tech'], instructions: 'Old.' };
    await completed(production, fields);
    const before = await production('GET', `${MACHINE}back/`);
    const created = await production('POST', MACHINE, job(fields));
    const row = `select part, tier, status, charge, price_cents, words, tone, topics, brand, default_brand, callback_url,
        hold_until, finished_at, upgrade_hash, before_upgrade, due_at, lease_token, attempts, redraft,
        array(select kind || ' ' || body from job_texts t
               where t.part = j.part and t.job_id = j.job_id order by kind) as texts
      from jobs j where uid = 'back'`;
    const kept = (await owner.query(row)).rows;
    const properties = { tone: 'Informal', topics: ['sports'], instructions: 'New.', callback_url: null };
    await production('PATCH', `${MACHINE}back/`, { status: 'upgrade', properties });
    await has(production, 'back', 'translating');
    expect(await production('DELETE', `${HUMAN}back/`)).toMatchObject({ status: 200, text: '' });

    expect((await production('GET', `${MACHINE}back/`)).body).toEqual(before.body);
    expect(before.body).toMatchObject({
      translated_text: 'THE HOUSE IS BIG.',
      price: 4,
      balance: BALANCE - 4,
    });
    expect((await owner.query(row)).rows).toEqual(kept);
    expect(await production('POST', MACHINE, job(fields))).toMatchObject({ status: 200, body: created.body });
    const human = await production('POST', HUMAN, job({ uid: 'back' }));
    expect(human).toMatchObject({ status: 400, body: { error: 'uid: already exists' } });
    for (const method of ['GET', 'DELETE']) {
      expect((await production(method, `${HUMAN}back/`)).status).toBe(404);
    }
    expect((await production('DELETE', `${MACHINE}back/`)).status).toBe(400);
    expect((await production('GET', HUMAN)).body.meta.total_count).toBe(0);
    expect((await production('GET', `${MACHINE}?status=completed`)).body).toMatchObject({
      meta: { total_count: 1 },
      objects: [{ uid: 'back', price: 4 }],
    });
    expect(await eventsOf(production, 'back')).toEqual([
      ['job.completed', true],
      ['job.completed', false],
    ]);
    expect(receiver.received.filter(({ path }) => path === '/back')).toHaveLength(1);
    await noDiscrepancies();
  });

  it('allows the job to be upgraded again, and each new upgrade is charged once', async () => {
    await completed(production, { uid: 'twice' });
    for (let time = 1; time <= 3; time++) {
      const up = await production('PATCH', `${MACHINE}twice/`, UPGRADE);
      expect(up, up.text).toMatchObject({ status: 202, body: { price: 12, balance: BALANCE - 16 } });
      if (time < 3) expect((await production('DELETE', `${HUMAN}twice/`)).status).toBe(200);
      await noDiscrepancies();
    }
    await has(production, 'twice', 'translating');
    const { rows } = await owner.query(
      `select kind, charge from transfers where job_id = (select job_id from jobs where uid = 'twice')
        order by charge, transfer_id`,
    );
    expect(rows.map(({ kind, charge }) => `${charge} ${kind}`)).toEqual([
      '1 hold',
      '1 capture',
      '2 hold',
      '2 void',
      '3 hold',
      '3 void',
      '4 hold',
    ]);
  });

  it('restores the machine’s result in the sandbox even if another result was stored before the delay ended', async () => {
    await completed(sandbox, { uid: 'held' });
    await server.restart({ DRAGOMAN_SANDBOX_HOLD: '3600' });
    sandbox = createClient(`${server.url}/sandbox`, account.sandbox_key);
    await sandbox('PATCH', `${MACHINE}held/`, UPGRADE);
    await has(sandbox, 'held', 'translating');
    await owner.query(
      `update job_texts set body = 'ANOTHER.' where kind = 'result'
        and job_id = (select job_id from jobs where uid = 'held')`,
    );
    expect((await sandbox('DELETE', `${HUMAN}held/`)).status).toBe(200);
    expect((await sandbox('GET', `${MACHINE}held/`)).body).toMatchObject({
      status: 'completed',
      translated_text: 'THE HOUSE IS BIG.',
      balance: -4,
    });
    await server.restart();
    await noDiscrepancies();
  });

  it('is refused when the upgraded job is completed', async () => {
    await completed(sandbox, { uid: 'late' });
    await sandbox('PATCH', `${MACHINE}late/`, UPGRADE);
    await has(sandbox, 'late', 'completed');
    expect((await sandbox('DELETE', `${HUMAN}late/`)).status).toBe(400);
    const { rows } = await owner.query(`select before_upgrade from jobs where uid = 'late'`);
    expect(rows).toEqual([{ before_upgrade: null }]);
    await noDiscrepancies();
  });

  it('is possible for an operator in the console; customer and operator then see the machine job', async () => {
    await completed(production, { uid: 'pages' });
    await production('PATCH', `${MACHINE}pages/`, UPGRADE);
    await has(production, 'pages', 'translating');
    const person = await createPerson(server, { role: 'customer', account });
    const own = '/api/account/jobs/pages';
    expect((await person.call('GET', own)).body).toMatchObject({
      tier: 'human',
      result: null,
      machine_result: { text: 'THE HOUSE IS BIG.', cut: false },
      may: { cancel: true },
    });
    const operator = await createPerson(server, { role: 'operator' });
    const { rows } = await owner.query(`select job_id from jobs where uid = 'pages'`);
    const path = `/api/console/accounts/${account.username}/jobs/${rows[0].job_id}`;
    const canceled = await operator.call('POST', `${path}/cancel`);
    expect(canceled.body).toMatchObject({ tier: 'machine', status: 'completed', price: 4 });
    expect(canceled.body.may.cancel).toBe(false);
    expect(canceled.body.timeline).toContainEqual(
      expect.objectContaining({ status: 'completed', actor: 'operator', detail: 'upgrade canceled' }),
    );
    expect((await person.call('GET', own)).body).toMatchObject({
      tier: 'machine',
      status: 'completed',
      price: 4,
      machine_result: null,
      result: { text: 'THE HOUSE IS BIG.' },
      may: { cancel: false, accept: false, reject: false },
    });
    await noDiscrepancies();
  });

  it('is reported by ledger verification if it captured the price of the human job instead of releasing it', async () => {
    await completed(production, { uid: 'kept' });
    await production('PATCH', `${MACHINE}kept/`, UPGRADE);
    await production('DELETE', `${HUMAN}kept/`);
    const OF = `job_id = (select job_id from jobs where uid = 'kept')`;
    await owner.query(
      `update transfers set kind = 'capture', credit = 'revenue' where ${OF} and kind = 'void'`,
    );
    const found = (await verifyLedger(server.database)).discrepancies;
    expect(found.map(({ rule }) => rule).sort()).toEqual(['balance', 'earlier']);
    await owner.query(
      `update transfers set kind = 'void', credit = 'available' where ${OF} and kind = 'capture' and charge = 2`,
    );
    await noDiscrepancies();
  });
});

describe('several jobs that fail in one batch', () => {
  it('have their balances locked in one order, upgraded or not, so that batches cannot deadlock', async () => {
    const accounts = [account, await server.createAccount({ balanceCents: BALANCE })];
    const refs = await Promise.all(accounts.map(({ username }) => accountNamed(server.database, username)));
    const [first, last] = accounts
      .map((one, index) => ({ ...refs[index]!.ref, call: createClient(server.url, one.production_key) }))
      .toSorted((a, b) => a.part - b.part || (a.accountId < b.accountId ? -1 : 1));
    await first!.call('POST', HUMAN, job({ uid: 'plain' }));
    await has(first!.call, 'plain', 'translating');
    await completed(last!.call, { uid: 'upgraded' });
    await last!.call('PATCH', `${MACHINE}upgraded/`, UPGRADE);
    await has(last!.call, 'upgraded', 'translating');

    const token = uuidv7();
    const { rows } = await owner.query(
      `update jobs set lease_token = $1, due_at = now() + interval '1 hour' where account_id = any($2) returning job_id, account_id`,
      [token, [first!.accountId, last!.accountId]],
    );
    const desk = createJobSettler(server.database, {} as JobHooks, { withOutbox: (run) => run() });
    const settle = async (ref: AccountRef) => {
      const { job_id: id } = rows.find(({ account_id }) => account_id === ref.accountId);
      const lease = { account: ref, id, token, weight: 1 };
      const leased = (await desk.open(lease))!;
      return { lease, job: leased, outcome: { kind: 'failed', reason: 'tested' } } as const;
    };
    const settlements = [await settle(last!), await settle(first!)];
    await owner.query('begin');
    const balanceOf =
      'select from balances where part = $1 and account_id = $2 and environment = $3 for update';
    await owner.query(balanceOf, [first!.part, first!.accountId, 'production']);
    const settled = Promise.all(settlements.map((one) => desk.settle(one, true)));
    const waiting = `select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`;
    // A transaction lists only the connections that existed at its first look, so another connection looks.
    const observer = createConnection(server.connection);
    await observer.connect();
    try {
      await until(async () => (await observer.query(waiting)).rowCount === 1);
    } finally {
      await observer.end();
    }
    const free = await owner.query(`${balanceOf} skip locked`, [last!.part, last!.accountId, 'production']);
    await owner.query('rollback');
    expect(await settled).toEqual([true, true]);
    expect(free.rowCount).toBe(1);
    await noDiscrepancies();
  });
});

describe('an upgrade is refused', () => {
  it.each([
    [{}, 'status: This field is required.'],
    [{ status: 'completed' }, 'status: must be "upgrade".'],
    [{ status: 'upgrade', properties: 5 }, 'properties: must be a JSON object.'],
    [[], 'body: must be a JSON object.'],
    [
      { status: 'upgrade', properties: { tone: 'Rude' } },
      'properties.tone: "Rude" is not one of Informal, Formal.',
    ],
    [{ status: 'upgrade', properties: { callback_url: 'ftp://x/' } }, /^properties\.callback_url: /],
  ])('when the body is %j', async (body, error) => {
    await completed(production, { uid: 'wrong' });
    const answer = await production('PATCH', `${MACHINE}wrong/`, body);
    expect(answer.status).toBe(400);
    expect(answer.body.error).toMatch(error);
    expect((await production('GET', `${MACHINE}wrong/`)).body.status).toBe('completed');
  });

  it('with 400 for an unfinished job, 402 without enough funds, and 404 for a job that is no machine job', async () => {
    engine.stall();
    await production('POST', MACHINE, job({ uid: 'gone', text: 'Nobody has asked for this before.' }));
    const early = await production('PATCH', `${MACHINE}gone/`, UPGRADE);
    expect((await production('DELETE', `${MACHINE}gone/`)).status).toBe(200);
    const late = await production('PATCH', `${MACHINE}gone/`, UPGRADE);
    engine.resume();
    for (const [answer, status] of [
      [early, 'machine_translate_in_progress'],
      [late, 'canceled'],
    ] as const) {
      const error = `status: the job is ${status}; only a completed one can be upgraded.`;
      expect(answer).toMatchObject({ status: 400, body: { error } });
    }
    await production('POST', HUMAN, job({ uid: 'human' }));
    const stranger = createClient(server.url, (await server.createAccount()).production_key);
    await completed(production, { uid: 'mine' });
    for (const answer of [
      await production('PATCH', `${MACHINE}human/`, UPGRADE),
      await production('PATCH', `${MACHINE}nobody/`, UPGRADE),
      await production('PATCH', `${MACHINE}%00/`, UPGRADE),
      await stranger('PATCH', `${MACHINE}mine/`, UPGRADE),
    ]) {
      expect(answer).toMatchObject({ status: 404, body: { error: 'Not found' } });
    }
    expect((await production('PATCH', `${HUMAN}human/`, UPGRADE)).status).toBe(405);
    await owner.query(
      `update balances set credit_limit_cents = 0, available_cents = 5 where environment = 'production'
        and account_id = (select account_id from accounts where username = $1)`,
      [account.username],
    );
    expect(await production('PATCH', `${MACHINE}mine/`, UPGRADE)).toMatchObject({
      status: 402,
      body: { error: 'insufficient balance: needs 12 cents, has 5' },
    });
    expect((await production('GET', `${MACHINE}mine/`)).body.status).toBe('completed');
  });
});

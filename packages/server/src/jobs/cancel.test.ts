/** Tests of canceling a job over HTTP: the status, the balance, the worker and the callback. */
import { createFake, type FakeEngine } from '@dragoman/engines/fake';
import fc from 'fast-check';
import type pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import {
  createClient,
  type Receiver,
  startReceiver,
  startTestServer,
  type TestServer,
  until,
  waitForStatus,
} from '../testing/harness.ts';
import { expectSoundLedger } from '../testing/ledger.ts';

const HUMAN = '/tapi/v2/translation/';
const MACHINE = '/tapi/v2/mt_translation/';
const BALANCE = 1_000;

let engine: FakeEngine;
let server: TestServer;
let receiver: Receiver;
let owner: pg.Client;

beforeAll(async () => {
  receiver = await startReceiver();
  server = await startTestServer({
    engine: () => {
      engine = createFake();
      return engine;
    },
    settings: { DRAGOMAN_SANDBOX_HOLD: '0', DRAGOMAN_PRICE_MACHINE: '2' },
  });
  owner = await server.connectOwner();
});
afterEach(() => engine.resume());
afterAll(async () => {
  await server.stop();
  await receiver.close();
});

async function createCustomer() {
  const account = await server.createAccount({ balanceCents: BALANCE });
  return {
    production: createClient(server.url, account.production_key),
    sandbox: createClient(`${server.url}/sandbox`, account.sandbox_key),
  };
}

const job = (fields: object = {}) => ({
  text: 'The house is big.',
  source_language: 'en',
  target_language: 'es',
  ...fields,
});

const has = (uid: string, status: string, call: ReturnType<typeof createClient>, path = HUMAN) =>
  waitForStatus(call, `${path}${uid}/`, status);

const noDiscrepancies = () => expectSoundLedger(server.database);

describe('DELETE of a job', () => {
  it('that waits for an editor answers 200 without a body, cancels it, releases the hold, and adds an event but sends no callback', async () => {
    const { production } = await createCustomer();
    const body = job({ uid: 'waits', callback_url: `${receiver.url}/waits` });
    expect((await production('POST', HUMAN, body)).body.balance).toBe(BALANCE - 12);
    await has('waits', 'translating', production);
    const answer = await production('DELETE', `${HUMAN}waits/`);
    expect([answer.status, answer.text]).toEqual([200, '']);
    const read = await production('GET', `${HUMAN}waits/`);
    expect(read.body).toMatchObject({ status: 'canceled', balance: BALANCE, price: 0 });
    expect(read.body).not.toHaveProperty('translated_text');
    expect((await production('GET', HUMAN)).body.objects).toMatchObject([{ uid: 'waits', price: 0 }]);
    expect(await production('POST', HUMAN, body)).toMatchObject({
      status: 200,
      body: { status: 'canceled', price: 0 },
    });
    const events = (await production('GET', '/api/v1/events/')).body.objects;
    expect(events.map(({ type }: { type: string }) => type)).toEqual(['job.canceled']);
    expect((await owner.query(`select from deliveries`)).rowCount).toBe(0);
    await noDiscrepancies();
  });

  it('accepts a request with a JSON content type but no body, and a path without its trailing slash', async () => {
    const { production } = await createCustomer();
    await production('POST', HUMAN, job({ uid: 'bare' }));
    const headers = { 'content-type': 'application/json' };
    expect((await production('DELETE', `${HUMAN}bare`, undefined, headers)).status).toBe(200);
  });

  it("that a worker is translating discards the worker's result", async () => {
    const { production } = await createCustomer();
    engine.stall();
    await production('POST', MACHINE, job({ uid: 'held', callback_url: `${receiver.url}/held` }));
    const leased = `select from jobs where uid = 'held' and lease_token is not null`;
    await until(async () => (await owner.query(leased)).rowCount === 1);
    expect((await production('DELETE', `${MACHINE}held/`)).status).toBe(200);
    engine.resume();
    // The worker whose job was canceled processes the next job.
    await production('POST', MACHINE, job({ uid: 'next' }));
    await has('next', 'completed', production, MACHINE);
    await server.restart(); // The restart waits for work in progress.
    const { rows } = await owner.query(`select status, due_at, lease_token, finished_at is not null as ended
      from jobs where uid = 'held'`);
    expect(rows).toEqual([{ status: 'canceled', due_at: null, lease_token: null, ended: true }]);
    expect(
      (
        await owner.query(`select from job_texts t join jobs j using (part, account_id, job_id)
      where j.uid = 'held' and t.kind = 'result'`)
      ).rowCount,
    ).toBe(0);
    expect(receiver.received.filter(({ path }) => path === '/held')).toEqual([]);
    await noDiscrepancies();
  });

  it('whose delivery is delayed in the sandbox cancels the job, even if its result is ready', async () => {
    await server.restart({ DRAGOMAN_SANDBOX_HOLD: '3600' });
    const { sandbox } = await createCustomer();
    await sandbox('POST', HUMAN, job({ uid: 'early' }));
    await has('early', 'translating', sandbox);
    expect((await sandbox('DELETE', `${HUMAN}early/`)).status).toBe(200);
    expect((await sandbox('GET', `${HUMAN}early/`)).body).toMatchObject({ status: 'canceled', balance: 0 });
    await server.restart();
  });

  it("records the actor and the previous status in the job's events", async () => {
    const { production } = await createCustomer();
    await production('POST', HUMAN, job({ uid: 'noted' }));
    await has('noted', 'translating', production);
    await production('DELETE', `${HUMAN}noted/`);
    const { rows } = await owner.query(`select from_status, to_status, actor from job_events
      join jobs using (part, account_id, job_id) where uid = 'noted' order by event_id`);
    expect(rows.at(-1)).toEqual({ from_status: 'translating', to_status: 'canceled', actor: 'customer' });
  });
});

describe('DELETE of a job is refused', () => {
  it('with 400 and a reason when the job is finished or already canceled', async () => {
    const { production } = await createCustomer();
    await production('POST', MACHINE, job({ uid: 'done' }));
    await has('done', 'completed', production, MACHINE);
    const refused = await production('DELETE', `${MACHINE}done/`);
    expect(refused).toMatchObject({
      status: 400,
      body: { error: 'status: the job is completed; only an unfinished job can be canceled.' },
    });
    expect((await production('GET', `${MACHINE}done/`)).body).toMatchObject({
      status: 'completed',
      balance: BALANCE - 8,
    });
    await production('POST', HUMAN, job({ uid: 'twice' }));
    expect((await production('DELETE', `${HUMAN}twice/`)).status).toBe(200);
    const again = await production('DELETE', `${HUMAN}twice/`);
    expect(again).toMatchObject({
      status: 400,
      body: { error: 'status: the job is canceled; only an unfinished job can be canceled.' },
    });
    expect((await production('GET', `${HUMAN}twice/`)).body.balance).toBe(BALANCE - 8);
    await noDiscrepancies();
  });

  it("with 404 for an unknown uid, another account's job, another tier or a malformed uid", async () => {
    const { production, sandbox } = await createCustomer();
    const stranger = await createCustomer();
    await production('POST', HUMAN, job({ uid: 'mine' }));
    for (const answer of [
      await production('DELETE', `${HUMAN}nobody/`),
      await production('DELETE', `${MACHINE}mine/`),
      await production('DELETE', `${HUMAN}%00/`),
      await sandbox('DELETE', `${HUMAN}mine/`),
      await stranger.production('DELETE', `${HUMAN}mine/`),
    ]) {
      expect(answer).toMatchObject({ status: 404, body: { error: 'Not found' } });
    }
    expect((await production('GET', `${HUMAN}mine/`)).body.status).not.toBe('canceled');
  });
});

describe('concurrent attempts to end a job', () => {
  it('cancel it once and release the hold once when twenty DELETE requests race', async () => {
    const { production } = await createCustomer();
    await production('POST', HUMAN, job({ uid: 'rush' }));
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => production('DELETE', `${HUMAN}rush/`)),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(19).fill(400)]);
    expect((await production('GET', `${HUMAN}rush/`)).body.balance).toBe(BALANCE);
    await noDiscrepancies();
  });

  it('leave it either canceled or completed and charged when a DELETE races the worker', async () => {
    const round = fc.array(fc.record({ after: fc.nat(3), machine: fc.boolean() }), {
      minLength: 1,
      maxLength: 12,
    });
    await fc.assert(
      fc.asyncProperty(round, async (jobs) => {
        const { sandbox } = await createCustomer();
        const canceled = await Promise.all(
          jobs.map(async ({ after, machine }, index) => {
            const path = machine ? MACHINE : HUMAN;
            await sandbox('POST', path, job({ uid: `race-${index}` }));
            for (let turn = 0; turn < after; turn++) await sandbox('GET', `${path}race-${index}/`);
            return (await sandbox('DELETE', `${path}race-${index}/`)).status === 200;
          }),
        );
        let cents = 0;
        for (const [index, { machine }] of jobs.entries()) {
          const path = `${machine ? MACHINE : HUMAN}race-${index}/`;
          const { body } = await sandbox('GET', path);
          expect(body.status).toBe(canceled[index] ? 'canceled' : 'completed');
          expect('translated_text' in body).toBe(!canceled[index]);
          if (!canceled[index]) cents += machine ? 8 : 12;
        }
        const { body } = await sandbox('GET', HUMAN + (await firstOf(sandbox)));
        expect(body.balance).toBe(0 - cents);
        await noDiscrepancies();
      }),
      { numRuns: 15 },
    );
  });
});

/**
 * Creates a job without words, which costs nothing. @returns its path, whose answer shows the account's balance
 */
async function firstOf(call: ReturnType<typeof createClient>): Promise<string> {
  const { body } = await call('POST', HUMAN, job({ uid: 'purse', text: '…' }));
  return `${body.uid}/`;
}

/** Property tests that compare the job counters and the ledger with a simple model. */
import { createFake, type FakeEngine } from '@dragoman/engines/fake';
import fc from 'fast-check';
import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { AccountRef } from '../../base/account.ts';
import { createClient, startTestServer, type TestServer, until } from '../../testing/harness.ts';
import { expectSoundLedger } from '../../testing/ledger.ts';
import { deleteOldIdempotencyKeys, foldAllCounts } from '../worker/maintenance.ts';
import { foldCounts } from './list-store.ts';

const HUMAN = '/tapi/v2/translation/';
const MACHINE = '/tapi/v2/mt_translation/';

let engine: FakeEngine;
let server: TestServer;
let owner: pg.Client;

beforeAll(async () => {
  server = await startTestServer({
    engine: () => {
      engine = createFake();
      engine.failOn('poison');
      return engine;
    },
    settings: { DRAGOMAN_SANDBOX_HOLD: '0', DRAGOMAN_PRICE_HUMAN: '3', DRAGOMAN_PRICE_MACHINE: '2' },
  });
  owner = await server.connectOwner();
});
afterAll(() => server.stop());

async function createCustomer() {
  const made = await server.createAccount({ balanceCents: 10_000 });
  const { rows } = await owner.query('select part, account_id from accounts where username = $1', [
    made.username,
  ]);
  return {
    ref: { part: rows[0].part, accountId: rows[0].account_id } as AccountRef,
    production: createClient(server.url, made.production_key),
    sandbox: createClient(`${server.url}/sandbox`, made.sandbox_key),
  };
}

/** Returns the counters that disagree with the jobs table. The list is empty if all counters are right. */
async function miscounted(): Promise<unknown[]> {
  const { rows } = await owner.query(
    `select * from (
       select account_id, environment, tier, status, source_language, target_language, count(*) as jobs
         from jobs group by 1, 2, 3, 4, 5, 6) j
     full join (
       select account_id, environment, tier, status, source_language, target_language, sum(jobs) as jobs
         from job_counts group by 1, 2, 3, 4, 5, 6 having sum(jobs) <> 0) c
       using (account_id, environment, tier, status, source_language, target_language)
     where j.jobs is distinct from c.jobs`,
  );
  return rows;
}

/** Processes all due jobs until they are completed or failed. Failing jobs use up all their attempts. */
async function settled({ ref }: { ref: AccountRef }): Promise<void> {
  await until(async () => {
    await owner.query(
      `update jobs set due_at = now(), attempts = 4
        where account_id = $1 and lease_token is null and due_at > now()`,
      [ref.accountId],
    );
    await owner.query('notify dragoman_jobs');
    return (
      (await owner.query('select from jobs where account_id = $1 and due_at is not null', [ref.accountId]))
        .rowCount === 0
    );
  });
}

const texts = fc.constantFrom('The house.', 'A poison pill.', '…');
const act = fc.oneof(
  fc.record({
    kind: fc.constant('create' as const),
    sandbox: fc.boolean(),
    machine: fc.boolean(),
    text: texts,
    keyed: fc.boolean(),
  }),
  fc.record({
    kind: fc.constant('bulk' as const),
    sandbox: fc.boolean(),
    texts: fc.array(texts, { minLength: 1, maxLength: 4 }),
  }),
  fc.record({ kind: fc.constant('cancel' as const), which: fc.nat(20) }),
  fc.record({ kind: fc.constant('upgrade' as const), which: fc.nat(20) }),
  fc.record({ kind: fc.constant('again' as const), which: fc.nat(20) }),
  fc.record({ kind: fc.constant('settle' as const) }),
  fc.record({ kind: fc.constant('fold' as const) }),
);

describe('job counters after any sequence of creates, cancels, failures and completions', () => {
  it('match the jobs, and the ledger matches the outcomes of the jobs', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(act, { minLength: 1, maxLength: 14 }), async (acts) => {
        const customer = await createCustomer();
        const made: { call: typeof customer.production; path: string; uid: string; text: string }[] = [];
        const body = (text: string, uid: string) => ({
          text,
          uid,
          source_language: 'en',
          target_language: 'es',
        });
        for (const [turn, one] of acts.entries()) {
          if (one.kind === 'create') {
            const call = one.sandbox ? customer.sandbox : customer.production;
            const path = one.machine ? MACHINE : HUMAN;
            const uid = `one-${turn}`;
            const headers = one.keyed ? { 'idempotency-key': uid } : {};
            expect((await call('POST', path, body(one.text, uid), headers)).status).toBe(201);
            made.push({ call, path, uid, text: one.text });
          } else if (one.kind === 'bulk') {
            const call = one.sandbox ? customer.sandbox : customer.production;
            const objects = one.texts.map((text, index) => body(text, `bulk-${turn}-${index}`));
            expect((await call('PATCH', HUMAN, { objects })).status).toBe(202);
            made.push(...objects.map(({ uid, text }) => ({ call, path: HUMAN, uid, text })));
          } else if (one.kind === 'settle') {
            await settled(customer);
          } else if (one.kind === 'fold') {
            await foldCounts(server.database, { account: customer.ref });
          } else {
            const job = made[one.which];
            if (job === undefined) continue;
            const at = `${job.path}${job.uid}/`;
            if (one.kind === 'cancel') {
              expect([200, 400]).toContain((await job.call('DELETE', at)).status);
            } else if (one.kind === 'again') {
              expect((await job.call('POST', job.path, body(job.text, job.uid))).status).toBeLessThan(401);
            } else if (job.path === MACHINE) {
              const { status } = await job.call('PATCH', at, { status: 'upgrade' });
              if (status === 202) job.path = HUMAN;
              expect([202, 400]).toContain(status);
            }
          }
        }
        await settled(customer);
        expect(await miscounted()).toEqual([]);
        await expectSoundLedger(server.database);
        for (const call of [customer.production, customer.sandbox]) {
          const own = made.filter((job) => job.call === call);
          for (const path of [HUMAN, MACHINE]) {
            const { body: list } = await call('GET', path);
            expect(list.meta.total_count).toBe(own.filter((job) => job.path === path).length);
          }
        }
      }),
      { numRuns: 25 },
    );
  });

  it('are reported as wrong by this test when one of them is changed', async () => {
    await owner.query(
      `insert into job_counts (part, account_id, environment, tier, status, source_language, target_language, jobs)
       select part, account_id, environment, tier, status, source_language, target_language, 1 from jobs limit 1`,
    );
    expect(await miscounted()).toHaveLength(1);
    await owner.query('delete from job_counts where count_id = (select max(count_id) from job_counts)');
    expect(await miscounted()).toEqual([]);
  });
});

describe('maintenance of jobs', () => {
  it('keeps the counters exact when two processes sum them up while jobs are created', async () => {
    const { production } = await createCustomer();
    const create = (uid: string) =>
      production('POST', HUMAN, { uid, text: '…', source_language: 'en', target_language: 'es' });
    await Promise.all(
      Array.from({ length: 30 }, async (_, index) => {
        await create(`count-${index}`);
        await Promise.all([foldAllCounts(server.database, 1), foldAllCounts(server.database, 1)]);
      }),
    );
    expect((await production('GET', HUMAN)).body.meta.total_count).toBe(30);
    await until(async () => {
      await foldAllCounts(server.database, 1);
      return (await owner.query('select from job_counts where not folded')).rowCount === 0;
    });
    expect(await miscounted()).toEqual([]);
  });

  it('deletes idempotency keys older than a day and keeps younger keys', async () => {
    const { production } = await createCustomer();
    const create = (key: string) =>
      production(
        'POST',
        HUMAN,
        { text: '…', source_language: 'en', target_language: 'es' },
        { 'idempotency-key': key },
      );
    const age = (key: string, hours: number) =>
      owner.query('update idempotency set created_at = now() - make_interval(hours => $2) where key = $1', [
        key,
        hours,
      ]);
    for (const key of ['old', 'young']) await create(key);
    await age('old', 25);
    await age('young', 23);
    await deleteOldIdempotencyKeys(server.database);
    expect((await create('young')).status).toBe(200);
    expect((await create('old')).status).toBe(201);
  });
});

/**
 * Tests of the lease queue with a real database. They move `due_at` to let leases expire, so they never wait.
 */
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { AccountRef } from '../base/account.ts';
import { partOf, uuidv7 } from '../base/ids.ts';
import { createLog } from '../base/log.ts';
import { createConnection } from '../database/connections.ts';
import { listAttempts } from '../deliveries/attempt-store.ts';
import { recordEvents } from '../deliveries/deliveries.ts';
import { createDeliveryQueue } from '../deliveries/queue.ts';
import { finishAnswered, finishAttempt } from '../deliveries/store.ts';
import { insertJobs } from '../jobs/insert-store.ts';
import { createJobSettler, type JobHooks, type JobOutcome, type JobSettlement } from '../jobs/jobs.ts';
import { holdPrices, openBalances } from '../ledger/ledger.ts';
import {
  createClient,
  createTestDatabase,
  startTestServer,
  type TestDatabase,
  until,
} from '../testing/harness.ts';
import { newJobs } from '../testing/jobs.ts';
import { expectSoundLedger } from '../testing/ledger.ts';
import { createLeaseQueue, type Lease } from './queue.ts';

const LEASE_SECONDS = 3600;
const nobody: JobHooks = {
  onDrafted: async () => {},
  onCanceled: async () => {},
  onRedrafted: async () => new Set(),
  countUntouched: async () => 0,
};

// Each call has its own settler, so that two outcomes never share a transaction.
const createSettler = () => createJobSettler(test.database, nobody, { withOutbox: (run) => run() });
const open = (lease: Lease) => createSettler().open(lease);
const settle = (settlement: JobSettlement) => createSettler().settle(settlement, true);

let test: TestDatabase;
const lines: string[] = [];
let owner: pg.Client;

beforeAll(async () => {
  test = await createTestDatabase();
  owner = await test.connectOwner();
});
beforeEach(() => {
  lines.length = 0;
  return owner.query('truncate accounts cascade; truncate jobs, balances cascade');
});
afterAll(() => test.drop());

const PAID = { priceCents: 1, centsPerWord: 1, callbackUrl: 'http://127.0.0.1:9/' };
let accounts = 0;

async function createAccount(): Promise<AccountRef> {
  const accountId = uuidv7();
  const account = { part: partOf(accountId), accountId } as AccountRef;
  await owner.query('insert into accounts (part, account_id, username) values ($1, $2, $3)', [
    account.part,
    accountId,
    `account-${++accounts}`,
  ]);
  await test.database.transaction((transaction) =>
    openBalances(transaction, account, { production: 1000, sandbox: 0 }),
  );
  return account;
}

/**
 * Creates due jobs of an account and holds the price of each job. @returns the ids of the jobs in order of
 * creation
 */
async function createJobs(account: AccountRef, count: number): Promise<string[]> {
  const jobs = newJobs(account, count, PAID);
  await test.database.transaction(async (transaction) => {
    await insertJobs(transaction, jobs, 0, undefined);
    await holdPrices(
      transaction,
      jobs.map(({ jobId, environment }) => ({ account, jobId, environment, charge: 1, cents: 1 })),
    );
  });
  return jobs.map(({ jobId }) => jobId);
}

async function createDeliveries(account: AccountRef, count: number): Promise<void> {
  const jobs = await createJobs(account, count);
  await owner.query('update jobs set due_at = null');
  await test.database.transaction(async (transaction) => {
    await recordEvents(
      transaction,
      jobs.map((jobId) => ({
        account,
        environment: 'production',
        type: 'job.completed',
        subject: { kind: 'job', jobId },
        delivery: {
          url: 'http://127.0.0.1:9/',
          contentType: 'application/json',
          body: Buffer.from('{}'),
        },
      })),
    );
  });
}

const TABLES = ['jobs', 'deliveries'] as const;
const KEYS = { jobs: 'job_id', deliveries: 'delivery_id' };
const fill = { jobs: createJobs, deliveries: createDeliveries };
type Table = (typeof TABLES)[number];

function queueOf(table: Table) {
  const log = createLog('warn', { write: (line) => lines.push(line) });
  const { database } = test;
  return table === 'jobs'
    ? createLeaseQueue(database, table, LEASE_SECONDS, log)
    : createDeliveryQueue({ database, leaseSeconds: LEASE_SECONDS, perHost: 1000, log });
}

interface Entry {
  id: string;
  lease_token: string | null;
  attempts: number;
  /** Seconds until the row is due; null when no worker needs to process it. */
  due_in: number | null;
}

async function entries(table: Table): Promise<Entry[]> {
  const { rows } = await owner.query(
    `select ${KEYS[table]} as id, lease_token, attempts, extract(epoch from due_at - now())::float8 as due_in
       from ${table} order by 1`,
  );
  return rows;
}

/** Lets all leases expire, as if no heartbeat had come in time. */
const expire = (table: Table) =>
  owner.query(`update ${table} set due_at = now() where lease_token is not null`);

const idsOf = (leases: readonly Lease[]) => leases.map(({ id }) => id).sort();

describe.each(TABLES)('the queue of %s', (table) => {
  it('claims nothing when no row is due', async () => {
    expect(await queueOf(table).claim(10)).toEqual([]);
    await fill[table](await createAccount(), 2);
    await owner.query(`update ${table} set due_at = now() + interval '1 hour'`);
    expect(await queueOf(table).claim(10)).toEqual([]);
  });

  it('gives each claimed row a lease with an end and a token, and counts the claim', async () => {
    const account = await createAccount();
    await fill[table](account, 2);
    const leases = await queueOf(table).claim(10);
    expect(leases).toHaveLength(2);
    const rows = await entries(table);
    expect(idsOf(leases)).toEqual(rows.map(({ id }) => id));
    for (const lease of leases) {
      const row = rows.find(({ id }) => id === lease.id)!;
      expect(lease).toMatchObject({ account, attempts: 1, token: row.lease_token });
      expect(row.attempts).toBe(1);
      expect(row.due_in).toBeGreaterThan(LEASE_SECONDS / 2);
      expect(row.due_in).toBeLessThanOrEqual(LEASE_SECONDS);
    }
  });

  it('claims no row that is leased', async () => {
    await fill[table](await createAccount(), 3);
    const queue = queueOf(table);
    expect(await queue.claim(10)).toHaveLength(3);
    expect(await queue.claim(10)).toEqual([]);
    expect(await queueOf(table).claim(10)).toEqual([]);
  });

  it('claims no more rows than requested, and claims the longest due rows first', async () => {
    await fill[table](await createAccount(), 5);
    const oldest = (await entries(table)).slice(3).map(({ id }) => id);
    await owner.query(
      `update ${table} set due_at = now() - interval '1 hour' where ${KEYS[table]} = any($1)`,
      [oldest],
    );
    const queue = queueOf(table);
    expect(idsOf(await queue.claim(2))).toEqual(oldest);
    expect(await queue.claim(2)).toHaveLength(2);
    expect(await queue.claim(2)).toHaveLength(1);
  });

  it('never gives one row to two workers that claim at the same time', async () => {
    for (let made = 0; made < 5; made++) await fill[table](await createAccount(), 20);
    const queues = Array.from({ length: 6 }, () => queueOf(table));
    const claimed: Lease[] = [];
    await Promise.all(
      queues.map(async (queue) => {
        for (;;) {
          const leases = await queue.claim(5);
          if (leases.length === 0) return;
          claimed.push(...leases);
        }
      }),
    );
    // A claim skips rows that another worker has locked, so a second claim gets the skipped rows.
    const rest = await queueOf(table).claim(100);
    const all = idsOf([...claimed, ...rest]);
    expect(all).toHaveLength(100);
    expect(new Set(all).size).toBe(100);
    expect(all).toEqual((await entries(table)).map(({ id }) => id));
  });

  it('extends only the leases that are still held, and returns them', async () => {
    await fill[table](await createAccount(), 2);
    const queue = queueOf(table);
    const [kept, lost] = (await queue.claim(2)) as [Lease, Lease];
    await owner.query(`update ${table} set due_at = now() + interval '1 second'`);
    await owner.query(`update ${table} set lease_token = $1 where ${KEYS[table]} = $2`, [uuidv7(), lost.id]);
    expect(await queue.extend([kept, lost])).toEqual(new Set([kept.token + kept.id]));
    const rows = await entries(table);
    expect(rows.find(({ id }) => id === kept.id)!.due_in).toBeGreaterThan(LEASE_SECONDS / 2);
    expect(rows.find(({ id }) => id === lost.id)!.due_in).toBeLessThan(2);
  });

  it('leases a row again when its lease expired, and ignores the old token', async () => {
    await fill[table](await createAccount(), 1);
    const [first] = await queueOf(table).claim(1);
    await expire(table);
    const [second] = await queueOf(table).claim(1);
    expect(second).toMatchObject({ id: first!.id, attempts: 2 });
    expect(second!.token).not.toBe(first!.token);
    const before = await entries(table);
    expect(await queueOf(table).extend([first!])).toEqual(new Set());
    await queueOf(table).release([first!]);
    expect((await entries(table))[0]).toMatchObject({ lease_token: second!.token, attempts: 2 });
    expect((await entries(table))[0]!.due_in).toBeCloseTo(before[0]!.due_in!, -2);
  });

  it('makes released rows due at once, and counts the claim only if asked to', async () => {
    await fill[table](await createAccount(), 2);
    const queue = queueOf(table);
    const [given, kept] = (await queue.claim(2)) as [Lease, Lease];
    await queue.release([given]);
    const row = (await entries(table)).find(({ id }) => id === given.id)!;
    expect(row).toMatchObject({ lease_token: null, attempts: 0 });
    expect(row.due_in).toBeLessThanOrEqual(0);
    const again = await queue.claim(10);
    expect(again).toMatchObject([{ id: given.id, attempts: 1 }]);
    expect(again[0]!.token).not.toBe(given.token);
    await queue.release(again, 0, true);
    expect(await queue.claim(10)).toMatchObject([{ id: given.id, attempts: 2 }]);
    expect(await queue.extend([kept])).toEqual(new Set([kept.token + kept.id]));
    await queue.release([]);
  });

  it('makes rows due at the requested time when they are released for later', async () => {
    await fill[table](await createAccount(), 1);
    const queue = queueOf(table);
    await queue.release(await queue.claim(1), 60);
    const [row] = await entries(table);
    expect(row).toMatchObject({ lease_token: null, attempts: 0 });
    expect(row!.due_in).toBeGreaterThan(50);
    expect(await queue.claim(1)).toEqual([]);
  });

  it('claims rows of every account with due rows in one round, even when one account has 1,000 due rows', async () => {
    const crowd = await createAccount();
    await fill[table](crowd, 1000);
    const small: string[] = [];
    for (let made = 0; made < 7; made++) {
      const account = await createAccount();
      await fill[table](account, 1);
      small.push(account.accountId);
    }
    if (table === 'deliveries') await owner.query('update jobs set due_at = null');
    const queue = queueOf(table);
    // With eight accounts and eight claims per visit, every account is served within one round, whichever
    // account is first.
    const round: Lease[] = [];
    for (let turn = 0; turn < 8; turn++) round.push(...(await queue.claim(8)));
    const served = new Set(round.map(({ account }) => account.accountId));
    expect(small.filter((accountId) => !served.has(accountId))).toEqual([]);
    expect(round.filter(({ account }) => account.accountId === crowd.accountId).length).toBeGreaterThan(0);
    // No other account has due rows any more, so all claims are of rows of this account.
    expect(await queue.claim(8)).toHaveLength(8);
  });

  it('skips accounts whose rows are leased or scheduled for later', async () => {
    const busy = await createAccount();
    await fill[table](busy, 3);
    await queueOf(table).claim(3);
    const free = await createAccount();
    await fill[table](free, 1);
    expect((await queueOf(table).claim(10)).map(({ account }) => account)).toEqual([free]);
  });
});

it('insertJobs publishes a job as changed when its insert succeeds, but not when its uid already exists', async () => {
  const jobs = newJobs(await createAccount(), 2);
  const published: unknown[] = [];
  const unsubscribe = test.database.onChanges((changes) => published.push(...changes.map(({ job }) => job)));
  for (const made of [jobs.slice(0, 1), jobs]) {
    await test.database.transaction((transaction) => insertJobs(transaction, made, 0, undefined));
  }
  unsubscribe();
  expect(published).toEqual(jobs.map(({ jobId }) => jobId));
});

describe.each(TABLES)('the weight limit of claims of %s', (table) => {
  /** Gives the rows these weights, in the order in which the rows were created and become due. */
  async function weigh(...weights: number[]): Promise<string[]> {
    const ids = (await entries(table)).map(({ id }) => id);
    for (const [index, weight] of weights.entries()) {
      await owner.query(
        `update ${table} set due_at = now() - make_interval(secs => $3),
                ${table === 'jobs' ? 'characters = $2' : `body = convert_to(repeat('x', $2), 'UTF8')`}
          where ${KEYS[table]} = $1`,
        [ids[index], weight, 1000 - index],
      );
    }
    return ids;
  }
  const room = (weight: number, empty = false, share = 100) => ({ weight, empty, shareOf: () => share });

  it('is respected: rows that exceed it are neither claimed nor counted', async () => {
    await fill[table](await createAccount(), 4);
    const ids = await weigh(30, 40, 50, 1);
    const queue = queueOf(table);
    const leases = await queue.claim(10, room(100));
    expect(leases.map(({ id, weight }) => [id, weight])).toEqual([
      [ids[0], 30],
      [ids[1], 40],
    ]);
    const left = (await entries(table)).filter(({ id }) => id === ids[2] || id === ids[3]);
    expect(left).toMatchObject([
      { attempts: 0, lease_token: null },
      { attempts: 0, lease_token: null },
    ]);
    // The first of the remaining rows exceeds the free capacity. Until it is claimed, no other row is
    // claimed.
    expect(await queue.claim(10, room(30))).toEqual([]);
    expect(idsOf(await queue.claim(10, room(51)))).toEqual(ids.slice(2).sort());
  });

  it('is exceeded only by a single row, when the worker holds no other row', async () => {
    await fill[table](await createAccount(), 2);
    const ids = await weigh(500, 1);
    const queue = queueOf(table);
    expect(await queue.claim(10, room(100, false))).toEqual([]);
    expect(idsOf(await queue.claim(10, room(100, true)))).toEqual([ids[0]]);
  });

  it('claims no rows of other accounts while a heavy row waits for enough free capacity', async () => {
    await fill[table](await createAccount(), 1);
    await weigh(90);
    const [heavy] = await entries(table);
    for (let made = 0; made < 3; made++) await fill[table](await createAccount(), 8);
    if (table === 'deliveries') await owner.query('update jobs set due_at = null');
    const queue = queueOf(table);
    const claimed: string[] = [];
    for (let turn = 0; turn < 8; turn++) claimed.push(...idsOf(await queue.claim(8, room(89))));
    expect(claimed).not.toContain(heavy!.id);
    expect(await queue.claim(8, room(89))).toEqual([]);
    expect((await queue.claim(8, room(90)))[0]!.id).toBe(heavy!.id);
  });

  it('limits one account to its share, unless no other account has due rows', async () => {
    const one = await createAccount();
    await fill[table](one, 4);
    expect(await queueOf(table).claim(2, room(1000, true, 0))).toHaveLength(2);
    await fill[table](await createAccount(), 4);
    if (table === 'deliveries') await owner.query('update jobs set due_at = null');
    const shareOf = ({ accountId }: AccountRef) => (accountId === one.accountId ? 0 : 3);
    const leases = await queueOf(table).claim(10, { ...room(1000), shareOf });
    expect(leases).toHaveLength(3);
    expect(leases.every(({ account }) => account.accountId !== one.accountId)).toBe(true);
  });
});

describe('a failing claim', () => {
  /** Makes every update of a job of this account fail until the returned function is called. */
  async function refuse(account: AccountRef): Promise<() => Promise<unknown>> {
    await owner.query(
      `alter table jobs add constraint refused check (account_id <> '${account.accountId}') not valid`,
    );
    return () => owner.query('alter table jobs drop constraint refused');
  }

  it('of one account is logged, and rows of the other accounts are still claimed', async () => {
    const accounts: AccountRef[] = [];
    for (let made = 0; made < 3; made++) accounts.push(await createAccount());
    for (const account of accounts) await createJobs(account, 2);
    for (const broken of accounts) {
      const mend = await refuse(broken);
      lines.length = 0;
      const queue = queueOf('jobs');
      const leases = await queue.claim(10);
      expect(leases).toHaveLength(4);
      expect(leases.some(({ account }) => account.accountId === broken.accountId)).toBe(false);
      expect(lines.map((line) => JSON.parse(line))).toMatchObject([
        { level: 'warn', account: broken.accountId, msg: 'could not claim work of an account' },
      ]);
      await mend();
      await queue.release(leases);
    }
  });

  it('makes `claim` reject when no other row was claimed', async () => {
    const account = await createAccount();
    await createJobs(account, 1);
    const mend = await refuse(account);
    await expect(queueOf('jobs').claim(10)).rejects.toThrow(/refused/);
    await mend();
    expect(await queueOf('jobs').claim(10)).toHaveLength(1);
  });
});

describe('the fairness of claims', () => {
  it('serves each of 70 accounts once before any account is served twice', async () => {
    const made: string[] = [];
    for (let count = 0; count < 70; count++) {
      const account = await createAccount();
      await createJobs(account, 9);
      made.push(account.accountId);
    }
    const queue = queueOf('jobs');
    const turns = new Map<string, number>();
    while (turns.size < made.length) {
      const leases = await queue.claim(8);
      const [visited] = new Set(leases.map(({ account }) => account.accountId));
      turns.set(visited!, (turns.get(visited!) ?? 0) + 1);
      expect(leases.length).toBeGreaterThan(0);
    }
    expect([...turns.values()].every((count) => count === 1)).toBe(true);
  });
});

describe('a lost lease', () => {
  const OUTCOMES: JobOutcome[] = [
    { kind: 'completed', result: 'CASA.' },
    { kind: 'held', result: 'CASA.' },
    {
      kind: 'drafted',
      segments: [{ segmentId: '1', source: [], draft: [], route: 'x', notes: [], failure: undefined }],
    },
    { kind: 'failed', reason: 'no reason' },
  ];

  /** Returns the contents of every table that storing an outcome could change, as one text. */
  async function everything(): Promise<string> {
    const tables = [
      'jobs',
      'job_texts',
      'segments',
      'job_events',
      'transfers',
      'balances',
      'deliveries',
      'attempts',
    ];
    const rows: unknown[] = [];
    for (const name of tables) {
      rows.push((await owner.query(`select t::text as row from ${name} t order by 1`)).rows);
    }
    return JSON.stringify(rows);
  }

  it.each(OUTCOMES)('prevents storing any outcome when the lease has expired: $kind', async (outcome) => {
    await createJobs(await createAccount(), 1);
    const [stale] = await queueOf('jobs').claim(1);
    const job = (await open(stale!))!;
    await expire('jobs');
    await queueOf('jobs').claim(1);
    const before = await everything();
    expect(await settle({ lease: stale!, job, outcome })).toBe(false);
    expect(await open(stale!)).toBeUndefined();
    const published: unknown[] = [];
    const unsubscribe = test.database.onChanges((changes) => published.push(...changes));
    await queueOf('jobs').release([stale!], 5, true);
    unsubscribe();
    expect(published).toEqual([]);
    expect(await everything()).toBe(before);
  });

  it.each(OUTCOMES)(
    'prevents storing any outcome after another worker has stored one: $kind',
    async (outcome) => {
      await createJobs(await createAccount(), 1);
      const [stale] = await queueOf('jobs').claim(1);
      const job = (await open(stale!))!;
      await expire('jobs');
      const [held] = await queueOf('jobs').claim(1);
      expect(
        await settle({
          lease: held!,
          job,
          outcome: { kind: 'completed', result: 'CASA.' },
        }),
      ).toBe(true);
      const before = await everything();
      expect(await settle({ lease: stale!, job, outcome })).toBe(false);
      expect(await settle({ lease: held!, job, outcome })).toBe(false);
      expect(await everything()).toBe(before);
      await expectSoundLedger(test.database);
    },
  );

  it('lets only one of two outcomes that are stored at once succeed, and captures or releases the hold once', async () => {
    await createJobs(await createAccount(), 1);
    const [lease] = await queueOf('jobs').claim(1);
    const job = (await open(lease!))!;
    const settled = await Promise.all(
      Array.from({ length: 8 }, (_, index) =>
        settle({
          lease: lease!,
          job,
          outcome: index % 2 === 0 ? { kind: 'completed', result: 'CASA.' } : { kind: 'failed', reason: 'x' },
        }),
      ),
    );
    expect(settled.filter(Boolean)).toHaveLength(1);
    await expectSoundLedger(test.database);
    expect((await owner.query('select from deliveries')).rowCount).toBe(1);
    expect((await owner.query('select from job_events')).rowCount).toBe(1);
  });

  it('of a delivery allows no change of status, but records the end of the attempt', async () => {
    const account = await createAccount();
    await createDeliveries(account, 1);
    const attempts = async () =>
      (await listAttempts(test.database, { account, deliveryId: stale!.id })).map(
        ({ attempt, outcome, status_code }) => {
          return { attempt, outcome, status_code };
        },
      );
    const open = (attempt: number) => ({ attempt, outcome: null, status_code: null });
    const [stale] = await queueOf('deliveries').claim(1);
    expect(stale).toMatchObject({ delivery: { url: 'http://127.0.0.1:9/' } });
    expect(await attempts()).toEqual([open(1)]);
    await expire('deliveries');
    const [held] = await queueOf('deliveries').claim(1);
    expect(await attempts()).toEqual([open(2), open(1)]);
    const before = await entries('deliveries');
    const result = {
      attempt: 1,
      outcome: 'answered',
      statusCode: 200,
      milliseconds: 5,
      detail: undefined,
      headers: {},
      answer: '',
      answerComplete: true,
    };
    const answered = {
      lease: { ...stale!, host: '127.0.0.1:9' },
      result,
      decision: { status: 'delivered' },
    } as const;
    const signal = { host: '127.0.0.1:9', signal: 'alive' as const, probe: false, breakerSeconds: [30] };
    expect(await finishAttempt(test.database, { ...answered, signal })).toEqual({
      changed: undefined,
      opened: false,
    });
    expect(await test.database.transaction((transaction) => finishAnswered(transaction, [answered]))).toEqual(
      [undefined],
    );
    expect(await entries('deliveries')).toMatchObject([
      { lease_token: held!.token, attempts: 2, id: before[0]!.id },
    ]);
    const answer = { attempt: 1, outcome: 'answered', status_code: 200 };
    expect(await attempts()).toEqual([open(2), answer]);
    await queueOf('deliveries').release([held!], 0, true);
    expect(await attempts()).toEqual([open(2), answer]);
    await queueOf('deliveries').claim(1);
    expect(await attempts()).toEqual([open(3), open(2), answer]);
  });
});

describe('a worker that stops during a delivery', () => {
  let receiver: Server;
  afterAll(() => {
    receiver?.closeAllConnections();
    receiver?.close();
  });

  it('releases the delivery, so that the next worker sends it at once', async () => {
    const asked: ServerResponse[] = [];
    let answers = false;
    receiver = createServer((request, response) => {
      request.resume();
      asked.push(response);
      if (answers) response.end();
    });
    await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
    // The lease lasts an hour. If the next worker had to wait until it expires, the test would not finish.
    const server = await startTestServer({ settings: { DRAGOMAN_LEASE: '3600' } });
    const { production_key } = await server.createAccount();
    const call = createClient(server.url, production_key);
    const callback_url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`;
    const body = { text: 'House.', source_language: 'en', target_language: 'es', callback_url };
    expect((await call('POST', '/tapi/v2/mt_translation/', body)).status).toBe(201);
    await until(() => asked.length === 1);
    await server.server.stop(0);
    answers = true;
    await server.restart();
    await until(async () => {
      const client = createConnection(server.connection);
      await client.connect();
      const { rowCount } = await client.query(`select from deliveries where status = 'delivered'`);
      await client.end();
      return rowCount === 1;
    });
    expect(asked).toHaveLength(2);
    await server.stop();
  });
});

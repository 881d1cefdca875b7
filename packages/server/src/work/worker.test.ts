/** Tests of the worker loop with the real queue. Each test decides when the processing of a row ends. */
import type pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { AccountRef } from '../base/account.ts';
import { partOf, uuidv7 } from '../base/ids.ts';
import { createLog } from '../base/log.ts';
import { createConnection } from '../database/connections.ts';
import { insertJobs } from '../jobs/insert-store.ts';
import { createTestDatabase, type TestDatabase, until } from '../testing/harness.ts';
import { newJobs } from '../testing/jobs.ts';
import { createLeaseQueue, type Lease } from './queue.ts';
import { type LeaseWorker, startLeaseWorker } from './worker.ts';

let test: TestDatabase;
let owner: pg.Client;
let loops: LeaseWorker<Lease, true>[] = [];
let lines: string[] = [];

beforeAll(async () => {
  test = await createTestDatabase();
  owner = await test.connectOwner();
});
beforeEach(async () => {
  lines = [];
  await owner.query('truncate jobs cascade');
});
afterEach(async () => {
  await Promise.all(loops.map((loop) => loop.stop(0)));
  loops = [];
});
afterAll(() => test.drop());

interface InHand {
  lease: Lease;
  lost: AbortSignal;
  /** Completes the processing and clears the row's lease. */
  finish(): Promise<void>;
  fail(error: Error): void;
}

/** Starts a worker whose rows stay in progress until the test finishes them. */
function start(
  options: {
    capacity?: number;
    maxWeight?: number;
    leaseSeconds?: number;
    pollMilliseconds?: number;
    restMilliseconds?: number;
  } = {},
) {
  const inHand = new Map<string, InHand>();
  let most = 0;
  const log = createLog('warn', { write: (line) => lines.push(line) });
  const loop = startLeaseWorker<Lease, true, never>({
    name: 'test',
    queue: createLeaseQueue(test.database, 'jobs', options.leaseSeconds ?? 3600, log),
    capacity: options.capacity ?? 8,
    maxWeight: options.maxWeight ?? 1_000_000,
    pollMilliseconds: options.pollMilliseconds ?? 3_600_000,
    restMilliseconds: options.restMilliseconds ?? 0,
    log,
    open: async () => true,
    async decide(lease, _, lost) {
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      inHand.set(lease.id, {
        lease,
        lost,
        async finish() {
          await owner.query(
            'update jobs set due_at = null, lease_token = null where lease_token = $1 and job_id = $2',
            [lease.token, lease.id],
          );
          inHand.delete(lease.id);
          resolve();
        },
        fail(error) {
          inHand.delete(lease.id);
          reject(error);
        },
      });
      most = Math.max(most, inHand.size);
      await promise;
      return undefined;
    },
    async settle() {},
  });
  loops.push(loop);
  return { loop, inHand, most: () => most, one: () => [...inHand.values()][0]! };
}

/** Creates due jobs of a new account. Each text has `characters` characters. */
async function createJobs(count: number, characters = 6): Promise<string[]> {
  const accountId = uuidv7();
  const account = { part: partOf(accountId), accountId } as AccountRef;
  const jobs = newJobs(account, count, { text: 'x'.repeat(characters) });
  await test.database.transaction((transaction) => insertJobs(transaction, jobs, 0, undefined));
  return jobs.map(({ jobId }) => jobId);
}

async function leased(): Promise<number> {
  return (await owner.query('select from jobs where lease_token is not null')).rowCount!;
}
async function due(): Promise<number> {
  return (await owner.query('select from jobs where lease_token is null and due_at <= now()')).rowCount!;
}

describe('the worker loop', () => {
  it('pauses between polls while it holds rows, and polls at once when it holds no rows', async () => {
    await createJobs(2);
    const { inHand } = start({ capacity: 2, restMilliseconds: 3_600_000 });
    await until(() => inHand.size === 2);
    const [first, second] = [...inHand.values()];
    const [later] = await createJobs(1);
    await first!.finish();
    // A row is due, and the worker could hold it. But the worker still holds another row, so it does not poll before
    // `restMilliseconds` have passed.
    for (let times = 0; times < 20; times++) expect(await due()).toBe(1);
    await second!.finish();
    await until(() => inHand.has(later!));
  });

  it('claims again when a held row has freed a place, before the held row ends', async () => {
    const row = (id: string) => ({ account: {} as AccountRef, id, token: id, attempts: 1, weight: 1 });
    const waiting = [row('first')];
    const held: string[] = [];
    const loop = startLeaseWorker<Lease, true, never>({
      name: 'test',
      queue: {
        leaseSeconds: 3600,
        claim: async () => waiting.splice(0),
        extend: async () => new Set(),
        release: async () => {},
        adjustAttempts: async () => {},
      },
      capacity: 8,
      maxWeight: 1_000,
      pollMilliseconds: 3_600_000,
      log: createLog('silent'),
      open: async () => true,
      decide: ({ id }) => {
        held.push(id);
        return new Promise(() => {});
      },
      settle: async () => {},
    });
    await until(() => held.length === 1);
    waiting.push(row('second'));
    loop.placeFreed();
    await until(() => held.length === 2);
    await loop.stop(0);
  });

  it('processes all due rows, and never holds more than its capacity', async () => {
    await createJobs(50);
    const { loop, inHand, most } = start({ capacity: 8 });
    let finished = 0;
    while (finished < 50) {
      const one = await until(() => [...inHand.values()][0]);
      expect(loop.heldCount).toBeLessThanOrEqual(8);
      await one.finish();
      finished++;
    }
    expect(most()).toBe(8);
    await until(() => loop.heldCount === 0);
    expect(await due()).toBe(0);
  });

  it('leaves rows above its capacity in the queue', async () => {
    await createJobs(10);
    const { loop } = start({ capacity: 4 });
    await until(() => loop.heldCount === 4);
    loop.wake();
    loop.wake();
    expect([await leased(), await due()]).toEqual([4, 6]);
    expect(loop.heldCount).toBe(4);
  });

  it('processes one row at a time with a capacity of one', async () => {
    await createJobs(3);
    const { inHand, most } = start({ capacity: 1 });
    for (let finished = 0; finished < 3; finished++)
      await (await until(() => [...inHand.values()][0])).finish();
    expect(most()).toBe(1);
  });

  it('never holds more weight than its limit, and still processes every row', async () => {
    await createJobs(6, 40);
    await createJobs(12, 5);
    const { loop, inHand } = start({ maxWeight: 100 });
    for (let finished = 0; finished < 18; finished++) {
      const one = await until(() => [...inHand.values()][0]);
      const weights = [...inHand.values()].map(({ lease }) => lease.weight);
      expect(weights.reduce((sum, weight) => sum + weight)).toBeLessThanOrEqual(100);
      await one.finish();
    }
    await until(() => loop.heldCount === 0);
    expect([await leased(), await due()]).toEqual([0, 0]);
  });

  it('processes no other rows together with a row that is heavier than the weight limit', async () => {
    await createJobs(1, 101);
    await createJobs(1, 500);
    await createJobs(1, 5);
    const { loop, inHand, most } = start({ maxWeight: 100 });
    const worked: number[] = [];
    for (let finished = 0; finished < 3; finished++) {
      const one = await until(() => [...inHand.values()][0]);
      worked.push(one.lease.weight);
      await one.finish();
      await until(() => loop.heldCount <= 1);
    }
    expect(worked.sort((a, b) => a - b)).toEqual([5, 101, 500]);
    expect(most()).toBe(1);
  });

  it('gives one account half of the capacity while another account has due rows, and the whole capacity otherwise', async () => {
    const crowd = new Set(await createJobs(100));
    const { inHand, loop } = start({ capacity: 16 });
    await until(() => loop.heldCount === 16);
    await createJobs(100);
    const ofCrowd = () => [...inHand.values()].filter(({ lease }) => crowd.has(lease.id));
    for (const one of ofCrowd().slice(8)) await one.finish();
    // The worker claims when a quarter of its capacity is free, so it may hold up to three rows less than its
    // capacity.
    await until(() => inHand.size > 12);
    expect(ofCrowd()).toHaveLength(8);
  });

  it('has reserved places for accounts that hold few rows, even when its capacity is used up', async () => {
    await createJobs(100);
    const { loop, inHand } = start({ capacity: 16 });
    await until(() => loop.heldCount === 16);
    const [crowd] = [...inHand.values()].map(({ lease }) => lease.account);
    const other = { part: 1, accountId: uuidv7() } as AccountRef;
    expect(loop.capacityFor(crowd!).pieces).toBe(0);
    expect([loop.isAlone(crowd!), loop.isAlone(other)]).toEqual([true, false]);
    // Two places, an eighth of the capacity, are reserved for all accounts with few rows together.
    for (const left of [2, 1, 0]) {
      expect(loop.capacityFor(other).pieces).toBe(left);
      const lease = { account: other, id: uuidv7(), token: uuidv7(), attempts: 1, weight: 1 };
      if (left > 0) loop.adopt(lease, true);
    }
    expect(loop.isAlone(crowd!)).toBe(false);
    // A quarter of the capacity is free, so the worker claims queued rows, although reserved places are in use.
    const crowded = [...inHand.values()].filter(({ lease }) => lease.account.accountId === crowd!.accountId);
    await Promise.all(crowded.slice(0, 4).map((one) => one.finish()));
    await until(() => loop.heldCount === 18);
    await loop.stop(0);
    expect(loop.capacityFor(other).pieces).toBe(0);
  });

  it('claims due rows when it is woken, and otherwise at its next poll', async () => {
    const woken = start();
    await createJobs(1);
    await until(() => {
      woken.loop.wake();
      return woken.inHand.size === 1;
    });
    await woken.one().finish();
    await woken.loop.stop(0);
    const polling = start({ pollMilliseconds: 5 });
    await createJobs(1);
    await until(() => polling.inHand.size === 1);
    await polling.one().finish();
  });

  it('extends the leases of the rows that it holds', async () => {
    await createJobs(2);
    const { inHand } = start({ leaseSeconds: 1 });
    await until(() => inHand.size === 2);
    const ends = async () => (await owner.query('select due_at from jobs order by due_at')).rows[0].due_at;
    const first = await ends();
    // A single heartbeat extends the lease by less than a second.
    await until(async () => (await ends()).getTime() > first.getTime() + 1000);
    for (const { lost } of inHand.values()) expect(lost.aborted).toBe(false);
  });

  it('aborts only the processing of the row whose lease was lost', async () => {
    await createJobs(2);
    const { inHand } = start({ leaseSeconds: 1 });
    await until(() => inHand.size === 2);
    const [stolen, kept] = [...inHand.values()] as [InHand, InHand];
    await owner.query('update jobs set lease_token = $1 where job_id = $2', [uuidv7(), stolen.lease.id]);
    await until(() => stolen.lost.aborted);
    expect(kept.lost.aborted).toBe(false);
  });

  it('logs a processing error by its name, without its message, and continues', async () => {
    const [id] = await createJobs(1);
    const { loop, inHand, one } = start();
    await until(() => inHand.size === 1);
    one().fail(new TypeError('canary text'));
    await until(() => lines.length > 0);
    expect(JSON.parse(lines[0]!)).toMatchObject({
      level: 'error',
      name: 'test',
      job: id,
      error: 'TypeError',
      msg: 'work was interrupted',
    });
    expect(lines.join()).not.toContain('canary');
    await createJobs(1);
    loop.wake();
    await until(() => inHand.size === 1);
    // The row that failed keeps its lease until the lease expires, because its processing may be half done.
    expect(await leased()).toBe(2);
  });

  it('logs nothing when the processing of a row fails after its lease was lost', async () => {
    await createJobs(1);
    const { loop, inHand, one } = start({ leaseSeconds: 1 });
    await until(() => inHand.size === 1);
    await owner.query('update jobs set lease_token = $1', [uuidv7()]);
    const { lost, fail } = one();
    await until(() => lost.aborted);
    fail(new Error('aborted'));
    await until(() => loop.heldCount === 0);
    expect(lines).toEqual([]);
  });

  it('logs a failed claim and polls again', async () => {
    const { inHand } = start({ pollMilliseconds: 5 });
    await owner.query('revoke update on jobs from dragoman_app');
    await createJobs(1);
    await until(() => lines.some((line) => line.includes('could not claim work')));
    await owner.query('grant update on jobs to dragoman_app');
    await until(() => inHand.size === 1);
  });
});

describe('LeaseWorker.stop', () => {
  it('stops claiming, and waits for the held rows', async () => {
    await createJobs(3);
    const { loop, inHand } = start({ capacity: 2 });
    await until(() => inHand.size === 2);
    let stopped = false;
    const stopping = loop.stop(3_600_000).then(() => {
      stopped = true;
    });
    const [first, second] = [...inHand.values()] as [InHand, InHand];
    await first.finish();
    loop.wake();
    await until(() => loop.heldCount === 1);
    expect(stopped).toBe(false);
    expect(second.lost.aborted).toBe(false);
    await second.finish();
    await stopping;
    expect([await leased(), await due()]).toEqual([0, 1]);
    expect(inHand.size).toBe(0);
  });

  it('extends leases while it waits', async () => {
    await createJobs(1);
    const { loop, inHand, one } = start({ leaseSeconds: 1 });
    await until(() => inHand.size === 1);
    const stopping = loop.stop(3_600_000);
    const ends = async () => (await owner.query('select due_at from jobs')).rows[0].due_at.getTime();
    const first = await ends();
    await until(async () => (await ends()) > first + 1000);
    expect(one().lost.aborted).toBe(false);
    await one().finish();
    await stopping;
  });

  it('aborts and releases the rows that remain after the grace period', async () => {
    await createJobs(3);
    const { loop, inHand } = start();
    await until(() => inHand.size === 3);
    await [...inHand.values()][0]!.finish();
    await loop.stop(20);
    for (const { lost } of inHand.values()) expect(lost.aborted).toBe(true);
    const { rows } = await owner.query(
      'select attempts from jobs where lease_token is null and due_at <= now()',
    );
    expect(rows).toEqual([{ attempts: 0 }, { attempts: 0 }]);
    const other = start();
    await until(() => other.inHand.size === 2);
  });

  it('releases no row whose lease another worker has taken', async () => {
    await createJobs(1);
    const { loop, inHand } = start();
    await until(() => inHand.size === 1);
    const thief = uuidv7();
    await owner.query('update jobs set lease_token = $1', [thief]);
    await loop.stop(0);
    expect((await owner.query('select lease_token, attempts from jobs')).rows).toEqual([
      { lease_token: thief, attempts: 1 },
    ]);
  });

  it('starts no processing when a claim returns after the stop', async () => {
    await createJobs(1);
    const blocker = createConnection(test.connection);
    await blocker.connect();
    await blocker.query('begin');
    // The lock allows reads, but a claim has to wait for the lock.
    await blocker.query('lock table jobs in exclusive mode');
    const { loop, inHand } = start();
    await until(async () => {
      const sql = `select from pg_locks l join pg_stat_activity a using (pid)
        where not l.granted and a.datname = current_database() and a.query like '%update jobs set due_at%'`;
      return (await owner.query(sql)).rowCount === 1;
    });
    const stopping = loop.stop(3_600_000);
    await blocker.query('commit');
    await blocker.end();
    await stopping;
    expect(loop.heldCount).toBe(0);
    expect(inHand.size).toBe(0);
    // The row was released, so another worker can claim it at once.
    expect([await leased(), await due()]).toEqual([0, 1]);
  });

  it('resolves and logs a warning when the database cannot release the leases', async () => {
    await createJobs(1);
    const { loop, inHand } = start();
    await until(() => inHand.size === 1);
    await owner.query('revoke update on jobs from dragoman_app');
    await loop.stop(0);
    await owner.query('grant update on jobs to dragoman_app');
    expect(lines.some((line) => line.includes('could not release leases'))).toBe(true);
    expect(await leased()).toBe(1);
  });

  it('resolves at once when the worker holds no rows, and may be called twice', async () => {
    const { loop } = start();
    await loop.stop(3_600_000);
    await loop.stop(3_600_000);
    loop.wake();
    await createJobs(1);
    expect(loop.heldCount).toBe(0);
  });
});

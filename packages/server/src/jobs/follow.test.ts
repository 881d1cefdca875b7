/** Tests of reading job lists with `after` while other clients create jobs, and of order numbers. */
import type pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { AccountCredentials } from '../accounts/accounts.ts';
import { createClient, startTestServer, type TestServer, until } from '../testing/harness.ts';
import { deleteStaleCreations } from './order-numbers.ts';

const HUMAN = '/tapi/v2/translation/';
const MACHINE = '/tapi/v2/mt_translation/';

let server: TestServer;
let owner: pg.Client;
/**
 * A second connection that reads pg_stat_activity, because a transaction sees only its first snapshot of it.
 */
let watcher: pg.Client;
let account: AccountCredentials;
let call: ReturnType<typeof createClient>;

beforeAll(async () => {
  server = await startTestServer();
  owner = await server.connectOwner();
  watcher = await server.connectOwner();
});
beforeEach(async () => {
  account = await server.createAccount({ balanceCents: 100_000 });
  call = createClient(server.url, account.production_key);
});
afterAll(() => server.stop());

const job = (fields: object = {}) => ({
  text: 'A house.',
  source_language: 'en',
  target_language: 'es',
  ...fields,
});
const create = async (uid?: string, path = MACHINE) => {
  const { status, body } = await call('POST', path, job({ uid }));
  expect(status).toBe(201);
  return body;
};
const list = async (query: string, path = MACHINE): Promise<string[]> =>
  (await call('GET', `${path}?limit=1000&${query}`)).body.objects.map(({ uid }: { uid: string }) => uid);

/** Returns a function that polls the list from the last job seen, as docs/jobs.md describes. */
function follow(path = MACHINE) {
  const seen: string[] = [];
  return {
    seen,
    async poll() {
      seen.push(...(await list(`after=${seen.at(-1) ?? ''}`, path)));
      return seen;
    },
  };
}

/** Blocks the creation of the job with a uid until release() is called, to simulate a slow insert. */
async function holdUp(uid: string): Promise<{ release(): Promise<void> }> {
  await owner.query('begin');
  await owner.query(
    `insert into jobs select (jsonb_populate_record(j, jsonb_build_object('uid', $1::text, 'job_id',
       gen_random_uuid()))).* from jobs j join accounts a using (part, account_id)
      where a.username = $2 and j.environment = 'production' limit 1`,
    [uid, account.username],
  );
  return { release: async () => void (await owner.query('rollback')) };
}
const isHeldUp = async () => {
  const { rowCount } = await watcher.query(
    `select from pg_stat_activity where datname = current_database() and wait_event = 'transactionid'
        and query like 'with given as (%'`,
  );
  return rowCount! > 0;
};

describe('a job list read with `after`', () => {
  it('shows a job exactly once, in the order of creation, when its insert commits after the inserts of later jobs', async () => {
    await create('first');
    const follower = follow();
    expect(await follower.poll()).toEqual(['first']);
    const held = await holdUp('slow');
    const slow = create('slow');
    await until(isHeldUp);
    await create('quick');
    // The list without `after` shows acknowledged jobs at once.
    expect(await list('order_by=created')).toEqual(['first', 'quick']);
    expect(await list('order_by=-created&after=')).toEqual(['quick', 'first']);
    await follower.poll();
    await held.release();
    await slow;
    expect(await follower.poll()).toEqual(['first', 'slow', 'quick']);
    expect(await follower.poll()).toEqual(['first', 'slow', 'quick']);
    expect(await list('order_by=created')).toEqual(['first', 'slow', 'quick']);
  });

  it('shows a job at once when no earlier request of the account is still creating jobs', async () => {
    await create('mine');
    const held = await holdUp('slow');
    const slow = create('slow');
    await until(isHeldUp);
    const other = await server.createAccount();
    const theirs = createClient(server.url, other.production_key);
    await theirs('POST', MACHINE, job({ uid: 'theirs' }));
    const { body } = await theirs('GET', `${MACHINE}?after=`);
    expect(body.objects.map(({ uid }: { uid: string }) => uid)).toEqual(['theirs']);
    await held.release();
    await slow;
  });

  it('keeps the order of creation when the clock steps back', async () => {
    await create('before');
    const hour = `update job_numbers set last_milliseconds = last_milliseconds + 3600000
                   where account_id = (select account_id from accounts where username = $1)`;
    await owner.query(hour, [account.username]);
    await create('ahead');
    await create('after');
    const follower = follow();
    expect(await follower.poll()).toEqual(['before', 'ahead', 'after']);
    await create('last');
    expect(await follower.poll()).toEqual(['before', 'ahead', 'after', 'last']);
  });

  it('shows every job while four clients create jobs, singly and in bulk', async () => {
    const follower = follow(HUMAN);
    const made: string[] = [];
    let creating = true;
    const long = 'A house. '.repeat(20_000);
    async function client(number: number) {
      for (let n = 0; n < 12; n++) {
        const uid = `c${number}-${n}`;
        if (number === 0) {
          const objects = [job({ uid, text: long }), job({ uid: `${uid}b` })];
          expect((await call('PATCH', HUMAN, { objects })).status).toBe(202);
          made.push(`${uid}b`);
        } else await create(uid, HUMAN);
        made.push(uid);
      }
    }
    await owner.query(
      `update balances set credit_limit_cents = null, available_cents = 1000000000
        where account_id = (select account_id from accounts where username = $1)`,
      [account.username],
    );
    const clients = Promise.all([0, 1, 2, 3].map(client)).finally(() => {
      creating = false;
    });
    while (creating) await follower.poll();
    await clients;
    await follower.poll();
    expect(follower.seen.toSorted()).toEqual(made.toSorted());
    expect(follower.seen).toEqual(await list('order_by=created', HUMAN));
  });

  it('shows no later job while a creation record of a dead process exists, until this record is deleted as stale', async () => {
    await create('before');
    await owner.query(
      `insert into creations (part, creation_id, accounts, from_milliseconds)
       select part, gen_random_uuid(), array[account_id], last_milliseconds + 1 from job_numbers
        where account_id = (select account_id from accounts where username = $1)`,
      [account.username],
    );
    await create('later');
    expect(await list('after=before')).toEqual([]);
    await deleteStaleCreations(server.database, { seconds: 60 });
    expect(await list('after=before')).toEqual([]);
    await owner.query(`update creations set begun_at = now() - interval '61 seconds'`);
    await deleteStaleCreations(server.database, { seconds: 60 });
    expect(await list('after=before')).toEqual(['later']);
  });

  it('shows no job whose creation record was deleted as stale; the request to create it gets 503', async () => {
    await create('first');
    const held = await holdUp('slow');
    const slow = call('POST', MACHINE, job({ uid: 'slow' }));
    await until(isHeldUp);
    await deleteStaleCreations(server.database, { seconds: -1 });
    await held.release();
    expect((await slow).status).toBe(503);
    expect(await list('after=')).toEqual(['first']);
    expect((await owner.query('select from creations')).rowCount).toBe(0);
  });

  it('does not end early because of creates that were repeated, refused or exceeded the balance', async () => {
    const key = { 'idempotency-key': 'again' };
    await call('POST', MACHINE, job(), key);
    expect((await call('POST', MACHINE, job(), key)).status).toBe(200);
    await create('taken', HUMAN);
    expect((await call('POST', HUMAN, job({ uid: 'taken', text: 'Another.' }))).status).toBe(400);
    const objects = [job({ uid: 'free' }), job({ uid: 'taken', text: 'Another.' })];
    expect((await call('PATCH', HUMAN, { objects })).status).toBe(400);
    const poor = await server.createAccount({ balanceCents: 1 });
    await owner.query('update balances set credit_limit_cents = 0 where available_cents = 1');
    const refused = await createClient(server.url, poor.production_key)('POST', HUMAN, job());
    expect(refused.status).toBe(402);
    expect((await owner.query('select from creations')).rowCount).toBe(0);
  });
});

describe('an order number', () => {
  const numbers = async (path: string): Promise<number[]> =>
    (await call('GET', path)).body.objects.map(({ order_number }: { order_number: number }) => order_number);

  it('follows the order of the request within a bulk', async () => {
    const objects = Array.from({ length: 40 }, (_, n) => job(n % 3 === 0 ? { uid: `z${90 - n}` } : {}));
    const { status, body } = await call('PATCH', HUMAN, { objects });
    expect(status).toBe(202);
    const given = body.objects.map(({ order_number }: { order_number: number }) => order_number);
    expect(given).toEqual(Array.from({ length: 40 }, (_, n) => given[0] + n));
    expect(await numbers(`${HUMAN}?limit=100`)).toEqual(given);
  });

  it('is counted separately for each account and environment', async () => {
    const other = createClient(server.url, (await server.createAccount()).sandbox_key);
    const own: number[] = [];
    for (const uid of ['one', 'two', 'three']) {
      own.push((await create(uid, HUMAN)).order_number);
      for (let n = 0; n < 3; n++) await other('POST', `/sandbox${HUMAN}`, job());
    }
    expect(own).toEqual([1, 2, 3]);
    const sandbox = createClient(`${server.url}/sandbox`, account.sandbox_key);
    expect((await sandbox('POST', HUMAN, job())).body.order_number).toBe(1);
  });
});

/**
 * Tests of locks that other transactions hold for too long: requests that need the row fail, every client is asked to
 * retry later, and creations of other accounts succeed.
 */
import { PassThrough } from 'node:stream';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { AccountCredentials } from '../accounts/accounts.ts';
import { createLog } from '../base/log.ts';
import {
  type Answer,
  createClient,
  startTestServer,
  type TestServer,
  until,
  waitForStatus,
} from '../testing/harness.ts';
import { createConnection } from './connections.ts';
import { CommitUnknown, type Database } from './database.ts';

const JOB = { text: 'The house is big.', source_language: 'en', target_language: 'es' };
const WORDS = 4;
const LOCKED = 'Other changes are using this data now; the request can be sent again.';
const UNKNOWN = 'The database does not answer now; the request can be sent again.';

/** How the transactions of batches are disturbed. Only those transactions have a lock limit of their own. */
interface Batches {
  /** While this is pending, batches wait before their transaction. */
  gate: Promise<void>;
  /** The lock limit of each transaction that has started. */
  limits: number[];
  /** The number of creations whose words were counted. A creation joins a batch right after that. */
  counted: number;
  /** Runs in place of the transaction of a batch. */
  instead?: (<T>(transaction: () => Promise<T>) => Promise<T>) | undefined;
}

let batches: Batches;
const undisturbed = (): Batches => ({ gate: Promise.resolve(), limits: [], counted: 0 });

function disturbed(database: Database): Database {
  return {
    ...database,
    limited: (milliseconds) => disturbed(database.limited(milliseconds)),
    async query(statement, values) {
      const rows = await database.query(statement, values);
      if (statement.name === 'sandbox.count_words') batches.counted++;
      return rows;
    },
    async transaction(work, lockMilliseconds) {
      const run = () => database.transaction(work, lockMilliseconds);
      if (lockMilliseconds === undefined) return run();
      batches.limits.push(lockMilliseconds);
      await batches.gate;
      return batches.instead === undefined ? run() : batches.instead(run);
    },
  };
}

let server: TestServer;
let holder: ReturnType<typeof createConnection>;
let logged = '';
beforeAll(async () => {
  const destination = new PassThrough().on('data', (line: Buffer) => {
    logged += line.toString();
  });
  batches = undisturbed();
  server = await startTestServer({ log: createLog('warn', destination) });
  server.store.database = disturbed(server.store.database);
  await server.restart();
  holder = createConnection(server.connection);
  await holder.connect();
});
beforeEach(() => {
  batches = undisturbed();
});
afterEach(() => holder.query('rollback'));
afterAll(async () => {
  await holder.end();
  await server.stop();
});

describe('a lock that another transaction holds', () => {
  it('makes only the requests that wait for it fail with 503 and Retry-After, until it is released', async () => {
    const account = await server.createAccount({ balanceCents: 1000 });
    const call = createClient(server.url, account.production_key);
    const path = '/tapi/v2/translation/locked/';
    await call('POST', '/tapi/v2/translation/', { ...JOB, uid: 'locked' });
    await waitForStatus(call, path, 'translating');
    await holder.query('begin');
    const { rows } = await holder.query("select part from jobs where uid = 'locked'");
    await holder.query("select from jobs where part = $1 and uid = 'locked' for update", [rows[0].part]);
    logged = '';
    const refused = await call('DELETE', path);
    expect([refused.status, refused.body]).toEqual([503, { error: LOCKED }]);
    expect(refused.headers.get('retry-after')).toBe('1');
    expect((await call('GET', path)).status).toBe(200);
    expect(logged).toContain('waited too long for a lock');
    expect(logged).not.toContain('database connection lost');
    await holder.query('rollback');
    expect((await call('DELETE', path)).status).toBe(200);
  });
});

/** A kind of creation in the sandbox, whose words are counted. */
interface Creation {
  create(by: ReturnType<typeof createClient>): Promise<Answer>;
  /** Locks a row that the creations of one account need. */
  lock: string;
  count: string;
}

let messages = 0;
const JOBS: Creation = {
  create: (by) => by('POST', '/tapi/v2/translation/', JOB),
  lock: `select from balances where part = $1 and account_id = $2 for update`,
  count: `select count(*)::int as made from jobs where account_id = $1`,
};
const MESSAGES: Creation = {
  create: (by) =>
    by('POST', '/v2/chats/messages', {
      ...JOB,
      chat_external_id: 'chat',
      external_id: `${++messages}`,
      text_format: 'text',
    }),
  lock: `select from chats where part = $1 and account_id = $2 for update`,
  count: `select count(*)::int as made from messages where account_id = $1`,
};
const COUNTERS = { ...JOBS, lock: 'select from job_numbers where part = $1 and account_id = $2 for update' };

/** An account that has already created one job or message, so that all of its rows exist. */
async function createCustomer({ create, count }: Creation) {
  const account: AccountCredentials = await server.createAccount({ chat: true, balanceCents: 1000 });
  const { rows } = await holder.query('select part, account_id from accounts where username = $1', [
    account.username,
  ]);
  const { part, account_id: id } = rows[0];
  const call = createClient(`${server.url}/sandbox`, account.sandbox_key);
  const customer = {
    /** The parameters of `lock`. */
    key: [part, id],
    create: () => create(call),
    made: async () => (await holder.query(count, [id])).rows[0].made,
    words: async () =>
      (await holder.query('select words::int from sandbox_words where account_id = $1', [id])).rows[0].words,
  };
  expect((await customer.create()).status).toBe(201);
  return customer;
}

/** Sends creations that share a batch: two batches of the first customer fill the slots until the gate opens. */
async function createTogether(creations: (() => Promise<Answer>)[]): Promise<Answer[]> {
  batches = undisturbed();
  let open = () => {};
  batches.gate = new Promise((resolve) => {
    open = resolve;
  });
  const first = [creations[0]!()];
  await until(() => batches.limits.length === 1);
  first.push(creations[0]!());
  await until(() => batches.limits.length === 2);
  const together = creations.map((create) => create());
  await until(() => batches.counted === first.length + together.length);
  open();
  for (const { status } of await Promise.all(first)) expect(status).toBe(201);
  return Promise.all(together);
}

describe('a batch with the creations of two accounts', () => {
  it.each([
    // The two batches that fill the slots, the shared batch, and its accounts.
    { what: 'jobs without a uid, for a balance', kind: JOBS, limits: [2_000, 2_000, 2_000, 500, 500] },
    // The numbers of the jobs are assigned before the transaction.
    { what: 'jobs without a uid, for a counter', kind: COUNTERS, limits: [2_000, 2_000, 500] },
    { what: 'chat messages, for a chat', kind: MESSAGES, limits: [2_000, 2_000, 2_000, 500, 500] },
  ])('refuses only the account that waits for a lock: $what', async ({ kind, limits }) => {
    const [locked, other] = [await createCustomer(kind), await createCustomer(kind)];
    await holder.query('begin');
    await holder.query(kind.lock, locked.key);
    logged = '';
    const { create } = other;
    const answers = await createTogether([create, locked.create, create, locked.create]);
    expect(answers.map(({ status }) => status)).toEqual([201, 503, 201, 503]);
    for (const refused of [answers[1]!, answers[3]!]) {
      expect(refused.text).toContain(LOCKED);
      expect(refused.headers.get('retry-after')).toBe('1');
    }
    expect(batches.limits).toEqual(limits);
    expect(logged.match(/waited too long for a lock/g)).toHaveLength(2);
    expect(logged).not.toContain('database connection lost');
    // The words of the refused creations are not used up.
    expect(await locked.words()).toBe(WORDS);
    await holder.query('rollback');
    expect((await locked.create()).status).toBe(201);
    expect([await locked.made(), await other.made()]).toEqual([2, 5]);
    expect([await locked.words(), await other.words()]).toEqual([2 * WORDS, 5 * WORDS]);
  });
});

describe('a commit with an unknown result', () => {
  it.each([
    { what: 'a job without a uid', kind: JOBS, committed: false },
    { what: 'a chat message that was committed', kind: MESSAGES, committed: true },
  ])('stays unknown when its repetition waits too long for a lock: $what', async ({ kind, committed }) => {
    const customer = await createCustomer(kind);
    batches = undisturbed();
    batches.instead = async (transaction) => {
      batches.instead = undefined;
      if (committed) await transaction();
      await holder.query('begin');
      await holder.query(kind.lock, customer.key);
      throw new CommitUnknown('planted: the answer is lost');
    };
    const answer = await customer.create();
    expect([answer.status, answer.text]).toEqual([503, expect.stringContaining(UNKNOWN)]);
    expect(answer.headers.get('retry-after')).toBe('1');
    expect(batches.limits).toEqual([2_000, 2_000]);
    await holder.query('rollback');
    expect(await customer.made()).toBe(committed ? 2 : 1);
    // The words stay used, because the creation may have happened.
    expect(await customer.words()).toBe(2 * WORDS);
  });
});

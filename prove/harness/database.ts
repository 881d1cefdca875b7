/** Waits until all work in the database of a run is done, then reads what is stored. */
import { execFile } from 'node:child_process';
import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';
import type pg from 'pg';
import { createLog } from '../../packages/server/src/base/log.ts';
import { type Connection, createConnection } from '../../packages/server/src/database/connections.ts';
import { openStore, type Store } from '../../packages/server/src/roles/program.ts';
import { loadSettings } from '../../packages/server/src/settings/settings.ts';
import { DRAGOMAN } from '../../scripts/program.ts';

export type Query = <Row extends pg.QueryResultRow>(sql: string) => Promise<Row[]>;

/** The maximum time that PostgreSQL may take to restart after a kill, including recovery. */
const CONNECT_MILLISECONDS = 120_000;

/** Opens the store of a data directory while `work` runs. */
export async function withStore<T>(directory: string, work: (store: Store) => Promise<T>): Promise<T> {
  const store = await openStore(loadSettings({ DRAGOMAN_DATA: directory }), 'command', createLog('silent'));
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}

/** Connects to the database as the owner of the schema while `work` runs. */
export async function withClient<T>(
  connection: Connection,
  work: (client: pg.Client, query: Query) => Promise<T>,
): Promise<T> {
  const client = await connect(connection);
  try {
    return await work(client, async (sql) => (await client.query(sql)).rows);
  } finally {
    await client.end();
  }
}

/** Runs `dragoman ledger verify`. @returns what it reported; empty if it found nothing */
export async function verifyLedger(directory: string, databaseUrl: string): Promise<string> {
  return promisify(execFile)(process.execPath, [DRAGOMAN, 'ledger', 'verify', '--data', directory], {
    env: { ...process.env, DATABASE_URL: databaseUrl },
  }).then(
    () => '',
    (error: { stdout: string; stderr: string }) => `${error.stdout}${error.stderr}`,
  );
}

/** Retries until PostgreSQL accepts the connection, because it may be restarting after a kill. */
async function connect(connection: Connection): Promise<pg.Client> {
  for (const end = Date.now() + CONNECT_MILLISECONDS; ; await wait(200)) {
    const client = createConnection(connection);
    try {
      await client.connect();
      return client;
    } catch (error) {
      await client.end();
      if (Date.now() > end) throw error;
    }
  }
}

/** Runs `work` with queries on the database of a data directory. */
export async function withDatabase<T>(
  directory: string,
  work: (query: Query, store: Store) => Promise<T>,
): Promise<T> {
  return withStore(directory, (store) => withClient(store.connection, (_, query) => work(query, store)));
}

/**
 * Tables whose rows are queue entries. Rows of `edited_jobs` are due at the deadline of a job, so that table is not
 * in the list.
 */
const QUEUES = ['jobs', 'messages', 'deliveries'];

export async function countDue(query: Query, queues: readonly string[] = QUEUES): Promise<number> {
  const counts = queues.map((table) => `(select count(*) from ${table} where due_at is not null)`);
  const [row] = await query<{ due: number }>(`select (${counts.join(' + ')})::int as due`);
  return row!.due;
}

/**
 * Waits until no work is left, but at most for `seconds`. If work remains then, the checks report it.
 *
 * @param left returns the number of rows with remaining work
 * @param options.pause milliseconds between two counts
 */
export async function waitUntilSettled(
  left: () => Promise<number>,
  { seconds = 120, pause = 200 }: { seconds?: number; pause?: number } = {},
): Promise<void> {
  const end = Date.now() + seconds * 1000;
  while ((await left()) > 0 && Date.now() < end) await wait(pause);
}

/** A job as it is stored. */
export interface JobFact {
  /** The last part of the job's callback URL, which is the customer's name for the job. */
  name: string;
  /** The first word of the stored source text. Null if retention has deleted the text. */
  firstWord: string | null;
  account: string;
  environment: string;
  jobId: string;
  uid: string;
  orderNumber: number;
  tier: string;
  status: string;
  /** Why the job failed. Null if the job has not failed. */
  failure: string | null;
  priceCents: number;
  /** The number of the job's latest charge: 1 for the first, and one more for each upgrade. */
  charge: number;
  fellBack: boolean;
  hasResult: boolean;
}

export interface TransferFact {
  account: string;
  environment: string;
  /** The id of the job that the transfer belongs to. Null for a top-up. */
  jobId: string | null;
  kind: string;
  /** The charge of the job that the transfer belongs to: 1 for the first, and one more for each upgrade. */
  charge: number;
  debit: string;
  credit: string;
  cents: number;
}

export interface DeliveryFact {
  deliveryId: string;
  /** The last part of the delivery's URL. */
  name: string;
  jobId: string | null;
  status: string;
  attempts: number;
  /** The number of attempts that never ended, because a kill interrupted them. */
  unfinishedAttempts: number;
  /**
   * The number of attempts that had not ended when the next attempt began, at least half a lease after
   * their start. The worker of such an attempt was paused.
   */
  overtakenAttempts: number;
  /** The attempts that timed out for the sender, with start and end in Unix milliseconds. */
  timedOutAttempts: [start: number, end: number][];
  /** The attempts that ended in any other way, with start and end in Unix milliseconds. */
  otherAttempts: [start: number, end: number][];
}

export interface Facts {
  jobs: JobFact[];
  transfers: TransferFact[];
  deliveries: DeliveryFact[];
  balances: { account: string; environment: string; availableCents: number }[];
}

/**
 * Reads all rows that the invariants compare.
 *
 * @param leaseSeconds the lease of the run's workers
 */
export async function readFacts(query: Query, leaseSeconds: number): Promise<Facts> {
  return {
    jobs: await query(
      `select substring(j.callback_url from '[^/]*$') as name,
              (select split_part(s.body, ' ', 1) from job_texts s
                where s.part = j.part and s.job_id = j.job_id and s.kind = 'source') as "firstWord", a.username as account, j.environment, j.job_id as "jobId", j.uid,
              j.order_number::float8 as "orderNumber", j.tier, j.status, j.failure, j.price_cents::float8 as "priceCents",
              j.charge, j.fell_back as "fellBack",
              exists (select from job_texts r where r.part = j.part and r.job_id = j.job_id and r.kind = 'result') as "hasResult"
         from jobs j join accounts a using (part, account_id)`,
    ),
    transfers: await query(
      `select a.username as account, t.environment, t.job_id as "jobId", t.kind, t.charge, t.debit, t.credit,
              t.amount_cents::float8 as cents
         from transfers t join accounts a using (part, account_id)`,
    ),
    deliveries: await query(
      `select d.delivery_id as "deliveryId", substring(d.url from '[^/]*$') as name, d.job_id as "jobId", d.status, d.attempts::int,
              coalesce(a.unfinished, 0)::int as "unfinishedAttempts", coalesce(a.overtaken, 0)::int as "overtakenAttempts",
              coalesce(a.timed_out, '[]') as "timedOutAttempts", coalesce(a.others, '[]') as "otherAttempts"
         from deliveries d left join (
              select part, delivery_id, count(*) filter (where finished_at is null) as unfinished,
                     json_agg(times order by attempt) filter (where outcome = 'timeout') as timed_out,
                     json_agg(times order by attempt) filter (where outcome <> 'timeout' and finished_at is not null) as others,
                     count(*) filter (where finished_at > next and next > started_at + interval '${leaseSeconds / 2} s') as overtaken
                from (select *, lead(started_at) over (partition by part, delivery_id order by attempt) as next,
                             json_build_array(extract(epoch from started_at) * 1000, extract(epoch from finished_at) * 1000) as times
                        from (select part, delivery_id, attempt, started_at, finished_at, outcome from attempts
                              union all
                              select part, delivery_id, attempts, attempt_started_at, null, null from deliveries o
                               where attempt_started_at is not null and not exists (
                                 select from attempts e
                                  where e.part = o.part and e.delivery_id = o.delivery_id and e.attempt = o.attempts)
                             ) every_one) as one
               group by part, delivery_id) a using (part, delivery_id)`,
    ),
    balances: await query(
      `select a.username as account, b.environment, b.available_cents::float8 as "availableCents"
         from balances b join accounts a using (part, account_id)`,
    ),
  };
}

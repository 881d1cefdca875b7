/**
 * The soak scenario: a mixed load at a third of the service's capacity, with regular samples of the memory, open
 * files and connections of the service.
 */
import { mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { verifyLedger } from '../../packages/server/src/ledger/ledger.ts';
import { createAccount } from '../../scripts/program.ts';
import { startBackgroundLoad } from '../harness/background-load.ts';
import { countDue, type Query, waitUntilSettled, withDatabase } from '../harness/database.ts';
import { startReceiver } from '../harness/receiver.ts';
import type { RunOptions } from '../harness/run.ts';
import { startService } from '../harness/service.ts';
import { createUser, PASSWORD } from '../harness/users.ts';
import { createLoad, type Load } from './load.ts';
import { type Held, INSPECTABLE, type Watch, watchProgram } from './watch.ts';

export interface SoakOptions extends RunOptions {
  seconds: number;
}

export interface Sample extends Held {
  /** The time of the sample, in seconds since the start of the load. */
  at: number;
  /** The number of jobs and messages created so far. */
  made: number;
  /** The size of PostgreSQL's write-ahead log. */
  walBytes: number;
}

export interface SoakHistory {
  samples: Sample[];
  /**
   * The numbers of requests per second, of all kinds: `rate` is the load, `capacity` the maximum that the
   * service answered.
   */
  rate: number;
  capacity: number;
  /** The status and the request of each error response. */
  refused: string[];
  walLimitBytes: number;
  /** The state at the end: due and unfinished rows, temporary files, discrepancies of the ledger. */
  left: { due: number; unfinished: number; files: string[]; discrepancies: number };
}

const SHARE = 1 / 3;
const CAPACITY_SECONDS = 6;
const LOOPS = 16;
const SAMPLES = 40;
const LEAST_BETWEEN_SECONDS = 2;

export async function runSoak({ directory, seconds, say }: SoakOptions): Promise<SoakHistory> {
  const temporary = join(directory, 'tmp');
  const data = join(directory, 'data');
  mkdirSync(temporary);
  const logFile = join(directory, 'program.log');
  const service = await startService(
    data,
    { ...INSPECTABLE, TMPDIR: temporary, DRAGOMAN_LOG_LEVEL: 'silent', DRAGOMAN_SANDBOX_HOLD: '1' },
    logFile,
  );
  const account = await createAccount(data, 'soak', 100_000_000, { chat: true });
  const email = 'soak@example.com';
  await createUser(data, email, 'customer', '--account', 'soak');
  const receiver = await startReceiver(() => {});
  const watch = await watchProgram(logFile);
  try {
    const load = createLoad(service.url, receiver.url, { account, email, password: PASSWORD });
    const { history, left } = await withDatabase(data, async (query, { database }) => {
      const history = await runLoad({ load, query, watch, seconds, say });
      await untilSettled(query);
      const due = await countDue(query);
      const unfinished = await numberOf(query, UNFINISHED);
      const { discrepancies } = await verifyLedger(database);
      return { history, left: { due, unfinished, discrepancies: discrepancies.length } };
    });
    watch.close();
    await service.stop();
    return { ...history, left: { ...left, files: readdirSync(temporary) } };
  } finally {
    await receiver.close();
  }
}

/** Measures the capacity, then sends a share of it as load and takes samples. */
async function runLoad({
  load,
  query,
  watch,
  seconds,
  say,
}: Pick<SoakOptions, 'seconds' | 'say'> & { load: Load; query: Query; watch: Watch }) {
  const samples: Sample[] = [];
  const refused: string[] = [];
  let made = 0;
  let asked = 0;
  const next = async () => {
    asked++;
    const { status, what, made: isMade } = await load.next();
    if (status >= 400) refused.push(`${status} ${what}`);
    else if (isMade) made++;
  };
  const walLimitBytes = await numberOf(query, WAL_LIMIT);
  await next(); // The first request signs in.
  const capacity = await measureCapacity(next);
  const wanted = capacity * SHARE;
  say(`${capacity.toFixed(0)} requests a second at the most; ${wanted.toFixed(0)} from here`);
  await untilSettled(query);

  const before = asked;
  const begun = performance.now();
  const passed = () => (performance.now() - begun) / 1000;
  const between = Math.max(LEAST_BETWEEN_SECONDS, seconds / SAMPLES);
  let sent = 0;
  while (passed() < seconds) {
    const pending = startBackgroundLoad();
    const until = Math.min(seconds, (samples.length + 1) * between);
    for (; passed() < until; await wait(5)) {
      for (; sent < passed() * wanted; sent++) pending.add(next());
    }
    await pending.done();
    const walBytes = await numberOf(query, WAL);
    samples.push({ at: passed(), made, walBytes, ...(await watch.sample()) });
    // Requests that were delayed while a sample was taken are skipped, so that they are not sent all at once.
    sent = Math.max(sent, Math.floor(passed() * wanted));
    if (samples.length % 10 === 0) say(`${passed().toFixed(0)} s, ${made} jobs and messages`);
  }
  return { samples, refused, capacity, rate: (asked - before) / passed(), walLimitBytes };
}

/** Returns the requests per second of several closed loops. */
async function measureCapacity(next: () => Promise<void>): Promise<number> {
  let count = 0;
  const begun = performance.now();
  const loop = async () => {
    while (performance.now() - begun < CAPACITY_SECONDS * 1000) {
      await next();
      count++;
    }
  };
  await Promise.all(Array.from({ length: LOOPS }, loop));
  return count / CAPACITY_SECONDS;
}

const WAL = 'select coalesce(sum(size), 0)::float8 as value from pg_ls_waldir()';
const WAL_LIMIT = `select setting::float8 * 1048576 as value from pg_settings where name = 'max_wal_size'`;
const UNFINISHED = `select (select count(*) from jobs where status not in ('completed', 'accepted'))
                         + (select count(*) from messages where status <> 'deliver_complete')
                         + (select count(*) from deliveries where status = 'pending') as value`;

async function numberOf(query: Query, sql: string): Promise<number> {
  const [row] = await query<{ value: number }>(sql);
  return Number(row!.value);
}

async function untilSettled(query: Query): Promise<void> {
  await waitUntilSettled(() => countDue(query), { pause: 100 });
}

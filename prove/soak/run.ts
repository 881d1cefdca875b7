/**
 * A soak: a mixed load at a third of what the program takes, for as long as wanted, and a look every while at what the
 * program holds. Everything is real; the program runs as a process of its own and does not know that it is watched.
 */
import { execFile } from 'node:child_process';
import { mkdirSync, readdirSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';
import type pg from 'pg';
import { createConnection } from '../../packages/server/src/database/connections.ts';
import { verifyLedger } from '../../packages/server/src/ledger/ledger.ts';
import { createLog } from '../../packages/server/src/log.ts';
import { openStore } from '../../packages/server/src/program.ts';
import { loadSettings } from '../../packages/server/src/settings.ts';
import { believeEngine, createAccount, DRAGOMAN, startProgram } from '../../scripts/program.ts';
import { startBeside } from '../beside.ts';
import { createLoad } from './load.ts';
import { type Held, INSPECTABLE, watchProgram } from './watch.ts';

export interface SoakOptions {
  directory: string;
  seconds: number;
  say(line: string): void;
}

export interface Look extends Held {
  /** Seconds since the load began, and jobs and messages made until then. */
  at: number;
  made: number;
  /** Bytes of PostgreSQL's log of writes. */
  walBytes: number;
}

export interface SoakHistory {
  looks: Look[];
  /** Requests a second, of all kinds; and how many the program took when it was asked for all it can. */
  rate: number;
  capacity: number;
  /** Answers that were no success: the status and what was asked. */
  refused: string[];
  walLimitBytes: number;
  /** After the end: what waits, files in the program's temporary directory, differences of the ledger. */
  left: { due: number; unfinished: number; files: string[]; discrepancies: number };
}

const PASSWORD = 'a soak of many hours';
const SHARE = 1 / 3;
const CAPACITY_SECONDS = 6;
const LOOPS = 16;
const LOOKS = 40;
const LEAST_BETWEEN_SECONDS = 2;
const SETTLE_MILLISECONDS = 120_000;

export async function runSoak({ directory, seconds, say }: SoakOptions): Promise<SoakHistory> {
  const temporary = join(directory, 'tmp');
  const data = join(directory, 'data');
  mkdirSync(temporary);
  const said = join(directory, 'said');
  await believeEngine(data);
  const program = await startProgram({
    directory: data,
    environment: {
      ...INSPECTABLE,
      ...{ TMPDIR: temporary, DRAGOMAN_LOG_LEVEL: 'silent', DRAGOMAN_SANDBOX_HOLD: '1' },
    },
    logFile: said,
  });
  const account = await createAccount(data, 'soak', 100_000_000, '--chat');
  const email = 'soak@example.com';
  await createCustomer(data, email);
  const receiver = await startReceiver();
  const watch = await watchProgram(said);
  const store = await openStore(loadSettings({ DRAGOMAN_DATA: data }), 'command', createLog('silent'));
  const client = createConnection(store.connection);
  await client.connect();
  try {
    const load = createLoad(program.url, receiver.url, { account, email, password: PASSWORD });
    const history: Omit<SoakHistory, 'left'> = {
      ...{ looks: [], rate: 0, capacity: 0, refused: [] },
      walLimitBytes: await numberOf(client, WAL_LIMIT),
    };
    let made = 0;
    let asked = 0;
    const next = async () => {
      asked++;
      const { status, what, made: one } = await load.next();
      if (status >= 400) history.refused.push(`${status} ${what}`);
      else if (one) made++;
    };
    await next(); // signs in
    history.capacity = await measureCapacity(next);
    const wanted = history.capacity * SHARE;
    say(`${history.capacity.toFixed(0)} requests a second at the most; ${wanted.toFixed(0)} from here`);
    await settle(client);

    const before = asked;
    const begun = performance.now();
    const passed = () => (performance.now() - begun) / 1000;
    const between = Math.max(LEAST_BETWEEN_SECONDS, seconds / LOOKS);
    let sent = 0;
    for (let looked = 0; passed() < seconds; ) {
      const pending = startBeside();
      for (const until = Math.min(seconds, (looked + 1) * between); passed() < until; await wait(5)) {
        for (; sent < passed() * wanted; sent++) pending.add(next());
      }
      looked++;
      await pending.done();
      const walBytes = await numberOf(client, WAL);
      history.looks.push({ at: passed(), made, walBytes, ...(await watch.look()) });
      // What the look held up is not made up for at once.
      sent = Math.max(sent, Math.floor(passed() * wanted));
      if (looked % 10 === 0) say(`${passed().toFixed(0)} s, ${made} jobs and messages`);
    }
    history.rate = (asked - before) / passed();
    await settle(client);
    const left = {
      due: await numberOf(client, DUE),
      unfinished: await numberOf(client, UNFINISHED),
      discrepancies: (await verifyLedger(store.database)).discrepancies.length,
    };
    watch.close();
    await client.end();
    await store.close();
    await program.stop();
    return { ...history, left: { ...left, files: readdirSync(temporary) } };
  } finally {
    await receiver.close();
  }
}

/** Requests a second that some closed loops get through. */
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
const DUE = `select (select count(*) from jobs where due_at is not null)
                  + (select count(*) from messages where due_at is not null)
                  + (select count(*) from deliveries where due_at is not null) as value`;
const UNFINISHED = `select (select count(*) from jobs where status not in ('completed', 'accepted'))
                         + (select count(*) from messages where status <> 'deliver_complete')
                         + (select count(*) from deliveries where status = 'pending') as value`;

async function numberOf(client: pg.Client, sql: string): Promise<number> {
  const { rows } = await client.query<{ value: number | string }>(sql);
  return Number(rows[0]!.value);
}

async function settle(client: pg.Client): Promise<void> {
  const until = performance.now() + SETTLE_MILLISECONDS;
  while ((await numberOf(client, DUE)) > 0 && performance.now() < until) await wait(100);
}

async function createCustomer(data: string, email: string): Promise<void> {
  const args = ['user', 'create', email, '--role', 'customer', '--account', 'soak', '--password-stdin'];
  const running = promisify(execFile)(process.execPath, [DRAGOMAN, ...args, '--data', data]);
  running.child.stdin?.end(PASSWORD);
  await running;
}

async function startReceiver() {
  const server = createServer((request, response) => {
    request.resume().on('end', () => response.writeHead(204).end());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise<void>((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}

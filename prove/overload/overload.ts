/**
 * `npm run prove -- overload`: twice as many creations as the service can take, for a minute. What it takes, it takes
 * in time; what it refuses, it refuses at once and says when to come back; and what it took is there.
 *
 * Who asks shares the machine with who answers, and asking twice as often takes some of it from the service. So the
 * capacity is found beside as many requests again, which another server refuses: what the service takes where somebody
 * else says no for it. It is asked for twice that.
 *
 * Flags: `--seconds N` (60).
 */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';
import { type Figure, type Flags, quantile, type Report } from '../../bench/figures.ts';
import { createConnection } from '../../packages/server/src/database/connections.ts';
import { createLog } from '../../packages/server/src/log.ts';
import { openStore } from '../../packages/server/src/program.ts';
import { loadSettings } from '../../packages/server/src/settings.ts';
import { createAccount, startProgram } from '../../scripts/program.ts';
import type { Answered } from './generator.ts';

const GENERATOR = new URL('./generator.ts', import.meta.url).pathname;
/** Closed loops that find the capacity; connections that bring more than it. */
const LOOPS = 200;
const CONNECTIONS = 2_000;
const CAPACITY_SECONDS = 5;
/** The compiler's: after five seconds it was found to take 4,700 a second, and took 6,900 later. */
const WARM_SECONDS = 20;
const REST_MILLISECONDS = 5_000;
/** An ordinary load: a twentieth of the capacity. */
const ORDINARY_SHARE = 0.05;
const GOALS = { goodput: 0.9, accepted: 500, refused: 50, after: 2 };

export interface OverloadHistory {
  /** Creations a second that the service takes alone; and beside as many requests that somebody else refuses. */
  alone: number;
  capacity: number;
  seconds: number;
  before: Answered[];
  under: Answered[];
  after: Answered[];
  /** Uids that are in the database. */
  there: Set<string>;
}

export async function proveOverload({ numbers }: Flags): Promise<Report> {
  const directory = mkdtempSync(join(tmpdir(), 'dragoman-overload-'));
  try {
    return { figures: judge(await run(directory, numbers.seconds ?? 60)) };
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

async function run(directory: string, seconds: number): Promise<OverloadHistory> {
  const environment = { DRAGOMAN_LOG_LEVEL: 'silent' };
  // Once with its worker, which finds out what language pairs there are.
  await (await startProgram({ directory, environment })).stop();
  const program = await startProgram({ directory, role: 'api', environment });
  const { production_key } = await createAccount(directory, 'overload');
  const load = async (url: string, length: number, rate: number, connections: number) => {
    const args = [GENERATOR, url, production_key, String(length), String(rate), String(connections)];
    const { stdout } = await promisify(execFile)(process.execPath, args, { maxBuffer: 2 ** 30 });
    return JSON.parse(stdout) as Answered[];
  };
  await load(program.url, WARM_SECONDS, 0, LOOPS);
  const taken = (answers: Answered[]) =>
    answers.filter(({ status }) => status === 201).length / CAPACITY_SECONDS;
  const alone = taken(await load(program.url, CAPACITY_SECONDS, 0, LOOPS));
  const refuser = await startRefuser();
  const [closed] = await Promise.all([
    load(program.url, CAPACITY_SECONDS, 0, LOOPS),
    load(refuser.url, CAPACITY_SECONDS, alone, CONNECTIONS),
  ]);
  await refuser.close();
  const capacity = taken(closed);
  process.stderr.write(
    `capacity ${alone.toFixed(0)}/s alone, ${capacity.toFixed(0)}/s beside as many refused\n`,
  );
  const before = await load(program.url, CAPACITY_SECONDS, capacity * ORDINARY_SHARE, LOOPS);
  const under = await load(program.url, seconds, capacity * 2, CONNECTIONS);
  await wait(REST_MILLISECONDS);
  const after = await load(program.url, CAPACITY_SECONDS, capacity * ORDINARY_SHARE, LOOPS);
  const there = await uids(directory);
  await program.stop();
  return { alone, capacity, seconds, before, under, after, there };
}

async function uids(directory: string): Promise<Set<string>> {
  const store = await openStore(loadSettings({ DRAGOMAN_DATA: directory }), 'command', createLog('silent'));
  const client = createConnection(store.connection);
  await client.connect();
  try {
    const { rows } = await client.query<{ uid: string }>('select uid from jobs');
    return new Set(rows.map(({ uid }) => uid));
  } finally {
    await client.end();
    await store.close();
  }
}

/** Refuses everything, as cheaply as Node can. */
async function startRefuser() {
  const server = createServer((request, response) => {
    request.resume();
    response.writeHead(503, { 'retry-after': '1', 'content-length': 0 }).end();
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

export function judge({ alone, capacity, seconds, before, under, after, there }: OverloadHistory): Figure[] {
  const accepted = under.filter(({ status }) => status === 201);
  const refused = under.filter(({ status }) => status !== 201);
  const rude = refused.filter(({ status, retryAfter }) => !([429, 503].includes(status) && retryAfter));
  const lost = accepted.filter(({ uid }) => !there.has(uid));
  const p99 = (answers: Answered[]) =>
    quantile(
      answers.map(({ milliseconds }) => milliseconds),
      0.99,
    );
  const goodput = accepted.length / seconds / capacity;
  const [quiet, later] = [p99(before), p99(after)];
  return [
    { name: 'overload, capacity', value: alone, unit: 'creations/s' },
    { name: 'overload, capacity beside as many refused elsewhere', value: capacity, unit: 'creations/s' },
    { name: 'overload, asked for, as a multiple of it', value: under.length / seconds / capacity, unit: '×' },
    most('goodput, as a share of the capacity', goodput, '', GOALS.goodput, true),
    most('accepted, p99', p99(accepted), ' ms', GOALS.accepted),
    ...(refused.length === 0 ? [] : [most('refused, p99', p99(refused), ' ms', GOALS.refused)]),
    none('refusals that are not 429 or 503 with Retry-After', rude.length),
    none('accepted and lost', accepted.length === 0 ? 1 : lost.length),
    { name: 'overload, ordinary p99 before', value: quiet, unit: 'ms' },
    most('ordinary p99 five seconds later, as a multiple', later / quiet, '', GOALS.after),
  ];
}

function most(name: string, value: number, unit: string, goal: number, least = false): Figure {
  return {
    name: `overload, ${name}`,
    value: `${value.toFixed(2)}${unit}`,
    goal: `${least ? 'at least' : 'at most'} ${goal}${unit}`,
    held: least ? value >= goal : value <= goal,
  };
}

function none(name: string, value: number): Figure {
  return { name: `overload, ${name}`, value, goal: '0', held: value === 0 };
}

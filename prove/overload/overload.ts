/**
 * `npm run prove -- overload` sends twice as many creations as the service can process, for a minute. The service
 * must accept what it can process in time, refuse the rest immediately with `Retry-After`, and store everything that
 * it accepted. Flags: `--seconds N` (default 60).
 *
 * Client and service share the machine, and sending twice as many requests slows the service down. The capacity is
 * therefore measured while as many further requests are sent to another server, which refuses them.
 */
import { execFile } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';
import { type Figure, type Flags, goalAtMost, goalZero, quantile, type Report } from '../../bench/figures.ts';
import { createAccount, startProgram } from '../../scripts/program.ts';
import { withDatabase } from '../harness/database.ts';
import { runProof } from '../harness/run.ts';
import type { Answered } from './generator.ts';

const GENERATOR = new URL('./generator.ts', import.meta.url).pathname;
/**
 * The number of closed loops that measure the capacity: clients that send the next request as soon as they
 * have a response. `CONNECTIONS` is the number of connections for the overload.
 */
const LOOPS = 200;
const CONNECTIONS = 2_000;
const CAPACITY_SECONDS = 5;
/**
 * The warm-up time, in which the compiler of Node.js optimizes the code of the service. After five seconds the service
 * processed 4,700 requests per second, later 6,900.
 */
const WARM_SECONDS = 20;
const REST_MILLISECONDS = 5_000;
/** The share of the capacity that represents an ordinary load: a twentieth. */
const ORDINARY_SHARE = 0.05;
const GOALS = { goodput: 0.9, accepted: 500, refused: 50, after: 2 };

export interface OverloadHistory {
  /**
   * The jobs created per second: `alone` without other load, `capacity` while another server refuses as many
   * requests.
   */
  alone: number;
  capacity: number;
  seconds: number;
  before: Answered[];
  under: Answered[];
  after: Answered[];
  /** The uids that are stored at the end. */
  stored: Set<string>;
}

export async function proveOverload(flags: Flags): Promise<Report> {
  const { figures } = await runProof('overload', flags, async ({ directory, say }) =>
    judge(await runOverload(directory, flags.numbers.seconds ?? 60, say)),
  );
  return { figures };
}

async function runOverload(
  directory: string,
  seconds: number,
  say: (line: string) => void,
): Promise<OverloadHistory> {
  const environment = { DRAGOMAN_LOG_LEVEL: 'silent' };
  // The service is first started with a worker, which publishes the language pairs, and then again without
  // one. Only this second process is measured.
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
  say(`capacity ${alone.toFixed(0)}/s alone, ${capacity.toFixed(0)}/s beside as many refused`);
  const before = await load(program.url, CAPACITY_SECONDS, capacity * ORDINARY_SHARE, LOOPS);
  const under = await load(program.url, seconds, capacity * 2, CONNECTIONS);
  await wait(REST_MILLISECONDS);
  const after = await load(program.url, CAPACITY_SECONDS, capacity * ORDINARY_SHARE, LOOPS);
  const stored = await readUids(directory);
  await program.stop();
  return { alone, capacity, seconds, before, under, after, stored };
}

async function readUids(directory: string): Promise<Set<string>> {
  const jobs = await withDatabase(directory, (query) => query<{ uid: string }>('select uid from jobs'));
  return new Set(jobs.map(({ uid }) => uid));
}

/** Starts a server that refuses every request, with as little work as Node.js allows. */
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

export function judge({ alone, capacity, seconds, before, under, after, stored }: OverloadHistory): Figure[] {
  const accepted = under.filter(({ status }) => status === 201);
  const refused = under.filter(({ status }) => status !== 201);
  const undescribed = refused.filter(
    ({ status, retryAfter }) => !([429, 503].includes(status) && retryAfter),
  );
  const lost = accepted.filter(({ uid }) => !stored.has(uid));
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
    {
      name: 'overload, goodput, as a share of the capacity',
      value: goodput.toFixed(2),
      goal: `at least ${GOALS.goodput}`,
      held: goodput >= GOALS.goodput,
    },
    goalAtMost('overload, accepted, p99', p99(accepted), GOALS.accepted, ' ms'),
    ...(refused.length === 0
      ? []
      : [goalAtMost('overload, refused, p99', p99(refused), GOALS.refused, ' ms')]),
    goalZero('overload, refusals that are not 429 or 503 with Retry-After', undescribed.length),
    goalZero('overload, accepted and lost', lost.length, accepted.length > 0),
    { name: 'overload, ordinary p99 before', value: quiet, unit: 'ms' },
    goalAtMost('overload, ordinary p99 five seconds later, as a multiple', later / quiet, GOALS.after),
  ];
}

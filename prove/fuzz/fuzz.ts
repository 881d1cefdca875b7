/**
 * `npm run prove -- fuzz`: the fuzz run at length. Flags: `--n N` (100,000), `--seed N`.
 *
 * What it takes of memory is looked at twice, when it is warm and at the end, both times alike: once it has ended the
 * processes that it keeps for a minute after the last text that needed one, and has collected its garbage. It does so
 * by itself within some minutes of rest, but when is for V8 to choose; so it is asked to. What is left of a difference
 * is held by something: by the heap, which is judged by itself too since it is nearly the same every time, or outside
 * of it, which only the resident memory shows. There malloc keeps some of what was freed: when the texts' processes
 * were threads, up to 48 MiB for each that ever ran, which is what runs differed by.
 */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { Figure, Flags, Report } from '../../bench/figures.ts';
import type { OpenApi } from '../../packages/server/src/openapi.ts';
import { believeEngine, createAccount, startProgram } from '../../scripts/program.ts';
import { type Held, INSPECTABLE, type Watch, watchProgram } from '../soak/watch.ts';
import { type FuzzResult, runFuzz } from './run.ts';

const MAIN = new URL('../../packages/server/src/main.ts', import.meta.url).pathname;
const OPENING_CENTS = 100_000_000;

export interface FuzzHistory extends FuzzResult {
  alive: boolean;
  ledger: boolean;
  /** All that are described. */
  operations: string[];
  /** Of the whole run, in milliseconds: how late the program's event loop came to what was due. */
  lateness: number;
  /** Mebibytes that the program has more at the end than when it was warm. */
  grown: number;
  /** Those of them that are on its heap. */
  heapGrown: number;
}

export interface FuzzProgramOptions {
  count: number;
  seed: number;
  say(line: string): void;
  /** Whether the end of its texts' processes is waited for before its memory is looked at; without, only `heapGrown` says something. */
  rest: boolean;
  /** What it is started with besides, to plant a fault in it. */
  nodeOptions?: string;
}

/** The first requests only warm it: what it compiles and keeps in mind is no leak. */
const WARM_SHARE = 0.1;
/** Twice as long as an idle process is kept. */
const REST_MILLISECONDS = 120_000;
const MEBIBYTE = 1024 * 1024;
const GOALS = { lateness: 200, grown: 64, heapGrown: 16 };

/** What a run of `count` requests against the program as a process of its own found. */
export async function fuzzProgram({
  count,
  seed,
  say,
  rest,
  nodeOptions = '',
}: FuzzProgramOptions): Promise<FuzzHistory> {
  const directory = mkdtempSync(join(tmpdir(), 'dragoman-fuzz-'));
  try {
    const token = crypto.randomUUID();
    const data = join(directory, 'data');
    const logFile = join(directory, 'said');
    await believeEngine(data);
    const program = await startProgram({
      directory: data,
      environment: {
        // What hostile requests make it say is looked at by the tests of the log; here it would only be noise.
        ...{ DRAGOMAN_LOG_LEVEL: 'silent', DRAGOMAN_METRICS_TOKEN: token },
        // Finished while it goes on, and not at once: both what is done and what is not can be met.
        ...{ DRAGOMAN_SANDBOX_HOLD: '1', DRAGOMAN_MT_HOLD: '1' },
        NODE_OPTIONS: `${INSPECTABLE.NODE_OPTIONS} ${nodeOptions}`,
      },
      logFile,
    });
    const watch = await watchProgram(logFile);
    const look = async () => {
      if (rest) await processesEnded(watch);
      return watch.look();
    };
    const { production_key, sandbox_key } = await createAccount(data, 'fuzz', OPENING_CENTS, '--chat');
    const keys = { production: production_key, sandbox: sandbox_key };
    const fuzz = (requests: number, chance: number) =>
      runFuzz({ url: program.url, keys, count: requests, seed: chance, say });
    const warm = await fuzz(Math.ceil(count * WARM_SHARE), seed + 1);
    const before = await look();
    // Each scrape begins the measurement anew.
    await scrapeLateness(program.url, token);
    const result = await fuzz(count, seed);
    const lateness = await scrapeLateness(program.url, token);
    const after = await look();
    const more = (of: (held: Held) => number) => (of(after) - of(before)) / MEBIBYTE;
    const grown = more(({ rssBytes }) => rssBytes);
    const heapGrown = more(({ heapBytes }) => heapBytes);
    const alive = program.child.exitCode === null && (await fetch(`${program.url}/readyz`)).status === 200;
    const document = (await (await fetch(`${program.url}/openapi.json`)).json()) as OpenApi;
    const operations = Object.values(document.paths)
      .flatMap((methods) => Object.values(methods))
      .map((operation) => operation!.operationId);
    const verify = promisify(execFile)(process.execPath, [MAIN, 'ledger', 'verify', '--data', data]);
    const ledger = await verify.then(
      () => true,
      () => false,
    );
    watch.close();
    await program.stop();
    const faults = [...warm.faults, ...result.faults];
    const succeeded = [...new Set([...warm.succeeded, ...result.succeeded])].sort();
    return { ...result, faults, succeeded, alive, ledger, operations, lateness, grown, heapGrown };
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

async function processesEnded(watch: Watch): Promise<void> {
  for (const end = Date.now() + REST_MILLISECONDS; watch.scanning() > 0 && Date.now() < end; )
    await wait(500);
}

/** What the program says of its event loop since it was asked last, in milliseconds. */
async function scrapeLateness(url: string, token: string): Promise<number> {
  const response = await fetch(`${url}/metrics`, { headers: { authorization: `Bearer ${token}` } });
  const [, seconds] = /^nodejs_eventloop_lag_p99_seconds (\S+)$/m.exec(await response.text()) ?? [];
  return Number(seconds) * 1000;
}

export async function proveFuzz({ numbers }: Flags): Promise<Report> {
  const seed = numbers.seed ?? Math.floor(Math.random() * 2 ** 31);
  const count = numbers.n ?? 100_000;
  const say = (line: string) => process.stderr.write(`${line}\n`);
  const found = await fuzzProgram({ count, seed, say, rest: true });
  for (const fault of found.faults) process.stderr.write(`${fault}\n\n`);
  const statuses = Object.entries(found.statuses).map(([status, times]) => `${status}: ${times}`);
  say(`answers: ${statuses.join(', ')}`);
  const never = found.operations.filter((operation) => !found.succeeded.includes(operation));
  if (never.length > 0) say(`never answered with success: ${never.join(', ')}`);
  return { seed, figures: judge(found) };
}

export function judge(found: FuzzHistory): Figure[] {
  const none = (name: string, value: number): Figure => ({
    name: `fuzz, ${name}`,
    value,
    goal: '0',
    held: value === 0 && found.sent > 0,
  });
  const most = (name: string, value: number, goal: number, unit: string): Figure => ({
    name: `fuzz, ${name}`,
    value: `${value.toFixed(0)} ${unit}`,
    goal: `at most ${goal} ${unit}`,
    held: value <= goal,
  });
  const sound = found.alive && found.ledger;
  return [
    { name: 'fuzz, requests', value: found.sent, unit: 'requests' },
    {
      name: 'fuzz, operations that answered with success',
      value: found.succeeded.length,
      unit: `of ${found.operations.length}`,
    },
    none('answers that are a fault of the server or not as described', found.faults.length),
    none('answers that took more than 2 s', found.hangs),
    most('lateness of the event loop, p99', found.lateness, GOALS.lateness, 'ms'),
    most('memory at the end above that of the warm program', found.grown, GOALS.grown, 'MiB'),
    most('of that, on the heap', found.heapGrown, GOALS.heapGrown, 'MiB'),
    {
      name: 'fuzz, server up and ledger sound afterwards',
      value: sound ? 'yes' : 'no',
      goal: 'yes',
      held: sound,
    },
  ];
}

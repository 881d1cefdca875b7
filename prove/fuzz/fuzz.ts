/**
 * `npm run prove -- fuzz` sends random requests that are generated from the API description. Flags: `--n N` (default
 * 100,000), `--seed N`.
 *
 * Memory is measured after the warm-up and at the end. Each measurement waits until the scanner processes
 * have ended (a minute after the last text) and runs a garbage collection. Growth of the heap has its own
 * goal, because the heap hardly varies. Growth outside the heap shows only in the resident memory. The goal
 * for the resident memory is higher, because malloc keeps some of the freed memory. In an earlier version
 * that read texts in threads, malloc kept up to 48 MiB for each thread.
 */
import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { type Figure, type Flags, goalAtMost, goalZero, type Report } from '../../bench/figures.ts';
import type { OpenApi } from '../../packages/server/src/http/openapi.ts';
import { createAccount, runCommand } from '../../scripts/program.ts';
import { type RunOptions, runProof } from '../harness/run.ts';
import { startService } from '../harness/service.ts';
import { type Held, INSPECTABLE, type Watch, watchProgram } from '../soak/watch.ts';
import { type FuzzResult, runFuzz } from './run.ts';

const OPENING_CENTS = 100_000_000;

export interface FuzzHistory extends FuzzResult {
  alive: boolean;
  ledger: boolean;
  /** The names of all operations in the API description. */
  operations: string[];
  /** The 99th percentile of the event loop's delay over the whole run, in milliseconds. */
  lateness: number;
  /** The growth of the resident memory from warm-up to end, in MiB. */
  grown: number;
  /** The growth of the heap in MiB. */
  heapGrown: number;
}

export interface FuzzProgramOptions extends RunOptions {
  count: number;
  /** If true, memory is measured after the scanner processes have ended. Otherwise only `heapGrown` is meaningful. */
  rest: boolean;
  /** Node.js options of the service. A test uses them to plant a fault. */
  nodeOptions?: string;
}

/**
 * The share of the requests that are sent before the first measurement of memory. They fill caches and compile code,
 * which is not a leak.
 */
const WARM_SHARE = 0.1;
/**
 * The maximum time to wait for the end of the scanner processes. A scanner process without work ends after
 * half of this time.
 */
const REST_MILLISECONDS = 120_000;
const MEBIBYTE = 1024 * 1024;
const GOALS = { lateness: 200, grown: 64, heapGrown: 16 };

/** Sends `count` requests to the service and returns the results. */
export async function fuzzProgram(options: FuzzProgramOptions): Promise<FuzzHistory> {
  const { directory, count, seed, say, rest, nodeOptions = '' } = options;
  const token = crypto.randomUUID();
  const data = mkdtempSync(join(directory, 'run-'));
  const logFile = `${data}.log`;
  const settings = {
    DRAGOMAN_LOG_LEVEL: 'silent',
    DRAGOMAN_METRICS_TOKEN: token,
    // The delay before delivery is one second. Jobs are therefore completed during the run but not immediately, so
    // requests find jobs in both states.
    DRAGOMAN_SANDBOX_HOLD: '1',
    DRAGOMAN_MT_HOLD: '1',
    NODE_OPTIONS: `${INSPECTABLE.NODE_OPTIONS} ${nodeOptions}`,
  };
  const service = await startService(data, settings, logFile);
  const { url } = service;
  const watch = await watchProgram(logFile);
  const sample = async () => {
    if (rest) await scannersEnded(watch);
    return watch.sample();
  };
  const { production_key, sandbox_key } = await createAccount(data, 'fuzz', OPENING_CENTS, { chat: true });
  const keys = { production: production_key, sandbox: sandbox_key };
  const warm = await runFuzz({ url, keys, count: Math.ceil(count * WARM_SHARE), seed: seed + 1, say });
  const before = await sample();
  // Reading the metrics resets the delay of the event loop, so that only the delay of the following run is measured.
  await scrapeLateness(url, token);
  const result = await runFuzz({ url, keys, count, seed, say });
  const lateness = await scrapeLateness(url, token);
  const after = await sample();
  const growth = (of: (held: Held) => number) => (of(after) - of(before)) / MEBIBYTE;
  const alive = service.program.child.exitCode === null && (await fetch(`${url}/readyz`)).status === 200;
  const document = (await (await fetch(`${url}/openapi.json`)).json()) as OpenApi;
  const ledger = await runCommand(data, 'ledger', 'verify').then(
    () => true,
    () => false,
  );
  watch.close();
  await service.stop();
  return {
    ...result,
    faults: [...warm.faults, ...result.faults],
    succeeded: [...new Set([...warm.succeeded, ...result.succeeded])].sort(),
    alive,
    ledger,
    operations: Object.values(document.paths)
      .flatMap((methods) => Object.values(methods))
      .map((operation) => operation!.operationId),
    lateness,
    grown: growth(({ rssBytes }) => rssBytes),
    heapGrown: growth(({ heapBytes }) => heapBytes),
  };
}

async function scannersEnded(watch: Watch): Promise<void> {
  for (const end = Date.now() + REST_MILLISECONDS; watch.scanners() > 0 && Date.now() < end; )
    await wait(500);
}

/** Reads the event loop's delay since the metrics were last read, in milliseconds. */
async function scrapeLateness(url: string, token: string): Promise<number> {
  const response = await fetch(`${url}/metrics`, { headers: { authorization: `Bearer ${token}` } });
  const [, seconds] = /^nodejs_eventloop_lag_p99_seconds (\S+)$/m.exec(await response.text()) ?? [];
  return Number(seconds) * 1000;
}

export async function proveFuzz(flags: Flags): Promise<Report> {
  return runProof('fuzz', flags, async (options) => {
    const found = await fuzzProgram({ ...options, count: flags.numbers.n ?? 100_000, rest: true });
    for (const fault of found.faults) options.say(`${fault}\n`);
    const statuses = Object.entries(found.statuses).map(([status, times]) => `${status}: ${times}`);
    options.say(`answers: ${statuses.join(', ')}`);
    const never = found.operations.filter((operation) => !found.succeeded.includes(operation));
    if (never.length > 0) options.say(`never answered with success: ${never.join(', ')}`);
    return judge(found);
  });
}

export function judge(found: FuzzHistory): Figure[] {
  const { sent, succeeded, operations, faults, hangs, lateness, grown, heapGrown, alive, ledger } = found;
  const sound = alive && ledger;
  return [
    { name: 'fuzz, requests', value: sent, unit: 'requests' },
    {
      name: 'fuzz, operations that answered with success',
      value: succeeded.length,
      unit: `of ${operations.length}`,
    },
    goalZero('fuzz, answers that are a fault of the server or not as described', faults.length, sent > 0),
    goalZero('fuzz, answers that took more than 2 s', hangs, sent > 0),
    goalAtMost('fuzz, lateness of the event loop, p99', lateness, GOALS.lateness, ' ms', 0),
    goalAtMost('fuzz, memory at the end above that of the warm program', grown, GOALS.grown, ' MiB', 0),
    goalAtMost('fuzz, of that, on the heap', heapGrown, GOALS.heapGrown, ' MiB', 0),
    {
      name: 'fuzz, server up and ledger sound afterwards',
      value: sound ? 'yes' : 'no',
      goal: 'yes',
      held: sound,
    },
  ];
}

/**
 * `npm run prove -- fuzz`: random requests made from the API description. Flags: `--n N` (100,000), `--seed N`.
 *
 * Memory is sampled when the program is warm and at the end, each time after its scanner processes have ended (a minute
 * after the last text) and after a garbage collection. The rest of the difference is held: by the heap, which is judged
 * separately since it hardly varies, or outside of it, which only the resident memory shows. There malloc keeps some of
 * the freed memory: up to 48 MiB for each thread, when texts were still read in threads.
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
  /** All described operations. */
  operations: string[];
  /** The p99 of the event loop's delay over the whole run, in milliseconds. */
  lateness: number;
  /** Mebibytes of resident memory at the end, less those of the warm program. */
  grown: number;
  /** The part of them on the heap. */
  heapGrown: number;
}

export interface FuzzProgramOptions extends RunOptions {
  count: number;
  /** Whether to wait for the end of the scanner processes before memory is sampled; otherwise only `heapGrown` counts. */
  rest: boolean;
  /** Node options of the program, which plant a fault in it. */
  nodeOptions?: string;
}

/** The first requests warm the program: compiled code and caches are no leak. */
const WARM_SHARE = 0.1;
/** Twice as long as an idle scanner process is kept. */
const REST_MILLISECONDS = 120_000;
const MEBIBYTE = 1024 * 1024;
const GOALS = { lateness: 200, grown: 64, heapGrown: 16 };

/** Sends `count` requests to the program and returns what it found. */
export async function fuzzProgram(options: FuzzProgramOptions): Promise<FuzzHistory> {
  const { directory, count, seed, say, rest, nodeOptions = '' } = options;
  const token = crypto.randomUUID();
  const data = mkdtempSync(join(directory, 'run-'));
  const logFile = `${data}.log`;
  const settings = {
    DRAGOMAN_LOG_LEVEL: 'silent',
    DRAGOMAN_METRICS_TOKEN: token,
    // Jobs are completed during the run, but not at once, so that requests meet both states.
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
  const { production_key, sandbox_key } = await createAccount(data, 'fuzz', OPENING_CENTS, '--chat');
  const keys = { production: production_key, sandbox: sandbox_key };
  const warm = await runFuzz({ url, keys, count: Math.ceil(count * WARM_SHARE), seed: seed + 1, say });
  const before = await sample();
  // Each scrape resets the measurement.
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

/** Reads the event loop's delay since the last scrape, in milliseconds. */
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

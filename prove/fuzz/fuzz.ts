/** `npm run prove -- fuzz`: the fuzz run at length. Flags: `--n N` (50,000; a night’s: 100,000), `--seed N`. */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { Figure, Flags, Report } from '../../bench/figures.ts';
import type { OpenApi } from '../../packages/server/src/openapi.ts';
import { createAccount, startProgram } from '../../scripts/program.ts';
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
}

/** The first requests only warm it: what it compiles and keeps in mind is no leak. */
const WARM_SHARE = 0.1;
/** For what was put aside to be collected. */
const REST_MILLISECONDS = 30_000;
const MEBIBYTE = 1024 * 1024;
const GOALS = { lateness: 200, grown: 64 };

/** What a run of `count` requests against the program as a process of its own found. */
export async function fuzzProgram(
  count: number,
  seed: number,
  say: (line: string) => void,
): Promise<FuzzHistory> {
  const directory = mkdtempSync(join(tmpdir(), 'dragoman-fuzz-'));
  try {
    const token = crypto.randomUUID();
    const program = await startProgram({
      directory,
      // What hostile requests make it say is looked at by the tests of the log; here it would only be noise.
      environment: { DRAGOMAN_LOG_LEVEL: 'silent', DRAGOMAN_METRICS_TOKEN: token },
    });
    const measure = () => scrape(program.url, token);
    const { production_key, sandbox_key } = await createAccount(directory, 'fuzz', OPENING_CENTS, '--chat');
    const keys = { production: production_key, sandbox: sandbox_key };
    const fuzz = (requests: number, chance: number) =>
      runFuzz({ url: program.url, keys, count: requests, seed: chance, say });
    const warm = await fuzz(Math.ceil(count * WARM_SHARE), seed + 1);
    const { memory: before } = await measure();
    const result = await fuzz(count, seed);
    // Each look begins the measurement anew.
    const { lateness, memory } = await measure();
    let grown = memory - before;
    for (
      const end = Date.now() + REST_MILLISECONDS;
      grown > GOALS.grown && Date.now() < end;
      await wait(500)
    ) {
      grown = (await measure()).memory - before;
    }
    const alive = program.child.exitCode === null && (await fetch(`${program.url}/readyz`)).status === 200;
    const document = (await (await fetch(`${program.url}/openapi.json`)).json()) as OpenApi;
    const operations = Object.values(document.paths)
      .flatMap((methods) => Object.values(methods))
      .map((operation) => operation!.operationId);
    const verify = promisify(execFile)(process.execPath, [MAIN, 'ledger', 'verify', '--data', directory]);
    const ledger = await verify.then(
      () => true,
      () => false,
    );
    await program.stop();
    const faults = [...warm.faults, ...result.faults];
    return { ...result, faults, alive, ledger, operations, lateness, grown };
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/** What the program says of itself. */
async function scrape(url: string, token: string): Promise<{ lateness: number; memory: number }> {
  const response = await fetch(`${url}/metrics`, { headers: { authorization: `Bearer ${token}` } });
  const text = await response.text();
  const read = (name: string) => Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1]);
  return {
    lateness: read('nodejs_eventloop_lag_p99_seconds') * 1000,
    memory: read('process_resident_memory_bytes') / MEBIBYTE,
  };
}

export async function proveFuzz({ numbers }: Flags): Promise<Report> {
  const seed = numbers.seed ?? Math.floor(Math.random() * 2 ** 31);
  const count = numbers.n ?? 50_000;
  const found = await fuzzProgram(count, seed, (line) => process.stderr.write(`${line}\n`));
  for (const fault of found.faults) process.stderr.write(`${fault}\n\n`);
  const statuses = Object.entries(found.statuses).map(([status, times]) => `${status}: ${times}`);
  process.stderr.write(`answers: ${statuses.join(', ')}\n`);
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
    {
      name: 'fuzz, server up and ledger sound afterwards',
      value: sound ? 'yes' : 'no',
      goal: 'yes',
      held: sound,
    },
  ];
}

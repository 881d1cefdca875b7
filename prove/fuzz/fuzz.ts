/** `npm run prove -- fuzz`: the fuzz run at length. Flags: `--n N` (100,000), `--seed N`. */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Flags, Report } from '../../bench/figures.ts';
import type { OpenApi } from '../../packages/server/src/openapi.ts';
import { createAccount, startProgram } from '../../scripts/program.ts';
import { type FuzzResult, runFuzz } from './run.ts';

const MAIN = new URL('../../packages/server/src/main.ts', import.meta.url).pathname;
const OPENING_CENTS = 100_000_000;

/** What a run of `count` requests against the program as a process of its own found. */
export async function fuzzProgram(
  count: number,
  seed: number,
  say: (line: string) => void,
): Promise<FuzzResult & { alive: boolean; ledger: boolean; operations: string[] }> {
  const directory = mkdtempSync(join(tmpdir(), 'dragoman-fuzz-'));
  try {
    // What hostile requests make it say is looked at by the tests of the log; here it would only be noise.
    const program = await startProgram({ directory, environment: { DRAGOMAN_LOG_LEVEL: 'silent' } });
    const { production_key, sandbox_key } = await createAccount(directory, 'fuzz', OPENING_CENTS, '--chat');
    const keys = { production: production_key, sandbox: sandbox_key };
    const result = await runFuzz({ url: program.url, keys, count, seed, say });
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
    return { ...result, alive, ledger, operations };
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

export async function proveFuzz({ numbers }: Flags): Promise<Report> {
  const seed = numbers.seed ?? Math.floor(Math.random() * 2 ** 31);
  const count = numbers.n ?? 100_000;
  const found = await fuzzProgram(count, seed, (line) => process.stderr.write(`${line}\n`));
  for (const fault of found.faults) process.stderr.write(`${fault}\n\n`);
  const statuses = Object.entries(found.statuses).map(([status, times]) => `${status}: ${times}`);
  process.stderr.write(`answers: ${statuses.join(', ')}\n`);
  return {
    seed,
    figures: [
      { name: 'fuzz, requests', value: found.sent, unit: 'requests' },
      {
        name: 'fuzz, operations that answered with success',
        value: found.succeeded.length,
        unit: `of ${found.operations.length}`,
      },
      {
        name: 'fuzz, answers that are a fault of the server or not as described',
        value: found.faults.length,
        goal: '0',
        held: found.faults.length === 0,
      },
      {
        name: 'fuzz, server up and ledger sound afterwards',
        value: found.alive && found.ledger ? 'yes' : 'no',
        goal: 'yes',
        held: found.alive && found.ledger,
      },
    ],
  };
}

/**
 * `npm run prove -- idempotency`: a thousand keys, each sent twenty times at once. Flags: `--keys N` (1000),
 * `--seed N`.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Figure, Flags, Report } from '../../bench/figures.ts';
import { CHECKS } from './checks.ts';
import { type IdempotencyHistory, runIdempotency } from './run.ts';

const REQUESTS = 20;

export async function proveIdempotency({ numbers }: Flags): Promise<Report> {
  const seed = numbers.seed ?? Math.floor(Math.random() * 2 ** 31);
  const directory = mkdtempSync(join(tmpdir(), 'dragoman-idempotency-'));
  try {
    const history = await runIdempotency({
      directory,
      keys: numbers.keys ?? 1_000,
      requests: REQUESTS,
      seed,
      say: (line) => process.stderr.write(`${line}\n`),
    });
    return { seed, figures: [...summary(history), ...verdicts(history)] };
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

function summary({ orders }: IdempotencyHistory): Figure[] {
  const answers = orders.flatMap((order) => [...order.answers, ...(order.later ? [order.later] : [])]);
  const refused = answers.filter(({ status }) => status === 400 || status === 409);
  return [
    { name: 'idempotency, keys, uids and external ids', value: orders.length, unit: 'orders' },
    { name: 'idempotency, requests', value: answers.length, unit: 'requests' },
    { name: 'idempotency, refused for another body', value: refused.length, unit: 'requests' },
  ];
}

function verdicts(history: IdempotencyHistory): Figure[] {
  return Object.entries(CHECKS).map(([name, check]) => {
    const faults = check(history);
    for (const fault of faults.slice(0, 10)) process.stderr.write(`${name}: ${fault}\n`);
    return {
      name: `idempotency, ${name}`,
      value: faults.length,
      goal: '0',
      held: faults.length === 0 && history.orders.length > 0,
    };
  });
}

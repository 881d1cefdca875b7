/**
 * `npm run prove -- idempotency` sends each of a thousand idempotency keys in twenty concurrent requests. Flags:
 * `--keys N` (default 1000), `--seed N`.
 */
import type { Figure, Flags, Report } from '../../bench/figures.ts';
import { checkFigures, runProof } from '../harness/run.ts';
import { CHECKS, type IdempotencyHistory } from './checks.ts';
import { runIdempotency } from './run.ts';

const REQUESTS = 20;

export async function proveIdempotency(flags: Flags): Promise<Report> {
  return runProof('idempotency', flags, async (options) => {
    const keys = flags.numbers.keys ?? 1_000;
    const history = await runIdempotency({ ...options, keys, requests: REQUESTS });
    return [...summarize(history), ...checkFigures('idempotency', CHECKS, history, '')];
  });
}

function summarize({ orders }: IdempotencyHistory): Figure[] {
  const answers = orders.flatMap((order) => [...order.answers, ...(order.later ? [order.later] : [])]);
  const refused = answers.filter(({ status }) => status === 400 || status === 409);
  return [
    { name: 'idempotency, keys, uids and external ids', value: orders.length, unit: 'orders' },
    { name: 'idempotency, requests', value: answers.length, unit: 'requests' },
    { name: 'idempotency, refused for another body', value: refused.length, unit: 'requests' },
  ];
}

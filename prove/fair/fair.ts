/**
 * `npm run prove -- fair`: a load of short messages, one of pages and one large document share a worker. Flags:
 * `--words N` of each load (120000), `--probes N` small jobs (60), `--seed N`.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Figure, type Flags, quantile, type Report } from '../../bench/figures.ts';
import { type FairHistory, runFair } from './run.ts';

const LEAST_INDEX = 0.95;
const MOST_SLOWDOWN = 2;

export async function proveFair({ numbers }: Flags): Promise<Report> {
  const seed = numbers.seed ?? Math.floor(Math.random() * 2 ** 31);
  const directory = mkdtempSync(join(tmpdir(), 'dragoman-fair-'));
  try {
    const history = await runFair({
      directory,
      seed,
      words: numbers.words ?? 120_000,
      probes: numbers.probes ?? 60,
      say: (line) => process.stderr.write(`${line}\n`),
    });
    for (const [name, characters] of Object.entries(history.served)) {
      process.stderr.write(`${name}: ${characters} characters served\n`);
    }
    return { seed, figures: judge(history) };
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

export function judge({ served, alone, beside }: FairHistory): Figure[] {
  const index = jain(Object.values(served));
  const [quiet, busy] = [quantile(alone, 0.95), quantile(beside, 0.95)];
  return [
    {
      name: 'fair, Jain index of characters served among accounts with a backlog',
      value: index.toFixed(3),
      goal: `at least ${LEAST_INDEX}`,
      held: index >= LEAST_INDEX,
    },
    { name: 'fair, small job alone, p95', value: quiet, unit: 'ms' },
    {
      name: 'fair, small job beside the others, p95',
      value: busy,
      unit: 'ms',
    },
    {
      name: 'fair, p95 of a small job beside the others, as a multiple of alone',
      value: (busy / quiet).toFixed(2),
      goal: `at most ${MOST_SLOWDOWN}`,
      held: busy <= MOST_SLOWDOWN * quiet,
    },
  ];
}

/** 1 where all have the same, 1/n where one has everything. */
export function jain(shares: readonly number[]): number {
  const sum = shares.reduce((all, share) => all + share, 0);
  const squares = shares.reduce((all, share) => all + share * share, 0);
  return squares === 0 ? 0 : (sum * sum) / (shares.length * squares);
}

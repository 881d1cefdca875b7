/**
 * `npm run prove -- scale`: two api and two worker processes on one PostgreSQL, and whatever can befall them. Flags:
 * `--faults N` (40; a night's: 1000), `--seed N`.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Figure, Flags, Report } from '../../bench/figures.ts';
import { summarize, verdicts } from '../crash/crash.ts';
import { KINDS } from './faults.ts';
import { runScale, type ScaleHistory } from './run.ts';

/** A hundred between two faults: a thousand faults meet a hundred thousand jobs. */
const BETWEEN = { least: 40, most: 160 };
/** After the last fault is over. */
const SETTLE_SECONDS = 60;

export async function proveScale({ numbers }: Flags): Promise<Report> {
  const seed = numbers.seed ?? Math.floor(Math.random() * 2 ** 31);
  const directory = mkdtempSync(join(tmpdir(), 'dragoman-scale-'));
  try {
    const history = await runScale({
      directory,
      faults: numbers.faults ?? 40,
      between: BETWEEN,
      seed,
      say: (line) => process.stderr.write(`${line}\n`),
    });
    return { seed, figures: judge(history) };
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

export function judge(history: ScaleHistory): Figure[] {
  const missing = KINDS.filter((kind) => !history.faults.includes(kind));
  return [
    ...summarize('scale', history, SETTLE_SECONDS),
    {
      name: 'scale, kinds of faults that there were',
      value: KINDS.length - missing.length,
      goal: String(KINDS.length),
      held: missing.length === 0,
    },
    {
      name: 'scale, processes with another secret key that served',
      value: history.strangers.served,
      goal: '0',
      held: history.strangers.served === 0 && history.strangers.started > 0,
    },
    ...verdicts('scale', history),
  ];
}

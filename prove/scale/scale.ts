/**
 * `npm run prove -- scale` runs two API and two worker processes on one PostgreSQL, with every kind of fault. Flags:
 * `--faults N` (default 40; 1000 faults take a night), `--seed N`.
 */
import type { Figure, Flags, Report } from '../../bench/figures.ts';
import { CHECKS } from '../crash/checks.ts';
import { summarize } from '../crash/crash.ts';
import { checkFigures, runProof } from '../harness/run.ts';
import { FAULTS } from './faults.ts';
import { runScale, type ScaleHistory } from './run.ts';

/**
 * The minimum and the maximum number of jobs between two faults. On average there are 100, so a run with a
 * thousand faults has a hundred thousand jobs.
 */
const BETWEEN = { least: 40, most: 160 };
/** The maximum seconds until all work is done, counted from the end of the last fault. */
const SETTLE_SECONDS = 60;

export async function proveScale(flags: Flags): Promise<Report> {
  return runProof('scale', flags, async (options) =>
    judge(await runScale({ ...options, faults: flags.numbers.faults ?? 40, between: BETWEEN })),
  );
}

export function judge(history: ScaleHistory): Figure[] {
  const missing = FAULTS.filter((fault) => !history.faults.includes(fault));
  const { started, served } = history.strangers;
  return [
    ...summarize('scale', history, SETTLE_SECONDS),
    {
      name: 'scale, kinds of faults that there were',
      value: FAULTS.length - missing.length,
      goal: String(FAULTS.length),
      held: missing.length === 0,
    },
    {
      name: 'scale, processes with another secret key that served',
      value: served,
      goal: '0',
      held: served === 0 && started > 0,
    },
    ...checkFigures('scale', CHECKS, history),
  ];
}

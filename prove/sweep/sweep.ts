/**
 * `npm run prove -- sweep` runs the same work many times. In each run, one statement or commit fails. Over all runs,
 * these are the first and the last of each name, and some in between. Flags: `--runs N` (default all),
 * `--seed N`.
 */
import type { Figure, Flags, Report } from '../../bench/figures.ts';
import { runProof } from '../harness/run.ts';
import { runSweep, type SweepHistory } from './run.ts';

/**
 * The minimum number of kinds of failures in a whole sweep. A kind is a statement or commit together with the
 * way in which it fails. A sweep with fewer kinds misses its goal.
 */
const LEAST_KINDS = 110;

export async function proveSweep(flags: Flags): Promise<Report> {
  const { runs } = flags.numbers;
  return runProof('sweep', flags, async (options) =>
    judge(await runSweep({ ...options, runs }), runs === undefined ? LEAST_KINDS : 1),
  );
}

export function judge({ points, runs }: SweepHistory, leastKinds: number): Figure[] {
  const wrong = runs.filter(({ faults }) => faults.length > 0);
  for (const { scenario, mode, at, point, faults } of wrong.slice(0, 20)) {
    process.stderr.write(`${scenario}, ${mode} ${point} (${at}): ${faults.join('; ')}\n`);
  }
  const failed = runs.filter(({ point }) => point !== undefined);
  const kinds = new Set(failed.map(({ mode, point }) => `${mode} ${point}`)).size;
  return [
    ...Object.entries(points).map(([scenario, ofScenario]) => ({
      name: `sweep, points of an undisturbed run of ${scenario}`,
      value: Object.values(ofScenario).reduce((sum, count) => sum + count, 0),
      unit: Object.entries(ofScenario)
        .map(([mode, count]) => `${mode} ${count}`)
        .join(', '),
    })),
    { name: 'sweep, runs in which a point failed', value: failed.length, unit: `of ${runs.length}` },
    {
      name: 'sweep, kinds of points that failed',
      value: kinds,
      goal: `at least ${leastKinds}`,
      held: kinds >= leastKinds,
    },
    {
      name: 'sweep, runs that did not end as they should',
      value: wrong.length,
      goal: '0',
      held: wrong.length === 0,
    },
  ];
}

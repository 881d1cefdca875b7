/**
 * `npm run prove -- sweep`: the database fails once, at a point of every kind in turn: the first of its kind, the last,
 * and some between. Flags: `--runs N` (all), `--seed N`.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Figure, Flags, Report } from '../../bench/figures.ts';
import { runSweep, type SweepHistory } from './run.ts';

/** Kinds of points that the sweep has to reach; fewer would mean that it looks at less than it did. */
export const LEAST_KINDS = 110;

export async function proveSweep({ numbers }: Flags): Promise<Report> {
  const seed = numbers.seed ?? Math.floor(Math.random() * 2 ** 31);
  const directory = mkdtempSync(join(tmpdir(), 'dragoman-sweep-'));
  try {
    const say = (line: string) => process.stderr.write(`${line}\n`);
    const history = await runSweep({ directory, runs: numbers.runs, seed, say });
    return { seed, figures: judge(history, numbers.runs === undefined ? LEAST_KINDS : 1) };
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
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

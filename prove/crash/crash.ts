/**
 * `npm run prove -- crash` kills the service again and again and checks that no job is lost. Flags: `--kills N`
 * (default 60), `--jobs N` (default 22 for each kill), `--seed N`.
 */
import type { Figure, Flags, Report } from '../../bench/figures.ts';
import { checkFigures, runProof } from '../harness/run.ts';
import { CHECKS, type CrashHistory, countInterrupted } from './checks.ts';
import { runCrash } from './run.ts';

/**
 * The maximum seconds from the last kill to the last delivery. They include a lease of 5 s, the retries of
 * deliveries and the recovery of PostgreSQL.
 */
const SETTLE_SECONDS = 35;

const JOBS_OF_A_KILL = 22;

export async function proveCrash(flags: Flags): Promise<Report> {
  return runProof('crash', flags, async (options) => {
    const { kills = 60, jobs = kills * JOBS_OF_A_KILL } = flags.numbers;
    const history = await runCrash({ ...options, kills, jobs });
    return [...summarize('crash', history, SETTLE_SECONDS), ...checkFigures('crash', CHECKS, history)];
  });
}

/**
 * Returns the figures of a run.
 *
 * @param settleSeconds how long the last delivery may take after the last kill
 */
export function summarize(run: string, history: CrashHistory, settleSeconds: number): Figure[] {
  const { orders, arrivals, kills, deliveries } = history;
  const acknowledged = orders.filter(({ answers }) => answers.length > 0);
  const first = new Map(arrivals.toReversed().map(({ name, at }) => [name, at]));
  const lastKill = kills.at(-1) ?? 0;
  const seconds = acknowledged.map(
    ({ name, answers }) =>
      ((first.get(name) ?? Number.POSITIVE_INFINITY) - Math.max(answers[0]!.at, lastKill)) / 1000,
  );
  const slowest = Math.max(0, ...seconds);
  const assigned = acknowledged.filter(({ uid }) => uid === undefined).length;
  const repeated = arrivals.length - new Set(arrivals.map(({ webhookId }) => webhookId)).size;
  return [
    { name: `${run}, kills`, value: kills.length, unit: 'kills' },
    { name: `${run}, acknowledged`, value: acknowledged.length, unit: 'jobs' },
    { name: `${run}, acknowledged under an assigned uid`, value: assigned, unit: 'jobs' },
    { name: `${run}, repeated deliveries`, value: repeated, unit: 'deliveries' },
    { name: `${run}, attempts without an end`, value: countInterrupted(deliveries), unit: 'attempts' },
    {
      name: `${run}, last job delivered after the last kill`,
      value: `${slowest.toFixed(1)} s`,
      goal: `at most ${settleSeconds} s`,
      held: slowest <= settleSeconds,
    },
  ];
}

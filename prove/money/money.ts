/**
 * `npm run prove -- money` checks that every job is charged exactly once. Flags: `--keys N` (default 1000), `--kills
 * N` (10), `--seed N`.
 */
import type { Figure, Flags, Report } from '../../bench/figures.ts';
import { checkFigures, runProof } from '../harness/run.ts';
import { CHECKS, type MoneyHistory } from './checks.ts';
import { runMoney } from './run.ts';

/** The number of concurrent requests for each order. */
const CREATES = 20;

export async function proveMoney(flags: Flags): Promise<Report> {
  const { keys = 1_000, kills = 10 } = flags.numbers;
  return runProof('money', flags, async (options) => {
    const history = await runMoney({ ...options, keys, kills, creates: CREATES });
    return [...summarize(history), ...checkFigures('money', CHECKS, history, '')];
  });
}

function summarize({ orders, creates, kills, jobs }: MoneyHistory): Figure[] {
  const upgradesCanceled = orders.filter(
    ({ kind, cancels }) => kind === 'upgrade' && cancels.includes(200),
  ).length;
  const count = (status: string) => jobs.filter((job) => job.status === status).length;
  return [
    { name: `money, orders of ${creates} requests each`, value: orders.length, unit: 'orders' },
    { name: 'money, kills', value: kills.length, unit: 'kills' },
    { name: 'money, completed', value: count('completed'), unit: 'jobs' },
    { name: 'money, canceled', value: count('canceled'), unit: 'jobs' },
    { name: 'money, fell back', value: jobs.filter(({ fellBack }) => fellBack).length, unit: 'jobs' },
    { name: 'money, upgrades canceled', value: upgradesCanceled, unit: 'jobs' },
  ];
}

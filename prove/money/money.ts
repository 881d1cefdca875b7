/** `npm run prove -- money`: the money run at length. Flags: `--keys N` (1000), `--kills N` (10), `--seed N`. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Figure, Flags, Report } from '../../bench/figures.ts';
import { CHECKS } from './checks.ts';
import type { History } from './history.ts';
import { runMoney } from './run.ts';

/** Requests at once for each order. */
const CREATES = 20;

export async function proveMoney({ numbers }: Flags): Promise<Report> {
  const seed = numbers.seed ?? Math.floor(Math.random() * 2 ** 31);
  const directory = mkdtempSync(join(tmpdir(), 'dragoman-money-'));
  try {
    const history = await runMoney({
      directory,
      keys: numbers.keys ?? 1_000,
      creates: CREATES,
      kills: numbers.kills ?? 10,
      seed,
      say: (line) => process.stderr.write(`${line}\n`),
    });
    return { seed, figures: [...summary(history), ...verdicts(history)] };
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

function verdicts(history: History): Figure[] {
  return Object.entries(CHECKS).map(([name, check]) => {
    const faults = check(history);
    for (const fault of faults.slice(0, 10)) process.stderr.write(`${name}: ${fault}\n`);
    return { name: `money, ${name}`, value: faults.length, goal: '0', held: faults.length === 0 };
  });
}

function summary({ orders, creates, kills, jobs }: History): Figure[] {
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

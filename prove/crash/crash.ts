/** `npm run prove -- crash`: the crash run at length. Flags: `--kills N` (60; a night’s: 200), `--seed N`. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Figure, Flags, Report } from '../../bench/figures.ts';
import { CHECKS } from './checks.ts';
import type { History } from './history.ts';
import { runCrash } from './run.ts';

export async function proveCrash({ numbers }: Flags): Promise<Report> {
  const seed = numbers.seed ?? Math.floor(Math.random() * 2 ** 31);
  const kills = numbers.kills ?? 60;
  const directory = mkdtempSync(join(tmpdir(), 'dragoman-crash-'));
  try {
    const history = await runCrash({
      directory,
      kills,
      seed,
      say: (line) => process.stderr.write(`${line}\n`),
    });
    return {
      seed,
      figures: [...summarize('crash', history, TAKEOVER_SECONDS), ...verdicts('crash', history)],
    };
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/** What the checks found, by the name of the run. */
export function verdicts(run: string, history: History): Figure[] {
  return Object.entries(CHECKS).map(([name, check]) => {
    const faults = check(history);
    for (const fault of faults.slice(0, 10)) process.stderr.write(`${name}: ${fault}\n`);
    return {
      name: `${run}, ${name}`,
      value: `${faults.length} faults`,
      goal: '0 faults',
      held: faults.length === 0,
    };
  });
}

/** A lease is 30 s; a second for the next look, and room. */
const TAKEOVER_SECONDS = 35;

/** @param settleSeconds in which everything is to be delivered after the last fault */
export function summarize(run: string, history: History, settleSeconds: number): Figure[] {
  const acknowledged = history.attempted.filter((job) => job.acknowledged !== undefined);
  const last = history.kills.at(-1) ?? 0;
  const first = new Map<string, number>();
  for (const { name, at } of history.delivered) if (!first.has(name)) first.set(name, at);
  const seconds = acknowledged.map(
    (job) => ((first.get(job.name) ?? Infinity) - Math.max(job.acknowledged!.at, last)) / 1000,
  );
  const slowest = Math.max(0, ...seconds);
  return [
    { name: `${run}, kills`, value: history.kills.length, unit: 'kills' },
    { name: `${run}, acknowledged`, value: acknowledged.length, unit: 'jobs' },
    {
      name: `${run}, acknowledged under an assigned uid`,
      value: acknowledged.filter(({ uid }) => uid === undefined).length,
      unit: 'jobs',
    },
    {
      name: `${run}, repeated deliveries`,
      value: history.delivered.length - new Set(history.delivered.map(({ webhookId }) => webhookId)).size,
      unit: 'deliveries',
    },
    {
      name: `${run}, attempts without an end`,
      value: history.deliveries.reduce((sum, { unfinishedAttempts }) => sum + unfinishedAttempts, 0),
      unit: 'attempts',
    },
    {
      name: `${run}, last job delivered after the last kill`,
      value: `${slowest.toFixed(1)} s`,
      goal: `at most ${settleSeconds} s`,
      held: slowest <= settleSeconds,
    },
  ];
}

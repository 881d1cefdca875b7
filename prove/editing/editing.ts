/**
 * `npm run prove -- editing`: editors at their tasks while the serving process is killed with -9. Flags: `--editors N`
 * (200), `--tasks N` (10000), `--kills N` (10), `--seed N`.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Figure, type Flags, quantile, type Report } from '../../bench/figures.ts';
import { CHECKS } from './checks.ts';
import type { History } from './history.ts';
import { runEditing } from './run.ts';

export async function proveEditing({ numbers }: Flags): Promise<Report> {
  const seed = numbers.seed ?? Math.floor(Math.random() * 2 ** 31);
  const directory = mkdtempSync(join(tmpdir(), 'dragoman-editing-'));
  try {
    const history = await runEditing({
      directory,
      seed,
      editors: numbers.editors ?? 200,
      tasks: numbers.tasks ?? 10_000,
      kills: numbers.kills ?? 10,
      say: (line) => process.stderr.write(`${line}\n`),
    });
    return { seed, figures: [...summary(history), ...verdicts(history)] };
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

function summary({ tasks, kills, given, saves, did, claimMilliseconds, seconds }: History): Figure[] {
  const answered = (answer: string) => saves.filter((save) => save.answer === answer).length;
  return [
    { name: 'editing, kills', value: kills, unit: 'kills' },
    { name: 'editing, tasks', value: tasks.filter(({ kind }) => kind === 'edit').length, unit: 'tasks' },
    {
      name: 'editing, reviews',
      value: tasks.filter(({ kind }) => kind === 'review').length,
      unit: 'reviews',
    },
    { name: 'editing, claims given', value: given.length, unit: 'claims' },
    { name: 'editing, saves acknowledged', value: answered('saved'), unit: 'saves' },
    { name: 'editing, late saves kept', value: answered('draft') + answered('history'), unit: 'saves' },
    { name: 'editing, claims left to run out', value: did.abandoned ?? 0, unit: 'claims' },
    { name: 'editing, tasks done', value: Math.round((tasks.length / seconds) * 10) / 10, unit: 'tasks/s' },
    { name: 'editing, claim, p95', value: Math.round(quantile(claimMilliseconds, 0.95)), unit: 'ms' },
  ];
}

function verdicts(history: History): Figure[] {
  return Object.entries(CHECKS).map(([name, check]) => {
    const faults = check(history);
    for (const fault of faults.slice(0, 10)) process.stderr.write(`${name}: ${fault}\n`);
    return {
      name: `editing, ${name}`,
      value: `${faults.length} faults`,
      goal: '0 faults',
      held: faults.length === 0,
    };
  });
}

/**
 * `npm run prove -- editing` lets editors work while the service is killed with SIGKILL. Flags: `--editors N`
 * (default 200), `--tasks N` (10000), `--kills N` (10), `--seed N`.
 */
import { type Figure, type Flags, quantile, type Report } from '../../bench/figures.ts';
import { checkFigures, runProof } from '../harness/run.ts';
import { CHECKS, type EditingHistory } from './checks.ts';
import { runEditing } from './run.ts';

export async function proveEditing(flags: Flags): Promise<Report> {
  const { editors = 200, tasks = 10_000, kills = 10 } = flags.numbers;
  return runProof('editing', flags, async (options) => {
    const history = await runEditing({ ...options, editors, tasks, kills });
    return [...summarize(history), ...checkFigures('editing', CHECKS, history)];
  });
}

function summarize({
  tasks,
  kills,
  given,
  saves,
  moves,
  claimMilliseconds,
  seconds,
}: EditingHistory): Figure[] {
  const answered = (answer: string) => saves.filter((save) => save.answer === answer).length;
  const ofKind = (kind: string) => tasks.filter((task) => task.kind === kind).length;
  return [
    { name: 'editing, kills', value: kills, unit: 'kills' },
    { name: 'editing, tasks', value: ofKind('edit'), unit: 'tasks' },
    { name: 'editing, reviews', value: ofKind('review'), unit: 'reviews' },
    { name: 'editing, claims given', value: given.length, unit: 'claims' },
    { name: 'editing, saves acknowledged', value: answered('saved'), unit: 'saves' },
    { name: 'editing, late saves kept', value: answered('draft') + answered('history'), unit: 'saves' },
    { name: 'editing, claims left to run out', value: moves.abandoned ?? 0, unit: 'claims' },
    { name: 'editing, tasks done', value: Math.round((tasks.length / seconds) * 10) / 10, unit: 'tasks/s' },
    { name: 'editing, claim, p95', value: Math.round(quantile(claimMilliseconds, 0.95)), unit: 'ms' },
  ];
}

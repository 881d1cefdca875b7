/**
 * `npm run prove -- restore` makes a backup of a busy server and restores it into a new directory. Flags: `--jobs N`
 * (default 5000).
 */
import { type Figure, type Flags, goalZero, type Report } from '../../bench/figures.ts';
import { runProof } from '../harness/run.ts';
import { type RestoreHistory, runRestore } from './run.ts';

const CREATED = 201;

export async function proveRestore(flags: Flags): Promise<Report> {
  const { figures } = await runProof('restore', flags, async ({ directory }) =>
    judge(await runRestore(directory, flags.numbers.jobs ?? 5_000)),
  );
  return { figures };
}

export function judge(history: RestoreHistory): Figure[] {
  const { backedUp, restored, acknowledged, stored, meanwhile, verified, created } = history;
  const different = Object.entries(backedUp).filter(([table, rows]) => restored[table] !== rows);
  const lost = acknowledged.filter((uid) => !stored.has(uid));
  const measured = acknowledged.length > 0 && Object.keys(backedUp).length > 0;
  return [
    { name: 'restore, jobs before the backup', value: acknowledged.length, unit: 'jobs' },
    { name: 'restore, jobs while it was made', value: meanwhile, unit: 'jobs' },
    goalZero('restore, tables with other counts than were backed up', different.length, measured),
    goalZero('restore, jobs lost that were acknowledged before', lost.length, measured),
    goalZero('restore, status of ledger verify', verified, measured),
    {
      name: 'restore, answer to a creation in the new directory',
      value: created,
      goal: String(CREATED),
      held: created === CREATED,
    },
  ];
}

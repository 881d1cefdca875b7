/** `npm run prove -- restore`: a backup beside a busy server, and a new one made of it. Flags: `--jobs N` (5000). */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Figure, Flags, Report } from '../../bench/figures.ts';
import { type RestoreHistory, runRestore } from './run.ts';

const CREATED = 201;

export async function proveRestore({ numbers }: Flags): Promise<Report> {
  const directory = mkdtempSync(join(tmpdir(), 'dragoman-restore-'));
  try {
    return { figures: judge(await runRestore(directory, numbers.jobs ?? 5_000)) };
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

export function judge(history: RestoreHistory): Figure[] {
  const { backedUp, restored, acknowledged, there, meanwhile, verified, goesOn } = history;
  const other = Object.entries(backedUp).filter(([table, rows]) => restored[table] !== rows);
  const lost = acknowledged.filter((uid) => !there.has(uid));
  const none = (name: string, value: number): Figure => ({
    name: `restore, ${name}`,
    value,
    goal: '0',
    held: value === 0 && acknowledged.length > 0 && Object.keys(backedUp).length > 0,
  });
  return [
    { name: 'restore, jobs before the backup', value: acknowledged.length, unit: 'jobs' },
    { name: 'restore, jobs while it was made', value: meanwhile, unit: 'jobs' },
    none('tables with other counts than were backed up', other.length),
    none('jobs lost that were acknowledged before', lost.length),
    none('status of ledger verify', verified),
    {
      name: 'restore, answer to a creation in the new directory',
      value: goesOn,
      goal: String(CREATED),
      held: goesOn === CREATED,
    },
  ];
}

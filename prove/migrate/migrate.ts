/**
 * `npm run prove -- migrate` kills `dragoman migrate` during migrations. Flags: `--kills N` (default 40), `--seed N`.
 */
import { type Figure, type Flags, goalZero, type Report } from '../../bench/figures.ts';
import { runProof } from '../harness/run.ts';
import { type MigrateHistory, runMigrate } from './run.ts';

export async function proveMigrate(flags: Flags): Promise<Report> {
  return runProof('migrate', flags, async (options) =>
    judge(await runMigrate({ ...options, kills: flags.numbers.kills ?? 40 })),
  );
}

export function judge({ all, kills }: MigrateHistory): Figure[] {
  const inside = kills.filter(({ applied }) => applied < all).length;
  const failed = kills.filter(({ status }) => status !== 0).length;
  const different = kills.filter(({ same }) => !same).length;
  return [
    { name: 'migrate, kills before the last migration was done', value: inside, unit: `of ${kills.length}` },
    goalZero('migrate, starts after a kill that failed', failed, inside > 0),
    goalZero('migrate, schemas that differ after a kill', different, inside > 0),
  ];
}

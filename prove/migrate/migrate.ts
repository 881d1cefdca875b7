/**
 * `npm run prove -- migrate` kills `dragoman migrate` during migrations, and upgrades data of older versions. Flags: `--kills N` (default 40), `--seed N`.
 */
import { type Figure, type Flags, goalZero, type Report } from '../../bench/figures.ts';
import { runProof } from '../harness/run.ts';
import { type MigrateHistory, runMigrate } from './run.ts';
import { TRANSLATION, type Upgrade } from './upgrade.ts';

const CREATED = 201;

export async function proveMigrate(flags: Flags): Promise<Report> {
  return runProof('migrate', flags, async (options) =>
    judge(await runMigrate({ ...options, kills: flags.numbers.kills ?? 40 })),
  );
}

export function judge({ all, kills, upgrades }: MigrateHistory): Figure[] {
  const inside = kills.filter(({ applied }) => applied < all).length;
  const failed = kills.filter(({ status }) => status !== 0).length;
  const different = kills.filter(({ same }) => !same).length;
  return [
    { name: 'migrate, kills before the last migration was done', value: inside, unit: `of ${kills.length}` },
    goalZero('migrate, starts after a kill that failed', failed, inside > 0),
    goalZero('migrate, schemas that differ after a kill', different, inside > 0),
    { name: 'migrate, upgrades of data of older versions', value: upgrades.length, unit: 'upgrades' },
    goalZero(
      'migrate, upgrades that lost or changed data',
      upgrades.filter(hasLost).length,
      upgrades.length > 0,
    ),
    goalZero(
      'migrate, upgrades after which the service refuses jobs',
      upgrades.filter(({ created }) => created !== CREATED).length,
      upgrades.length > 0,
    ),
  ];
}

function hasLost({ backedUp, restored, verified, read }: Upgrade): boolean {
  const different = Object.entries(backedUp).filter(([table, rows]) => restored[table] !== rows);
  return different.length > 0 || verified !== 0 || read !== TRANSLATION;
}

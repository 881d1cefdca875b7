/** `npm run prove -- migrate`: kills inside migrations. Flags: `--kills N` (40), `--seed N`. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Figure, Flags, Report } from '../../bench/figures.ts';
import { type MigrateHistory, runMigrate } from './run.ts';

export async function proveMigrate({ numbers }: Flags): Promise<Report> {
  const seed = numbers.seed ?? Math.floor(Math.random() * 2 ** 31);
  const directory = mkdtempSync(join(tmpdir(), 'dragoman-migrate-'));
  try {
    const say = (line: string) => process.stderr.write(`${line}\n`);
    return { seed, figures: judge(await runMigrate({ directory, kills: numbers.kills ?? 40, seed, say })) };
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

export function judge({ all, kills }: MigrateHistory): Figure[] {
  const inside = kills.filter(({ applied }) => applied < all).length;
  const none = (name: string, value: number): Figure => ({
    name: `migrate, ${name}`,
    value,
    goal: '0',
    held: value === 0 && inside > 0,
  });
  return [
    { name: 'migrate, kills before the last migration was done', value: inside, unit: `of ${kills.length}` },
    none('starts after a kill that failed', kills.filter(({ status }) => status !== 0).length),
    none('schemas that differ after a kill', kills.filter(({ same }) => !same).length),
  ];
}

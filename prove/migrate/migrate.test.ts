/** The migration run, short; and its judgement with faults planted. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { allHeld } from '../../bench/figures.ts';
import { judge } from './migrate.ts';
import { type MigrateHistory, runMigrate } from './run.ts';

const directory = mkdtempSync(join(tmpdir(), 'dragoman-migrate-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

it('a start that was killed between migrations is made up for by the next', async () => {
  const history = await runMigrate({ directory, kills: 3, seed: 1, say: () => {} });
  expect(judge(history).filter((figure) => !allHeld([figure]))).toEqual([]);
});

describe('the judgement', () => {
  const good: MigrateHistory = { all: 9, kills: [{ applied: 3, status: 0, same: true }] };

  it('holds where every start ends well', () => {
    expect(allHeld(judge(good))).toBe(true);
  });

  it.each<[string, MigrateHistory['kills'][0]]>([
    ['a start fails', { applied: 3, status: 1, same: true }],
    ['the schema is another', { applied: 3, status: 0, same: false }],
    ['all was done before the kill', { applied: 9, status: 0, same: true }],
  ])('is missed where %s', (_, kill) => {
    expect(allHeld(judge({ ...good, kills: [kill] }))).toBe(false);
  });
});

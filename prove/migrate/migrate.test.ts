/** Runs the migrate proof with few kills, and tests that it misses a goal for each planted fault. */
import { describe, expect, it } from 'vitest';
import { allHeld } from '../../bench/figures.ts';
import { FULL } from '../../scripts/full.ts';
import { shortRun, testJudgement } from '../harness/testing.ts';
import { judge } from './migrate.ts';
import { type MigrateHistory, runMigrate } from './run.ts';

const run = shortRun('migrate', 1);

describe.runIf(FULL)('migrate proof', () => {
  it('finds that the next start completes a killed migration', async () => {
    const history = await runMigrate({ ...run, kills: 3 });
    expect(judge(history).filter((figure) => !allHeld([figure]))).toEqual([]);
  });
});

const good: MigrateHistory = { all: 9, kills: [{ applied: 3, status: 0, same: true }] };

testJudgement(judge, good, [
  ['a start fails', { kills: [{ applied: 3, status: 1, same: true }] }],
  ['the schema is different', { kills: [{ applied: 3, status: 0, same: false }] }],
  ['all was done before the kill', { kills: [{ applied: 9, status: 0, same: true }] }],
]);

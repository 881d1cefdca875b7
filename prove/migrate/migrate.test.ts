/** Runs the migrate proof with few kills, and tests that it misses a goal for each planted fault. */
import { describe, expect, it } from 'vitest';
import { allHeld } from '../../bench/figures.ts';
import { FULL } from '../../scripts/full.ts';
import { shortRun, testJudgement } from '../harness/testing.ts';
import { judge } from './migrate.ts';
import { type MigrateHistory, runMigrate } from './run.ts';
import { TRANSLATION, type Upgrade } from './upgrade.ts';

const run = shortRun('migrate', 1);

describe.runIf(FULL)('migrate proof', () => {
  it('finds that the next start completes a killed migration, and that data of older versions is upgraded', async () => {
    const history = await runMigrate({ ...run, kills: 3 });
    expect(judge(history).filter((figure) => !allHeld([figure]))).toEqual([]);
  });
});

const upgraded: Upgrade = {
  file: '0001.backup',
  backedUp: { jobs: 2 },
  restored: { jobs: 2 },
  verified: 0,
  read: TRANSLATION,
  created: 201,
};
const good: MigrateHistory = {
  all: 9,
  kills: [{ applied: 3, status: 0, same: true }],
  upgrades: [upgraded],
};

testJudgement(judge, good, [
  ['a start fails', { kills: [{ applied: 3, status: 1, same: true }] }],
  ['the schema is different', { kills: [{ applied: 3, status: 0, same: false }] }],
  ['all was done before the kill', { kills: [{ applied: 9, status: 0, same: true }] }],
  ['nothing is upgraded', { upgrades: [] }],
  ['an upgrade loses a row', { upgrades: [{ ...upgraded, restored: { jobs: 1 } }] }],
  ['an upgrade breaks the ledger', { upgrades: [{ ...upgraded, verified: 1 }] }],
  ['an upgrade changes a translation', { upgrades: [{ ...upgraded, read: 'La casa.' }] }],
  ['an upgraded service answers 500', { upgrades: [{ ...upgraded, created: 500 }] }],
]);

/** Runs the restore proof with few jobs, and tests that it misses a goal for each planted fault. */
import { describe, expect, it } from 'vitest';
import { allHeld } from '../../bench/figures.ts';
import { FULL } from '../../scripts/full.ts';
import { shortRun, testJudgement } from '../harness/testing.ts';
import { judge } from './restore.ts';
import { type RestoreHistory, runRestore } from './run.ts';

const { directory } = shortRun('restore');

describe.runIf(FULL)('restore proof', () => {
  it('finds everything restored from a backup that was made while the server was busy', async () => {
    const figures = judge(await runRestore(directory, 20));
    expect(figures.filter((figure) => !allHeld([figure]))).toEqual([]);
  });
});

const good: RestoreHistory = {
  backedUp: { jobs: 2 },
  restored: { jobs: 2 },
  acknowledged: ['a'],
  stored: new Set('ab'),
  meanwhile: 1,
  verified: 0,
  created: 201,
};

testJudgement(judge, good, [
  ['a row is missing', { restored: { jobs: 1 } }],
  ['a job is lost', { stored: new Set('b') }],
  ['the ledger does not verify', { verified: 1 }],
  ['the new server refuses jobs', { created: 401 }],
  ['nothing was backed up', { backedUp: {}, restored: {} }],
]);

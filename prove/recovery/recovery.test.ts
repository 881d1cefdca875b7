/** Runs the recovery proof with few jobs, and tests that it misses a goal for each planted fault. */
import { describe, expect, it } from 'vitest';
import { FULL } from '../../scripts/full.ts';
import { shortRun, testJudgement } from '../harness/testing.ts';
import { judge } from './recovery.ts';
import { type RecoveryHistory, runRecovery } from './run.ts';

const run = shortRun('recovery');

describe.runIf(FULL)('recovery proof', () => {
  it('finds that the service works again after every kill and that the jobs of a killed worker are finished', async () => {
    const history = await runRecovery({ ...run, jobs: 300, kills: 1, intruders: 2, leaseSeconds: 3 });
    // The times depend on the machine, so this test does not check the goals for them.
    const { starts, programKills, databaseKills, refusals, takeovers } = history;
    expect([...starts, ...refusals, ...takeovers].every(Number.isFinite)).toBe(true);
    expect([...programKills, ...databaseKills]).toEqual([
      expect.toSatisfy(Number.isFinite),
      expect.toSatisfy(Number.isFinite),
    ]);
  });
});

const good: RecoveryHistory = {
  jobs: 1,
  starts: [1, 2],
  programKills: [2.5],
  databaseKills: [4],
  refusals: [0.6, 0.7],
  takeovers: [31, 33],
};

testJudgement(judge, good, [
  ['one start is slow', { starts: [1, 6] }],
  ['a write comes late after a kill of the program', { programKills: [1, 3.5] }],
  ['a write never comes after a kill of PostgreSQL', { databaseKills: [1, Number.POSITIVE_INFINITY] }],
  ['a second program is not refused', { refusals: [0.6, Number.POSITIVE_INFINITY] }],
  ['a second program is refused late', { refusals: [1.2] }],
  ['a job of a killed worker waits too long', { takeovers: [31, 36] }],
  ['the killed worker had no job', { takeovers: [] }],
  ['nothing was killed', { programKills: [] }],
]);

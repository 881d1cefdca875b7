/** Runs the canary proof, and tests that it misses a goal for each planted fault. */
import { describe, expect, it } from 'vitest';
import { allHeld } from '../../bench/figures.ts';
import { FULL } from '../../scripts/full.ts';
import { shortRun, testJudgement } from '../harness/testing.ts';
import { judge } from './canary.ts';
import { type CanaryHistory, runCanary } from './run.ts';

const { directory, say } = shortRun('canary');

describe.runIf(FULL)('canary proof', () => {
  it('finds no customer text in logs, metrics and errors, and none anywhere after the account is erased', async () => {
    const history = await runCanary(directory, say);
    expect(judge(history).filter((figure) => !allHeld([figure]))).toEqual([]);
  });
});

const hits = { log: 0, metrics: 0, errors: 0, before: 9, dump: 0, tables: 0, writeAheadLog: 9 };
const good: CanaryHistory = { statuses: { 201: 2, 400: 2 }, hits, logLines: 50 };

testJudgement(judge, good, [
  ...(['log', 'metrics', 'errors', 'dump', 'tables'] as const).map(
    (place): [string, Partial<CanaryHistory>] => [`it is in ${place}`, { hits: { ...hits, [place]: 1 } }],
  ),
  ['it was never stored', { hits: { ...hits, before: 0 } }],
  ['nothing was logged', { logLines: 0 }],
  ['nothing was refused', { statuses: { 201: 4 } }],
]);

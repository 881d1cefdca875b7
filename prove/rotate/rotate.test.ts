/** Runs the rotate proof, and tests that it misses a goal for each planted fault. */
import { describe, expect, it } from 'vitest';
import { allHeld } from '../../bench/figures.ts';
import { FULL } from '../../scripts/full.ts';
import { shortRun, testJudgement } from '../harness/testing.ts';
import { judge } from './rotate.ts';
import { type RotateHistory, runRotate } from './run.ts';

const run = shortRun('rotate', 1);

describe.runIf(FULL)('rotate proof', () => {
  it('finds no refused delivery or request while webhook secrets and API keys are rotated', async () => {
    const history = await runRotate({ ...run, rolls: 1 });
    expect(judge(history).filter((figure) => !allHeld([figure]))).toEqual([]);
  });
});

const good: RotateHistory = {
  rolls: 1,
  asked: ['a', 'b'],
  received: [
    { id: 'b', verified: true },
    { id: 'a', verified: true },
  ],
  answers: [201, 201],
  revoked: [401],
  secretKey: { sealed: 3, left: 0, unreadable: 0 },
  askedLater: 1,
};

testJudgement(judge, good, [
  ['a signature is refused', { received: [...good.received, { id: 'a', verified: false }] }],
  ['a delivery never came', { received: good.received.slice(1) }],
  ['a good key is refused', { answers: [201, 401] }],
  ['a revoked key is accepted', { revoked: [200] }],
  ['no key was revoked', { revoked: [] }],
  ['a secret is still encrypted with the previous key', { secretKey: { sealed: 2, left: 1, unreadable: 0 } }],
  ['a secret is lost', { secretKey: { sealed: 2, left: 0, unreadable: 1 } }],
  ['the secret key was not rotated', { secretKey: { sealed: 0, left: 0, unreadable: 0 } }],
  ['the program did not run with the new key alone', { askedLater: 0 }],
  ['no delivery was requested', { asked: [], received: [] }],
]);

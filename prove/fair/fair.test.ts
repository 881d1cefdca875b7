import { describe, expect, it } from 'vitest';
import { allHeld, quantile } from '../../bench/figures.ts';
import { testJudgement } from '../harness/testing.ts';
import { jain, judge } from './fair.ts';
import type { FairHistory, Round } from './run.ts';

const round = (jobs: number[], messages = jobs): Round => ({
  alone: { jobs: [10, 11, 12], messages: [10, 11, 12] },
  beside: { jobs, messages },
});
const calm = [round([12, 13, 20]), round([12, 13, 22]), round([12, 13, 14])];
const good: FairHistory = { served: { a: 1000, b: 1010, c: 990 }, flood: calm, document: calm };

testJudgement(judge, good, [
  ['one account gets more', { served: { a: 3000, b: 1000, c: 1000 } }],
  ['one account gets nothing', { served: { a: 1000, b: 1000, c: 0 } }],
  ['no account gets anything', { served: { a: 0, b: 0, c: 0 } }],
  ['small jobs wait for the flood', { flood: calm.map(() => round([12, 13, 500], [12, 13, 14])) }],
  ['small jobs wait for the document', { document: calm.map(() => round([12, 500], [12, 13])) }],
  ['chat messages wait', { flood: calm.map(() => round([12, 13, 14], [12, 13, 500])) }],
  ['small jobs never came', { flood: calm.map(() => round([], [12, 13, 14])) }],
  ['nothing was measured', { flood: [] }],
]);

describe('goals of the fairness proof', () => {
  it('compare measurements of the same round, so that a slow machine has no effect', () => {
    const slow = { jobs: [100, 110, 120], messages: [100, 110, 120] };
    const busy = { alone: slow, beside: { jobs: [150, 160, 200], messages: [150, 160, 200] } };
    expect(allHeld(judge({ ...good, flood: [busy, ...calm.slice(1)] }))).toBe(true);
  });

  it("use Jain's fairness index, which is 1 when all shares are equal, and quantiles", () => {
    expect([jain([1, 1, 1, 1]), jain([4, 0, 0, 0])]).toEqual([1, 0.25]);
    expect(quantile([5, 1, 4, 2, 3], 0.95)).toBe(5);
  });
});

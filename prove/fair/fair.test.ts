import { describe, expect, it } from 'vitest';
import { allHeld, quantile } from '../../bench/figures.ts';
import { jain, judge } from './fair.ts';
import type { FairHistory, Round } from './run.ts';

const round = (jobs: number[], messages = jobs): Round => ({
  alone: { jobs: [10, 11, 12], messages: [10, 11, 12] },
  beside: { jobs, messages },
});

describe('the fairness run', () => {
  const calm = [round([12, 13, 20]), round([12, 13, 22]), round([12, 13, 14])];
  const good: FairHistory = { served: { a: 1000, b: 1010, c: 990 }, flood: calm, document: calm };

  it('holds where all get the same and a small job is hardly slower', () => {
    expect(allHeld(judge(good))).toBe(true);
  });

  it('looks at each round by itself: what slows both of its blocks is not the load’s', () => {
    const slow = { jobs: [100, 110, 120], messages: [100, 110, 120] };
    const busy = { alone: slow, beside: { jobs: [150, 160, 200], messages: [150, 160, 200] } };
    expect(allHeld(judge({ ...good, flood: [busy, ...calm.slice(1)] }))).toBe(true);
  });

  it.each<[string, FairHistory]>([
    ['one gets more', { ...good, served: { a: 3000, b: 1000, c: 1000 } }],
    ['one gets nothing', { ...good, served: { a: 1000, b: 1000, c: 0 } }],
    ['nobody gets anything', { ...good, served: { a: 0, b: 0, c: 0 } }],
    ['small jobs wait for the flood', { ...good, flood: calm.map(() => round([12, 13, 500], [12, 13, 14])) }],
    ['small jobs wait for the document', { ...good, document: calm.map(() => round([12, 500], [12, 13])) }],
    ['chat waits', { ...good, flood: calm.map(() => round([12, 13, 14], [12, 13, 500])) }],
    ['small jobs never came', { ...good, flood: calm.map(() => round([], [12, 13, 14])) }],
    ['nothing was measured', { ...good, flood: [] }],
  ])('is missed where %s', (_what, planted) => {
    expect(allHeld(judge(planted))).toBe(false);
  });

  it('knows its measures', () => {
    expect([jain([1, 1, 1, 1]), jain([4, 0, 0, 0])]).toEqual([1, 0.25]);
    expect(quantile([5, 1, 4, 2, 3], 0.95)).toBe(5);
  });
});

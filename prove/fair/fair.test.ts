import { describe, expect, it } from 'vitest';
import { allHeld, quantile } from '../../bench/figures.ts';
import { jain, judge } from './fair.ts';

describe('the fairness run', () => {
  const good = { served: { a: 1000, b: 1010, c: 990 }, alone: [10, 11, 12], beside: [12, 13, 20] };

  it('holds where all get the same and a small job is hardly slower', () => {
    expect(allHeld(judge(good))).toBe(true);
  });

  it.each([
    ['one gets more', { ...good, served: { a: 3000, b: 1000, c: 1000 } }],
    ['one gets nothing', { ...good, served: { a: 1000, b: 1000, c: 0 } }],
    ['nobody gets anything', { ...good, served: { a: 0, b: 0, c: 0 } }],
    ['small jobs wait', { ...good, beside: [12, 13, 500] }],
    ['small jobs never came', { ...good, beside: [] }],
  ])('is missed where %s', (_what, planted) => {
    expect(allHeld(judge(planted))).toBe(false);
  });

  it('knows its measures', () => {
    expect([jain([1, 1, 1, 1]), jain([4, 0, 0, 0])]).toEqual([1, 0.25]);
    expect(quantile([5, 1, 4, 2, 3], 0.95)).toBe(5);
  });
});

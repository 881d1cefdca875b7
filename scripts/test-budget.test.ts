import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import {
  checkBudgets,
  EXPENSIVE,
  FILE_SECONDS,
  inReference,
  LONG,
  limitTimes,
  timeUnit,
} from './test-budget.ts';

it('the listed exceptions are test files, and each needs its exception', () => {
  for (const path of [...Object.keys(EXPENSIVE), ...Object.keys(LONG)]) {
    expect(existsSync(join(import.meta.dirname, '..', path)), path).toBe(true);
  }
  for (const seconds of Object.values(EXPENSIVE)) expect(seconds).toBeGreaterThan(FILE_SECONDS);
});

it('a file over its budget is found, on a fast machine and on one that takes four times as long', () => {
  const costs = { 'a.test.ts': 10, 'b.test.ts': 20, 'c.test.ts': 40, 'd.test.ts': 2 };
  const listed = { 'b.test.ts': 30, 'c.test.ts': 30, 'd.test.ts': 30 };
  const perSecond = inReference(1, 1);
  for (const slowness of [1, 4]) {
    const measured = Object.entries(costs).map(([path, seconds]) => ({
      path,
      project: path < 'c' ? 'one' : 'other',
      seconds: (seconds * slowness) / perSecond,
      unit: slowness,
    }));
    const { total, projects, files, over, needless } = checkBudgets(measured, listed);
    expect(total).toBeCloseTo(72);
    expect(projects.map(({ name, seconds }) => [name, Math.round(seconds)])).toEqual([
      ['other', 42],
      ['one', 30],
    ]);
    expect(files.map(({ path }) => path)).toEqual(['c.test.ts', 'b.test.ts', 'a.test.ts', 'd.test.ts']);
    expect(over).toMatchObject([{ path: 'c.test.ts', seconds: 40 }]);
    expect(needless).toEqual(['d.test.ts']);
  }
});

it('the fixed piece of work takes processor time', () => expect(timeUnit()).toBeGreaterThan(0));

it('only listed files have a longer time limit', () => {
  expect(limitTimes('packages/web/test/crawl.test.ts')).toBeGreaterThan(1);
  expect(limitTimes('packages/web/test/votes.test.ts')).toBe(1);
});

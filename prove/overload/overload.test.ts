/** The judgement of the overload run, with faults planted. The run itself needs a quiet machine. */
import { expect, it } from 'vitest';
import { allHeld } from '../../bench/figures.ts';
import type { Answered } from './generator.ts';
import { judge, type OverloadHistory } from './overload.ts';

const answer = (uid: string, status: number, milliseconds: number, retryAfter = false): Answered => ({
  ...{ at: 0, uid, status, milliseconds, retryAfter },
});
const good: OverloadHistory = {
  alone: 3,
  capacity: 2,
  seconds: 1,
  before: [answer('a', 201, 5)],
  under: [
    answer('b', 201, 100),
    answer('c', 201, 400),
    answer('d', 503, 10, true),
    answer('e', 429, 10, true),
  ],
  after: [answer('f', 201, 6)],
  there: new Set('abcf'),
};

it('holds where it takes what it can, and says no in time', () => {
  expect(allHeld(judge(good))).toBe(true);
});

it.each<[string, Partial<OverloadHistory>]>([
  ['little is taken', { under: [answer('b', 201, 100), ...good.under.slice(2)] }],
  ['what is taken waits', { under: [answer('b', 201, 900), ...good.under.slice(1)] }],
  ['a refusal waits', { under: [...good.under, answer('g', 503, 90, true)] }],
  ['a refusal says not when to come back', { under: [...good.under, answer('g', 503, 1)] }],
  ['a connection broke', { under: [...good.under, answer('g', 0, 1)] }],
  ['one is lost', { there: new Set('ab') }],
  ['it does not recover', { after: [answer('f', 201, 60)] }],
])('is missed where %s', (_, planted) => {
  expect(allHeld(judge({ ...good, ...planted }))).toBe(false);
});

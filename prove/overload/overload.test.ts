/** Tests that the overload proof misses a goal for each planted fault. The run itself needs a quiet machine. */
import { testJudgement } from '../harness/testing.ts';
import type { Answered } from './generator.ts';
import { judge, type OverloadHistory } from './overload.ts';

const answer = (uid: string, status: number, milliseconds: number, retryAfter = false): Answered => ({
  at: 0,
  uid,
  status,
  milliseconds,
  retryAfter,
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
  stored: new Set('abcf'),
};

testJudgement(judge, good, [
  ['too little is accepted', { under: [answer('b', 201, 100), ...good.under.slice(2)] }],
  ['an accepted request waits', { under: [answer('b', 201, 900), ...good.under.slice(1)] }],
  ['a refusal waits', { under: [...good.under, answer('g', 503, 90, true)] }],
  ['a refusal has no Retry-After', { under: [...good.under, answer('g', 503, 1)] }],
  ['a connection broke', { under: [...good.under, answer('g', 0, 1)] }],
  ['an accepted job is lost', { stored: new Set('ab') }],
  ['the service does not recover', { after: [answer('f', 201, 60)] }],
]);

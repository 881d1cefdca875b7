/**
 * Tests that the slow proof misses a goal for each planted fault. The run itself waits for real time limits: `npm run
 * prove -- slow`.
 */
import { testJudgement } from '../harness/testing.ts';
import type { SlowHistory } from './run.ts';
import { judge } from './slow.ts';

const good: SlowHistory = {
  closed: {
    'says nothing': [3_000, 4_000],
    'trickles its headers': [3_500, 4_100],
    'trickles its body': [30_500, 31_000],
  },
  alone: [2, 3, 2],
  beside: [3, 4, 3],
  secrets: { one: [9, 10, 11], many: [10, 11, 12], signatures: [5, 5, 5] },
  texts: { others: 20, answeredFirst: 20, ended: [0.2, 0.3] },
};

testJudgement(judge, good, [
  ['a connection is never closed', { closed: { ...good.closed, 'says nothing': [3_000, Infinity] } }],
  ['headers take too long', { closed: { ...good.closed, 'trickles its headers': [9_000] } }],
  ['no client was slow', { closed: { ...good.closed, 'trickles its body': [] } }],
  ['one account has all scanner processes', { texts: { ...good.texts, answeredFirst: 19 } }],
  ['a scanner process outlives its killed program', { texts: { ...good.texts, ended: [0.2, Infinity] } }],
  ['no scanner process was busy', { texts: { ...good.texts, ended: [] } }],
  ['every live secret signs', { secrets: { ...good.secrets, signatures: [5, 6, 5] } }],
  ['each delivery reads ended secrets', { secrets: { ...good.secrets, many: [30, 31, 32] } }],
  ['nothing was delivered', { secrets: { one: [], many: [], signatures: [] } }],
  ['other clients are slowed down', { beside: [3, 4, 300] }],
]);

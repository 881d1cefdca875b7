/** The judgement of the slow run, with faults planted. The run itself waits for real limits: `npm run prove -- slow`. */
import { expect, it } from 'vitest';
import { allHeld } from '../../bench/figures.ts';
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
  texts: { others: 20, answeredFirst: 20, ended: [0.2, 0.3] },
};

it('holds where all are closed in time and others hardly notice', () => {
  expect(allHeld(judge(good))).toBe(true);
});

it.each<[string, SlowHistory]>([
  ['one is never closed', { ...good, closed: { ...good.closed, 'says nothing': [3_000, Infinity] } }],
  ['headers take too long', { ...good, closed: { ...good.closed, 'trickles its headers': [9_000] } }],
  ['nobody was slow', { ...good, closed: { ...good.closed, 'trickles its body': [] } }],
  [
    'one account has all scanner processes, and another waits for it',
    { ...good, texts: { ...good.texts, answeredFirst: 19 } },
  ],
  [
    'a scanner process outlives its killed program',
    { ...good, texts: { ...good.texts, ended: [0.2, Infinity] } },
  ],
  ['no scanner process was busy', { ...good, texts: { ...good.texts, ended: [] } }],
  ['others are slowed down', { ...good, beside: [3, 4, 300] }],
])('is missed where %s', (_, planted) => {
  expect(allHeld(judge(planted))).toBe(false);
});

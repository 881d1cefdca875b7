/** Runs the tenants proof with few calls, and tests that it misses a goal for each planted fault. */
import { describe, expect, it } from 'vitest';
import { allHeld } from '../../bench/figures.ts';
import { FULL } from '../../scripts/full.ts';
import { shortRun, testJudgement } from '../harness/testing.ts';
import { type Answered, CANARY, runTenants, type TenantsHistory } from './run.ts';
import { judge } from './tenants.ts';

const run = shortRun('tenants', 1);

describe.runIf(FULL)('tenants proof', () => {
  it('finds no operation that shows data of another account', async () => {
    const history = await runTenants({ ...run, calls: 100 });
    expect(judge(history).filter((figure) => !allHeld([figure]))).toEqual([]);
  });
});

const no: Answered = { status: 404, headers: [['date', 'now']], text: '{"error":"Not found"}' };
const good: TenantsHistory = {
  operations: 1,
  calls: [
    { asked: `GET /a/${CANARY}-1 as key`, foreign: no, unknown: { ...no, headers: [['date', 'then']] } },
  ],
  lists: [{ asked: `GET /a?uid=${CANARY}-1`, answer: { ...no, text: `{"next":"?uid=${CANARY}-1"}` } }],
  shown: [
    {
      asked: 'GET /task by who has left',
      may: ['zeichen0.'],
      changes: false,
      answer: { ...no, status: 200, text: '{"segments":["zeichen0."]}' },
    },
    { asked: 'POST /comments by who has left', may: ['zeichen0.'], changes: true, answer: no },
  ],
  before: ['a'],
  after: ['a'],
};
const showing = (index: number, answer: Partial<Answered>) =>
  good.shown.with(index, { ...good.shown[index]!, answer: { ...good.shown[index]!.answer, ...answer } });
const called = (foreign: Partial<Answered>) => [{ ...good.calls[0]!, foreign: { ...no, ...foreign } }];

testJudgement(judge, good, [
  ['a status differs', { calls: called({ status: 403 }) }],
  ['a header differs', { calls: called({ headers: [['x-hint', '1']] }) }],
  ['a word differs', { calls: called({ text: '{"error":"Not yours"}' }) }],
  [
    'a call succeeds',
    { calls: [{ asked: 'x', foreign: { ...no, status: 200 }, unknown: { ...no, status: 200 } }] },
  ],
  ['a list leaks', { lists: [{ asked: 'GET /a', answer: { ...no, text: `{"text":"The ${CANARY}"}` } }] }],
  ['something was changed', { after: ['b'] }],
  ['nothing was called', { calls: [] }],
  ['an editor receives a segment of another editor', { shown: showing(0, { text: 'zeichen0. zeichen1.' }) }],
  ['an editor without a task receives the memory', { shown: showing(1, { text: 'zeichenspeicher' }) }],
  ['an editor who has left changes the job', { shown: showing(1, { status: 201 }) }],
  ['no editor called', { shown: [] }],
]);

/** Runs the turns proof with few texts, and tests that it misses a goal for each planted fault. */
import { expect, it } from 'vitest';
import { allHeld } from '../../bench/figures.ts';
import { FULL } from '../../scripts/full.ts';
import { shortRun, testJudgement } from '../harness/testing.ts';
import { runTurns, type TurnsHistory } from './run.ts';
import { judge } from './turns.ts';

it.runIf(FULL)('turns proof: no text at any door keeps the event loop busy', async () => {
  const figures = judge(await runTurns({ ...shortRun('turns', 3), count: 3 }));
  expect(figures.filter((figure) => !allHeld([figure]))).toEqual([]);
});

const turn = { door: 'job', atom: 'a', status: 201, milliseconds: 20 };
const good: TurnsHistory = { doors: 1, shut: [], turns: [turn], planted: 300 };
testJudgement(judge, good, [
  ['a text keeps the event loop busy', { ...good, turns: [turn, { ...turn, milliseconds: 140 }] }],
  ['a door answers with a fault of the server', { ...good, turns: [turn, { ...turn, status: 500 }] }],
  ['a door takes no text', { ...good, shut: ['job'] }],
  ['a long turn is not measured', { ...good, planted: 8 }],
  ['nothing was sent', { ...good, turns: [] }],
]);

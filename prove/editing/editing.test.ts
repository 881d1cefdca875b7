/** Runs the editing proof, and tests that its checks report faults planted in its history. */
import { beforeAll, describe, expect, it } from 'vitest';
import { expectHeld, type PlantedFault, shortHistory, shortRun, testChecks } from '../harness/testing.ts';
import { CHECKS, type EditingHistory } from './checks.ts';
import { runEditing } from './run.ts';

const run = shortRun('editing');
let history: EditingHistory;
beforeAll(async () => {
  history = await shortHistory('editing', () => runEditing({ ...run, editors: 12, tasks: 100, kills: 2 }));
});

describe('editing proof', () => {
  it('finds no task claimed twice, no lost save and no unfinished task when the service is killed twice', () => {
    expectHeld(CHECKS, history, run.seed);
    expect(history.tasks.filter(({ kind }) => kind === 'edit')).toHaveLength(100);
    expect(history.saves.filter(({ answer }) => answer === 'saved').length).toBeGreaterThan(150);
  });
});

const saved = (h: EditingHistory) => h.saves.find(({ answer }) => answer === 'saved')!;
const change = Object.assign;
const LOST = 'acknowledged saves that are lost';
const PLANTED: PlantedFault<EditingHistory>[] = [
  [
    'claims of one task at the same time',
    'a task with two editors',
    ({ claims }) => claims.push({ ...claims[0]!, token: 'x', from: claims[0]!.from + 0.1 }),
  ],
  [
    'claims of one task at the same time',
    'a claim that is not stored',
    ({ given }) => given.push({ ...given[0]!, token: 'x' }),
  ],
  [
    'saves under a claim that was over',
    'a save under a claim that had ended',
    (h) => {
      const save = saved(h);
      h.saves.push({ ...save, token: 'x', revision: save.revision + 100 });
      h.saves.push({ ...save, revision: save.revision + 101 });
    },
  ],
  [
    LOST,
    'another text than was acknowledged',
    (h) => {
      const { uid, position } = saved(h);
      change(h.edits.find((edit) => edit.uid === uid && edit.position === position)!, { text: 'x' });
    },
  ],
  [LOST, 'segments that are gone', ({ edits }) => edits.splice(0)],
  [LOST, 'a segment that went back', (h) => h.saves.push({ ...saved(h), revision: 1000, text: 'x' })],
  [LOST, 'two texts with one revision', (h) => h.saves.push({ ...saved(h), text: 'x' })],
  [
    LOST,
    'a late text that is not in the history',
    (h) => h.saves.push({ ...saved(h), answer: 'history', text: 'x' }),
  ],
  [
    'tasks and jobs that are not done',
    'a task that is still claimed',
    (h) => change(h.tasks[0]!, { status: 'claimed' }),
  ],
  ['tasks and jobs that are not done', 'a slot that is still taken', (h) => change(h, { slots: 1 })],
  [
    'jobs delivered otherwise than confirmed',
    'another result than was confirmed',
    (h) => change(h.jobs[0]!, { result: 'x' }),
  ],
];

testChecks(CHECKS, () => history, PLANTED);

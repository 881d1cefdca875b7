/** Runs the propagation proof, and tests that its checks report faults planted in its history. */
import { beforeAll, describe, expect, it } from 'vitest';
import { expectHeld, type PlantedFault, shortHistory, shortRun, testChecks } from '../harness/testing.ts';
import { CHECKS, type PropagationHistory } from './checks.ts';
import { runPropagation } from './run.ts';

const run = shortRun('propagation');
let history: PropagationHistory;
beforeAll(async () => {
  history = await shortHistory('propagation', () =>
    runPropagation({ ...run, editors: 6, jobs: 40, kills: 2, editedPercent: 50 }),
  );
});

describe('propagation proof', () => {
  it('finds every waiting repeat filled, no text overwritten, and an exact undo when the service is killed twice', () => {
    expectHeld(CHECKS, history, run.seed);
    expect(history.votes.length).toBeGreaterThan(40);
    expect(history.after.filter(({ filled }) => filled !== null).length).toBeGreaterThan(20);
    expect(history.after.filter(({ filled }) => filled! > 0).length).toBeGreaterThan(0);
    expect(history.sights.length).toBeGreaterThan(0);
  });
});

const change = Object.assign;
const waiting = (h: PropagationHistory) =>
  h.after.find(({ filled, revision }) => filled !== null && (revision === null || revision === filled))!;
const PLANTED: PlantedFault<PropagationHistory>[] = [
  [
    'saved texts that were overwritten',
    'another text than an editor saved',
    ({ saves }) =>
      saves.push({ ...saves.find(({ answer }) => answer === 'saved')!, text: 'x', revision: 1000 }),
  ],
  [
    'texts with other codes',
    'a draft without its codes',
    (h) => change(waiting(h), { draft: '[{"text":"x"}]' }),
  ],
  [
    'texts that changed under their editor',
    'a draft that changed under a claim',
    ({ sights }) => sights.push({ ...sights[0]!, now: 'x' }),
  ],
  [
    'waiting repeats without the text of their votes',
    'waiting repeats without fills',
    // A single repeat could be one whose votes differ, and such a repeat may wait without a fill.
    (h) => {
      for (const segment of h.after)
        if (segment.filled !== null && (segment.revision === null || segment.revision === segment.filled))
          change(segment, { filled: null, revision: null });
    },
  ],
  [
    'waiting repeats without the text of their votes',
    'a text that nobody voted for',
    (h) => change(waiting(h), { draft: '[{"text":"x"}]' }),
  ],
  [
    'texts confirmed without agreement',
    'a text that one editor confirmed',
    (h) => {
      const segment = h.after.find(({ filled, revision }) => filled! > 0 && revision === filled)!;
      change(segment, { target: '[{"text":"x"}]' });
    },
  ],
  [
    'untouched segments that an undo did not restore',
    'another draft after the undo',
    (h) => {
      const segment = h.undone.find(({ revision }) => revision === null)!;
      change(segment, { draft: '[{"text":"x"}]' });
    },
  ],
  ['work that did not end', 'work that did not end in time', (h) => change(h, { settled: false })],
];

testChecks(CHECKS, () => history, PLANTED);

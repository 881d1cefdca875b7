/** The editing run, short; and each of its checks shown to find what it looks for. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CHECKS } from './checks.ts';
import type { History } from './history.ts';
import { runEditing } from './run.ts';

const directory = mkdtempSync(join(tmpdir(), 'dragoman-editing-'));
const seed = Math.floor(Math.random() * 2 ** 31);
let history: History;
beforeAll(async () => {
  history = await runEditing({ directory, seed, editors: 12, tasks: 100, kills: 2, say: () => {} });
}, 600_000);
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const faultsOf = (of: History) =>
  Object.entries(CHECKS).flatMap(([name, check]) => check(of).map((line) => `${name}: ${line}`));

it('claims nothing twice, loses no save and finishes every task over two kills', () => {
  expect(faultsOf(history), `seed ${seed}`).toEqual([]);
  expect(history.tasks.filter(({ kind }) => kind === 'edit')).toHaveLength(100);
  expect(history.saves.filter(({ answer }) => answer === 'saved').length).toBeGreaterThan(150);
});

describe('the checks', () => {
  const planted = (plant: (copy: History) => void) => {
    const copy = structuredClone(history);
    plant(copy);
    return faultsOf(copy).join('\n');
  };
  const saved = (copy: History) => copy.saves.find(({ answer }) => answer === 'saved')!;

  it.each<[what: string, sign: RegExp, plant: (copy: History) => void]>([
    [
      'a task of two editors',
      /while/,
      (copy) => {
        const [claim] = copy.claims;
        copy.claims.push({ ...claim!, token: 'x', from: claim!.from + 0.1 });
      },
    ],
    [
      'a claim that was given and is not there',
      /not theirs/,
      (copy) => copy.given.push({ ...copy.given[0]!, token: 'x' }),
    ],
    [
      'a save by a claim that was over',
      /another had followed/,
      (copy) => {
        const save = saved(copy);
        copy.saves.push({ ...save, token: 'x', revision: save.revision + 100 });
        copy.saves.push({ ...save, revision: save.revision + 101 });
      },
    ],
    [
      'a text that is gone',
      /another text/,
      (copy) => {
        const { uid, position } = saved(copy);
        copy.edits.find((edit) => edit.uid === uid && edit.position === position)!.text = 'x';
      },
    ],
    ['a segment that is gone', /nothing is there/, (copy) => copy.edits.splice(0)],
    [
      'a text that went back',
      /went back/,
      (copy) => {
        copy.saves.push({ ...saved(copy), revision: 1000, text: 'x' });
      },
    ],
    [
      'two texts for one revision',
      /acknowledged twice/,
      (copy) => {
        copy.saves.push({ ...saved(copy), text: 'x' });
      },
    ],
    [
      'a late text that is nowhere',
      /not in the history/,
      (copy) => {
        copy.saves.push({ ...saved(copy), answer: 'history', text: 'x' });
      },
    ],
    [
      'a task that is not done',
      /is claimed/,
      (copy) => {
        copy.tasks[0]!.status = 'claimed';
      },
    ],
    [
      'a place that is taken',
      /1 places are taken/,
      (copy) => {
        copy.slots = 1;
      },
    ],
    [
      'another delivery',
      /delivered otherwise/,
      (copy) => {
        copy.jobs[0]!.result = 'x';
      },
    ],
  ])('find %s', (_what, sign, plant) => {
    expect(planted(plant)).toMatch(sign);
  });
});

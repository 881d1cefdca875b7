/** The run of the hold, short; and its judgement with faults planted. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { allHeld } from '../../bench/figures.ts';
import { judge, judgeJumps } from './hold.ts';
import { type HoldHistory, runHold } from './run.ts';

const directory = mkdtempSync(join(tmpdir(), 'dragoman-hold-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

it('nothing is early, lost or doubled, though the program is killed while jobs are held', async () => {
  const history = await runHold({
    ...{ directory, jobs: 20, holdSeconds: 2, kills: 1, jumps: 0, seed: 1 },
    say: () => {},
  });
  // How late depends on the machine, so it is not asked here.
  const faults = judge(history).filter((figure) => !allHeld([figure]) && !figure.name.includes('p99'));
  expect(faults).toEqual([]);
});

describe('the judgement', () => {
  const job = (at: number, id = 'a') => ({ uid: 'u', sentAt: 0, answeredAt: 10, deliveries: [{ id, at }] });
  const good: HoldHistory = { holdMilliseconds: 1000, kills: 0, jumps: 0, jobs: [job(1010), job(1500)] };

  it('holds where each is delivered once, in its time', () => {
    expect(allHeld([...judge(good), ...judgeJumps(good)])).toBe(true);
  });

  it.each<[string, HoldHistory['jobs']]>([
    ['one is early', [job(999)]],
    ['one is lost', [{ ...job(1010), deliveries: [] }]],
    [
      'one comes under two ids',
      [{ ...job(1010), deliveries: [...job(1010).deliveries, { id: 'b', at: 2000 }] }],
    ],
    ['they are late', [job(9000)]],
    ['there are none', []],
  ])('is missed where %s', (_, jobs) => {
    expect(allHeld(judge({ ...good, jobs }))).toBe(false);
  });
});

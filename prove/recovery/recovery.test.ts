/** The recovery run, short; and its judgement with faults planted. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { allHeld } from '../../bench/figures.ts';
import { judge } from './recovery.ts';
import { type RecoveryHistory, runRecovery } from './run.ts';

const directory = mkdtempSync(join(tmpdir(), 'dragoman-recovery-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

it('is back after every kill, and what was in hand is done', async () => {
  const history = await runRecovery({
    directory,
    jobs: 1_000,
    kills: 1,
    intruders: 2,
    leaseSeconds: 3,
    say: () => {},
  });
  // How soon depends on the machine, so it is not asked here.
  const all = [
    history.starts,
    history.programKills,
    history.databaseKills,
    history.refusals,
    history.takeovers,
  ];
  expect(all.flat().every(Number.isFinite)).toBe(true);
  expect([history.programKills.length, history.databaseKills.length]).toEqual([1, 1]);
});

describe('the judgement', () => {
  const good: RecoveryHistory = {
    jobs: 1,
    starts: [1, 2],
    programKills: [2.5],
    databaseKills: [4],
    refusals: [0.6, 0.7],
    takeovers: [31, 33],
  };

  it('holds where all is in time', () => {
    expect(allHeld(judge(good))).toBe(true);
  });

  it.each<[string, Partial<RecoveryHistory>]>([
    ['one start is slow', { starts: [1, 6] }],
    ['a write comes late after a kill of the program', { programKills: [1, 3.5] }],
    ['a write never comes after a kill of PostgreSQL', { databaseKills: [1, Infinity] }],
    ['a second program is let in', { refusals: [0.6, Infinity] }],
    ['a second program is refused late', { refusals: [1.2] }],
    ['an orphan waits', { takeovers: [31, 36] }],
    ['nothing was in hand', { takeovers: [] }],
    ['nothing was killed', { programKills: [] }],
  ])('is missed where %s', (_, planted) => {
    expect(allHeld(judge({ ...good, ...planted }))).toBe(false);
  });
});

/** The restore run, short; and its judgement with faults planted. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { allHeld } from '../../bench/figures.ts';
import { judge } from './restore.ts';
import { type RestoreHistory, runRestore } from './run.ts';

const directory = mkdtempSync(join(tmpdir(), 'dragoman-restore-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

it('a backup beside a busy server becomes a new one that has all of it', async () => {
  const figures = judge(await runRestore(directory, 20));
  expect(figures.filter((figure) => !allHeld([figure]))).toEqual([]);
});

describe('the judgement', () => {
  const good: RestoreHistory = {
    ...{ backedUp: { jobs: 2 }, restored: { jobs: 2 }, acknowledged: ['a'], there: new Set('ab') },
    ...{ meanwhile: 1, verified: 0, goesOn: 201 },
  };

  it('holds where all is there', () => {
    expect(allHeld(judge(good))).toBe(true);
  });

  it.each<[string, Partial<RestoreHistory>]>([
    ['a row is missing', { restored: { jobs: 1 } }],
    ['a job is lost', { there: new Set('b') }],
    ['the ledger is unsound', { verified: 1 }],
    ['nothing is taken there', { goesOn: 401 }],
    ['nothing was backed up', { backedUp: {}, restored: {} }],
  ])('is missed where %s', (_, planted) => {
    expect(allHeld(judge({ ...good, ...planted }))).toBe(false);
  });
});

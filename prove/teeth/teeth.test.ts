/** That every proof is registered with its planted faults; and the judgement with faults planted. */
import { readFileSync } from 'node:fs';
import { describe, expect, it, vi } from 'vitest';
import { allHeld } from '../../bench/figures.ts';
import { PLANTED } from './planted.ts';
import { runPlanted } from './run.ts';
import { judge, listProofs, type TeethHistory } from './teeth.ts';

it('every proof has a folder, an entry in the command, and one for its planted faults', () => {
  const command = readFileSync(new URL('../prove.ts', import.meta.url), 'utf8');
  const registered = [...command.matchAll(/^ {4}(\w+): prove\w+,$/gm)].map(([, name]) => name!);
  expect(registered.toSorted()).toEqual(listProofs());
  expect(Object.keys(PLANTED).toSorted()).toEqual(listProofs());
});

it('the tests that plant a fault are run, those of sound runs are not', async () => {
  const tests = await runPlanted({ slow: PLANTED.slow!, fair: PLANTED.fair! });
  expect(tests.length).toBeGreaterThan(6);
  expect(new Set(tests.map(({ proof }) => proof))).toEqual(new Set(['slow', 'fair']));
  for (const { name, caught } of tests)
    expect([name, caught]).toEqual([expect.stringContaining('is missed'), true]);
});

describe('the judgement', () => {
  vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  const test = { proof: 'crash', name: 'a job is lost', caught: true };
  const good: TeethHistory = {
    proofs: ['crash'],
    planted: { crash: { file: 'crash/checks.test.ts', tests: /catches/ } },
    tests: [test],
  };

  it('holds where every fault is caught', () => {
    expect(allHeld(judge(good))).toBe(true);
  });

  it.each<[string, Partial<TeethHistory>]>([
    ['a fault is not caught', { tests: [test, { ...test, caught: false }] }],
    ['a proof has none', { proofs: ['crash', 'new'] }],
    ['none of the tests was found', { tests: [] }],
    ['there is no such proof any more', { proofs: [], tests: [] }],
  ])('is missed where %s', (_, planted) => {
    expect(allHeld(judge({ ...good, ...planted }))).toBe(false);
  });
});

/**
 * Tests that every proof is registered with the tests that plant faults in it. Also tests the proof `teeth` itself,
 * which checks that planted faults are caught.
 */
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { testJudgement } from '../harness/testing.ts';
import { PLANTED } from './planted.ts';
import { runPlanted } from './run.ts';
import { judge, listProofs, type TeethHistory } from './teeth.ts';

it('check of planted faults: every proof has a folder and is listed in the command and in the list of planted faults', () => {
  const command = readFileSync(new URL('../prove.ts', import.meta.url), 'utf8');
  const registered = [...command.matchAll(/^ {4}(\w+): prove\w+,$/gm)].map(([, name]) => name!);
  expect(registered.toSorted()).toEqual(listProofs());
  expect(Object.keys(PLANTED).toSorted()).toEqual(listProofs());
});

it('check of planted faults: runPlanted runs exactly those tests of a proof that plant a fault', async () => {
  const tests = await runPlanted({ slow: PLANTED.slow!, fair: PLANTED.fair! });
  expect(tests.length).toBeGreaterThan(6);
  expect(new Set(tests.map(({ proof }) => proof))).toEqual(new Set(['slow', 'fair']));
  for (const { name, caught } of tests)
    expect([name, caught]).toEqual([expect.stringContaining('is missed'), true]);
});

const test = { proof: 'crash', name: 'a job is lost', caught: true };
const good: TeethHistory = {
  proofs: ['crash'],
  planted: { crash: { file: 'crash/crash.test.ts', tests: /: finds / } },
  tests: [test],
};

testJudgement(judge, good, [
  ['a fault is not found', { tests: [test, { ...test, caught: false }] }],
  ['a proof has no planted fault', { proofs: ['crash', 'new'] }],
  ['there are no tests', { tests: [] }],
  ['a proof does not exist', { proofs: [], tests: [] }],
]);

/**
 * Tests that every proof is registered with the tests that plant faults in it. Also tests the proof `teeth` itself,
 * which checks that planted faults are caught.
 */
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { testJudgement } from '../harness/testing.ts';
import { runPlanted } from './run.ts';
import { judge, listProofs, type TeethHistory } from './teeth.ts';

const read = (path: string) => readFileSync(new URL(path, import.meta.url), 'utf8');

it('teeth proof: every proof is listed in the command', () => {
  const registered = [...read('../prove.ts').matchAll(/^ {4}(\w+): prove\w+,$/gm)].map(([, name]) => name!);
  expect(registered.toSorted()).toEqual(listProofs());
});

it.each(listProofs())('teeth proof: the tests of the proof %s plant faults', (proof) => {
  expect(read(`../${proof}/${proof}.test.ts`)).toMatch(/^testChecks\(|^testJudgement\(|the planted fault/m);
});

it('teeth proof: runs exactly those tests that plant a fault', async () => {
  const proofs = ['addresses', 'slow'];
  const tests = await runPlanted(proofs);
  for (const proof of proofs)
    expect(tests.filter((test) => test.proof === proof).length, proof).toBeGreaterThan(3);
  for (const { name, caught } of tests)
    expect([name, caught]).toEqual([expect.stringContaining('the planted fault'), true]);
});

const test = { proof: 'crash', name: 'a job is lost', caught: true };
const good: TeethHistory = {
  proofs: ['crash'],
  tests: [test],
};

testJudgement(judge, good, [
  ['a fault is not found', { tests: [test, { ...test, caught: false }] }],
  ['a proof has no planted fault', { proofs: ['crash', 'new'] }],
  ['there are no tests', { tests: [] }],
]);

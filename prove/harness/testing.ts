/** For the tests of proofs: a short run, and checks with planted faults. */
import { rmSync } from 'node:fs';
import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { allHeld, type Figure } from '../../bench/figures.ts';
import { type Checks, type RunOptions, randomSeed, temporaryDirectory } from './run.ts';

/** Returns the options of a silent run in a directory that is removed after the test file. */
export function shortRun(name: string, seed = randomSeed()): RunOptions {
  const directory = temporaryDirectory(name);
  afterAll(() => rmSync(directory, { recursive: true, force: true }));
  return { directory, seed, say: () => {} };
}

/** Expects that every check accepts the history; names the seed where one does not. */
export function expectHeld<History>(checks: Checks<History>, history: History, seed?: number): void {
  const faults = Object.entries(checks).flatMap(([name, check]) =>
    check(history).map((fault) => `${name}: ${fault}`),
  );
  expect(faults, `seed ${seed}`).toEqual([]);
}

/** A fault in a history: the check that has to find it, the fault in words, and the change that makes it. */
export type PlantedFault<History> = [check: string, fault: string, plant: (history: History) => unknown];

/** Declares the tests of the checks: sound histories pass, and each planted fault is found by its check. */
export function testChecks<History>(
  checks: Checks<History>,
  sound: () => History,
  planted: readonly PlantedFault<History>[],
): void {
  describe('the checks', () => {
    it('find nothing in a sound history', () => expectHeld(checks, sound()));

    it.each(planted)('%s: finds %s', (check, _, plant) => {
      const history = structuredClone(sound());
      plant(history);
      expect(checks[check]!(history)).not.toEqual([]);
    });

    it('have a planted fault each', () => {
      expect(new Set(planted.map(([check]) => check))).toEqual(new Set(Object.keys(checks)));
    });
  });
}

/**
 * Declares the tests of a judgement: a good history holds every goal, and each planted fault misses one.
 * @param planted the fault in words, and the fields of the history that have it
 */
export function testJudgement<History extends object>(
  judge: (history: History) => Figure[],
  good: History,
  planted: readonly [fault: string, fields: Partial<History>][],
): void {
  describe('the judgement', () => {
    beforeEach(() => void vi.spyOn(process.stderr, 'write').mockReturnValue(true));
    afterEach(() => void vi.restoreAllMocks());

    it('is held by a good history', () => expect(allHeld(judge(good))).toBe(true));

    it.each(planted)('is missed where %s', (_, fields) => {
      expect(allHeld(judge({ ...good, ...fields }))).toBe(false);
    });
  });
}

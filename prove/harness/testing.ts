/**
 * Helpers for the tests of proofs: short runs, and checks of histories with planted faults. The name of a test that
 * plants a fault contains "the planted fault"; `npm run prove -- teeth` runs these tests.
 */
import { createHash } from 'node:crypto';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { gunzipSync, gzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { allHeld, type Figure } from '../../bench/figures.ts';
import { FULL } from '../../scripts/full.ts';
import { type Checks, type RunOptions, randomSeed, temporaryDirectory } from './run.ts';

/** Returns the options for a run without output. Its directory is removed after the test file. */
export function shortRun(name: string, seed = randomSeed()): RunOptions {
  const directory = temporaryDirectory(name);
  afterAll(() => rmSync(directory, { recursive: true, force: true }));
  return { directory, seed, say: () => {} };
}

/**
 * Returns the history of a short run in the full run of the tests, and otherwise the recorded history of an earlier one,
 * so that `npm test` plants faults without a run. `FULL=1 RECORD=1 npx vitest run …` records it again.
 *
 * @throws Error when the types of the history changed after it was recorded
 */
export async function shortHistory<History>(proof: string, run: () => Promise<History>): Promise<History> {
  const file = new URL(`../${proof}/history.json.gz`, import.meta.url);
  const types = digestTypes(readModules(new URL(`../${proof}/checks.ts`, import.meta.url)));
  if (!FULL) {
    const recorded = JSON.parse(gunzipSync(readFileSync(file)).toString());
    if (recorded.types === types) return recorded.history as History;
    const command = `FULL=1 RECORD=1 npx vitest run prove/${proof}`;
    throw new Error(`the types of the history changed after it was recorded; record it again: ${command}`);
  }
  const history = await run();
  if (process.env.RECORD === '1') writeFileSync(file, gzipSync(JSON.stringify({ types, history })));
  return history;
}

/** Returns the code of a module and of the modules of the proofs that it imports. */
function readModules(start: URL): string[] {
  const code = new Map<string, string>();
  const read = (file: URL) => {
    if (code.has(file.href)) return;
    const text = readFileSync(file, 'utf8');
    code.set(file.href, text);
    for (const [, path] of text.matchAll(/ from '(\.\/[^']+|\.\.\/harness\/[^']+)'/g))
      read(new URL(path!, file));
  };
  read(start);
  return [...code.values()];
}

/** Returns a digest of the interfaces that modules declare, without their comments. */
export function digestTypes(modules: readonly string[]): string {
  const declared = modules.flatMap((code) =>
    code
      .split(/^(?=(?:export )?interface )/m)
      .filter((text) => /^(?:export )?interface /.test(text))
      .map((text) => text.slice(0, text.search(/^}/m)))
      .map((text) => text.replace(/^ *(?:\/?\*|\/\/).*$/gm, '').replace(/\s+/g, ' ')),
  );
  return createHash('sha256').update(declared.sort().join('\n')).digest('base64url').slice(0, 16);
}

/** Fails the test if a check reports a fault in the history. The message names the seed. */
export function expectHeld<History>(checks: Checks<History>, history: History, seed?: number): void {
  const faults = Object.entries(checks).flatMap(([name, check]) =>
    check(history).map((fault) => `${name}: ${fault}`),
  );
  expect(faults, `seed ${seed}`).toEqual([]);
}

/**
 * A fault for a history: the name of the check that must find it, its description, and the function that plants it.
 */
export type PlantedFault<History> = [check: string, fault: string, plant: (history: History) => unknown];

/**
 * Declares tests for the checks of a proof: a history without faults passes, and each planted fault is found by its
 * check.
 */
export function testChecks<History>(
  checks: Checks<History>,
  sound: () => History,
  planted: readonly PlantedFault<History>[],
): void {
  describe('checks of this proof', () => {
    it('report nothing when the history has no fault', () => expectHeld(checks, sound()));

    it.each(planted)('check "%s" finds the planted fault: %s', (check, _, plant) => {
      const history = structuredClone(sound());
      plant(history);
      expect(checks[check]!(history)).not.toEqual([]);
    });

    it('are each tested with a planted fault', () => {
      expect(new Set(planted.map(([check]) => check))).toEqual(new Set(Object.keys(checks)));
    });
  });
}

/**
 * Declares tests for the goals of a proof: a good history reaches every goal, and each planted fault misses one.
 *
 * @param planted the description of each fault, and the fields of the history that contain it
 */
export function testJudgement<History extends object>(
  judge: (history: History) => Figure[],
  good: History,
  planted: readonly [fault: string, fields: Partial<History>][],
): void {
  describe('goals of this proof', () => {
    beforeEach(() => void vi.spyOn(process.stderr, 'write').mockReturnValue(true));
    afterEach(() => void vi.restoreAllMocks());

    it('are all reached when the history has no fault', () => expect(allHeld(judge(good))).toBe(true));

    it.each(planted)('a goal is missed with the planted fault: %s', (_, fields) => {
      expect(allHeld(judge({ ...good, ...fields }))).toBe(false);
    });
  });
}

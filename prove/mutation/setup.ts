/**
 * Inside a test process, before each test file: what a mutated file asks whether its mutant is alive, and where what
 * the tests came by is written down. `runner.ts` wakes mutants one after another; a mutant that is met in loading a
 * file is alive for the whole of the process.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import fc from 'fast-check';
import { afterAll, vi } from 'vitest';

/** What a recorded file came by: in the whole, as it was loaded or in its hooks, and in each test. */
export interface Passed {
  file: number[];
  tests: Record<string, number[]>;
}

/** By the tests' ids, which mutants are to be woken in each. */
export type Plan = Record<string, number[]>;

export interface Mutants {
  alive: number;
  recording: boolean;
  plan: Plan | undefined;
  whole: Set<number>;
  tests: Record<string, Set<number>>;
  /** What is being recorded into. */
  current: Set<number>;
}

const { DRAGOMAN_MUTANT, DRAGOMAN_MUTATION_RECORD: record, DRAGOMAN_MUTATION_PLAN: plan } = process.env;
const whole = new Set<number>();
const state: Mutants = {
  alive: Number(DRAGOMAN_MUTANT ?? -1),
  recording: record !== undefined,
  plan: plan === undefined ? undefined : (JSON.parse(readFileSync(plan, 'utf8')) as Plan),
  whole,
  tests: {},
  current: whole,
};

type Made = { name: string; text: string };

Object.assign(globalThis, {
  __mutants: {
    state,
    is: (...ids: number[]) => {
      if (state.recording) for (const id of ids) state.current.add(id);
      return ids.includes(state.alive);
    },
    /** A statement whose text is the living mutant's; under a name of its own, since it may be prepared already. */
    sql: (made: Made, texts: Record<number, string>): Made => {
      const { name, text } = made;
      const ids = Object.keys(texts).map(Number);
      const passBy = () => {
        if (state.recording) for (const id of ids) state.current.add(id);
        return texts[state.alive];
      };
      return Object.defineProperties(made, {
        name: { enumerable: true, get: () => (passBy() === undefined ? name : `${name}~${state.alive}`) },
        text: { enumerable: true, get: () => passBy() ?? text },
      });
    },
  },
});

const limit = Number(process.env.DRAGOMAN_MUTATION_LIMIT ?? 300_000);
vi.setConfig({ testTimeout: limit, hookTimeout: limit });
// The first counterexample is enough.
fc.configureGlobal({ ...fc.readConfigureGlobal(), endOnFailure: true });

if (record !== undefined) {
  afterAll(() => {
    const tests = Object.entries(state.tests).map(([id, passed]) => [id, [...passed]]);
    const passed: Passed = { file: [...whole], tests: Object.fromEntries(tests) };
    writeFileSync(record, JSON.stringify(passed));
  });
}

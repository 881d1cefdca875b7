/**
 * Runs each test of a file as ever and then, in the same process, again and again with one mutant alive each: what
 * takes long, the process, its modules and its hooks, is paid once. A mutant counts as killed where the test fails with
 * it and passes right after without it. Where it does not, or a test hangs, the process is of no more use: the others
 * wait for the next one.
 */
import { appendFileSync } from 'node:fs';
import { TestRunner } from 'vitest';
import type { Mutants } from './setup.ts';

/** A line of the file of progress. `start` without an end: it hung, and the process with it. */
export type Progress =
  | { id: number; what: 'start' | 'survived' | 'killed' | 'timeout' | 'doubtful'; test: string }
  | { id: undefined; what: 'stopped'; test: string }
  /** By its id. */
  | { id: undefined; what: 'unrepeatable'; test: string };

type Test = Parameters<NonNullable<typeof TestRunner.prototype.onBeforeRunTask>>[0] & { type: 'test' };

const dead = new Set<number>();
let stopped = false;

export default class MutationRunner extends TestRunner {
  async runTask(test: Test): Promise<void> {
    const { state } = (globalThis as unknown as { __mutants: { state: Mutants } }).__mutants;
    const once = TestRunner.getTestFn(test);
    if (state.recording) {
      state.tests[test.id] ??= new Set();
      state.current = state.tests[test.id]!;
      try {
        return await once();
      } finally {
        state.current = state.whole;
      }
    }
    const wanted = (state.plan?.[test.id] ?? []).filter((id) => !dead.has(id));
    try {
      await once();
    } catch (error) {
      // A mutant that survived an earlier test has left something behind: none may survive this one by that.
      if (wanted.length > 0 && !stopped) {
        stopped = true;
        say({ id: undefined, what: 'unrepeatable', test: test.id });
      }
      throw error;
    }
    if (wanted.length === 0 || stopped) return;
    // A test that cannot be repeated says nothing here.
    if ((await failureOf(once)) !== undefined) {
      stopped = true;
      return say({ id: undefined, what: 'unrepeatable', test: test.id });
    }
    for (const id of wanted) {
      say({ id, what: 'start', test: test.name });
      state.alive = id;
      const failure = await failureOf(once);
      state.alive = -1;
      if (failure === undefined) {
        say({ id, what: 'survived', test: test.name });
        continue;
      }
      dead.add(id);
      const slow = / timed out in \d+ms/.test(failure);
      const sound = slow || (await failureOf(once)) === undefined;
      say({ id, what: slow ? 'timeout' : sound ? 'killed' : 'doubtful', test: test.name });
      if (slow || !sound) return stop(test);
    }
  }
}

async function failureOf(work: () => PromiseLike<unknown> | void): Promise<string | undefined> {
  try {
    await work();
    return undefined;
  } catch (error) {
    return String((error as { message?: unknown })?.message ?? error);
  }
}

function stop(test: Test): void {
  stopped = true;
  say({ id: undefined, what: 'stopped', test: test.name });
}

function say(progress: Progress): void {
  appendFileSync(process.env.DRAGOMAN_MUTATION_PROGRESS!, `${JSON.stringify(progress)}\n`);
}

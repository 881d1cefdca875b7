/** The engines of the engine proof, with the faults that the proof injects into them. */
import { rmSync } from 'node:fs';
import type { Worker } from 'node:worker_threads';
import { createApertium, createBergamot, type Engine } from '../../packages/engines/src/engines.ts';
import { placeModels } from '../../packages/engines/test/bergamot/model.ts';
import { privateApertium } from '../../scripts/test-tools.ts';
import type { Random } from '../harness/random.ts';
import { temporaryDirectory } from '../harness/run.ts';

/** Injects a fault into one process or thread of the engine. Returns false if there is none. */
type Fault = (random: Random) => boolean;

export interface EngineUnderFaults {
  engine: Engine;
  /** The two languages into which the engine translates from English. */
  targets: readonly [string, string];
  /** The usual fault and the rare one, with the word for what they did. */
  faults: readonly [usual: [word: string, fault: Fault], rare: [word: string, fault: Fault]];
  /** True if the engine writes random words. Then the translator refuses many of its translations as garbled. */
  isRandom: boolean;
  /** Removes what the engine used. */
  clean(): void;
}

const DEADLINE_MS = 2_000;

const pick = <T>(random: Random, from: readonly T[]): T | undefined =>
  from[random.below(Math.max(1, from.length))];

/** Apertium, whose processes are killed or stopped. */
export function createApertiumUnderFaults(): EngineUnderFaults {
  const engine = createApertium({
    ...privateApertium(),
    limits: { bulk: { deadlineMs: () => DEADLINE_MS } },
  });
  const signal =
    (name: NodeJS.Signals): Fault =>
    (random) => {
      const pid = pick(
        random,
        engine.pipelines().flatMap(({ pids }) => pids),
      );
      try {
        return pid !== undefined && process.kill(pid, name);
      } catch {
        return false; // The process ended by itself before the signal.
      }
    };
  return {
    engine,
    isRandom: false,
    targets: ['es', 'ca'],
    faults: [
      ['killed', signal('SIGKILL')],
      ['stopped', signal('SIGSTOP')],
    ],
    clean() {},
  };
}

/**
 * Bergamot with models of random weights. Its threads are terminated at any moment, or aborted by an unclosed tag, at
 * which the real engine ends.
 */
export async function createBergamotUnderFaults(): Promise<EngineUnderFaults> {
  const folder = temporaryDirectory('models');
  await placeModels(folder, ['en-es', 'en-fr']);
  const threads = new Set<Worker>();
  const onThread = (thread: Worker): void => {
    threads.add(thread);
    thread.once('exit', () => threads.delete(thread));
  };
  process.on('worker', onThread);
  const onAnyThread =
    (fault: (thread: Worker) => void): Fault =>
    (random) => {
      const thread = pick(random, [...threads]);
      if (thread !== undefined) fault(thread);
      return thread !== undefined;
    };
  return {
    engine: createBergamot({ folder }),
    isRandom: true,
    targets: ['es', 'fr'],
    faults: [
      ['killed', onAnyThread((thread) => void thread.terminate())],
      ['aborted', onAnyThread((thread) => thread.postMessage({ texts: ['<b>x'], scores: true }))],
    ],
    clean() {
      process.off('worker', onThread);
      rmSync(folder, { recursive: true });
    },
  };
}

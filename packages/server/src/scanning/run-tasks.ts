/** The loop of a scanner process: runs the tasks that it is sent, one after another, each within its time limit. */
import { Worker } from 'node:worker_threads';
import { ENDING, processorMilliseconds } from './limit.ts';
import type { Tasks } from './tasks.ts';
import type { WatchdogData } from './watchdog.ts';

export interface Asked {
  name: keyof Tasks;
  task: unknown;
  /** Processor time that the task may use, in milliseconds. */
  limitMilliseconds: number;
}

export type Answer = { result: unknown } | { error: unknown };

/** Serves the program that forked this process, whose id is the first argument, until it disconnects or dies. */
export function runTasks(tasks: Tasks): void {
  const limit = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  const workerData: WatchdogData = { limit, parent: Number(process.argv[2]) };
  new Worker(new URL('./watchdog.ts', import.meta.url), { workerData }).unref();
  process.on('message', ({ name, task, limitMilliseconds }: Asked) => {
    Atomics.store(limit, 0, Math.ceil(processorMilliseconds() + limitMilliseconds));
    let answer: Answer;
    try {
      answer = { result: (tasks[name] as (task: unknown) => unknown)(task) };
    } catch (error) {
      answer = { error };
    }
    // After an answer the next task would come, and die with this process.
    if (Atomics.exchange(limit, 0, 0) === ENDING) return;
    process.send!(answer, () => {}); // The callback takes the error of a program that is gone.
  });
  process.on('disconnect', () => process.exit());
  // A terminal or a service manager sends a stop to all processes, while the program still finishes its work.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {});
}

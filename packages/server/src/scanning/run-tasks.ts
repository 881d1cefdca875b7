/** The loop of a scanner process: runs the tasks that it receives, one after another, each within its time limit. */
import { Worker } from 'node:worker_threads';
import { ENDING, processorMilliseconds } from './limit.ts';
import type { Tasks } from './tasks.ts';
import type { WatchdogData } from './watchdog.ts';

export interface TaskRequest {
  name: keyof Tasks;
  task: unknown;
  /** The maximum processor time of the task, in milliseconds. */
  limitMilliseconds: number;
}

export type TaskAnswer = { result: unknown } | { error: unknown };

/** Runs tasks for the parent process, whose id is the first argument, until it disconnects or dies. */
export function runTasks(tasks: Tasks): void {
  const limit = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  const workerData: WatchdogData = { limit, parent: Number(process.argv[2]) };
  new Worker(new URL('./watchdog.ts', import.meta.url), { workerData }).unref();
  process.on('message', ({ name, task, limitMilliseconds }: TaskRequest) => {
    Atomics.store(limit, 0, Math.ceil(processorMilliseconds() + limitMilliseconds));
    let answer: TaskAnswer;
    try {
      answer = { result: (tasks[name] as (task: unknown) => unknown)(task) };
    } catch (error) {
      answer = { error };
    }
    // `ENDING` means that the watchdog is killing this process. An answer would make the parent send it the next
    // task.
    if (Atomics.exchange(limit, 0, 0) === ENDING) return;
    // The empty callback discards the error that occurs when the parent is dead.
    process.send!(answer, () => {});
  });
  process.on('disconnect', () => process.exit());
  // A terminal or service manager sends these signals to all processes of the program. This process ignores them,
  // because the parent still needs it.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {});
}

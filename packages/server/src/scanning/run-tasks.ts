/** The loop of a scanner process: runs the tasks that it receives, one after another, each within its time limit. */
import { Worker } from 'node:worker_threads';
import { inBatches } from '../base/turns.ts';
import { ENDING, processorMilliseconds } from './limit.ts';
import type { Tasks } from './tasks.ts';
import type { WatchdogData } from './watchdog.ts';

export interface TaskRequest {
  name: keyof Tasks;
  task: unknown;
  /** The maximum processor time of the task, in milliseconds. */
  limitMilliseconds: number;
}

/**
 * A list, such as the segments of a text, is sent in parts, and `ended` follows the last one. Reading a list of a million
 * pieces at once would take half a second of the program's event loop.
 */
export type TaskAnswer =
  | { part: readonly unknown[] }
  | { ended: true }
  | { result: unknown }
  | { error: unknown };

function* inParts(answer: TaskAnswer): Generator<TaskAnswer> {
  const list = 'result' in answer && Array.isArray(answer.result) ? (answer.result as unknown[]) : undefined;
  if (list === undefined) yield answer;
  else {
    for (const part of inBatches(list, sizeOf)) yield { part };
    yield { ended: true };
  }
}

const sizeOf = (one: unknown): number => 1 + ((one as { pieces?: unknown[] }).pieces?.length ?? 0);

// The empty callback discards the error that occurs when the parent is dead.
const send = (answer: TaskAnswer): unknown => process.send!(answer, () => {});

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
    for (const one of inParts(answer)) send(one);
  });
  process.on('disconnect', () => process.exit());
  // A terminal or service manager sends these signals to all processes of the program. This process ignores them,
  // because the parent still needs it.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {});
}

/**
 * The watchdog thread of a scanner process. It kills the process when a task has used more processor time
 * than its limit, or when the parent is dead. The main thread cannot notice either condition while it runs a
 * task.
 */
import { workerData } from 'node:worker_threads';
import { ENDING, LIMIT_SIGNAL, processorMilliseconds } from './limit.ts';

export interface WatchdogData {
  /**
   * One number, shared with the main thread: the processor time, in milliseconds, at which the task exceeds
   * its limit. It is 0 while there is no task, and `ENDING` once this thread kills the process.
   */
  limit: Int32Array;
  /** The process id of the parent. */
  parent: number;
}

const INTERVAL_MILLISECONDS = 250;

const { limit, parent } = workerData as WatchdogData;
setInterval(() => {
  // The parent has died if this process now has another parent process.
  if (process.ppid !== parent) process.kill(process.pid, 'SIGKILL');
  const most = Atomics.load(limit, 0);
  if (most <= 0 || processorMilliseconds() <= most) return;
  // `compareExchange` does not return `most` when the task has just ended. Then the process is not killed.
  if (Atomics.compareExchange(limit, 0, most, ENDING) === most) process.kill(process.pid, LIMIT_SIGNAL);
}, INTERVAL_MILLISECONDS);

/**
 * Values that the threads of a scanner process and its parent process share to enforce the time limit of a
 * task.
 */

/**
 * The signal that kills a scanner process whose task exceeds its limit. The parent recognizes the cause by
 * this signal.
 */
export const LIMIT_SIGNAL = 'SIGVTALRM';

/**
 * The watchdog stores this value in place of the limit before it kills the process. The main thread then sends no
 * answer for the task.
 */
export const ENDING = -1;

/**
 * Returns the processor time that this process has used. Limits are in processor time, because on a busy machine any
 * task may wait long for the processor.
 */
export function processorMilliseconds(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

/** What the two threads of a scanner process and its parent must agree on about the time limit of a task. */

/** How a scanner process dies of a task that is over its limit. The parent tells it from an accident by this signal. */
export const LIMIT_SIGNAL = 'SIGVTALRM';

/** In place of a limit: the watchdog is ending the process. */
export const ENDING = -1;

/**
 * The processor time that this process has used. Limits are in processor time: on a busy machine a task waits for the
 * processor, which is no fault of its text.
 */
export function processorMilliseconds(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

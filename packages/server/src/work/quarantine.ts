/**
 * Quarantine of poison jobs. When a worker process dies, one of the rows that it had leased may be the cause. A row
 * that was claimed more than `trusted` times is a suspect. Few suspects run at a time, and a claim counts only when
 * its processing begins. A row that was claimed more than `trusted` + 1 times runs alone. So only the row that kills
 * its workers reaches the limit of claims.
 *
 * Measured without quarantine: after 60 kills, one second apart, 200 of 1,500 jobs had failed. When every suspect ran
 * alone, the last job was done 44 seconds after the last kill.
 */
import { setTimeout as wait } from 'node:timers/promises';
import type { Lease, LeaseQueue } from './queue.ts';

/** The maximum number of suspects that run at the same time. */
const AT_ONCE = 8;
/**
 * The maximum number of suspects that wait in this worker. Each waiting suspect occupies a place of the worker. So
 * further suspects are released and become due again after `BACK_SECONDS`. With at most 32 waiting suspects and a delay
 * of a quarter of a second, the worker spent its time on claiming and releasing.
 */
const MOST_WAITING = 64;
const BACK_SECONDS = 1;
/**
 * The time after which the next suspect starts even if the running one has not ended, because a suspect may
 * never end.
 */
const PATIENCE_MILLISECONDS = 60_000;

/**
 * Creates the quarantine of a worker.
 * @param trusted the number of claims that a row may have without being a suspect; it is not 0, because attempts fail
 * and workers stop for other reasons too
 * @returns a function that runs the `work` of a lease: at once, or after other suspects when the row is a suspect
 */
export function createQuarantine(
  queue: Pick<LeaseQueue, 'adjustAttempts' | 'release'>,
  trusted: number,
): (lease: Lease, lost: AbortSignal, work: () => Promise<void>) => Promise<void> {
  /**
   * The slots in which suspects run, one suspect at a time in each. A slot is a promise that resolves when
   * its last suspect is done.
   */
  const slots: Promise<unknown>[] = Array.from({ length: AT_ONCE }, () => Promise.resolve());
  let next = 0;
  let waiting = 0;
  return async (lease, lost, work) => {
    if (lease.attempts <= trusted) return work();
    if (waiting === MOST_WAITING) return queue.release([lease], BACK_SECONDS);
    waiting++;
    const uncounted = queue.adjustAttempts(lease, -1);
    // A row that must run alone takes all slots.
    const taken = lease.attempts > trusted + 1 ? [...slots.keys()] : [next++ % AT_ONCE];
    const turn = Promise.all(taken.map((slot) => slots[slot]));
    const done = Promise.all([turn, uncounted])
      .finally(() => waiting--)
      .then(async () => {
        if (lost.aborted) return;
        await queue.adjustAttempts(lease, 1);
        await work();
      });
    const over = done.catch(() => {}); // The caller of the returned function handles the error.
    const after = turn.then(() =>
      Promise.race([over, wait(PATIENCE_MILLISECONDS, undefined, { ref: false })]),
    );
    for (const slot of taken) slots[slot] = after;
    return done;
  };
}

/**
 * Quarantine of poison work. Each time a worker dies, one of the rows that it had leased may be the cause. A row that
 * was claimed more than `trusted` times is a suspect: a few suspects run at a time, and a claim counts only when its work
 * begins. A row that was counted once more runs alone. So the poison row is found, and its neighbours are not given up
 * with it. (Before: sixty kills a second apart gave up two hundred of fifteen hundred jobs. With every suspect alone, the
 * last job was done 44 seconds after the last kill.)
 */
import { setTimeout as wait } from 'node:timers/promises';
import type { Lease, LeaseQueue } from './queue.ts';

/** Suspects that run at a time. */
const AT_ONCE = 8;
/**
 * Suspects that wait in this worker. More are released, since each takes a place of other work, and for longer than the
 * others wait: with 32 and a quarter of a second the worker mostly claimed and released.
 */
const MOST_WAITING = 64;
const BACK_SECONDS = 1;
/** Nobody waits longer for a suspect: it may never end. */
const PATIENCE_MILLISECONDS = 60_000;

/**
 * @param trusted claims that may have ended in failed tries or in a stop of the worker
 * @returns runs `work` of a lease: at once, or in its turn where it is a suspect
 */
export function createQuarantine(
  queue: Pick<LeaseQueue, 'adjustAttempts' | 'release'>,
  trusted: number,
): (lease: Lease, lost: AbortSignal, work: () => Promise<void>) => Promise<void> {
  /** Each promise ends with the last suspect of its slot. */
  const slots: Promise<unknown>[] = Array.from({ length: AT_ONCE }, () => Promise.resolve());
  let next = 0;
  let waiting = 0;
  return async (lease, lost, work) => {
    if (lease.attempts <= trusted) return work();
    if (waiting === MOST_WAITING) return queue.release([lease], BACK_SECONDS);
    waiting++;
    const uncounted = queue.adjustAttempts(lease, -1);
    // Alone: in all slots.
    const taken = lease.attempts > trusted + 1 ? [...slots.keys()] : [next++ % AT_ONCE];
    const turn = Promise.all(taken.map((slot) => slots[slot]));
    const done = Promise.all([turn, uncounted])
      .finally(() => waiting--)
      .then(async () => {
        if (lost.aborted) return;
        await queue.adjustAttempts(lease, 1);
        await work();
      });
    const over = done.catch(() => {}); // the caller gets the error
    const after = turn.then(() =>
      Promise.race([over, wait(PATIENCE_MILLISECONDS, undefined, { ref: false })]),
    );
    for (const slot of taken) slots[slot] = after;
    return done;
  };
}

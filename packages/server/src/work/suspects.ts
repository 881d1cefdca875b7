/**
 * Work whose worker died each time: one of what it had in hand may be what kills it. After some claims such work is
 * begun one piece at a time, and only what is begun is counted. So what kills a worker is found out, and what was only
 * beside it is not given up with it. (Sixty kills a second apart, each sooner than an engine starts, gave up two hundred
 * jobs of fifteen hundred before.)
 */
import { setTimeout as wait } from 'node:timers/promises';
import type { Lease, Queue } from './queue.ts';

/** In hand behind the one at work; more are given back, since each takes the place of somebody else's work. */
const MOST_WAITING = 32;
const BACK_SECONDS = 0.25;
/** What takes longer is not waited for: it may never end. */
const PATIENCE_MILLISECONDS = 60_000;

/**
 * @param trusted claims that may have ended in tries that failed, or in a stop
 * @returns what runs the work of a lease, by itself where it is a suspect, and counts its claim when it begins
 */
export function createSuspects(
  queue: Pick<Queue, 'recount' | 'release'>,
  trusted: number,
): (lease: Lease, lost: AbortSignal, work: () => Promise<void>) => Promise<void> {
  /** Ends with the last that was let in. */
  let before: Promise<unknown> = Promise.resolve();
  let waiting = 0;
  return async (lease, lost, work) => {
    if (lease.attempts <= trusted) return work();
    if (waiting === MOST_WAITING) return queue.release([lease], BACK_SECONDS);
    waiting++;
    const uncounted = queue.recount(lease, -1);
    const turn = before;
    const done = Promise.all([turn, uncounted])
      .finally(() => waiting--)
      .then(async () => {
        if (lost.aborted) return;
        await queue.recount(lease, 1);
        await work();
      });
    const over = done.catch(() => {}); // its own caller is told
    before = turn.then(() => Promise.race([over, wait(PATIENCE_MILLISECONDS, undefined, { ref: false })]));
    return done;
  };
}

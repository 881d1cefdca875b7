/**
 * Work whose worker died each time: one of what it had in hand may be what kills it. After some claims such work is begun
 * a few pieces at a time, and only what is begun is counted; what was counted so is begun by itself. So what kills a
 * worker is found out, and what was only beside it is not given up with it: it is beside it once. (Sixty kills a second
 * apart, each sooner than an engine starts, gave up two hundred jobs of fifteen hundred before. With all of them by
 * themselves the last was done 44 seconds after the last kill.)
 */
import { setTimeout as wait } from 'node:timers/promises';
import type { Lease, Queue } from './queue.ts';

/** Begun at a time of what was not counted yet as one of a few. */
const AT_ONCE = 8;
/**
 * In hand behind those at work; more are given back, since each takes the place of somebody else’s work. They last
 * longer than the others stay away; with 32 and a quarter of a second, claiming and giving back was most of what it did.
 */
const MOST_WAITING = 64;
const BACK_SECONDS = 1;
/** What takes longer is not waited for: it may never end. */
const PATIENCE_MILLISECONDS = 60_000;

/**
 * @param trusted claims that may have ended in tries that failed, or in a stop
 * @returns what runs the work of a lease, in its turn where it is a suspect, and counts its claim when it begins
 */
export function createSuspects(
  queue: Pick<Queue, 'recount' | 'release'>,
  trusted: number,
): (lease: Lease, lost: AbortSignal, work: () => Promise<void>) => Promise<void> {
  /** Each ends with the last that was let into it. */
  const lines: Promise<unknown>[] = Array.from({ length: AT_ONCE }, () => Promise.resolve());
  let next = 0;
  let waiting = 0;
  return async (lease, lost, work) => {
    if (lease.attempts <= trusted) return work();
    if (waiting === MOST_WAITING) return queue.release([lease], BACK_SECONDS);
    waiting++;
    const uncounted = queue.recount(lease, -1);
    // By itself: in all lines.
    const taken = lease.attempts > trusted + 1 ? [...lines.keys()] : [next++ % AT_ONCE];
    const turn = Promise.all(taken.map((line) => lines[line]));
    const done = Promise.all([turn, uncounted])
      .finally(() => waiting--)
      .then(async () => {
        if (lost.aborted) return;
        await queue.recount(lease, 1);
        await work();
      });
    const over = done.catch(() => {}); // its own caller is told
    const after = turn.then(() =>
      Promise.race([over, wait(PATIENCE_MILLISECONDS, undefined, { ref: false })]),
    );
    for (const line of taken) lines[line] = after;
    return done;
  };
}

/**
 * Work whose worker died each time: one of what it had in hand may be what kills it. From some claims on such work is
 * begun one piece at a time, and only what is begun is counted. So what kills a worker is found out, and what was only
 * beside it is not given up with it. (Sixty kills a second apart, each sooner than an engine starts, gave up two hundred
 * jobs of fifteen hundred before.)
 */
import type { Lease, Queue } from './queue.ts';

/** Claims that may have ended in a stop or in a machine's trouble. */
const TRUSTED_CLAIMS = 3;

/** @returns what runs the work of a lease, by itself where it is a suspect, and counts its claim when it begins */
export function createSuspects(
  queue: Pick<Queue, 'recount'>,
): (lease: Lease, lost: AbortSignal, work: () => Promise<void>) => Promise<void> {
  let before: Promise<unknown> = Promise.resolve();
  return async (lease, lost, work) => {
    if (lease.attempts <= TRUSTED_CLAIMS) return work();
    await queue.recount(lease, -1);
    const begun = before.then(async () => {
      if (lost.aborted) return;
      await queue.recount(lease, 1);
      await work();
    });
    before = begun.catch(() => {}); // its own caller is told
    return begun;
  };
}

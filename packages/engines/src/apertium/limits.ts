/** Times and sizes a pipeline is held to. Given as one value so that tests can make them short. */

import type { BreakerLimits } from '../breaker.ts';

export interface Limits extends BreakerLimits {
  /** Segments sent and not yet answered. */
  window: number;
  /** No more are sent until fewer than this are in flight: several at once cost one write and one wake-up. */
  refill: number;
  /** UTF-16 units of stream in flight; one segment alone may be longer. */
  windowLength: number;
  /** How long the first unanswered segment may take, in ms; `length` is its stream's. */
  deadlineMs: (length: number) => number;
  /** The same for each sentence of the warm-up, when the dictionaries are still being loaded. */
  startMs: number;
  /** After a stage died: how long the stages behind it may take to hand over what they hold. */
  drainMs: number;
  /** Without work for so long, the processes are stopped. */
  idleMs: number;
}

/**
 * From our measurements: a window of 8 keeps the wait behind others short; the bulk lane's is wider. 10 s plus 1 s per 1,000 characters is far above any honest segment.
 */
export const LIMITS: Limits = {
  window: 8,
  refill: 8,
  windowLength: 64 * 1024,
  deadlineMs: (length) => 10_000 + length,
  startMs: 30_000,
  drainMs: 1_000,
  loopCount: 3,
  loopMs: 60_000,
  firstClosedMs: 1_000,
  closedMs: 300_000,
  idleMs: 600_000,
};

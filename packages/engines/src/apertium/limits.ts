/** Time and size limits of a pipeline. Tests shorten them. */

import type { BreakerLimits } from '../breaker.ts';

export interface Limits extends BreakerLimits {
  /** Segments sent and not yet answered. */
  window: number;
  /** More are sent only when fewer than this are in flight: several at once cost one write and one wake-up. */
  refill: number;
  /** UTF-16 units of stream in flight; a single segment may be longer. */
  windowLength: number;
  /** How long the first unanswered segment may take, in ms; `length` is the length of its stream. */
  deadlineMs: (length: number) => number;
  /** The same for a sentence of the warm-up, while dictionaries are loaded. */
  startMs: number;
  /** After a stage died: how long the stages behind it may take to output what they hold. */
  drainMs: number;
  /** Idle time after which the processes are stopped. */
  idleMs: number;
}

/**
 * A window of 8 keeps the wait behind other requests short; the bulk lane's is wider. By measurement, every normal
 * segment takes far less than 10 s plus 1 s per 1,000 characters.
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
  firstOpenMs: 1_000,
  maxOpenMs: 300_000,
  idleMs: 600_000,
};

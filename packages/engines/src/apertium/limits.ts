/** Time and size limits of a pipeline. Tests use shorter ones. */

import type { BreakerLimits } from '../breaker.ts';

export interface Limits extends BreakerLimits {
  /** Maximum number of segments that are sent but not yet answered. */
  window: number;
  /**
   * More segments are sent only when fewer than this are in flight, because several at once cost one write
   * and one wake-up.
   */
  refill: number;
  /** Maximum UTF-16 units of stream in flight. A single segment may be longer. */
  windowLength: number;
  /** Time limit of the first unanswered segment in ms; `length` is the length of its stream. */
  deadlineMs: (length: number) => number;
  /** Time limit of a warm-up sentence in ms, while the dictionaries are loaded. */
  startMs: number;
  /** Time in which the stages behind a dead stage may output the rest of their data. */
  drainMs: number;
  /** Idle time after which the processes are stopped. */
  idleMs: number;
}

/**
 * Limits of both lanes. A window of 8 keeps the wait behind other requests short; the bulk lane has a wider
 * one. By measurement, every normal segment takes far less than 10 s plus 1 s per 1,000 characters.
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

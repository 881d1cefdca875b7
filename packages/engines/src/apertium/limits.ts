/** Time and size limits of a pipeline. Tests use shorter times. */

import type { BreakerLimits } from '../breaker.ts';

export interface Limits extends BreakerLimits {
  /** Maximum number of segments that are sent but not yet answered. */
  window: number;
  /**
   * More segments are sent only when fewer than this number are in flight. Several segments at once cost one
   * write and one wake-up.
   */
  refill: number;
  /** Maximum length of the stream in flight, in UTF-16 units. A single segment may be longer. */
  windowLength: number;
  /** Time limit of the first unanswered segment in ms; `length` is the length of its stream. */
  deadlineMs: (length: number) => number;
  /** Time limit in ms for a warm-up sentence, during which the dictionaries are loaded. */
  startMs: number;
  /** Time in ms in which the stages behind a dead stage may output the rest of their data. */
  drainMs: number;
  /** Idle time in ms after which the processes are stopped. */
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

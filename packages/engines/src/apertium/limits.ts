/** Time and size limits of a pipeline. Tests use shorter times. */

import type { BreakerLimits } from '../breaker.ts';

export interface Limits extends BreakerLimits {
  /** Maximum number of segments that are sent but not yet answered. */
  window: number;
  /**
   * When fewer segments than this are in flight, more segments are sent at once. Sending several segments at once
   * needs only one write and wakes each stage only once.
   */
  refill: number;
  /** Maximum length of the stream in flight, in UTF-16 code units. A single segment may be longer. */
  windowLength: number;
  /**
   * Time limit in ms for the answer to the first unanswered segment; `length` is the length of the segment's
   * stream.
   */
  deadlineMs: (length: number) => number;
  /** Time limit in ms for a warm-up sentence, during which the dictionaries are loaded. */
  startMs: number;
  /**
   * After a stage has died, the time in ms in which the stages behind it may output the rest of their data.
   */
  drainMs: number;
  /** Idle time in ms after which the processes are stopped. */
  idleMs: number;
}

/**
 * Limits of both lanes; the bulk lane has a larger `window`. With at most 8 segments in flight, a new segment waits for
 * few others. In measurements, every normal segment took far less time than the deadline of 10 s plus 1 s per 1,000
 * characters.
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

/**
 * Decides when a delivery is attempted again. The functions are pure: time and randomness are arguments.
 *
 *   answered 2xx                        → delivered
 *   anything else, a test of a URL      → dead, `test failed`
 *   answered 410                        → dead, `gone` (Standard Webhooks: the receiver wants no more)
 *   anything else, attempted on request → retry at the time that was scheduled before
 *   anything else, time left            → retry
 *   anything else, no time left         → dead, `out of time`
 *
 * Redirects are not followed but retried, because the receiver may still be repaired. A refused address is
 * retried too: a name that resolves to a private address may be a temporary DNS fault or a setting that is
 * being repaired, and a retry checks again without connecting.
 */
import type { PostOutcome } from './post.ts';
import { LIFETIME_SECONDS } from './retry-after.ts';

/**
 * The maximum random share of a delay, added or subtracted, so that deliveries that failed at the same time are
 * not retried at the same time.
 */
export const JITTER = 0.15;

/** The header of a sandbox delivery that names its trigger. */
export const TRIGGER_HEADER = 'sandbox-trigger';

/** The header of a test of a URL, which a user sends in the web app. Such a delivery is attempted once. */
export const TEST_HEADER = 'webhook-test';
/** The failure of such a test. */
export const TEST_FAILED = 'test failed';

/** Seconds until a delivery with the trigger `twice` is sent again. */
const REPEAT_SECONDS = 1;

export interface NextAttemptIn {
  /** The number of attempts made so far, including this one; at least 1. */
  attempts: number;
  /** Seconds between attempts; the last value repeats. The default schedule is in the settings. */
  scheduleSeconds: readonly number[];
  outcome: PostOutcome;
  /** The start of the 72 hours: the time at which the delivery was created or replayed. */
  createdAt: Date;
  /** The time of the next scheduled attempt, if this attempt was requested before it. */
  scheduledAt?: Date | null;
  /** The time at which the outcome of the attempt was known. */
  now: Date;
  /** The source of randomness: returns a number in [0, 1). */
  random: () => number;
  /** Whether the delivery is sent once more after its first success, as the trigger `twice` asks. */
  twice?: boolean;
  /** Whether the delivery is attempted only once, because a user tests a URL. */
  once?: boolean;
}

export type NextAttempt =
  | { kind: 'delivered' }
  | { kind: 'retry'; at: Date }
  | { kind: 'dead'; reason: 'gone' | 'out of time' | typeof TEST_FAILED };

/**
 * Decides what follows an attempt. The time `at` of a retry is after `now` and within the 72 hours.
 * `Retry-After` can lengthen the delay up to the schedule's longest step and the end of the 72 hours.
 * `Retry-After` never makes a delivery dead, because a receiver that names a distant date is often back in an
 * hour. A delivery is dead when its schedule alone has no time left.
 * @throws RangeError for an empty or unordered schedule or an attempt number below 1
 */
export function nextAttempt(input: NextAttemptIn): NextAttempt {
  const { attempts, scheduleSeconds, outcome, createdAt, now, random } = input;
  if (outcome.kind === 'answered') {
    if (outcome.status >= 200 && outcome.status < 300) {
      if (!input.twice || attempts > 1) return { kind: 'delivered' };
      return { kind: 'retry', at: new Date(now.getTime() + REPEAT_SECONDS * 1000) };
    }
    if (outcome.status === 410 && !input.once) return { kind: 'dead', reason: 'gone' };
  }
  if (input.once) return { kind: 'dead', reason: TEST_FAILED };
  if (input.scheduledAt && input.scheduledAt > now) return { kind: 'retry', at: input.scheduledAt };
  const base = scheduleSeconds[Math.min(attempts, scheduleSeconds.length) - 1];
  if (!Number.isSafeInteger(attempts) || base === undefined || !(base > 0)) {
    throw new RangeError('needs an attempt number from 1 and a schedule of positive seconds');
  }
  const retryAfter = outcome.kind === 'answered' ? (outcome.retryAfterSeconds ?? 0) : 0;
  const jittered = base * (1 - JITTER + 2 * JITTER * random());
  const scheduled = now.getTime() + Math.ceil(jittered * 1000);
  const end = createdAt.getTime() + LIFETIME_SECONDS * 1000;
  if (scheduled > end) return { kind: 'dead', reason: 'out of time' };
  const requested = now.getTime() + Math.ceil(Math.min(retryAfter, Math.max(...scheduleSeconds)) * 1000);
  return { kind: 'retry', at: new Date(Math.max(scheduled, Math.min(requested, end))) };
}

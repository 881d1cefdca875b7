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

/** The seconds during which a delivery is attempted: 72 hours. */
export const LIFETIME_SECONDS = 259_200;

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

/**
 * Reads `Retry-After` (RFC 9110 §10.2.3) as whole seconds from `now`, rounded up. A date in the past is 0;
 * values above 72 hours become 72 hours. Returns undefined for any other text.
 */
export function readRetryAfter(value: string, now: Date): number | undefined {
  const text = value.trim();
  if (/^\d+$/.test(text)) return Math.min(Number(text), LIFETIME_SECONDS);
  const date = readHttpDate(text, now);
  if (date === undefined) return undefined;
  return Math.min(Math.max(0, Math.ceil((date - now.getTime()) / 1000)), LIFETIME_SECONDS);
}

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
const TIME = String.raw`(?<h>\d{2}):(?<m>\d{2}):(?<s>\d{2})`;
/** The three date forms of RFC 9110 §5.6.7: IMF-fixdate, and the obsolete RFC 850 and asctime, in GMT. */
const HTTP_DATES = [
  new RegExp(String.raw`^[A-Z][a-z]{2}, (?<day>\d{2}) (?<month>[A-Z][a-z]{2}) (?<year>\d{4}) ${TIME} GMT$`),
  new RegExp(String.raw`^[A-Z][a-z]{5,8}, (?<day>\d{2})-(?<month>[A-Z][a-z]{2})-(?<year>\d{2}) ${TIME} GMT$`),
  new RegExp(String.raw`^[A-Z][a-z]{2} (?<month>[A-Z][a-z]{2}) (?<day>[ \d]\d) ${TIME} (?<year>\d{4})$`),
];

/** Returns Unix milliseconds. `Date.parse` is not used, because it also reads `-5` and `1.5` as dates. */
function readHttpDate(text: string, now: Date): number | undefined {
  const parts = HTTP_DATES.map((form) => form.exec(text)?.groups).find((groups) => groups !== undefined);
  if (parts === undefined) return undefined;
  const { day, month, year, h, m, s } = parts;
  const monthIndex = MONTHS.indexOf(month ?? '');
  let fullYear = Number(year);
  // A two-digit year more than 50 years ahead belongs to the previous century (RFC 9110 §5.6.7).
  if (year?.length === 2) {
    fullYear += Math.floor(now.getUTCFullYear() / 100) * 100;
    if (fullYear > now.getUTCFullYear() + 50) fullYear -= 100;
  }
  if (monthIndex < 0 || Number(day) < 1 || Number(day) > 31) return undefined;
  if (Number(h) > 23 || Number(m) > 59 || Number(s) > 60) return undefined;
  return Date.UTC(fullYear, monthIndex, Number(day), Number(h), Number(m), Number(s));
}

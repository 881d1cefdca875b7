/**
 * The circuit breaker of a host. Each account has its own circuit breaker for a host, because accounts choose
 * their URLs: no account can block a host for other accounts. The breaker is a database row, so that all
 * workers share it and it survives restarts.
 *
 *   closed      fewer than `OPENING_FAILURES` in a row   sends; each failure halves the number that is sent at a time
 *   open        `open_until` is in the future            sends nothing; due deliveries wait and use up no attempt
 *   half open   `open_until` has passed                  sends one delivery: success closes it, failure opens it for longer
 */
import type { PostOutcome } from './post.ts';

/** The breaker opens after this many consecutive failures of an account's deliveries to a host. */
export const OPENING_FAILURES = 5;

/**
 * Returns whether an outcome shows a failing host. Any status except 429 and 5xx shows that the host is alive,
 * even if it refuses this delivery.
 */
export function hostSignal(outcome: PostOutcome): 'alive' | 'failing' {
  if (outcome.kind === 'failed') return 'failing';
  return outcome.status === 429 || outcome.status >= 500 ? 'failing' : 'alive';
}

/**
 * Returns how many deliveries may be sent to a host at a time. Each consecutive failure halves the number.
 */
export function limitAfter(failures: number, most: number): number {
  return Math.max(1, Math.floor(most / 2 ** failures));
}

export const isOpening = (failures: number): boolean => failures >= OPENING_FAILURES;

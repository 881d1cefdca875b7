/**
 * The circuit breaker of a host, one per account. It is a row of the database, so that all workers share it and it
 * survives restarts.
 *
 *   closed      fewer than `OPENING_FAILURES` in a row   sends, with fewer slots after each failure
 *   open        `open_until` is in the future            sends nothing; due deliveries wait and use up no attempt
 *   half open   `open_until` has passed                  sends one; the outcome closes it or opens it for longer
 *
 * The breaker belongs to an account because the account chooses the URLs: no account can block a host for others.
 */
import type { PostOutcome } from './post.ts';

/** Consecutive failures of an account's deliveries to a host. */
export const OPENING_FAILURES = 5;

/**
 * Returns what an outcome says about the host. Any answer except 429 and 5xx shows that it is alive, even if it refuses
 * this delivery.
 */
export function hostSignal(outcome: PostOutcome): 'alive' | 'failing' {
  if (outcome.kind === 'failed') return 'failing';
  return outcome.status === 429 || outcome.status >= 500 ? 'failing' : 'alive';
}

/** Returns how many deliveries to a host may be sent at a time after consecutive failures; each failure halves it. */
export function limitAfter(failures: number, most: number): number {
  return Math.max(1, Math.floor(most / 2 ** failures));
}

export const isOpening = (failures: number): boolean => failures >= OPENING_FAILURES;

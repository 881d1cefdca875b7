/**
 * The breaker of a host, one for each account: what is known of a host that an account's deliveries failed at. It is
 * a row, so that a restart or a second worker knows it too.
 *
 *   closed      fewer than `OPENING_FAILURES` in a row       sends, fewer at a time with each failure
 *   open        `open_until` in the future                   sends nothing; what is due waits, no attempt is used up
 *   half open   `open_until` has passed                      sends one; its outcome closes the breaker or opens it
 *                                                            again, for longer
 *
 * An account's own, for it is the account that chooses the addresses: nobody can shut a host to others.
 */
import type { Outcome } from './post.ts';

/** Failures in a row, over all deliveries of the account to the host. */
export const OPENING_FAILURES = 5;

/**
 * What an outcome says of the host, apart from its delivery. Any answer but 429 and 5xx is a sign of life; it may
 * well refuse this one delivery.
 */
export function signOf(outcome: Outcome): 'life' | 'trouble' {
  if (outcome.kind === 'failed') return 'trouble';
  return outcome.status === 429 || outcome.status >= 500 ? 'trouble' : 'life';
}

/** How many deliveries may be under way to a host at a time, after so many failures in a row: half as many with each. */
export function limitAfter(failures: number, most: number): number {
  return Math.max(1, Math.floor(most / 2 ** failures));
}

export const isOpening = (failures: number): boolean => failures >= OPENING_FAILURES;

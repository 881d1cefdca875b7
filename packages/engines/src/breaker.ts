/**
 * A circuit breaker with exponential backoff, for an engine that cannot start or a service that does not answer: it
 * stops calls for 1 s, then 2 s, 4 s, up to `maxOpenMs`. One success resets it. A short burst of failures from outside
 * (out of memory, restarted services) therefore stops calls only for seconds.
 */

export interface BreakerLimits {
  /** Failures within `loopMs`, without a success in between, after which it opens for the first time. */
  loopCount: number;
  loopMs: number;
  /** How long it is open the first time. Each further failure doubles the time. */
  firstOpenMs: number;
  /** The longest time for which it is open. */
  maxOpenMs: number;
}

export class Breaker {
  readonly #limits: BreakerLimits;
  readonly #now: () => number;
  #failures: number[] = [];
  /** How long it was open last; 0 before the first time. */
  #openMs = 0;
  #openUntil = 0;

  constructor(limits: BreakerLimits, now: () => number = () => performance.now()) {
    this.#limits = limits;
    this.#now = now;
  }

  /** Whether calls are stopped. */
  get isOpen(): boolean {
    return this.#now() < this.#openUntil;
  }

  /** Milliseconds until calls are allowed again; 0 if they are. */
  get remainingMs(): number {
    return Math.max(0, this.#openUntil - this.#now());
  }

  failed(): void {
    const now = this.#now();
    // Calls that were in flight when it opened fail for the same reason and do not count.
    if (now < this.#openUntil) return;
    const { loopCount, loopMs, firstOpenMs, maxOpenMs } = this.#limits;
    this.#failures = [...this.#failures.filter((at) => now - at < loopMs), now];
    if (this.#openMs === 0 && this.#failures.length < loopCount) return;
    this.#failures = [];
    this.#openMs = Math.min(maxOpenMs, this.#openMs === 0 ? firstOpenMs : this.#openMs * 2);
    this.#openUntil = now + this.#openMs;
  }

  succeeded(): void {
    this.#failures = [];
    this.#openMs = 0;
    this.#openUntil = 0;
  }
}

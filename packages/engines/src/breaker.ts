/**
 * A circuit breaker with exponential backoff, for an engine that cannot start or a service that does not answer. It stops
 * calls for 1 s, then 2 s, 4 s, and so on up to `maxOpenMs`. One success resets it. So a short burst of failures with an
 * outside cause (out of memory, restarted services) stops calls only for seconds.
 */

export interface BreakerLimits {
  /**
   * Number of failures within `loopMs`, without a success in between, that open the breaker for the first
   * time.
   */
  loopCount: number;
  loopMs: number;
  /** Time for which the breaker is open the first time. Each failure after that doubles the time. */
  firstOpenMs: number;
  /** The longest time for which the breaker stays open. */
  maxOpenMs: number;
}

export class Breaker {
  readonly #limits: BreakerLimits;
  readonly #now: () => number;
  #failures: number[] = [];
  /** Duration of the latest period in which the breaker was open; 0 before the first one. */
  #openMs = 0;
  #openUntil = 0;

  constructor(limits: BreakerLimits, now: () => number = () => performance.now()) {
    this.#limits = limits;
    this.#now = now;
  }

  get isOpen(): boolean {
    return this.#now() < this.#openUntil;
  }

  /** Milliseconds until the breaker allows calls again; 0 if it allows them now. */
  get remainingMs(): number {
    return Math.max(0, this.#openUntil - this.#now());
  }

  failed(): void {
    const now = this.#now();
    // Calls that were in flight when the breaker opened fail for the same reason, so their failures do not count.
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

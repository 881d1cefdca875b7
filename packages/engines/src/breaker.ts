/**
 * Closes what cannot even start, or a service that does not answer, for a while that grows: 1 s after the first
 * closing, then 2 s, 4 s, up to `closedMs`. One success forgets everything. So a storm of kills from outside (memory
 * running out, a restart of the machine's services) closes for seconds, and only what stays broken for minutes is
 * left alone for minutes.
 */

export interface BreakerLimits {
  /** So many failures within `loopMs`, without a success between them, close for the first time. */
  loopCount: number;
  loopMs: number;
  /** The first closing; each further failure doubles it. */
  firstClosedMs: number;
  /** The longest. */
  closedMs: number;
}

export class Breaker {
  readonly #limits: BreakerLimits;
  readonly #now: () => number;
  #failures: number[] = [];
  /** How long the last closing was; 0 before the first. */
  #closedMs = 0;
  #closedUntil = 0;

  constructor(limits: BreakerLimits, now: () => number = () => performance.now()) {
    this.#limits = limits;
    this.#now = now;
  }

  get closed(): boolean {
    return this.#now() < this.#closedUntil;
  }

  /** Ms until it opens again; 0 when it is open. */
  get remainingMs(): number {
    return Math.max(0, this.#closedUntil - this.#now());
  }

  failed(): void {
    const now = this.#now();
    // What was in flight when it closed, and failed of the same cause, is not another trial.
    if (now < this.#closedUntil) return;
    const { loopCount, loopMs, firstClosedMs, closedMs } = this.#limits;
    this.#failures = [...this.#failures.filter((at) => now - at < loopMs), now];
    if (this.#closedMs === 0 && this.#failures.length < loopCount) return;
    this.#failures = [];
    this.#closedMs = Math.min(closedMs, this.#closedMs === 0 ? firstClosedMs : this.#closedMs * 2);
    this.#closedUntil = now + this.#closedMs;
  }

  succeeded(): void {
    this.#failures = [];
    this.#closedMs = 0;
    this.#closedUntil = 0;
  }
}

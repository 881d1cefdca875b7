/** Closes a pipeline that cannot even start: so many failed starts within a while, and it is left alone for a while. */
export class Breaker {
  readonly #count: number;
  readonly #withinMs: number;
  readonly #closedMs: number;
  #failures: number[] = [];
  #closedUntil = 0;

  constructor(limits: { loopCount: number; loopMs: number; closedMs: number }) {
    this.#count = limits.loopCount;
    this.#withinMs = limits.loopMs;
    this.#closedMs = limits.closedMs;
  }

  get closed(): boolean {
    return performance.now() < this.#closedUntil;
  }

  failedStart(): void {
    const now = performance.now();
    this.#failures = [...this.#failures.filter((at) => now - at < this.#withinMs), now];
    if (this.#failures.length < this.#count) return;
    this.#failures = [];
    this.#closedUntil = now + this.#closedMs;
  }
}

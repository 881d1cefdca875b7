/**
 * Which pipelines may have processes (or threads) at the moment. Each costs 32 to 636 MB, so their sum is capped: a
 * newcomer takes the room of those longest without work; when all are busy it waits, and one that has had its turn gives way as soon
 * as what it has in flight is answered. The live lane goes before the bulk lane.
 */

/** A pipeline, as seen by who gives the room. */
export interface Tenant {
  readonly megabytes: number;
  /** Somebody waits for its answers. */
  readonly urgent: boolean;
  readonly busy: boolean;
  /** When it last had work, and when it last started; ms of `performance.now()`. */
  readonly lastUsed: number;
  readonly startedAt: number;
  start(): void;
  /** Gives its room back, if it has no work. */
  rest(): void;
}

/** Decides which tenants may have room. */
export interface Gate {
  /** Calls `tenant.start()` now or when there is room. */
  ask(tenant: Tenant): void;
  leave(tenant: Tenant): void;
  idle(tenant: Tenant): void;
  /** Could it start now without another's giving way? */
  hasRoom(tenant: Tenant): boolean;
  /** Should this one hand its room to one that waits? */
  wanted(tenant: Tenant): boolean;
}

export class Residency implements Gate {
  readonly #maxMegabytes: number;
  readonly #turnMs: number;
  readonly #inside = new Set<Tenant>();
  #waiting: Tenant[] = [];

  /**
   * @param maxMegabytes a pipeline larger than this runs alone
   * @param turnMs how long a busy pipeline keeps its room while others wait
   */
  constructor(maxMegabytes: number, turnMs: number) {
    this.#maxMegabytes = maxMegabytes;
    this.#turnMs = turnMs;
  }

  get megabytes(): number {
    return [...this.#inside].reduce((sum, each) => sum + each.megabytes, 0);
  }

  get count(): number {
    return this.#inside.size;
  }

  ask(tenant: Tenant): void {
    if (tenant.urgent) {
      const at = this.#waiting.findIndex((each) => !each.urgent);
      this.#waiting.splice(at < 0 ? this.#waiting.length : at, 0, tenant);
    } else this.#waiting.push(tenant);
    this.#admit();
  }

  leave(tenant: Tenant): void {
    this.#waiting = this.#waiting.filter((each) => each !== tenant);
    if (this.#inside.delete(tenant)) this.#admit();
  }

  idle(_tenant: Tenant): void {
    this.#admit();
  }

  hasRoom(tenant: Tenant): boolean {
    return this.#waiting.length === 0 && this.megabytes + tenant.megabytes <= this.#maxMegabytes;
  }

  wanted(tenant: Tenant): boolean {
    return this.#waiting.length > 0 && performance.now() - tenant.startedAt >= this.#turnMs;
  }

  #admit(): void {
    for (let next = this.#waiting[0]; next !== undefined; next = this.#waiting[0]) {
      const need = this.megabytes + next.megabytes - this.#maxMegabytes;
      if (need > 0 && this.#inside.size > 0) {
        const idle = [...this.#inside].filter((each) => !each.busy).sort((a, b) => a.lastUsed - b.lastUsed);
        // rest() comes back here through leave().
        idle[0]?.rest();
        return;
      }
      this.#waiting.shift();
      this.#inside.add(next);
      next.start();
    }
  }
}

/**
 * Limits the memory of all resident pipelines (or threads) of an engine. Each takes 32 to 636 MB. A new
 * pipeline replaces the pipeline that has been idle for longest. If all are busy, the new one waits until
 * another has used up its time slice and answered its segments in flight. The interactive lane comes before
 * the bulk lane.
 */

/** A pipeline or thread that needs memory. */
export interface MemoryUser {
  readonly megabytes: number;
  /** Whether the pipeline or thread serves the interactive lane. */
  readonly urgent: boolean;
  readonly busy: boolean;
  /** The times at which the pipeline or thread last had work and last started, by `performance.now()`. */
  readonly lastUsed: number;
  readonly startedAt: number;
  start(): void;
  /** Stops the pipeline or thread, which releases its memory, if it has no work. */
  stopIfIdle(): void;
}

/** Decides which pipelines or threads get memory. */
export interface MemoryGate {
  /** Calls `user.start()` at once if memory is free, otherwise as soon as it is. */
  request(user: MemoryUser): void;
  release(user: MemoryUser): void;
  notifyIdle(): void;
  /** Whether `user` could start now without stopping another pipeline or thread. */
  hasSpace(user: MemoryUser): boolean;
  /** Whether `user` has used up its time slice while another pipeline or thread waits for memory. */
  shouldYield(user: MemoryUser): boolean;
}

export class MemoryBudget implements MemoryGate {
  readonly #maxMegabytes: number;
  readonly #turnMs: number;
  readonly #resident = new Set<MemoryUser>();
  #waiting: MemoryUser[] = [];

  /**
   * Creates the budget of one engine.
   * @param maxMegabytes memory limit of all pipelines or threads together; a pipeline or thread that needs
   * more than this runs alone
   * @param turnMs time slice: how long a busy pipeline or thread keeps its memory while another one waits for
   * memory
   */
  constructor(maxMegabytes: number, turnMs: number) {
    this.#maxMegabytes = maxMegabytes;
    this.#turnMs = turnMs;
  }

  get megabytes(): number {
    return [...this.#resident].reduce((sum, each) => sum + each.megabytes, 0);
  }

  get count(): number {
    return this.#resident.size;
  }

  request(user: MemoryUser): void {
    if (user.urgent) {
      const at = this.#waiting.findIndex((each) => !each.urgent);
      this.#waiting.splice(at < 0 ? this.#waiting.length : at, 0, user);
    } else this.#waiting.push(user);
    this.#admit();
  }

  release(user: MemoryUser): void {
    this.#waiting = this.#waiting.filter((each) => each !== user);
    if (this.#resident.delete(user)) this.#admit();
  }

  notifyIdle(): void {
    this.#admit();
  }

  hasSpace(user: MemoryUser): boolean {
    return this.#waiting.length === 0 && this.megabytes + user.megabytes <= this.#maxMegabytes;
  }

  shouldYield(user: MemoryUser): boolean {
    return this.#waiting.length > 0 && performance.now() - user.startedAt >= this.#turnMs;
  }

  #admit(): void {
    for (let next = this.#waiting[0]; next !== undefined; next = this.#waiting[0]) {
      const need = this.megabytes + next.megabytes - this.#maxMegabytes;
      if (need > 0 && this.#resident.size > 0) {
        const idle = [...this.#resident].filter((each) => !each.busy).sort((a, b) => a.lastUsed - b.lastUsed);
        // stopIfIdle() calls release(), and release() calls this function again.
        idle[0]?.stopIfIdle();
        return;
      }
      this.#waiting.shift();
      this.#resident.add(next);
      next.start();
    }
  }
}

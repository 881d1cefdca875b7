/**
 * Limits the memory of all resident pipelines (or threads) of an engine. Each takes 32 to 636 MB. A new pipeline
 * replaces the one idle for longest. If all are busy it waits until one that has used up its time slice has
 * answered what it has in flight. The interactive lane comes before the bulk lane.
 */

/** A pipeline or thread that needs memory. */
export interface MemoryUser {
  readonly megabytes: number;
  /** It serves the interactive lane. */
  readonly urgent: boolean;
  readonly busy: boolean;
  /** When it last had work and when it last started, by `performance.now()`. */
  readonly lastUsed: number;
  readonly startedAt: number;
  start(): void;
  /** Releases its memory, if it has no work. */
  stopIfIdle(): void;
}

/** Decides which pipelines may have memory. */
export interface MemoryGate {
  /** Calls `user.start()` now or when there is memory. */
  request(user: MemoryUser): void;
  release(user: MemoryUser): void;
  notifyIdle(): void;
  /** Whether the user could start now without another's stopping. */
  hasSpace(user: MemoryUser): boolean;
  /** Whether the user has used up its time slice and another waits for memory. */
  shouldYield(user: MemoryUser): boolean;
}

export class MemoryBudget implements MemoryGate {
  readonly #maxMegabytes: number;
  readonly #turnMs: number;
  readonly #resident = new Set<MemoryUser>();
  #waiting: MemoryUser[] = [];

  /**
   * @param maxMegabytes limit of the sum; a larger pipeline runs alone
   * @param turnMs time slice: how long a busy pipeline keeps its memory while others wait
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
        // stopIfIdle() calls release(), which calls this function again.
        idle[0]?.stopIfIdle();
        return;
      }
      this.#waiting.shift();
      this.#resident.add(next);
      next.start();
    }
  }
}

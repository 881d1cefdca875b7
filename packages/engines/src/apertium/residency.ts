/**
 * Which pipelines may have processes at the moment. Each costs 45 to 636 MB, so their sum is capped: a newcomer takes
 * the room of those longest without work; when all are busy it waits, and one that has had its turn gives way as soon
 * as what it has in flight is answered. The live lane goes before the bulk lane.
 */

import type { Gate, Pipeline } from './pipeline.ts';

export class Residency implements Gate {
  readonly #maxMegabytes: number;
  readonly #turnMs: number;
  readonly #inside = new Set<Pipeline>();
  #waiting: Pipeline[] = [];

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

  ask(pipeline: Pipeline): void {
    if (pipeline.urgent) {
      const at = this.#waiting.findIndex((each) => !each.urgent);
      this.#waiting.splice(at < 0 ? this.#waiting.length : at, 0, pipeline);
    } else this.#waiting.push(pipeline);
    this.#admit();
  }

  leave(pipeline: Pipeline): void {
    this.#waiting = this.#waiting.filter((each) => each !== pipeline);
    if (this.#inside.delete(pipeline)) this.#admit();
  }

  idle(_pipeline: Pipeline): void {
    this.#admit();
  }

  wanted(pipeline: Pipeline): boolean {
    return this.#waiting.length > 0 && performance.now() - pipeline.startedAt >= this.#turnMs;
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

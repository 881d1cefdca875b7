/**
 * The pipelines of one mode and one lane (priority). They share one queue of segments, so that requests are
 * served round robin over all pipelines. A slow or restarting pipeline delays only the segments that it is
 * translating.
 */

import { FairQueue } from '../queue.ts';
import { type Item, Pipeline, type PipelineSetup, type PoolView, type Reply, STOPPED } from './pipeline.ts';

const ABORTED: Reply = { ok: false, reason: 'stopped', detail: 'the request was aborted' };

export class ProcessPool implements PoolView {
  readonly name: string;
  readonly queue = new FairQueue<object, Item>();
  readonly pipelines: readonly Pipeline[];

  /**
   * Creates the pool without starting a process.
   * @param size maximum number of pipelines: the first one, and spare ones for high load
   */
  constructor(size: number, setup: Omit<PipelineSetup, 'pool' | 'spare'>) {
    this.name = setup.name;
    this.pipelines = Array.from(
      { length: size },
      (_, index) => new Pipeline({ ...setup, pool: this, spare: index > 0 }),
    );
  }

  get pending(): number {
    return this.pipelines.reduce((sum, each) => sum + each.pending, this.queue.size);
  }

  get running(): number {
    if (this.pipelines.length === 1) return 1;
    return this.pipelines.filter(({ running }) => running).length;
  }

  get resident(): boolean {
    return this.pipelines.some(({ resident }) => resident);
  }

  /** The last failure while the circuit breakers of all pipelines are open; otherwise null. */
  get tripped(): string | null {
    return this.pipelines.every(({ tripped }) => tripped !== null) ? this.pipelines[0]!.tripped : null;
  }

  /**
   * Translates one segment.
   *
   * @param stream the encoded segment
   * @param group the request of the segment, for round robin and {@link cancel}
   */
  send(stream: string, group: object): Promise<Reply> {
    return new Promise((settle) => {
      if (this.tripped !== null) {
        return settle({ ok: false, reason: 'crashed', detail: this.pipelines[0]!.trippedDetail });
      }
      this.queue.push(group, { stream, group, tries: 0, id: '', settle });
      this.#wake();
    });
  }

  /** Drops the queued segments of a request. Replies to its segments in flight are discarded. */
  cancel(group: object): void {
    const dropped = this.pipelines.flatMap((each) => each.cancel(group));
    for (const item of [...dropped, ...this.queue.remove(group)]) item.settle(ABORTED);
  }

  /** Ends the processes of idle pipelines. They start again with new work. */
  stopIfIdle(): void {
    for (const each of this.pipelines) each.stopIfIdle();
  }

  /** Ends all processes and fails all segments with `stopped`. */
  async stop(): Promise<void> {
    const waiting = this.queue.clear();
    await Promise.all(this.pipelines.map((each) => each.stop()));
    for (const item of waiting) item.settle(STOPPED);
  }

  hasAlternative(than: Pipeline): boolean {
    return this.pipelines.some((each) => each !== than && each.tripped === null);
  }

  handOver(from: Pipeline, items: Item[]): void {
    const others = this.pipelines.filter((each) => each !== from && each.tripped === null);
    if (items.length > 0) (others.find(({ running }) => running) ?? others[0])?.accept(items);
    for (const each of others) each.wake();
  }

  #wake(): void {
    for (const each of this.pipelines) each.wake();
  }
}

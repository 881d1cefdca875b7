/**
 * The pipelines of one mode and lane. They share one line of waiting segments, so that turns are kept over all of them
 * and each takes what it has room for: who is slow, or is being replaced, holds up nothing but what it has in flight.
 */

import { FairQueue } from '../queue.ts';
import { type CrewView, type Item, Pipeline, type PipelineSetup, type Reply, STOPPED } from './pipeline.ts';

const GIVEN_UP: Reply = { ok: false, reason: 'stopped', detail: 'the request was given up' };

export class Crew implements CrewView {
  readonly name: string;
  readonly line = new FairQueue<object, Item>();
  readonly pipelines: readonly Pipeline[];

  /** @param size pipelines at most: the first, and spare ones for much work */
  constructor(size: number, setup: Omit<PipelineSetup, 'crew' | 'spare'>) {
    this.name = setup.name;
    this.pipelines = Array.from(
      { length: size },
      (_, index) => new Pipeline({ ...setup, crew: this, spare: index > 0 }),
    );
  }

  get inHand(): number {
    return this.pipelines.reduce((sum, each) => sum + each.inHand, this.line.size);
  }

  get running(): number {
    if (this.pipelines.length === 1) return 1;
    return this.pipelines.filter(({ running }) => running).length;
  }

  get resident(): boolean {
    return this.pipelines.some(({ resident }) => resident);
  }

  /** Why none of them can work at the moment, or null. */
  get closed(): string | null {
    return this.pipelines.every(({ closed }) => closed !== null) ? this.pipelines[0]!.closed : null;
  }

  /**
   * @param stream one encoded segment
   * @param group the request it belongs to: requests are served in turn, and {@link cancel} takes one out whole
   */
  send(stream: string, group: object): Promise<Reply> {
    return new Promise((settle) => {
      if (this.closed !== null) {
        return settle({ ok: false, reason: 'crashed', detail: this.pipelines[0]!.closedDetail });
      }
      this.line.push(group, { stream, group, tries: 0, id: '', settle });
      this.#wake();
    });
  }

  /** Drops what the request still has waiting; answers to what is in flight go nowhere. */
  cancel(group: object): void {
    const dropped = this.pipelines.flatMap((each) => each.cancel(group));
    for (const item of [...dropped, ...this.line.remove(group)]) item.settle(GIVEN_UP);
  }

  /** Ends the processes of those without work; they start again on use. */
  rest(): void {
    for (const each of this.pipelines) each.rest();
  }

  /** Ends all processes and fails all work (`stopped`). */
  async stop(): Promise<void> {
    const waiting = this.line.clear();
    await Promise.all(this.pipelines.map((each) => each.stop()));
    for (const item of waiting) item.settle(STOPPED);
  }

  hasOther(than: Pipeline): boolean {
    return this.pipelines.some((each) => each !== than && each.closed === null);
  }

  handOver(from: Pipeline, items: Item[]): void {
    const others = this.pipelines.filter((each) => each !== from && each.closed === null);
    if (items.length > 0) (others.find(({ running }) => running) ?? others[0])?.take(items);
    for (const each of others) each.wake();
  }

  #wake(): void {
    for (const each of this.pipelines) each.wake();
  }
}

/**
 * The queue of a pipeline. Inside, each request has its own queue, and these are served round robin, so that
 * a long request does not delay others.
 */
export class FairQueue<Group extends object, Item> {
  readonly #queues = new Map<Group, { items: Item[]; next: number }>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  push(group: Group, item: Item): void {
    const queue = this.#queues.get(group);
    if (queue === undefined) this.#queues.set(group, { items: [item], next: 0 });
    else queue.items.push(item);
    this.#size++;
  }

  /** Removes and returns the first item of the next request, whose queue then moves to the end. */
  shift(): Item | undefined {
    for (const [group, queue] of this.#queues) {
      const item = queue.items[queue.next++]!;
      this.#size--;
      this.#queues.delete(group);
      if (queue.next < queue.items.length) this.#queues.set(group, queue);
      return item;
    }
    return undefined;
  }

  /** Removes and returns all items of a request, in order. */
  remove(group: Group): Item[] {
    const queue = this.#queues.get(group);
    if (queue === undefined) return [];
    this.#queues.delete(group);
    const items = queue.items.slice(queue.next);
    this.#size -= items.length;
    return items;
  }

  clear(): Item[] {
    return [...this.#queues.keys()].flatMap((group) => this.remove(group));
  }
}

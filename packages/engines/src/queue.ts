/** Work waiting for a pipeline: one line per request, served in turn, so that a long request cannot hold up others. */

export class FairQueue<Group extends object, Item> {
  readonly #lines = new Map<Group, { items: Item[]; next: number }>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  push(group: Group, item: Item): void {
    const line = this.#lines.get(group);
    if (line === undefined) this.#lines.set(group, { items: [item], next: 0 });
    else line.items.push(item);
    this.#size++;
  }

  /** The next item of the line whose turn it is; that line then goes to the back. */
  shift(): Item | undefined {
    for (const [group, line] of this.#lines) {
      const item = line.items[line.next++]!;
      this.#size--;
      this.#lines.delete(group);
      if (line.next < line.items.length) this.#lines.set(group, line);
      return item;
    }
    return undefined;
  }

  /** Takes a whole line out, in order. */
  remove(group: Group): Item[] {
    const line = this.#lines.get(group);
    if (line === undefined) return [];
    this.#lines.delete(group);
    const items = line.items.slice(line.next);
    this.#size -= items.length;
    return items;
  }

  clear(): Item[] {
    return [...this.#lines.keys()].flatMap((group) => this.remove(group));
  }
}

/**
 * Group commit: what arrives while a commit is in flight shares the next one. There is no timer, so a lone
 * request waits for nothing, and under load a batch is as large as what one commit lets gather.
 */

export interface BatcherOptions<Item, Result> {
  /** Does all items in one transaction; one result per item, same order. Rejects when nothing was done. */
  run(items: Item[]): Promise<Result[]>;
  /** A number that weighs an item against `maxWeight`, such as its bytes. */
  weigh(item: Item): number;
  /** At most this many items a batch. */
  maxItems: number;
  /** At most this weight a batch; a single heavier item goes alone. */
  maxWeight: number;
}

export interface Batcher<Item, Result> {
  /** Adds an item to the next batch and gives its own result. */
  add(item: Item): Promise<Result>;
  /** Resolves when nothing waits and nothing is under way. */
  idle(): Promise<void>;
}

/**
 * One batch runs at a time. When a batch of several rejects, each of its items is run alone, so that a bad one fails alone.
 */
export function createBatcher<Item, Result>(options: BatcherOptions<Item, Result>): Batcher<Item, Result> {
  interface Waiting {
    item: Item;
    resolve(result: Result): void;
    reject(error: unknown): void;
  }
  let waiting: Waiting[] = [];
  let draining: Promise<void> | undefined;

  function take(): Waiting[] {
    let weight = 0;
    let count = 0;
    for (const { item } of waiting) {
      weight += options.weigh(item);
      if (count > 0 && (count === options.maxItems || weight > options.maxWeight)) break;
      count++;
    }
    const taken = waiting.slice(0, count);
    waiting = waiting.slice(count);
    return taken;
  }

  async function settle(batch: Waiting[]): Promise<void> {
    try {
      const results = await options.run(batch.map(({ item }) => item));
      for (const [index, { resolve }] of batch.entries()) resolve(results[index]!);
    } catch (error) {
      if (batch.length === 1) batch[0]!.reject(error);
      else for (const one of batch) await settle([one]);
    }
  }

  /** A turn later: requests that were parsed in the same turn of the event loop go together. */
  async function drain(): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve));
    while (waiting.length > 0) await settle(take());
    draining = undefined;
  }

  return {
    add: (item) =>
      new Promise((resolve, reject) => {
        waiting.push({ item, resolve, reject });
        draining ??= drain();
      }),
    idle: async () => draining,
  };
}

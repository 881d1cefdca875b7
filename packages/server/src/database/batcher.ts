/**
 * Group commit: what arrives while a commit is in flight shares the next one. There is no timer, so a lone
 * request waits for nothing, and under load a batch is as large as what one commit lets gather.
 *
 * Where nobody waits for it, a batcher may rest between two batches, so that more gathers than that: the first of
 * them still waits for nothing.
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
  /** At most this many items wait; one more is refused with `BatcherFull`. */
  maxWaiting: number;
  /** Batches under way at a time: while one is being committed, the next is being worked out. */
  maxRunning: number;
  /** A batch begins no sooner than this after the one before it began; none by default. */
  restMilliseconds?: number;
  /** Whether one item of a batch can be to blame for this error, so that the others deserve a try without it. */
  isolates(error: unknown): boolean;
}

/** More waits than there is room for: load to be shed. */
export class BatcherFull extends Error {
  override name = 'BatcherFull';
}

export interface Batcher<Item, Result> {
  /** Adds an item to the next batch and gives its own result. */
  add(item: Item): Promise<Result>;
  /** Resolves when nothing waits and nothing is under way. */
  idle(): Promise<void>;
}

/**
 * Up to `maxRunning` batches run at a time. When a batch of several rejects through the fault of one, its halves are
 * run by themselves, so that a bad one fails alone.
 */
export function createBatcher<Item, Result>(options: BatcherOptions<Item, Result>): Batcher<Item, Result> {
  interface Waiting {
    item: Item;
    resolve(result: Result): void;
    reject(error: unknown): void;
  }
  let waiting: Waiting[] = [];
  let running = 0;
  let scheduled = false;
  let begunAt = Number.NEGATIVE_INFINITY;
  const rest = options.restMilliseconds ?? 0;
  const idlers: (() => void)[] = [];

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
      if (batch.length === 1 || !options.isolates(error)) {
        for (const { reject } of batch) reject(error);
        return;
      }
      // In halves: one bad item among five hundred costs nine more commits, not five hundred.
      const middle = batch.length >> 1;
      await settle(batch.slice(0, middle));
      await settle(batch.slice(middle));
    }
  }

  /** A turn later: requests that were parsed in the same turn of the event loop go together. */
  function schedule(): void {
    if (scheduled || running >= options.maxRunning || waiting.length === 0) return;
    scheduled = true;
    const begin = () => {
      scheduled = false;
      void run(take());
    };
    const left = begunAt + rest - performance.now();
    if (left > 0) setTimeout(begin, left);
    else setImmediate(begin);
  }

  async function run(batch: Waiting[]): Promise<void> {
    running++;
    begunAt = performance.now();
    await settle(batch);
    running--;
    schedule();
    if (running === 0 && waiting.length === 0) for (const resolve of idlers.splice(0)) resolve();
  }

  return {
    add: (item) =>
      new Promise((resolve, reject) => {
        if (waiting.length >= options.maxWaiting) return reject(new BatcherFull('too much waits'));
        waiting.push({ item, resolve, reject });
        schedule();
      }),
    idle: () =>
      new Promise((resolve) => {
        if (running === 0 && waiting.length === 0) resolve();
        else idlers.push(resolve);
      }),
  };
}

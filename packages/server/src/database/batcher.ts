/**
 * Group commit: items that arrive during a commit share the next commit. There is no timer, so a single
 * request does not wait. Under load, a batch contains all items that arrive during one commit.
 *
 * When no request waits for the results, a batcher can rest between batches, so that more items share a
 * batch. The first item still starts at once.
 */

import { CommitUnknown, isLockTimeout } from './database.ts';

export interface BatcherOptions<Item, Result> {
  /**
   * Processes all items in one transaction and returns one result per item, in order. Rejects when nothing
   * was committed.
   * @param lockMilliseconds how long a statement may wait for a lock, if the items belong to several accounts
   */
  run(items: Item[], lockMilliseconds: number): Promise<Result[]>;
  /** Returns the weight of an item, such as its bytes. */
  weigh(item: Item): number;
  maxItems: number;
  /** Maximum weight of a batch. An item that is heavier gets a batch of its own. */
  maxWeight: number;
  /** Maximum number of waiting items. Further items are refused with `BatcherFull`. */
  maxWaiting: number;
  /**
   * Maximum number of batches that run at the same time. With a maximum of two, one batch is prepared while
   * the other commits.
   */
  maxRunning: number;
  /**
   * An item without a result after this time is rejected: with `BatcherFull` if no batch has taken it, else with
   * `CommitUnknown`, because it may or may not be committed. Batchers of requests need this limit: when the server
   * hangs, each earlier batch takes the whole time limit of a statement.
   */
  mostMilliseconds?: number;
  /** Minimum time between the starts of two batches; 0 by default. */
  restMilliseconds?: number;
  /** Whether a single item may have caused this error. If so, the other items run again without this item. */
  isolates(error: unknown): boolean;
  /**
   * Returns the account of an item. After a lock timeout, the items of each account run separately, so that only the
   * accounts with locked rows fail.
   */
  accountOf?(item: Item): string;
}

/** The `mostMilliseconds` of batchers for requests. A request must be answered within 15 seconds. */
export const REQUEST_BATCH_MILLISECONDS = 14_000;

/**
 * How long a statement of a batch waits for a lock. All accounts of the batch wait, so the limit is short. It is longer
 * than the commit of another batch that changes the same balance.
 */
const LOCK_MILLISECONDS = 2_000;
/** How long a statement waits for a lock after the batch has been split. */
const SPLIT_LOCK_MILLISECONDS = 500;
/** Parts of a batch that did not start within this time after the first lock timeout are refused. */
const SPLIT_MILLISECONDS = 4_000;

/** The error of an item that was refused: too many items waited, or no batch took it in time. */
export class BatcherFull extends Error {
  override name = 'BatcherFull';
}

export interface Batcher<Item, Result> {
  /** Adds an item to the next batch and returns its result. */
  add(item: Item): Promise<Result>;
  /** Resolves when no item is waiting and no batch is running. */
  idle(): Promise<void>;
}

interface Waiting<Item, Result> {
  item: Item;
  resolve(result: Result): void;
  reject(error: unknown): void;
}

/** How the parts of one batch wait for locks. The first lock timeout changes it for the parts that run later. */
interface LockWait {
  milliseconds: number;
  /** The time after which no further part runs. */
  end: number;
  /** The first lock timeout, with which parts that did not run are refused. */
  timeout: unknown;
}

/** Runs a batch, or its parts if it fails, and settles its items. */
async function settle<Item, Result>(
  batch: Waiting<Item, Result>[],
  options: BatcherOptions<Item, Result>,
  lockWait: LockWait,
): Promise<void> {
  const refuse = (error: unknown) => {
    for (const { reject } of batch) reject(error);
  };
  if (performance.now() > lockWait.end) return refuse(lockWait.timeout);
  try {
    const items = batch.map(({ item }) => item);
    const results = await options.run(items, lockWait.milliseconds);
    for (const [index, { resolve }] of batch.entries()) resolve(results[index]!);
  } catch (error) {
    if (isLockTimeout(error) && lockWait.timeout === undefined) {
      lockWait.milliseconds = SPLIT_LOCK_MILLISECONDS;
      lockWait.end = performance.now() + SPLIT_MILLISECONDS;
      lockWait.timeout = error;
    }
    const parts = split(batch, error, options);
    if (parts.length === 1) return refuse(error);
    for (const part of parts) await settle(part, options, lockWait);
  }
}

/** Returns the parts of a failed batch that run again, or one part if nothing runs again. */
function split<Item, Result>(
  batch: Waiting<Item, Result>[],
  error: unknown,
  { accountOf, isolates }: BatcherOptions<Item, Result>,
): Waiting<Item, Result>[][] {
  // With halves, each half with a locked row would wait for the lock again.
  if (isLockTimeout(error)) return [...Map.groupBy(batch, ({ item }) => accountOf?.(item)).values()];
  if (batch.length === 1 || !isolates(error)) return [batch];
  // With one bad item among 500, halving costs about nine more commits. Running each item alone would cost 500.
  const middle = batch.length >> 1;
  return [batch.slice(0, middle), batch.slice(middle)];
}

/**
 * Creates a batcher. When a batch of several items rejects because of one of them, its halves run separately, so that
 * only the bad item fails. After a lock timeout, the items of each account run separately.
 */
export function createBatcher<Item, Result>(options: BatcherOptions<Item, Result>): Batcher<Item, Result> {
  let waiting: Waiting<Item, Result>[] = [];
  let running = 0;
  let scheduled = false;
  let begunAt = Number.NEGATIVE_INFINITY;
  const rest = options.restMilliseconds ?? 0;
  const idlers: (() => void)[] = [];

  function take(): Waiting<Item, Result>[] {
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

  /**
   * Starts the next batch after one turn of the event loop, so that requests parsed in the same turn share it. Waits
   * longer if less than `restMilliseconds` have passed since the start of the previous batch.
   */
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

  async function run(batch: Waiting<Item, Result>[]): Promise<void> {
    running++;
    begunAt = performance.now();
    // The batch is empty if every waiting item has reached its time limit.
    const lockWait = { milliseconds: LOCK_MILLISECONDS, end: Number.POSITIVE_INFINITY, timeout: undefined };
    if (batch.length > 0) await settle(batch, options, lockWait);
    running--;
    schedule();
    if (running === 0 && waiting.length === 0) for (const resolve of idlers.splice(0)) resolve();
  }

  /** Rejects an item that has no result after this time. */
  function limit(added: Waiting<Item, Result>, milliseconds: number): void {
    const { resolve, reject } = added;
    const timer = setTimeout(() => {
      const index = waiting.indexOf(added);
      if (index === -1) return reject(new CommitUnknown('the database did not answer in time'));
      waiting.splice(index, 1);
      reject(new BatcherFull('no batch took the item in time'));
    }, milliseconds);
    added.resolve = (result) => {
      clearTimeout(timer);
      resolve(result);
    };
    added.reject = (error) => {
      clearTimeout(timer);
      reject(error);
    };
  }

  return {
    add: (item) =>
      new Promise((resolve, reject) => {
        if (waiting.length >= options.maxWaiting)
          return reject(new BatcherFull('too many items are waiting'));
        const added: Waiting<Item, Result> = { item, resolve, reject };
        if (options.mostMilliseconds !== undefined) limit(added, options.mostMilliseconds);
        waiting.push(added);
        schedule();
      }),
    idle: () =>
      new Promise((resolve) => {
        if (running === 0 && waiting.length === 0) resolve();
        else idlers.push(resolve);
      }),
  };
}

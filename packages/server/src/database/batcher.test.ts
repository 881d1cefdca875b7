import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { type Batcher, BatcherFull, createBatcher } from './batcher.ts';
import { CommitUnknown } from './database.ts';

interface Item {
  id: number;
  weight: number;
  bad?: boolean;
}

/**
 * A batch that runs until the test calls `land`, so that the test controls which items arrive while the batch
 * runs.
 */
interface Flight {
  items: Item[];
  land(): void;
}

/**
 * Creates a batcher whose batches run until `land` is called. `started(n)` resolves when the nth batch is
 * running.
 */
function held(
  limits: Partial<
    Record<
      'maxItems' | 'maxWeight' | 'maxWaiting' | 'maxRunning' | 'restMilliseconds' | 'mostMilliseconds',
      number
    >
  > = {},
) {
  const flights: Flight[] = [];
  const watchers: { count: number; resolve: () => void }[] = [];
  const batcher = createBatcher<Item, string>({
    async run(items) {
      await new Promise<void>((land) => {
        flights.push({ items, land });
        for (const { count, resolve } of watchers) if (flights.length >= count) resolve();
      });
      if (items.some(({ bad }) => bad)) throw new Error('a bad one');
      return items.map(({ id }) => `result ${id}`);
    },
    weigh: ({ weight }) => weight,
    maxItems: limits.maxItems ?? 100,
    maxWeight: limits.maxWeight ?? 1000,
    maxWaiting: limits.maxWaiting ?? 1_000,
    maxRunning: limits.maxRunning ?? 1,
    ...(limits.restMilliseconds === undefined ? {} : { restMilliseconds: limits.restMilliseconds }),
    ...(limits.mostMilliseconds === undefined ? {} : { mostMilliseconds: limits.mostMilliseconds }),
    isolates: () => true,
  });
  return {
    batcher,
    flights,
    started: (count: number) =>
      flights.length >= count
        ? Promise.resolve()
        : new Promise<void>((resolve) => watchers.push({ count, resolve })),
  };
}

const item = (id: number, weight = 1): Item => ({ id, weight });
const ids = (flight: Flight | undefined) => flight?.items.map(({ id }) => id);
const addAll = (batcher: Batcher<Item, string>, items: Item[]) => items.map((one) => batcher.add(one));

/** Creates a batcher that commits at once and records its batches. */
function recording(maxItems: number, maxWeight: number) {
  const batches: Item[][] = [];
  let running = 0;
  let together = 0;
  const batcher = createBatcher<Item, string>({
    async run(items) {
      together = Math.max(together, ++running);
      await new Promise((resolve) => setImmediate(resolve));
      batches.push(items);
      running--;
      if (items.some(({ bad }) => bad)) throw new Error(`bad among ${items.map(({ id }) => id)}`);
      return items.map(({ id }) => `result ${id}`);
    },
    weigh: ({ weight }) => weight,
    maxItems,
    maxWeight,
    maxWaiting: 1_000,
    maxRunning: 1,
    isolates: () => true,
  });
  return { batcher, batches, together: () => together };
}

/** Returns the faults of the recorded batches: lost, repeated or reordered items, and exceeded limits. */
function faults(batches: Item[][], added: Item[], maxItems: number, maxWeight: number): string[] {
  const found: string[] = [];
  const run = batches.flat().map(({ id }) => id);
  if (String(run) !== String(added.map(({ id }) => id))) found.push('lost, doubled or out of order');
  for (const batch of batches) {
    const weight = batch.reduce((sum, one) => sum + one.weight, 0);
    if (batch.length === 0) found.push('an empty batch');
    if (batch.length > maxItems) found.push('too many');
    if (weight > maxWeight && batch.length > 1) found.push('too heavy');
  }
  return found;
}

describe('createBatcher', () => {
  it('puts items that arrive in one turn of the event loop, or during a batch, into one batch', async () => {
    const { batcher, flights, started } = held();
    const first = addAll(batcher, [item(1), item(2)]);
    await started(1);
    const second = addAll(batcher, [item(3), item(4), item(5)]);
    expect(ids(flights[0])).toEqual([1, 2]);
    expect(flights).toHaveLength(1);
    flights[0]!.land();
    expect(await Promise.all(first)).toEqual(['result 1', 'result 2']);
    await started(2);
    expect(ids(flights[1])).toEqual([3, 4, 5]);
    flights[1]!.land();
    expect(await Promise.all(second)).toEqual(['result 3', 'result 4', 'result 5']);
  });

  it('starts a second batch when two may run, and collects later items for the third', async () => {
    const { batcher, flights, started } = held({ maxRunning: 2 });
    const first = batcher.add(item(1));
    await started(1);
    const second = addAll(batcher, [item(2), item(3)]);
    await started(2);
    const third = addAll(batcher, [item(4), item(5)]);
    expect(flights.map(ids)).toEqual([[1], [2, 3]]);
    // The second batch may end before the first one. Then the third batch starts.
    flights[1]!.land();
    expect(await Promise.all(second)).toEqual(['result 2', 'result 3']);
    await started(3);
    expect(ids(flights[2])).toEqual([4, 5]);
    const idle = batcher.idle();
    flights[0]!.land();
    flights[2]!.land();
    await idle;
    expect(await Promise.all([first, ...third])).toEqual(['result 1', 'result 4', 'result 5']);
  });

  it('waits between the starts of two batches, but starts the first batch at once', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    try {
      const turns = async () => {
        for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
      };
      const { batcher, flights, started } = held({ restMilliseconds: 50, maxRunning: 2 });
      const first = batcher.add(item(1));
      await started(1);
      flights[0]!.land();
      expect(await first).toBe('result 1');
      const second = batcher.add(item(2));
      vi.advanceTimersByTime(49);
      await turns();
      expect(flights).toHaveLength(1);
      const third = batcher.add(item(3));
      vi.advanceTimersByTime(1);
      await started(2);
      expect(ids(flights[1])).toEqual([2, 3]);
      flights[1]!.land();
      expect(await Promise.all([second, third])).toEqual(['result 2', 'result 3']);
      await batcher.idle();
      // The minimum time between two batches has passed, so the next batch starts at once.
      vi.advanceTimersByTime(50);
      const fourth = batcher.add(item(4));
      await started(3);
      flights[2]!.land();
      expect(await fourth).toBe('result 4');
    } finally {
      vi.useRealTimers();
    }
  });

  it('limits the number of items in a batch', async () => {
    const { batcher, batches } = recording(3, 1000);
    await Promise.all(
      addAll(
        batcher,
        [1, 2, 3, 4, 5, 6, 7].map((id) => item(id)),
      ),
    );
    expect(batches.map((batch) => batch.length)).toEqual([3, 3, 1]);
  });

  it('fills a batch up to exactly the weight limit', async () => {
    const { batcher, batches } = recording(100, 10);
    await Promise.all(addAll(batcher, [item(1, 4), item(2, 6), item(3, 5), item(4, 6)]));
    expect(batches.map((batch) => batch.map(({ id }) => id))).toEqual([[1, 2], [3], [4]]);
  });

  it('puts an item that is heavier than the limit into a batch of its own, in order', async () => {
    const { batcher, batches } = recording(100, 10);
    await Promise.all(addAll(batcher, [item(1), item(2, 11), item(3)]));
    expect(batches.map((batch) => batch.map(({ id }) => id))).toEqual([[1], [2], [3]]);
  });

  it('runs the halves of a failed batch separately, so that only the bad item fails', async () => {
    const { batcher, batches } = recording(100, 1000);
    const settled = await Promise.allSettled(addAll(batcher, [item(1), { ...item(2), bad: true }, item(3)]));
    expect(settled).toEqual([
      { status: 'fulfilled', value: 'result 1' },
      { status: 'rejected', reason: new Error('bad among 2') },
      { status: 'fulfilled', value: 'result 3' },
    ]);
    expect(batches.map((batch) => batch.map(({ id }) => id))).toEqual([[1, 2, 3], [1], [2, 3], [2], [3]]);
  });

  it('rejects the whole batch at once when the error is not caused by an item', async () => {
    let runs = 0;
    const batcher = createBatcher<Item, string>({
      async run() {
        runs++;
        throw new Error('the database is away');
      },
      weigh: () => 1,
      maxItems: 10,
      maxWeight: 10,
      maxWaiting: 10,
      maxRunning: 1,
      isolates: () => false,
    });
    const settled = await Promise.allSettled(addAll(batcher, [item(1), item(2), item(3)]));
    expect(settled.every(({ status }) => status === 'rejected')).toBe(true);
    expect(runs).toBe(1);
  });

  describe('after a lock timeout', () => {
    const timeout = Object.assign(new Error('canceling statement due to lock timeout'), { code: '55P03' });

    /** Runs items as one batch; an item is a letter, and its account is the lower-case letter. */
    async function runBatch(items: string[], fail: (run: string) => Error | undefined) {
      const runs: [string, number][] = [];
      const batcher = createBatcher<string, string>({
        async run(batch, lockMilliseconds) {
          const run = batch.join('');
          runs.push([run, lockMilliseconds]);
          const error = fail(run);
          if (error !== undefined) throw error;
          return batch;
        },
        weigh: () => 1,
        maxItems: 10,
        maxWeight: 10,
        maxWaiting: 10,
        maxRunning: 1,
        isolates: (error) => error !== timeout,
        accountOf: (letter) => letter.toLowerCase(),
      });
      const settled = await Promise.allSettled(items.map(batcher.add));
      return { runs, results: settled.map((one) => (one.status === 'fulfilled' ? one.value : one.reason)) };
    }

    it('runs each account separately with a shorter limit, and refuses only the locked account', async () => {
      const { runs, results } = await runBatch(['a', 'x', 'A', 'b', 'X'], (run) =>
        /x/i.test(run) ? timeout : undefined,
      );
      expect(results).toEqual(['a', timeout, 'A', 'b', timeout]);
      expect(runs).toEqual([
        ['axAbX', 2_000],
        ['aA', 500],
        ['xX', 500],
        ['b', 500],
      ]);
    });

    it('refuses a batch of one account without running it again', async () => {
      const { runs, results } = await runBatch(['x', 'X'], () => timeout);
      expect(results).toEqual([timeout, timeout]);
      expect(runs).toEqual([['xX', 2_000]]);
    });

    it('still isolates a bad item of an account', async () => {
      const bad = new Error('a bad one');
      const { runs, results } = await runBatch(['a', 'x', 'A'], (run) =>
        run.includes('x') ? timeout : run.includes('A') ? bad : undefined,
      );
      expect(results).toEqual(['a', timeout, bad]);
      expect(runs.map(([run]) => run)).toEqual(['axA', 'aA', 'a', 'A', 'x']);
    });

    it('refuses the accounts that did not start within four seconds', async () => {
      vi.useFakeTimers({ toFake: ['performance'] });
      try {
        const { runs, results } = await runBatch(['a', 'x', 'b', 'c'], (run) => {
          if (run === 'x') vi.advanceTimersByTime(4_000);
          if (run === 'b') vi.advanceTimersByTime(1);
          return run.includes('x') ? timeout : undefined;
        });
        expect(results).toEqual(['a', timeout, 'b', timeout]);
        expect(runs.map(([run]) => run)).toEqual(['axbc', 'a', 'x', 'b']);
      } finally {
        vi.useRealTimers();
      }
    });
  });

  it('refuses an item only when the maximum number of items is already waiting', async () => {
    const { batcher, flights, started } = held({ maxItems: 1, maxWaiting: 2 });
    const first = batcher.add(item(1));
    await started(1);
    const waiting = addAll(batcher, [item(2), item(3)]);
    await expect(batcher.add(item(4))).rejects.toBeInstanceOf(BatcherFull);
    for (let flight = 1; flight <= 3; flight++) {
      await started(flight);
      flights[flight - 1]!.land();
    }
    expect(await Promise.all([first, ...waiting])).toEqual(['result 1', 'result 2', 'result 3']);
  });

  it('rejects items that run or wait for longer than the limit, and does not run those that waited', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    try {
      const { batcher, flights, started } = held({ maxItems: 1, mostMilliseconds: 20 });
      const late = addAll(batcher, [item(1), item(2), item(3)]);
      await started(1);
      const settled = Promise.allSettled(late);
      vi.advanceTimersByTime(20);
      const reasons = (await settled).map((result) => result.status === 'rejected' && result.reason);
      // Only the first item was given to the database.
      expect(reasons).toEqual([expect.any(CommitUnknown), expect.any(BatcherFull), expect.any(BatcherFull)]);
      flights[0]!.land();
      await batcher.idle();
      const next = batcher.add(item(4));
      await started(2);
      flights[1]!.land();
      expect(await next).toBe('result 4');
      expect(flights.map(ids)).toEqual([[1], [4]]);
    } finally {
      vi.useRealTimers();
    }
  });

  it('runs a failed batch of one item only once', async () => {
    const { batcher, batches } = recording(100, 1000);
    await expect(batcher.add({ ...item(1), bad: true })).rejects.toThrow('bad among 1');
    expect(batches).toHaveLength(1);
  });

  it('processes items after a failed batch', async () => {
    const { batcher } = recording(100, 1000);
    await expect(batcher.add({ ...item(1), bad: true })).rejects.toThrow();
    expect(await batcher.add(item(2))).toBe('result 2');
  });

  it('is idle only when no item is waiting and no batch is running', async () => {
    const { batcher, flights, started } = held({ maxItems: 1 });
    await batcher.idle(); // No item was added, so `idle` resolves at once.
    const results = addAll(batcher, [item(1), item(2)]);
    let idle = false;
    const idling = batcher.idle().then(() => {
      idle = true;
    });
    await started(1);
    expect(idle).toBe(false);
    flights[0]!.land();
    await started(2);
    expect(idle).toBe(false);
    flights[1]!.land();
    await idling;
    expect(await Promise.all(results)).toEqual(['result 1', 'result 2']);
    await batcher.idle();
  });

  it('returns the result of each item, in order, and keeps the limits of batches', async () => {
    const scenario = fc.record({
      maxItems: fc.integer({ min: 1, max: 6 }),
      maxWeight: fc.integer({ min: 1, max: 30 }),
      // Groups of items that arrive together, a few turns of the event loop apart.
      groups: fc.array(
        fc.record({
          turns: fc.integer({ min: 0, max: 4 }),
          weights: fc.array(fc.integer({ min: 0, max: 40 }), { maxLength: 8 }),
        }),
        { maxLength: 8 },
      ),
    });
    await fc.assert(
      fc.asyncProperty(scenario, async ({ maxItems, maxWeight, groups }) => {
        const { batcher, batches, together } = recording(maxItems, maxWeight);
        const added: Item[] = [];
        const results: Promise<string>[] = [];
        for (const { turns, weights } of groups) {
          for (let turn = 0; turn < turns; turn++) await new Promise((resolve) => setImmediate(resolve));
          for (const weight of weights) {
            const one = item(added.length, weight);
            added.push(one);
            results.push(batcher.add(one));
          }
        }
        await batcher.idle();
        expect(await Promise.all(results)).toEqual(added.map(({ id }) => `result ${id}`));
        expect(faults(batches, added, maxItems, maxWeight)).toEqual([]);
        expect(together()).toBeLessThanOrEqual(1);
      }),
    );
  });

  it('rejects only the items that fail, wherever they are in a batch', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.boolean(), { maxLength: 12 }),
        fc.integer({ min: 1, max: 5 }),
        async (bads, maxItems) => {
          const { batcher } = recording(maxItems, 1000);
          const settled = await Promise.allSettled(
            addAll(
              batcher,
              bads.map((bad, id) => ({ id, weight: 1, bad })),
            ),
          );
          expect(settled.map(({ status }) => status === 'rejected')).toEqual(bads);
        },
      ),
    );
  });

  it('is checked here by a function that detects lost, repeated and swapped items, and batches above the limits', () => {
    const [a, b, c] = [item(1, 5), item(2, 5), item(3, 5)];
    expect(faults([[a, b], [c]], [a, b, c], 2, 10)).toEqual([]);
    expect(faults([[a], [c]], [a, b, c], 2, 10)).toEqual(['lost, doubled or out of order']);
    expect(faults([[a, b], [b], [c]], [a, b, c], 2, 10)).toEqual(['lost, doubled or out of order']);
    expect(faults([[b, a], [c]], [a, b, c], 2, 10)).toEqual(['lost, doubled or out of order']);
    expect(faults([[a, b, c]], [a, b, c], 2, 20)).toEqual(['too many']);
    expect(faults([[a, b], [c]], [a, b, c], 2, 9)).toEqual(['too heavy']);
  });
});

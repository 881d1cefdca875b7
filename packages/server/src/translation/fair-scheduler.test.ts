import { describe, expect, it } from 'vitest';
import { createFairScheduler, type FairScheduler } from './fair-scheduler.ts';

const never = new AbortController().signal;

/**
 * Queues `count` tasks for each account at once and returns the accounts in the order in which their tasks
 * start.
 */
async function order(
  turns: FairScheduler,
  wanted: { account: string; weight: number; count: number }[],
): Promise<string[]> {
  const started: string[] = [];
  await Promise.all(
    wanted.flatMap(({ account, weight, count }) => {
      const request = {};
      return Array.from({ length: count }, () =>
        turns.run({ account, request, weight, signal: never }, async () => {
          started.push(account);
          await new Promise((resolve) => setImmediate(resolve));
        }),
      );
    }),
  );
  return started;
}

describe('the fair scheduler', () => {
  it('starts urgent tasks first, within the same limits of weight and rate', async () => {
    const turns = createFairScheduler({ maxWeight: 1000, maxRunning: 1 });
    const started: string[] = [];
    let running = 0;
    const run = (name: string, urgent: boolean) =>
      turns.run({ account: name, request: {}, weight: 10, signal: never, urgent }, async () => {
        started.push(name);
        expect(++running).toBe(1);
        await new Promise((resolve) => setImmediate(resolve));
        running--;
      });
    await Promise.all([
      run('one', false),
      run('two', false),
      run('three', false),
      run('chat', true),
      run('chat', true),
    ]);
    expect(started.slice(0, 3)).toEqual(['one', 'chat', 'chat']);
    expect(started).toHaveLength(5);
  });

  it('shares an engine between accounts by characters, not by number of tasks', async () => {
    const turns = createFairScheduler({ maxWeight: 2048, maxRunning: 100 });
    const started = await order(turns, [
      { account: 'large', weight: 2000, count: 200 },
      { account: 'small', weight: 100, count: 1000 },
    ]);
    const served = { large: 0, small: 0 };
    for (const account of started.slice(0, 500) as ('large' | 'small')[]) {
      served[account] += account === 'large' ? 2000 : 100;
    }
    expect(served.small / served.large).toBeGreaterThan(0.9);
    expect(served.small / served.large).toBeLessThan(1.15);
  });

  it("starts a new account's task next, even when another account has 500 queued tasks", async () => {
    const turns = createFairScheduler({ maxWeight: 4096, maxRunning: 100 });
    const first = order(turns, [{ account: 'large', weight: 2000, count: 500 }]);
    let before = 0;
    const waits = turns.waiting;
    await turns.run({ account: 'new', request: {}, weight: 60, signal: never }, async () => {
      before = waits - turns.waiting;
    });
    expect(waits).toBeGreaterThan(490);
    expect(before).toBeLessThanOrEqual(4);
    await first;
  });

  it('alternates between the requests of one account', async () => {
    const turns = createFairScheduler({ maxWeight: 1, maxRunning: 1 });
    const started: string[] = [];
    const one = (name: string, request: object) =>
      turns.run({ account: 'a', request, weight: 500, signal: never }, async () => {
        started.push(name);
      });
    const [long, short] = [{}, {}];
    await Promise.all([one('l', long), one('l', long), one('l', long), one('l', long), one('s', short)]);
    expect(started.indexOf('s')).toBeLessThanOrEqual(2);
  });

  it('runs a task that exceeds the weight limit only when no other task is running', async () => {
    const turns = createFairScheduler({ maxWeight: 10, maxRunning: 2 });
    expect(await order(turns, [{ account: 'a', weight: 50_000, count: 3 }])).toHaveLength(3);
    expect(turns.waiting).toBe(0);
  });

  it('drops an aborted task without delaying the other tasks', async () => {
    const turns = createFairScheduler({ maxWeight: 1, maxRunning: 1 });
    const gate = Promise.withResolvers<void>();
    const first = turns.run({ account: 'a', request: {}, weight: 1, signal: never }, () => gate.promise);
    const lost = new AbortController();
    const second = turns.run(
      { account: 'b', request: {}, weight: 1, signal: lost.signal },
      async () => 'ran',
    );
    const third = turns.run({ account: 'b', request: {}, weight: 1, signal: never }, async () => 'ran');
    lost.abort(new Error('lost'));
    await expect(second).rejects.toThrow('lost');
    expect(turns.waiting).toBe(1);
    gate.resolve();
    await first;
    expect(await third).toBe('ran');
  });

  it('frees the capacity of a task that fails', async () => {
    const turns = createFairScheduler({ maxWeight: 1, maxRunning: 1 });
    const fail = turns.run({ account: 'a', request: {}, weight: 1, signal: never }, async () => {
      throw new Error('no');
    });
    await expect(fail).rejects.toThrow('no');
    expect(await turns.run({ account: 'a', request: {}, weight: 1, signal: never }, async () => 1)).toBe(1);
  });

  it('starts no more tasks per second than the configured rate', async () => {
    let now = 0;
    const turns = createFairScheduler({ maxWeight: 100, maxRunning: 100, perSecond: 100, now: () => now });
    const started: number[] = [];
    const all = Array.from({ length: 5 }, () =>
      turns.run({ account: 'a', request: {}, weight: 1, signal: never }, async () => {
        started.push(now);
      }),
    );
    const ticking = setInterval(() => {
      now += 5;
    }, 1);
    await Promise.all(all);
    clearInterval(ticking);
    for (const [index, at] of started.slice(1).entries()) {
      expect(at - started[index]!).toBeGreaterThanOrEqual(10);
    }
  });
});

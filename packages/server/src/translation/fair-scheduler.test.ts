import { describe, expect, it } from 'vitest';
import { createFairScheduler, type FairScheduler } from './fair-scheduler.ts';

const never = new AbortController().signal;

/** Runs so many turns of each account at once, each of them open until the next look, and gives the order of starts. */
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

describe('turns', () => {
  it('are first for what is urgent, which shares room and rate with the rest', async () => {
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

  it('go to accounts by characters, not by how much they ask for', async () => {
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

  it('let a newcomer in after what runs, however long the line of another is', async () => {
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

  it('go to the requests of one account in turn', async () => {
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

  it('that are too heavy run alone, and all run in the end', async () => {
    const turns = createFairScheduler({ maxWeight: 10, maxRunning: 2 });
    expect(await order(turns, [{ account: 'a', weight: 50_000, count: 3 }])).toHaveLength(3);
    expect(turns.waiting).toBe(0);
  });

  it('end when they are given up, and cost the others nothing', async () => {
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

  it('that fail give their room back', async () => {
    const turns = createFairScheduler({ maxWeight: 1, maxRunning: 1 });
    const fail = turns.run({ account: 'a', request: {}, weight: 1, signal: never }, async () => {
      throw new Error('no');
    });
    await expect(fail).rejects.toThrow('no');
    expect(await turns.run({ account: 'a', request: {}, weight: 1, signal: never }, async () => 1)).toBe(1);
  });

  it('start no faster than the rate', async () => {
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

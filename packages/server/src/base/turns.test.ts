/** Tests that long work gives the event loop turns. */
import { describe, expect, it } from 'vitest';
import { createTurns, inBatches, inSlices } from './turns.ts';

describe('long work', () => {
  it('lets other requests run between two slices of a file', async () => {
    let turns = 0;
    let counting = true;
    const count = () => {
      turns++;
      if (counting) setImmediate(count);
    };
    setImmediate(count);
    let slices = 0;
    for await (const slice of inSlices('x'.repeat(1_000_000))) slices += slice.length > 0 ? 1 : 0;
    counting = false;
    expect(slices).toBe(16);
    expect(turns).toBeGreaterThanOrEqual(slices);
  });

  it('cuts no character of a file in two', async () => {
    const text = `a${'😀'.repeat(100)}\ud83d`;
    for (const length of [1, 2, 3, 7, 64]) {
      const slices: string[] = [];
      for await (const slice of inSlices(text, length)) slices.push(slice);
      expect(slices.join('')).toBe(text);
      expect(slices.slice(0, -1).every((slice) => slice.isWellFormed())).toBe(true);
    }
  });

  it('lets other requests run after some thousand pieces, in however few steps they come', async () => {
    for (const step of [1, 400, 100_000]) {
      let turns = 0;
      let counting = true;
      const count = () => {
        turns++;
        if (counting) setImmediate(count);
      };
      setImmediate(count);
      const turn = createTurns();
      for (let done = 0; done < 100_000; done += step) await turn(step);
      counting = false;
      expect(turns).toBeGreaterThanOrEqual(Math.min(15, 100_000 / step));
    }
  });
});

it('a list is divided into batches with the work of a turn', () => {
  const all = Array.from({ length: 12 }, (_, index) => ({ index, pieces: index === 3 ? 20_000 : 1_000 }));
  const batches = [...inBatches(all, ({ pieces }) => pieces)].map((batch) => batch.map(({ index }) => index));
  expect(batches).toEqual([
    [0, 1, 2, 3],
    [4, 5, 6, 7, 8],
    [9, 10, 11],
  ]);
  expect([...inBatches([], () => 1)]).toEqual([]);
});

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { counted, idle, isPaused, PAUSE_MS, seen, used } from './effort.ts';

test('active time counts until a minute after the last use', () => {
  let effort = used(idle, 1_000);
  effort = counted(effort, 31_000);
  expect(effort.totalMs).toBe(30_000);
  effort = used(effort, 41_000);
  effort = counted(effort, 41_000 + 10 * PAUSE_MS);
  expect(effort.totalMs).toBe(40_000 + PAUSE_MS);
  expect(isPaused(effort)).toBe(true);
  effort = used(effort, 2_000_000);
  expect(counted(effort, 2_000_500).totalMs).toBe(40_500 + PAUSE_MS);
});

test('active time does not count while the page is hidden', () => {
  let effort = used(idle, 0);
  effort = seen(effort, false, 5_000);
  expect(isPaused(effort)).toBe(true);
  effort = seen(effort, true, 20_000);
  expect(counted(effort, 21_000).totalMs).toBe(6_000);
});

test('active time never exceeds elapsed time and never decreases', () => {
  const step = fc.record({
    ms: fc.integer({ min: 0, max: 200_000 }),
    what: fc.constantFrom('use', 'count', 'hide', 'show'),
  });
  fc.assert(
    fc.property(fc.array(step), (steps) => {
      let now = 0;
      let effort = used(idle, now);
      let before = 0;
      for (const { ms, what } of steps) {
        now += ms;
        if (what === 'use') effort = used(effort, now);
        else if (what === 'count') effort = counted(effort, now);
        else effort = seen(effort, what === 'show', now);
        expect(effort.totalMs).toBeGreaterThanOrEqual(before);
        expect(effort.totalMs).toBeLessThanOrEqual(now);
        before = effort.totalMs;
      }
    }),
  );
});

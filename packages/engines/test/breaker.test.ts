import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Breaker } from '../src/breaker.ts';

const LIMITS = { loopCount: 3, loopMs: 60_000, firstClosedMs: 1_000, closedMs: 300_000 };

function make() {
  const clock = { now: 1_000_000 };
  return { clock, breaker: new Breaker(LIMITS, () => clock.now) };
}

/** Fails as soon as it is open, `times` over. @returns how long it closed after each */
function failing({ clock, breaker }: ReturnType<typeof make>, times: number): number[] {
  return Array.from({ length: times }, () => {
    clock.now += breaker.remainingMs;
    breaker.failed();
    return breaker.remainingMs;
  });
}

describe('a breaker', () => {
  test('closes after three failures within a minute: 1 s, 2 s, 4 s, up to five minutes', () => {
    expect(failing(make(), 13)).toEqual([
      ...[0, 0],
      ...[1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300].map((seconds) => seconds * 1_000),
    ]);
  });

  test('three failures over more than a minute do not close', () => {
    const { clock, breaker } = make();
    for (let n = 0; n < 10; n++) {
      breaker.failed();
      clock.now += 30_000;
    }
    expect(breaker.closed).toBe(false);
  });

  test('a success forgets everything', () => {
    const subject = make();
    failing(subject, 9);
    subject.breaker.succeeded();
    expect(subject.breaker.closed).toBe(false);
    expect(failing(subject, 4)).toEqual([0, 0, 1_000, 2_000]);
  });

  test('failures while it is closed count for nothing', () => {
    const subject = make();
    failing(subject, 3);
    for (let n = 0; n < 50; n++) subject.breaker.failed();
    expect(subject.breaker.remainingMs).toBe(1_000);
  });

  test('a storm of kills, then calm: open again within as long as the storm took, and never over five minutes', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 5_000 }), { minLength: 1, maxLength: 300 }), (waits) => {
        const { clock, breaker } = make();
        const start = clock.now;
        for (const wait of waits) {
          clock.now += wait;
          breaker.failed();
        }
        expect(breaker.remainingMs).toBeLessThanOrEqual(Math.min(300_000, 1_000 + clock.now - start));
      }),
    );
  });
});

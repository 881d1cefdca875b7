import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Breaker } from '../src/breaker.ts';

const LIMITS = { loopCount: 3, loopMs: 60_000, firstOpenMs: 1_000, maxOpenMs: 300_000 };

function make() {
  const clock = { now: 1_000_000 };
  return { clock, breaker: new Breaker(LIMITS, () => clock.now) };
}

/**
 * Makes `times` calls fail, each as soon as the breaker allows it. @returns for how many milliseconds the
 * breaker was open after each failure
 */
function failing({ clock, breaker }: ReturnType<typeof make>, times: number): number[] {
  return Array.from({ length: times }, () => {
    clock.now += breaker.remainingMs;
    breaker.failed();
    return breaker.remainingMs;
  });
}

describe('the circuit breaker', () => {
  test('opens after three failures within a minute, for 1 s, then 2 s, 4 s and so on up to five minutes', () => {
    expect(failing(make(), 13)).toEqual([
      0,
      0,
      ...[1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300].map((seconds) => seconds * 1_000),
    ]);
  });

  test('stays closed after failures that are more than a minute apart', () => {
    const { clock, breaker } = make();
    for (let n = 0; n < 10; n++) {
      breaker.failed();
      clock.now += 30_000;
    }
    expect(breaker.isOpen).toBe(false);
  });

  test('needs three failures to open again after a success, and then opens for 1 s', () => {
    const subject = make();
    failing(subject, 9);
    subject.breaker.succeeded();
    expect(subject.breaker.isOpen).toBe(false);
    expect(failing(subject, 4)).toEqual([0, 0, 1_000, 2_000]);
  });

  test('ignores failures while it is open', () => {
    const subject = make();
    failing(subject, 3);
    for (let n = 0; n < 50; n++) subject.breaker.failed();
    expect(subject.breaker.remainingMs).toBe(1_000);
  });

  test('is open for at most five minutes after a burst of failures, and at most 1 s longer than the burst lasted', () => {
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

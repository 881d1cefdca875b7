import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createRateLimiter } from './rate-limiter.ts';

describe('the engine lane of a job', () => {
  it('is interactive for a small job while other accounts have running jobs, otherwise bulk', () => {
    const lanes = createRateLimiter(() => 0);
    expect(lanes.laneFor('a', 60, false)).toBe('interactive');
    expect(lanes.laneFor('b', 60, true)).toBe('bulk');
  });

  it('is bulk for a large text', () => {
    expect(createRateLimiter(() => 0).laneFor('a', 5_000, false)).toBe('bulk');
  });

  it('becomes bulk for an account that splits a large text into many small jobs, and stays interactive for other accounts', () => {
    const lanes = createRateLimiter(() => 0);
    const taken = Array.from({ length: 200 }, () => lanes.laneFor('a', 100, false));
    expect(taken.filter((lane) => lane === 'interactive')).toHaveLength(40);
    expect(taken.slice(40)).not.toContain('interactive');
    expect(lanes.laneFor('another', 100, false)).toBe('interactive');
  });

  it('is interactive again 40 seconds after a flood of ten thousand jobs', () => {
    let now = 0;
    const lanes = createRateLimiter(() => now);
    for (let made = 0; made < 10_000; made++) lanes.laneFor('a', 100, false);
    now = 5_000;
    expect(lanes.laneFor('a', 100, false)).toBe('bulk');
    now = 40_000;
    expect(lanes.laneFor('a', 100, false)).toBe('interactive');
  });

  it('is interactive for at most 4,096 characters plus 512 a second per account, however the account divides its text into jobs', () => {
    const job = fc.record({
      characters: fc.integer({ min: 1, max: 5_000 }),
      after: fc.integer({ min: 0, max: 3_000 }),
    });
    fc.assert(
      fc.property(fc.array(job, { maxLength: 200 }), (jobs) => {
        let now = 0;
        let interactive = 0;
        const lanes = createRateLimiter(() => now);
        for (const { characters, after } of jobs) {
          now += after;
          if (lanes.laneFor('a', characters, false) === 'interactive') interactive += characters;
          expect(interactive).toBeLessThanOrEqual(4096 + (now / 1000) * 512 + 1);
        }
      }),
    );
  });

  it('stays bulk for a busy account when the empty buckets of ten thousand other accounts are deleted', () => {
    let now = 0;
    const lanes = createRateLimiter(() => now);
    for (let made = 0; made < 100; made++) lanes.laneFor('busy', 100, false);
    for (let made = 0; made < 9_999; made++) lanes.laneFor(`account-${made}`, 100, false);
    now = 1_000;
    lanes.laneFor('new', 100, false);
    expect(lanes.laneFor('busy', 100, false)).toBe('bulk');
  });
});

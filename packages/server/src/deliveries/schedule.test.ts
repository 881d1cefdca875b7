import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { loadSettings } from '../settings/settings.ts';
import type { PostOutcome } from './post.ts';
import { LIFETIME_SECONDS, readRetryAfter } from './retry-after.ts';
import { JITTER, type NextAttempt, type NextAttemptIn, nextAttempt } from './schedule.ts';

const scheduleSeconds = loadSettings({}).callbackSchedule;
const LONGEST_STEP = 8 * 3600;

const createdAt = new Date('2026-03-01T00:00:00Z');
const after = (seconds: number) => new Date(createdAt.getTime() + seconds * 1000);
const middle = () => 0.5;

function answered(status: number, retryAfterSeconds?: number): PostOutcome {
  const wish = retryAfterSeconds === undefined ? {} : { retryAfterSeconds };
  return { kind: 'answered', status, ...wish, headers: {}, body: '', bodyComplete: true, latencyMs: 1 };
}

function failed(reason: Extract<PostOutcome, { kind: 'failed' }>['reason']): PostOutcome {
  return { kind: 'failed', reason, detail: '', latencyMs: 1 };
}

const first = (outcome: PostOutcome): NextAttempt =>
  nextAttempt({ attempts: 1, scheduleSeconds, outcome, createdAt, now: createdAt, random: middle });

test('nextAttempt returns the expected decision for each outcome of an attempt', () => {
  const retry: NextAttempt = { kind: 'retry', at: after(5) };
  const rows: [PostOutcome, NextAttempt][] = [
    [answered(200), { kind: 'delivered' }],
    [answered(201), { kind: 'delivered' }],
    [answered(204, 60), { kind: 'delivered' }],
    [answered(299), { kind: 'delivered' }],
    [answered(410), { kind: 'dead', reason: 'gone' }],
    [answered(410, 60), { kind: 'dead', reason: 'gone' }],
    ...[300, 301, 302, 304, 307, 308, 400, 401, 403, 404, 409, 411, 422, 429, 500, 502, 503, 504, 599].map(
      (status): [PostOutcome, NextAttempt] => [answered(status), retry],
    ),
    [answered(429, 60), { kind: 'retry', at: after(60) }],
    [answered(429, 1), retry],
    [answered(503, 0), retry],
    [answered(302, 90), { kind: 'retry', at: after(90) }],
    [answered(503, LONGEST_STEP), { kind: 'retry', at: after(LONGEST_STEP) }],
    [answered(503, LONGEST_STEP + 1), { kind: 'retry', at: after(LONGEST_STEP) }],
    [answered(503, LIFETIME_SECONDS), { kind: 'retry', at: after(LONGEST_STEP) }],
    [answered(429, LIFETIME_SECONDS + 1), { kind: 'retry', at: after(LONGEST_STEP) }],
    ...(['timeout', 'refused address', 'connect', 'reset', 'tls', 'other'] as const).map(
      (reason): [PostOutcome, NextAttempt] => [failed(reason), retry],
    ),
  ];
  for (const [outcome, next] of rows) expect([outcome, first(outcome)]).toEqual([outcome, next]);
});

test('nextAttempt ends a test of a URL after its first attempt', () => {
  const tested = (outcome: PostOutcome) =>
    nextAttempt({
      attempts: 1,
      scheduleSeconds,
      outcome,
      createdAt,
      now: createdAt,
      random: middle,
      once: true,
    });
  expect(tested(answered(204))).toEqual({ kind: 'delivered' });
  for (const outcome of [answered(410), answered(500), answered(503, 60), failed('tls')]) {
    expect(tested(outcome)).toEqual({ kind: 'dead', reason: 'test failed' });
  }
});

test('a delivery to a receiver that never answers gets 16 attempts, the last one about 72 hours after creation', () => {
  const delays: number[] = [];
  let now = createdAt;
  for (let attempts = 1; ; attempts += 1) {
    const next = nextAttempt({
      attempts,
      scheduleSeconds,
      outcome: failed('connect'),
      createdAt,
      now,
      random: middle,
    });
    if (next.kind !== 'retry') {
      expect(next).toEqual({ kind: 'dead', reason: 'out of time' });
      break;
    }
    delays.push((next.at.getTime() - now.getTime()) / 1000);
    now = next.at;
  }
  const hours = [1, 2, 4, 8, 8, 8, 8, 8, 8, 8, 8].map((count) => count * 3600);
  expect(delays).toEqual([5, 30, 120, 600, 1800, ...hours]);
  expect(delays.length).toBe(16);
  expect(now.getTime()).toBeLessThanOrEqual(after(LIFETIME_SECONDS).getTime());
});

test('jitter lengthens or shortens a delay by 15 % at most', () => {
  const at = (random: number) => {
    const next = nextAttempt({
      scheduleSeconds,
      attempts: 4,
      outcome: answered(500),
      createdAt,
      now: createdAt,
      random: () => random,
    });
    return next.kind === 'retry' ? (next.at.getTime() - createdAt.getTime()) / 1000 : undefined;
  };
  expect([at(0), at(0.5), at(0.75)]).toEqual([510, 600, 645]);
});

describe('nextAttempt for random histories', () => {
  const input = fc.record({
    attempts: fc.integer({ min: 1, max: 40 }),
    age: fc.integer({ min: 0, max: LIFETIME_SECONDS + 1000 }),
    chance: fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
    retryAfter: fc.option(fc.integer({ min: 0, max: LIFETIME_SECONDS }), { nil: undefined }),
    status: fc.constantFrom(302, 400, 429, 500, 503),
  });
  type Next = (input: NextAttemptIn) => NextAttempt;

  /**
   * Throws if a retry is too early, too late or outside its jitter, or if its delay is shorter than the
   * delays after fewer attempts.
   */
  function check(next: Next): void {
    fc.assert(
      fc.property(input, ({ attempts, age, chance, retryAfter, status }) => {
        const now = after(age);
        const ask = (count: number, wish?: number) =>
          next({
            attempts: count,
            scheduleSeconds,
            outcome: answered(status, wish),
            createdAt,
            now,
            random: () => chance,
          });
        const got = ask(attempts, retryAfter);
        const base = scheduleSeconds[Math.min(attempts, scheduleSeconds.length) - 1]!;
        // `Retry-After` can delay a retry to the end of the 72 hours at most, and never makes a delivery
        // dead.
        const wish = Math.min(retryAfter ?? 0, LONGEST_STEP, LIFETIME_SECONDS - age);
        const least = Math.max(base * (1 - JITTER), wish);
        const most = Math.max(base * (1 + JITTER), wish);
        if (got.kind === 'retry') {
          const delay = (got.at.getTime() - now.getTime()) / 1000;
          expect(delay).toBeGreaterThanOrEqual(least - 1e-6);
          expect(delay).toBeLessThanOrEqual(most + 0.002);
          expect(got.at.getTime()).toBeLessThanOrEqual(after(LIFETIME_SECONDS).getTime());
          const later = ask(attempts + 1, retryAfter);
          if (later.kind === 'retry') expect(later.at.getTime()).toBeGreaterThanOrEqual(got.at.getTime());
        } else {
          expect(got).toEqual({ kind: 'dead', reason: 'out of time' });
          expect(age + base * (1 + JITTER)).toBeGreaterThan(LIFETIME_SECONDS - 0.002);
        }
      }),
    );
  }

  test('returns retries at the scheduled times within 72 hours, with delays that never become shorter', () =>
    check(nextAttempt));

  test('violates these rules when a planted fault changes its times or its decision', () => {
    const shifted =
      (change: (at: number, input: NextAttemptIn) => number): Next =>
      (given) => {
        const next = nextAttempt(given);
        return next.kind === 'retry' ? { ...next, at: new Date(change(next.at.getTime(), given)) } : next;
      };
    const forever: Next = (given) => nextAttempt({ ...given, createdAt: given.now });
    const deaf: Next = (given) => nextAttempt({ ...given, outcome: answered(500) });
    const wild: Next = (given) => nextAttempt({ ...given, random: () => given.random() * 3 });
    const reversed: Next = (given) => nextAttempt({ ...given, attempts: Math.max(1, 9 - given.attempts) });
    const giveUp: Next = () => ({ kind: 'dead', reason: 'out of time' });
    const obedient: Next = (given) => {
      const { outcome, now } = given;
      const next = nextAttempt(given);
      const retryAfter = outcome.kind === 'answered' ? (outcome.retryAfterSeconds ?? 0) : 0;
      if (next.kind !== 'retry') return next;
      const at = new Date(Math.max(next.at.getTime(), now.getTime() + retryAfter * 1000));
      return at <= after(LIFETIME_SECONDS) ? { kind: 'retry', at } : { kind: 'dead', reason: 'out of time' };
    };
    const early = shifted((at, { now }) => now.getTime() + (at - now.getTime()) / 2);
    for (const fault of [forever, deaf, wild, reversed, giveUp, obedient, early]) {
      expect(() => check(fault)).toThrow();
    }
  });
});

test('nextAttempt throws for invalid arguments', () => {
  const given = { scheduleSeconds, outcome: answered(500), createdAt, now: createdAt, random: middle };
  for (const attempts of [0, -1, 1.5, Number.NaN]) {
    expect(() => nextAttempt({ ...given, attempts })).toThrow(RangeError);
  }
  for (const wrong of [[], [0], [-5], [Number.NaN]]) {
    expect(() => nextAttempt({ ...given, attempts: 1, scheduleSeconds: wrong })).toThrow(RangeError);
  }
});

test('readRetryAfter reads seconds and all three date forms, and ignores any other text', () => {
  const now = new Date('2026-03-01T12:00:00.500Z');
  const rows: [string, number | undefined][] = [
    ['0', 0],
    ['120', 120],
    [' 120 ', 120],
    ['007', 7],
    [String(LIFETIME_SECONDS), LIFETIME_SECONDS],
    [String(LIFETIME_SECONDS + 1), LIFETIME_SECONDS],
    ['9'.repeat(400), LIFETIME_SECONDS],
    ['Sun, 01 Mar 2026 12:01:00 GMT', 60],
    ['Sunday, 01-Mar-26 12:01:00 GMT', 60],
    ['Sun Mar  1 12:01:00 2026', 60],
    ['Sun, 01 Mar 2026 11:00:00 GMT', 0],
    ['Sunday, 06-Nov-94 08:49:37 GMT', 0],
    ['Fri, 31 Dec 9999 23:59:59 GMT', LIFETIME_SECONDS],
    '',
    '-5',
    '+5',
    '1.5',
    '1e3',
    '0x10',
    '5s',
    '5, 10',
    'soon',
    'NaN',
    'Infinity',
    '٣',
    '2026-03-01T12:01:00Z',
    'Sun, 01 Mar 2026 12:01:00 CET',
    'Sun, 01 Foo 2026 12:01:00 GMT',
    'Sun, 41 Mar 2026 12:01:00 GMT',
    'Sun, 01 Mar 2026 25:01:00 GMT',
    'Sun, 01 Mar 2026 12:61:00 GMT',
    '1 Mar 2026',
  ].map((row): [string, number | undefined] =>
    typeof row === 'string' ? [row, undefined] : (row as [string, number]),
  );
  for (const [value, seconds] of rows) expect([value, readRetryAfter(value, now)]).toEqual([value, seconds]);
});

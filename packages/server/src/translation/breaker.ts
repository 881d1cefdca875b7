/**
 * When an engine is left alone: after so many failed requests in a row it is asked no more for a while, then one
 * request is let through to see.
 *
 *   closed      requests pass; a success forgets the failures before it
 *   open        none pass, for a time that doubles with each failed look
 *   half-open   one passes; its end closes or opens again
 */
const FAILURES = 5;
const FIRST_MILLISECONDS = 10_000;
const LONGEST_MILLISECONDS = 300_000;

export interface Breaker {
  /** Whether a request may pass now; where that is the one look at an open engine, it is taken. */
  enter(): boolean;
  succeeded(): void;
  failed(): void;
  readonly state: 'closed' | 'open' | 'half-open';
}

export function createBreaker(now: () => number = () => performance.now()): Breaker {
  let failures = 0;
  let openUntil = 0;
  let pause = FIRST_MILLISECONDS;
  let lookingUntil = 0;

  return {
    get state() {
      if (failures < FAILURES) return 'closed';
      return now() < openUntil ? 'open' : 'half-open';
    },
    enter() {
      if (failures < FAILURES) return true;
      // A look that never ends must not keep the engine closed for ever.
      if (now() < openUntil || now() < lookingUntil) return false;
      lookingUntil = now() + pause;
      return true;
    },
    succeeded() {
      failures = 0;
      lookingUntil = 0;
      pause = FIRST_MILLISECONDS;
    },
    failed() {
      const looked = failures >= FAILURES;
      failures++;
      if (failures < FAILURES || (looked && now() < openUntil)) return;
      if (looked) pause = Math.min(pause * 2, LONGEST_MILLISECONDS);
      openUntil = now() + pause;
      lookingUntil = 0;
    },
  };
}

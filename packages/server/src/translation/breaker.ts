/**
 * Circuit breaker of an engine. After five failed requests in a row, requests are refused for some time. Then
 * one trial request is let through.
 *
 *   closed      requests pass; a success resets the count of failures
 *   open        no request passes; the pause doubles with each failed trial
 *   half-open   one trial request passes; its result closes or reopens the breaker
 */
const FAILURES = 5;
const FIRST_MILLISECONDS = 10_000;
const LONGEST_MILLISECONDS = 300_000;

export interface Breaker {
  /** Returns whether a request may pass now. If the breaker is half-open, the request that passes is the trial. */
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
      // If a trial never ends, another trial is let through after a further pause.
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

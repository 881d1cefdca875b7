/** Work that waits until the browser is idle. */

/** The time in milliseconds that is left for input when idle work stops. */
const RESERVE_MS = 3;

/**
 * Calls a function when the browser is idle; after a short delay in browsers without `requestIdleCallback` (Safari).
 */
export function whenIdle(call: (timeLeft: () => number) => void): void {
  if ('requestIdleCallback' in globalThis) {
    requestIdleCallback((deadline) => call(() => deadline.timeRemaining()));
  } else setTimeout(() => call(() => 0));
}

/**
 * Calls a function for each item, at least one in each idle period and as many as fit.
 *
 * @returns a function that stops
 */
export function whileIdle<Item>(items: readonly Item[], call: (item: Item) => void): () => void {
  let next = 0;
  let stopped = false;
  function go(timeLeft: () => number): void {
    if (stopped) return;
    do {
      if (next >= items.length) return;
      call(items[next]!);
      next += 1;
    } while (timeLeft() > RESERVE_MS);
    whenIdle(go);
  }
  whenIdle(go);
  return () => {
    stopped = true;
  };
}

/** Repeatable random numbers: the same seed gives the same sequence. */
export interface Random {
  /** Returns a whole number from 0 to `limit - 1`. */
  below(limit: number): number;
}

/**
 * Creates a generator with the algorithm Mulberry32. Its 32 bits of state are enough to choose the next step of a
 * proof.
 */
export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  function next(): number {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }
  return { below: (limit) => Math.floor(next() * limit) };
}

/** The calls of agents that wait for results. Each of them keeps a request in progress, so their number is limited. */
export interface Waits {
  /**
   * Takes one of the places for waiting calls. Returns a function that frees the place. Returns undefined if the
   * account holds as many places as are free, so there is always a place for an account that holds none, except when
   * all are taken.
   */
  take(accountId: string): (() => void) | undefined;
}

/** @param most the number of places */
export function createWaits(most: number): Waits {
  const ofAccounts = new Map<string, number>();
  let taken = 0;
  return {
    take(accountId) {
      const held = ofAccounts.get(accountId) ?? 0;
      if (held >= most - taken) return undefined;
      ofAccounts.set(accountId, held + 1);
      taken++;
      return () => {
        taken--;
        const left = ofAccounts.get(accountId)! - 1;
        if (left === 0) ofAccounts.delete(accountId);
        else ofAccounts.set(accountId, left);
      };
    },
  };
}

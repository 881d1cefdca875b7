/** The leases that a worker holds, and the capacity that is left for more. */
import type { ClaimLimits, Lease } from './queue.ts';

export interface HeldLease<L extends Lease> {
  lease: L;
  /**
   * True when the row uses a reserved place. A worker has reserved places in addition to its capacity, for accounts
   * that hold few rows.
   */
  reserved: boolean;
  lost: AbortController;
  done: Promise<void>;
}

export interface HeldLeases<L extends Lease> extends Set<HeldLease<L>> {
  leases(): L[];
  /** Returns how many more rows the worker can hold, not counting the reserved places. */
  freePlaces(): number;
  /** Returns how many reserved places are free. Their total number is an eighth of the capacity. */
  freeReserved(): number;
  claimLimits(): ClaimLimits<L>;
}

export function createHeldLeases<L extends Lease>({
  capacity,
  maxWeight,
  accountWeight = maxWeight,
}: {
  capacity: number;
  maxWeight: number;
  accountWeight?: number;
}): HeldLeases<L> {
  const held = new Set<HeldLease<L>>();
  const leases = () => [...held].map(({ lease }) => lease);
  const reservedTaken = () => [...held].filter(({ reserved }) => reserved).length;
  return Object.assign(held, {
    leases,
    freePlaces: () => capacity - (held.size - reservedTaken()),
    freeReserved: () => Math.ceil(capacity / 8) - reservedTaken(),
    claimLimits(): ClaimLimits<L> {
      let weight = maxWeight;
      const pieces = new Map<string, number>();
      const weights = new Map<string, number>();
      for (const { lease } of held) {
        weight -= lease.weight;
        const { accountId } = lease.account;
        pieces.set(accountId, (pieces.get(accountId) ?? 0) + 1);
        weights.set(accountId, (weights.get(accountId) ?? 0) + lease.weight);
      }
      const share = Math.ceil(capacity / 2);
      return {
        weight: Math.max(0, weight),
        empty: held.size === 0,
        shareOf: ({ accountId }) => share - (pieces.get(accountId) ?? 0),
        weightOf: ({ accountId }) => ({
          left: accountWeight - (weights.get(accountId) ?? 0),
          none: !weights.has(accountId),
        }),
        held: leases(),
      };
    },
  });
}

/**
 * Distributes a worker's slots for each host among accounts. A slot allows one delivery at a time. Several
 * accounts may use one receiver, such as a gateway, and this receiver may answer one of the accounts slowly
 * for hours. So no account may hold all slots.
 *
 *   - While several accounts have due deliveries for a host, each gets at most an equal share of its slots.
 *   - The last quarter of the slots is reserved for accounts that have no slot at this host, one slot each. So a new account does not wait for slow answers to other accounts.
 *   - An account whose deliveries to the host fail gets fewer slots (`breaker.ts`). Only its own failures count.
 */
import type { AccountRef } from '../base/account.ts';
import { limitAfter } from './breaker.ts';

/** A delivery in progress. It holds a slot of its host until the host has answered. */
interface SlotHolder {
  account: AccountRef;
  host: string;
  answered?: boolean;
}

/** An account with due deliveries to a host, and its consecutive failures there. */
interface DueLane {
  account_id: string;
  host: string;
  failures: number;
}

export interface HostSlots {
  /** Returns how many more deliveries of this account to this host may begin. May be negative. */
  freeFor(lane: DueLane): number;
  /** Takes a slot when a delivery begins. */
  take(delivery: SlotHolder): void;
}

/**
 * Creates the slots for one round of claims.
 * @param perHost number of slots of each host
 * @param held deliveries in progress
 * @param lanes every account and host with due deliveries
 */
export function createHostSlots(
  perHost: number,
  held: Iterable<SlotHolder>,
  lanes: readonly DueLane[],
): HostSlots {
  const taken = new Map<string, number>();
  const ownTaken = new Map<string, number>();
  const waiting = new Map<string, number>();
  const add = (counts: Map<string, number>, key: string) => counts.set(key, (counts.get(key) ?? 0) + 1);
  const reserved = Math.floor(perHost / 4);

  function take({ account, host }: SlotHolder): void {
    add(taken, host);
    add(ownTaken, `${account.accountId} ${host}`);
  }

  for (const delivery of held) if (!delivery.answered) take(delivery);
  for (const { host } of lanes) add(waiting, host);

  return {
    take,
    freeFor({ account_id, host, failures }) {
      const free = perHost - (taken.get(host) ?? 0);
      const own = ownTaken.get(`${account_id} ${host}`) ?? 0;
      const open = own === 0 ? Math.max(free - reserved, Math.min(free, 1)) : free - reserved;
      const share = Math.ceil(perHost / Math.max(1, waiting.get(host) ?? 1));
      return Math.min(open, share - own, limitAfter(failures, perHost) - own);
    },
  };
}

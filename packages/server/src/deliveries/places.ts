/**
 * The places of delivery hosts: how many deliveries a worker may have under way to one host, and how accounts share
 * them. A receiver that several accounts use (a relay, a gateway) may answer one of them slowly for hours, so no
 * account may hold all places.
 *
 *   - While several accounts have due deliveries for a host, each gets at most an equal part of its places.
 *   - The last quarter of the places is reserved for accounts that have nothing under way there, one place each: a
 *     newcomer need not wait for a slow answer to somebody else.
 *   - An account whose deliveries to the host fail gets fewer (`breaker.ts`). That counts its own deliveries alone.
 */
import type { AccountRef } from '../account.ts';
import { limitAfter } from './breaker.ts';

/** A delivery that takes a place at its host, until the host has answered. */
interface Placed {
  account: AccountRef;
  host: string;
  answered?: boolean;
}

/** An account's due deliveries to a host, and how many failed there in a row. */
interface Waiting {
  account_id: string;
  host: string;
  failures: number;
}

export interface Places {
  /** How many more deliveries of this account to this host may begin; may be negative. */
  freeFor(lane: Waiting): number;
  /** Counts a delivery that begins. */
  take(delivery: Placed): void;
}

/**
 * @param perHost places of a host
 * @param held deliveries under way
 * @param lanes every account and host with due deliveries
 */
export function createPlaces(perHost: number, held: Iterable<Placed>, lanes: readonly Waiting[]): Places {
  const taken = new Map<string, number>();
  const ownTaken = new Map<string, number>();
  const waiting = new Map<string, number>();
  const add = (counts: Map<string, number>, key: string) => counts.set(key, (counts.get(key) ?? 0) + 1);
  const reserved = Math.floor(perHost / 4);

  function take({ account, host }: Placed): void {
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

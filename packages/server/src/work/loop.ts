/**
 * The loop of a worker: claims work while it has room, keeps the leases of what it has in hand alive, and
 * stops in an orderly way. What the work is, it does not know.
 */
import type { AccountRef } from '../account.ts';
import { uuidv7 } from '../ids.ts';
import type { Log } from '../log.ts';
import type { Lease, Queue, Room } from './queue.ts';

export interface LoopOptions<L extends Lease = Lease> {
  name: string;
  queue: Queue<L>;
  /** How many pieces of work may be in hand at a time; one account has half of them while others wait. */
  capacity: number;
  /** What they may weigh together, in the units of `Lease.weight`; a heavier piece is worked alone. */
  maxWeight: number;
  /** What those of one account may weigh together, one piece in any case; `maxWeight` by default. */
  accountWeight?: number;
  /**
   * Does one piece of work, to its end: done, put back, or given up. `lost` aborts when the lease was lost;
   * nothing may be written after that (the fencing token sees to it as well). A rejection is a bug or a lost
   * database: it is logged, and the lease runs out.
   */
  work(lease: L, lost: AbortSignal): Promise<void>;
  log: Log;
  /** Milliseconds between looks when nobody hints that something is due. */
  pollMilliseconds?: number;
  /**
   * Least milliseconds between looks that only the end of a piece of work asks for, 0 by default: with much small
   * work of several accounts in hand, each end would ask the database again for the one place that came free.
   */
  restMilliseconds?: number;
}

export interface Loop {
  /** Something may be due: look now rather than at the next poll. */
  wake(): void;
  /** Claims no more; resolves when all that was in hand is done, or `graceMilliseconds` have passed. */
  stop(graceMilliseconds: number): Promise<void>;
  readonly inHand: number;
}

/** A loop that also takes what was leased by who made it, rather than from the queue. */
export interface OpenLoop<L extends Lease> extends Loop {
  /** What it could take of an account now, besides what it has: pieces, and their weight together. */
  roomFor(account: AccountRef): { pieces: number; weight: number };
  /** Nothing that is due waits for it, as far as it knows: what is made now stands before nobody. */
  readonly caughtUp: boolean;
  /**
   * The same for an account that has little in hand, of places that are kept for such: whoever waits in the queue does
   * not wait for these.
   */
  placeFor(account: AccountRef): { pieces: number; weight: number };
  /** Nothing of another account is in hand. */
  isAlone(account: AccountRef): boolean;
  /** Takes a piece of work. @returns false, and takes nothing, when it is stopping */
  adopt(lease: L): boolean;
}

interface Held<L extends Lease> {
  lease: L;
  /** In a place beside the capacity, which is kept for newcomers. */
  kept: boolean;
  lost: AbortController;
  done: Promise<void>;
}

/** In hand of an account that is no newcomer any more. */
const NEWCOMER_PIECES = 4;

export function startLoop<L extends Lease>(options: LoopOptions<L>): OpenLoop<L> {
  const { name, queue, capacity, maxWeight, log } = options;
  const pollMilliseconds = options.pollMilliseconds ?? 1000;
  const accountWeight = options.accountWeight ?? maxWeight;
  const restMilliseconds = options.restMilliseconds ?? 0;
  const held = new Set<Held<L>>();
  let stopping = false;
  let looking = false;
  /** Resolves when the last look is over. */
  let looked = Promise.resolve();
  let lookAgain = false;
  let poll: NodeJS.Timeout | undefined;
  let rest: NodeJS.Timeout | undefined;
  let lookedAt = Number.NEGATIVE_INFINITY;
  let caughtUp = false;
  /** Nobody has hinted at anything since the last look, which found nothing due: a place that comes free is no reason. */
  let nothingDue = false;

  /** How many of the capacity's places are free: what has a kept place takes none of them. */
  function placesFree(): number {
    let taken = 0;
    for (const { kept } of held) if (!kept) taken++;
    return capacity - taken;
  }

  function keptPlacesFree(): number {
    const taken = held.size - (capacity - placesFree());
    return Math.ceil(capacity / 8) - taken;
  }

  function take(lease: L, kept = false): void {
    const one: Held<L> = { lease, kept, lost: new AbortController(), done: Promise.resolve() };
    held.add(one);
    one.done = options
      .work(lease, one.lost.signal)
      .catch((error: unknown) => {
        if (!one.lost.signal.aborted) log.error({ error, name, job: lease.id }, 'work was interrupted');
      })
      .finally(() => {
        held.delete(one);
        wakeSoon();
      });
  }

  function roomLeft(): Room<L> {
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
      held: [...held].map(({ lease }) => lease),
    };
  }

  async function look(): Promise<void> {
    looking = true;
    clearTimeout(poll);
    // A turn later: what ends in the same turn of the event loop makes room for one look.
    await new Promise((resolve) => setImmediate(resolve));
    try {
      do {
        lookAgain = false;
        lookedAt = performance.now();
        // Room for a quarter at least, so that a full worker does not claim one by one.
        const room = placesFree();
        if (stopping || room < Math.max(1, capacity / 4)) {
          caughtUp = false;
          nothingDue = false;
          break;
        }
        const leases = await queue.claim(room, roomLeft());
        if (stopping) {
          await queue.release(leases); // asked for before the stop, come after it
          break;
        }
        for (const lease of leases) take(lease);
        if (leases.length > 0) lookAgain = true;
        caughtUp = !lookAgain;
        nothingDue = queue.empty === true && !lookAgain;
      } while (lookAgain);
    } catch (error) {
      log.warn({ error, name }, 'could not look for work');
    } finally {
      looking = false;
      if (!stopping) poll = setTimeout(lookNow, pollMilliseconds);
    }
  }

  function lookNow(): void {
    lookAgain = true;
    if (!looking && !stopping) looked = look();
  }

  /** There is a place more. An idle worker looks at once, one that looked a moment ago when that is over. */
  function wakeSoon(): void {
    if (stopping || nothingDue) return;
    const left = restMilliseconds - (performance.now() - lookedAt);
    if (left <= 0 || held.size === 0) {
      clearTimeout(rest);
      rest = undefined;
      lookNow();
      return;
    }
    if (rest !== undefined) return;
    rest = setTimeout(() => {
      rest = undefined;
      lookNow();
    }, left);
  }

  async function beat(): Promise<void> {
    const beating = [...held];
    if (beating.length === 0) return;
    try {
      const alive = await queue.extend(beating.map(({ lease }) => lease));
      for (const { lease, lost } of beating) if (!alive.has(lease.token + lease.id)) lost.abort();
    } catch (error) {
      log.warn({ error, name }, 'could not extend leases');
    }
  }

  // A third of the lease: two beats may be missed before the work is taken over.
  const heartbeat = setInterval(() => void beat(), (queue.leaseSeconds * 1000) / 3);
  lookNow();

  return {
    wake() {
      caughtUp = false;
      nothingDue = false;
      lookNow();
    },
    get inHand() {
      return held.size;
    },
    get caughtUp() {
      return caughtUp && !stopping;
    },
    roomFor(account) {
      if (stopping) return { pieces: 0, weight: 0 };
      const room = roomLeft();
      return {
        pieces: Math.min(placesFree(), room.shareOf(account)),
        weight: Math.min(room.weight, room.weightOf!(account).left),
      };
    },
    placeFor(account) {
      if (stopping) return { pieces: 0, weight: 0 };
      const kept = keptPlacesFree();
      const own = [...held].filter(({ lease }) => lease.account.accountId === account.accountId).length;
      const room = roomLeft();
      const weight = Math.min(room.weight, room.weightOf!(account).left);
      return { pieces: Math.max(0, Math.min(NEWCOMER_PIECES - own, kept)), weight };
    },
    isAlone({ accountId }) {
      for (const { lease } of held) if (lease.account.accountId !== accountId) return false;
      return true;
    },
    adopt(lease) {
      if (!stopping) take(lease, !caughtUp && keptPlacesFree() > 0);
      return !stopping;
    },
    async stop(graceMilliseconds) {
      stopping = true;
      clearTimeout(poll);
      clearTimeout(rest);
      let grace: NodeJS.Timeout | undefined;
      const patience = new Promise<void>((resolve) => {
        grace = setTimeout(resolve, graceMilliseconds);
      });
      await Promise.race([Promise.all([looked, ...[...held].map(({ done }) => done)]), patience]);
      clearTimeout(grace);
      clearInterval(heartbeat);
      const left = [...held];
      for (const { lost } of left) lost.abort();
      // Given back, so that another worker need not wait for the leases to run out.
      try {
        await queue.release(left.map(({ lease }) => lease));
      } catch (error) {
        // The database is gone too; the leases run out. What else is to be stopped must still be.
        log.warn({ error, name }, 'could not give work back');
      }
    },
  };
}

/**
 * Leases for what is about to be made, as many as a loop has room for: it is neither claimed nor read again by who
 * made it. The others are claimed, fairly, by whoever comes first.
 * @returns a token for each, or undefined
 */
export function leasesFor(
  pieces: readonly { account: AccountRef; weight: number }[],
  { roomFor }: Pick<OpenLoop<Lease>, 'roomFor'>,
): (string | undefined)[] {
  const given = new Map<string, { pieces: number; weight: number }>();
  let all = 0;
  return pieces.map(({ account, weight }) => {
    const before = given.get(account.accountId) ?? { pieces: 0, weight: 0 };
    const room = roomFor(account);
    if (Math.max(all, before.pieces) >= room.pieces || before.weight + weight > room.weight) return undefined;
    given.set(account.accountId, { pieces: before.pieces + 1, weight: before.weight + weight });
    all++;
    return uuidv7();
  });
}

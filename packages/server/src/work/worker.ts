/**
 * The worker of leased rows: it claims rows while it has capacity, extends their leases, and stops in an
 * orderly way. Jobs, messages and deliveries define how a row is read and processed, and how its outcome is
 * stored.
 *
 * The statement that inserts a row may also lease it for this worker (`capacityFor`, `assignLeases`,
 * `adopt`). Such a row is neither claimed nor read again.
 */
import type { AccountRef } from '../base/account.ts';
import { uuidv7 } from '../base/ids.ts';
import type { Log } from '../base/log.ts';
import { createHeldLeases, type HeldLease, type HeldLeases } from './held-leases.ts';
import { createQuarantine } from './quarantine.ts';
import type { Lease, LeaseQueue } from './queue.ts';

/** `decide` returns this value for a row that should be processed again later. */
export class RetryLater {
  readonly seconds: number;
  /** Whether this claim counts as an attempt. */
  readonly counts: boolean;
  constructor(seconds: number, counts: boolean) {
    this.seconds = seconds;
    this.counts = counts;
  }
}

export interface LeaseWorkerOptions<L extends Lease, Item, Outcome> {
  name: string;
  queue: LeaseQueue<L>;
  /**
   * Maximum number of rows held at the same time. While other accounts have due rows, one account may hold at
   * most half of this number.
   */
  capacity: number;
  /**
   * Maximum sum of the weights of held rows, in the unit of `Lease.weight`. A heavier row is processed
   * alone.
   */
  maxWeight: number;
  /** Maximum weight of the rows of one account, which may always hold one row; `maxWeight` by default. */
  accountWeight?: number;
  /**
   * `trusted`: the number of claims that a row may have before it is quarantined. `most`: the number of claims after
   * which `decide` fails the row without processing it. No limits by default.
   */
  claims?: { trusted: number; most: number };
  /** Reads the row of a lease; undefined when the lease is lost. */
  open(lease: L): Promise<Item | undefined>;
  /**
   * Processes a row. Resolves to undefined when there is no outcome to store. `lost` aborts when the lease is
   * lost; later writes have no effect, because the lease token has changed. A rejection means a bug or a lost
   * database connection: it is logged, and the lease expires.
   */
  decide(lease: L, item: Item, lost: AbortSignal): Promise<Outcome | RetryLater | undefined>;
  settle(lease: L, item: Item, outcome: Outcome): Promise<void>;
  /**
   * Whether the claim of a row counts as an attempt if the worker stops while the row is processed; false by default.
   * True if something may have been sent, such as a request.
   */
  stoppedCounts?: boolean;
  log: Log;
  pollMilliseconds?: number;
  /**
   * Minimum milliseconds between the last poll and the poll that a finished row causes; 0 by default. A worker that
   * holds no other row polls at once. Without this pause, a worker with many small rows would send a query whenever a
   * row is finished.
   */
  restMilliseconds?: number;
}

export interface LeaseWorker<L extends Lease = Lease, Item = unknown> {
  readonly leaseSeconds: number;
  /** Claims now rather than at the next poll, because a row may have become due. */
  wake(): void;
  /** Claims soon if rows are due, because a held row has freed what another row may wait for. */
  placeFreed(): void;
  /** Stops claiming. Resolves when all held rows are done, or after `graceMilliseconds`. */
  stop(graceMilliseconds: number): Promise<void>;
  readonly heldCount: number;
  /** Number of held rows that are being processed; suspects that wait in quarantine do not count. */
  readonly runningCount: number;
  /**
   * Returns the number of new rows of an account that the worker could take now, and the maximum of their
   * total weight. While older rows are queued, only accounts that hold few rows get capacity, in the places
   * reserved for them.
   */
  capacityFor(account: AccountRef): { pieces: number; weight: number };
  /** Returns whether all rows that the worker holds belong to this account. */
  isAlone(account: AccountRef): boolean;
  /** Takes over a row that was leased for this worker when it was inserted. */
  adopt(lease: L, item: Item): void;
  heldLeases(): Iterable<L>;
}

/** An account that holds at most this many rows counts as small: it may use the reserved places. */
const SMALL_ACCOUNT_PIECES = 4;

/**
 * Starts a worker, which claims due rows of its queue, extends their leases, and passes each row through `open`,
 * `decide` and `settle`.
 */
export function startLeaseWorker<L extends Lease, Item, Outcome>(
  options: LeaseWorkerOptions<L, Item, Outcome>,
): LeaseWorker<L, Item> {
  const { name, queue, log } = options;
  const held = createHeldLeases<L>(options);
  const runner = createRowRunner(options, held, () => poller.placeFreed());
  const poller = createPoller(options, held, runner.take);
  const heartbeat = startHeartbeat(options, held);
  poller.pollNow();

  /** If leases cannot be released, they expire later. */
  const release = (leases: readonly L[], counts = false) =>
    queue
      .release(leases, 0, counts)
      .catch((error: unknown) => log.warn({ error, name }, 'could not release leases'));

  return {
    leaseSeconds: queue.leaseSeconds,
    wake: poller.wake,
    placeFreed: poller.placeFreed,
    get heldCount() {
      return held.size;
    },
    get runningCount() {
      return runner.runningCount;
    },
    heldLeases: held.leases,
    capacityFor(account) {
      if (poller.stopping) return { pieces: 0, weight: 0 };
      const limits = held.claimLimits();
      const weight = Math.min(limits.weight, limits.weightOf!(account).left);
      if (poller.caughtUp) return { pieces: Math.min(held.freePlaces(), limits.shareOf(account)), weight };
      const own = held.leases().filter((lease) => lease.account.accountId === account.accountId).length;
      return { pieces: Math.max(0, Math.min(SMALL_ACCOUNT_PIECES - own, held.freeReserved())), weight };
    },
    isAlone({ accountId }) {
      for (const { lease } of held) if (lease.account.accountId !== accountId) return false;
      return true;
    },
    adopt(lease, item) {
      if (poller.stopping) void release([lease]);
      else runner.take(lease, item, !poller.caughtUp && held.freeReserved() > 0);
    },
    async stop(graceMilliseconds) {
      const polled = poller.stop();
      let grace: NodeJS.Timeout | undefined;
      const patience = new Promise<void>((resolve) => {
        grace = setTimeout(resolve, graceMilliseconds);
      });
      await Promise.race([Promise.all([polled, ...[...held].map(({ done }) => done)]), patience]);
      clearTimeout(grace);
      clearInterval(heartbeat);
      for (const { lost } of held) lost.abort();
      // Other workers can claim released leases at once. Leases that are not released must expire first.
      await release(held.leases(), options.stoppedCounts);
    },
  };
}

/** Takes leased rows: reads and processes each row and stores its outcome. */
function createRowRunner<L extends Lease, Item, Outcome>(
  options: LeaseWorkerOptions<L, Item, Outcome>,
  held: HeldLeases<L>,
  placeFreed: () => void,
) {
  const { name, queue, claims, log } = options;
  const quarantined = claims && createQuarantine(queue, claims.trusted);
  let runningCount = 0;

  async function run(lease: L, adopted: Item | undefined, lost: AbortSignal): Promise<void> {
    runningCount++;
    try {
      const item = adopted ?? (await options.open(lease));
      if (item === undefined) return;
      const outcome = await options.decide(lease, item, lost);
      if (outcome instanceof RetryLater) await queue.release([lease], outcome.seconds, outcome.counts);
      else if (outcome !== undefined) await options.settle(lease, item, outcome);
    } finally {
      runningCount--;
    }
  }

  return {
    get runningCount() {
      return runningCount;
    },
    /**
     * Starts to process a leased row.
     * @param reserved whether the row uses a place that is reserved for small accounts
     */
    take(lease: L, adopted?: Item, reserved = false): void {
      const row: HeldLease<L> = { lease, reserved, lost: new AbortController(), done: Promise.resolve() };
      held.add(row);
      const work = () => run(lease, adopted, row.lost.signal);
      const begins = quarantined === undefined || lease.attempts > claims!.most;
      row.done = (begins ? work() : quarantined(lease, row.lost.signal, work))
        .catch((error: unknown) => {
          if (!row.lost.signal.aborted) log.error({ error, name, job: lease.id }, 'work was interrupted');
        })
        .finally(() => {
          held.delete(row);
          placeFreed();
        });
    },
  };
}

/** Claims due rows: at every poll, when it is woken, and when the worker can hold more rows. */
function createPoller<L extends Lease, Item, Outcome>(
  { name, queue, capacity, log, ...options }: LeaseWorkerOptions<L, Item, Outcome>,
  held: HeldLeases<L>,
  take: (lease: L) => void,
) {
  const { pollMilliseconds = 1000, restMilliseconds = 0 } = options;
  let stopping = false;
  let polling = false;
  let polled = Promise.resolve();
  let pollAgain = false;
  let timer: NodeJS.Timeout | undefined;
  let rest: NodeJS.Timeout | undefined;
  let polledAt = Number.NEGATIVE_INFINITY;
  /** True when the last poll drained the queue, so that new rows cannot overtake queued rows. */
  let caughtUp = false;
  /** True when the last poll found no due row and `wake` was not called since. Then a finished row causes no poll. */
  let nothingDue = false;

  async function poll(): Promise<void> {
    polling = true;
    clearTimeout(timer);
    // Waits one turn of the event loop, so that all rows that finish in the same turn cause one poll.
    await new Promise((resolve) => setImmediate(resolve));
    try {
      do {
        pollAgain = false;
        polledAt = performance.now();
        // The worker polls when a quarter of its capacity is free, so that a full worker does not claim rows
        // one by one.
        const places = held.freePlaces();
        if (stopping || places < Math.max(1, capacity / 4)) {
          caughtUp = false;
          nothingDue = false;
          break;
        }
        const claimed = await queue.claim(places, held.claimLimits());
        if (stopping) {
          // The claim started before the stop and returned after it, so its rows are released at once.
          await queue.release(claimed);
          break;
        }
        for (const lease of claimed) take(lease);
        if (claimed.length > 0) pollAgain = true;
        caughtUp = !pollAgain;
        nothingDue = queue.empty === true && !pollAgain;
      } while (pollAgain);
    } catch (error) {
      log.warn({ error, name }, 'could not claim work');
    } finally {
      polling = false;
      if (!stopping) timer = setTimeout(pollNow, pollMilliseconds);
    }
  }

  function pollNow(): void {
    pollAgain = true;
    if (!polling && !stopping) polled = poll();
  }

  return {
    pollNow,
    get stopping() {
      return stopping;
    },
    get caughtUp() {
      return caughtUp;
    },
    wake() {
      caughtUp = false;
      nothingDue = false;
      pollNow();
    },
    /** Polls at once when the worker is idle, otherwise `restMilliseconds` after the last poll. */
    placeFreed() {
      if (stopping || nothingDue) return;
      const left = restMilliseconds - (performance.now() - polledAt);
      if (left <= 0 || held.size === 0) {
        clearTimeout(rest);
        rest = undefined;
        pollNow();
        return;
      }
      rest ??= setTimeout(() => {
        rest = undefined;
        pollNow();
      }, left);
    },
    stop(): Promise<void> {
      stopping = true;
      clearTimeout(timer);
      clearTimeout(rest);
      return polled;
    },
  };
}

/** Extends the held leases three times per lease duration, so that a lease outlives two missed heartbeats. */
function startHeartbeat<L extends Lease>(
  { name, queue, log }: Pick<LeaseWorkerOptions<L, unknown, unknown>, 'name' | 'queue' | 'log'>,
  held: HeldLeases<L>,
): NodeJS.Timeout {
  const beat = async () => {
    const rows = [...held];
    if (rows.length === 0) return;
    try {
      const extended = await queue.extend(rows.map(({ lease }) => lease));
      for (const { lease, lost } of rows) if (!extended.has(lease.token + lease.id)) lost.abort();
    } catch (error) {
      log.warn({ error, name }, 'could not extend leases');
    }
  };
  return setInterval(() => void beat(), (queue.leaseSeconds * 1000) / 3);
}

/**
 * Assigns leases to rows before their insert, up to the worker's capacity. Any worker claims the other rows.
 * @returns a lease token for each row, or undefined
 */
export function assignLeases(
  pieces: readonly { account: AccountRef; weight: number }[],
  { capacityFor }: Pick<LeaseWorker, 'capacityFor'>,
): (string | undefined)[] {
  const given = new Map<string, { pieces: number; weight: number }>();
  let all = 0;
  return pieces.map(({ account, weight }) => {
    const before = given.get(account.accountId) ?? { pieces: 0, weight: 0 };
    const free = capacityFor(account);
    if (Math.max(all, before.pieces) >= free.pieces || before.weight + weight > free.weight) return undefined;
    given.set(account.accountId, { pieces: before.pieces + 1, weight: before.weight + weight });
    all++;
    return uuidv7();
  });
}

/** Returns the lease of a row that was leased when it was inserted. */
export function newLease(account: AccountRef, id: string, token: string, weight: number): Lease {
  return { account, id, token, attempts: 1, weight };
}

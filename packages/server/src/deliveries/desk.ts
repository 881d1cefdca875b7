/**
 * The sender's desk: attempts begin and end many at a time, one round trip and one commit for all that wait. What an
 * attempt of one promises holds for a batch of them: it begins when it is on record.
 */
import { createBatcher } from '../database/batcher.ts';
import { type Database, isUnavailable, type Transaction } from '../database/database.ts';
import type { DeliveriesMoved } from './deliveries.ts';
import type { DeliveryLease } from './queue.ts';
import {
  type AttemptResult,
  beginAttempts,
  type DeliveryRow,
  finishAnswered,
  finishAttempt,
  type HostSign,
  type MovedDelivery,
  type Verdict,
} from './store.ts';

/** An attempt that has ended, what follows, and what it told of its host. */
export interface Finish {
  lease: DeliveryLease;
  result: AttemptResult;
  verdict: Verdict;
  sign: HostSign;
}

export interface Finished {
  /** Undefined when the lease was lost meanwhile. */
  moved: MovedDelivery | undefined;
  /** The host's breaker opened. */
  opened: boolean;
}

export interface DeliveryDesk {
  /** Records that an attempt begins and gives what is to be sent; undefined when the lease is lost. */
  begin(lease: DeliveryLease): Promise<DeliveryRow | undefined>;
  /** Records how an attempt ended and what follows. */
  finish(finish: Finish): Promise<Finished>;
}

const MAX_BATCH = 64;
/** Of all bodies that one answer of the database brings. */
const MAX_BATCH_BYTES = 8 * 1024 * 1024;
/** More than a sender ever has in hand. */
const MAX_WAITING = 100_000;

export function createDeliveryDesk(database: Database, moved: DeliveriesMoved | undefined): DeliveryDesk {
  // One of each kind at a time: what ends meanwhile gathers. Two at a time are half as large, and slower.
  const limits = { maxItems: MAX_BATCH, maxWaiting: MAX_WAITING, maxRunning: 1 };
  // Whether a commit on its way was made is not known: the leases run out.
  const isolates = (error: unknown) => !isUnavailable(error);

  const beginning = createBatcher<DeliveryLease, DeliveryRow | undefined>({
    ...{ ...limits, isolates, maxWeight: MAX_BATCH_BYTES },
    run: (leases) => beginAttempts(database, leases),
    weigh: ({ weight }) => weight,
  });
  const finishing = createBatcher<Finish, MovedDelivery | undefined>({
    ...{ ...limits, isolates, maxWeight: MAX_BATCH },
    run: (finishes) =>
      database.transaction(async (transaction) => {
        const ended = await finishAnswered(transaction, finishes);
        await follow(transaction, ended);
        return ended;
      }),
    weigh: () => 1,
  });

  /** Alone: its host's breaker moves with each attempt, and nobody shall wait for another one's host. */
  async function finishTrouble({ lease, result, verdict, sign }: Finish): Promise<Finished> {
    const { account } = lease;
    // One statement is a transaction of its own, and one round trip instead of three.
    if (verdict.status === 'pending') {
      return finishAttempt(database, account, lease, result, verdict, sign);
    }
    return database.transaction(async (transaction) => {
      const finished = await finishAttempt(transaction, account, lease, result, verdict, sign);
      await follow(transaction, [finished.moved]);
      return finished;
    });
  }

  async function follow(
    transaction: Transaction,
    ended: readonly (MovedDelivery | undefined)[],
  ): Promise<void> {
    const ofMessages = ended.filter(
      (one) => one !== undefined && one.messageId !== null && one.status !== 'pending',
    );
    if (ofMessages.length > 0) await moved?.(transaction, ofMessages as MovedDelivery[]);
  }

  return {
    begin: beginning.add,
    async finish(finish) {
      if (finish.sign.sign === 'trouble') return finishTrouble(finish);
      return { moved: await finishing.add(finish), opened: false };
    },
  };
}

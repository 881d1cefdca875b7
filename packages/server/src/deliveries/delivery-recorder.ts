/**
 * Records attempts in batches: one round trip and one commit for all that begin or end at the same time. An attempt
 * begins only once it is on record.
 */
import { createBatcher } from '../database/batcher.ts';
import { type Database, isUnavailable, type Transaction } from '../database/database.ts';
import type { OnDeliveriesChanged } from './deliveries.ts';
import type { DeliveryLease } from './queue.ts';
import {
  type AttemptResult,
  beginAttempts,
  type ChangedDelivery,
  type DeliveryDecision,
  type DeliveryRow,
  finishAnswered,
  finishAttempt,
  type HostSignal,
} from './store.ts';

/** An attempt that has ended. */
export interface FinishedAttempt {
  lease: DeliveryLease;
  result: AttemptResult;
  decision: DeliveryDecision;
  signal: HostSignal;
  latencyMs: number;
}

export interface RecordedAttempt {
  /** Undefined when the lease was lost. */
  changed: ChangedDelivery | undefined;
  /** Whether the attempt opened the host's circuit breaker. */
  opened: boolean;
}

export interface DeliveryRecorder {
  /** Records that an attempt begins and returns what to send; undefined when the lease was lost. */
  begin(lease: DeliveryLease): Promise<DeliveryRow | undefined>;
  /** Records how an attempt ended. @param immediate does not wait for others to share a commit */
  finish(attempt: FinishedAttempt, immediate: boolean): Promise<RecordedAttempt>;
}

const MAX_BATCH = 256;
/** Under load some hundred attempts end per second; a short pause gives them one commit. */
const FINISHING_REST_MILLISECONDS = 50;
/** Limits the bodies that one query returns. */
const MAX_BATCH_BYTES = 8 * 1024 * 1024;
/** More than a sender ever holds. */
const MAX_WAITING = 100_000;

export function createDeliveryRecorder(
  database: Database,
  onChanged: OnDeliveriesChanged | undefined,
): DeliveryRecorder {
  // One batch of each kind at a time: two would be half as large, and slower.
  const limits = { maxItems: MAX_BATCH, maxWaiting: MAX_WAITING, maxRunning: 1 };
  // When the database is unavailable, a commit may have happened or not: the leases run out.
  const isolates = (error: unknown) => !isUnavailable(error);

  const beginning = createBatcher<DeliveryLease, DeliveryRow | undefined>({
    ...limits,
    isolates,
    maxWeight: MAX_BATCH_BYTES,
    run: (leases) => beginAttempts(database, leases),
    weigh: ({ weight }) => weight,
  });
  const finishing = (restMilliseconds: number) =>
    createBatcher<FinishedAttempt, ChangedDelivery | undefined>({
      ...limits,
      isolates,
      restMilliseconds,
      maxWeight: MAX_BATCH,
      run: (attempts) =>
        database.transaction(async (transaction) => {
          const changed = await finishAnswered(transaction, attempts);
          await notify(transaction, changed);
          return changed;
        }),
      weigh: () => 1,
    });
  const immediately = finishing(0);
  const batched = finishing(FINISHING_REST_MILLISECONDS);

  /** Not batched: each attempt changes its host's breaker, and must not wait for another host. */
  async function finishFailing(attempt: FinishedAttempt): Promise<RecordedAttempt> {
    // A single statement is its own transaction: one round trip instead of three.
    if (attempt.decision.status === 'pending') return finishAttempt(database, attempt);
    return database.transaction(async (transaction) => {
      const recorded = await finishAttempt(transaction, attempt);
      await notify(transaction, [recorded.changed]);
      return recorded;
    });
  }

  async function notify(
    transaction: Transaction,
    changed: readonly (ChangedDelivery | undefined)[],
  ): Promise<void> {
    const ofMessages = changed.filter(
      (delivery) => delivery !== undefined && delivery.messageId !== null && delivery.status !== 'pending',
    );
    if (ofMessages.length > 0) await onChanged?.(transaction, ofMessages as ChangedDelivery[]);
  }

  return {
    begin: beginning.add,
    async finish(attempt, immediate) {
      if (attempt.signal.signal === 'failing') return finishFailing(attempt);
      return { changed: await (immediate ? immediately : batched).add(attempt), opened: false };
    },
  };
}

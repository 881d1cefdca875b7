/** Records the outcomes of attempts in batches: attempts that end at the same time share one commit. */
import { createBatcher } from '../database/batcher.ts';
import { type Database, isUnavailable, type Transaction } from '../database/database.ts';
import type { OnDeliveriesChanged } from './deliveries.ts';
import type { DeliveryLease } from './queue.ts';
import {
  type AttemptResult,
  type ChangedDelivery,
  type DeliveryDecision,
  finishAnswered,
  finishAttempt,
  type HostSignal,
} from './store.ts';

/** A finished attempt, with its result and the decision about the next attempt. */
export interface FinishedAttempt {
  lease: DeliveryLease;
  result: AttemptResult;
  decision: DeliveryDecision;
  signal: HostSignal;
  latencyMs: number;
}

export interface RecordedAttempt {
  /** The changed delivery; undefined if the lease was lost. */
  changed: ChangedDelivery | undefined;
  /** True if the attempt opened the host's circuit breaker. */
  opened: boolean;
}

export interface DeliveryRecorder {
  /** Records how an attempt ended. @param immediate true to commit at once instead of sharing a commit */
  finish(attempt: FinishedAttempt, immediate: boolean): Promise<RecordedAttempt>;
}

const MAX_BATCH = 256;
/**
 * The pause in ms before each shared commit. Under load some hundred attempts end each second, so a pause
 * collects several of them.
 */
const FINISHING_REST_MILLISECONDS = 50;
/** The maximum number of pending calls, higher than the number of deliveries that a sender can hold. */
const MAX_WAITING = 100_000;

export function createDeliveryRecorder(
  database: Database,
  onChanged: OnDeliveriesChanged | undefined,
): DeliveryRecorder {
  const finishing = (restMilliseconds: number) =>
    createBatcher<FinishedAttempt, ChangedDelivery | undefined>({
      maxItems: MAX_BATCH,
      maxWeight: MAX_BATCH,
      maxWaiting: MAX_WAITING,
      // Two concurrent batches would be half as large, and slower.
      maxRunning: 1,
      // While the database is unavailable, a failed commit is not retried: it may have succeeded, and the leases
      // expire anyway.
      isolates: (error) => !isUnavailable(error),
      restMilliseconds,
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

  /**
   * Failed attempts are not batched, because each one changes the circuit breaker of its host and must not
   * wait for the breaker of another host.
   */
  async function finishFailing(attempt: FinishedAttempt): Promise<RecordedAttempt> {
    // A single statement is a transaction by itself, which needs one round trip instead of three.
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
    async finish(attempt, immediate) {
      if (attempt.signal.signal !== 'alive') return finishFailing(attempt);
      return { changed: await (immediate ? immediately : batched).add(attempt), opened: false };
    },
  };
}

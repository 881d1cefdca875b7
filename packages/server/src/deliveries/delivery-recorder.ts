/**
 * Records the beginnings and the outcomes of attempts in batches: attempts that begin or end at the same time
 * share one round trip and one commit. The request of an attempt is sent only after its beginning is
 * recorded.
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
  /** Records that an attempt begins. @returns the delivery to send; undefined if the lease was lost */
  begin(lease: DeliveryLease): Promise<DeliveryRow | undefined>;
  /** Records how an attempt ended. @param immediate true to commit at once instead of sharing a commit */
  finish(attempt: FinishedAttempt, immediate: boolean): Promise<RecordedAttempt>;
}

const MAX_BATCH = 256;
/**
 * The pause in ms before each shared commit. Under load some hundred attempts end each second, so a pause
 * collects several of them.
 */
const FINISHING_REST_MILLISECONDS = 50;
/** The maximum total size, in bytes, of the bodies that one query returns. */
const MAX_BATCH_BYTES = 8 * 1024 * 1024;
/** The maximum number of pending calls, higher than the number of deliveries that a sender can hold. */
const MAX_WAITING = 100_000;

export function createDeliveryRecorder(
  database: Database,
  onChanged: OnDeliveriesChanged | undefined,
): DeliveryRecorder {
  // Runs one batch of beginnings and one batch of outcomes at a time. Two concurrent batches of one kind
  // would be half as large, and slower.
  const limits = { maxItems: MAX_BATCH, maxWaiting: MAX_WAITING, maxRunning: 1 };
  // While the database is unavailable, a failed commit is not retried: it may have succeeded, and the leases
  // expire anyway.
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
    begin: beginning.add,
    async finish(attempt, immediate) {
      if (attempt.signal.signal !== 'alive') return finishFailing(attempt);
      return { changed: await (immediate ? immediately : batched).add(attempt), opened: false };
    },
  };
}

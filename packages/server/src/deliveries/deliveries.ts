/**
 * Records events and their deliveries in the transaction in which the event happened. This way no event is
 * lost, and no event is reported that did not happen. The sender sends the deliveries later.
 */
import type { AccountRef, Environment } from '../base/account.ts';
import { uuidv7 } from '../base/ids.ts';
import { sandboxTriggerOf } from '../base/text.ts';
import type { Queryable, Transaction } from '../database/database.ts';
import { type EventSubject, insertEvents } from './event-store.ts';
import type { EventType } from './event-types.ts';
import type { Outbox } from './outbox.ts';
import { skipTime } from './queue.ts';
import { TRIGGER_HEADER } from './schedule.ts';
import type { ChangedDelivery } from './store.ts';

export { countFailedEndpoints } from './endpoint-store.ts';
export type { EventSubject } from './event-store.ts';
export type { EventType } from './event-types.ts';
export type { Outbox, OutboxSender } from './outbox.ts';
export type { ChangedDelivery } from './store.ts';
export { listFailingHosts } from './store.ts';

export interface NewEvent {
  account: AccountRef;
  environment: Environment;
  type: EventType;
  /**
   * The subject of the event. Events of one job, and events of one chat, are delivered in the order in which
   * they were recorded.
   */
  subject: EventSubject;
  /** The callback of the event; absent if the request named no callback URL, or the event has none. */
  delivery?:
    | {
        url: string;
        /** The webhook endpoint that a test event is for; absent for a callback. */
        endpointId?: string | undefined;
        contentType: string;
        /** The body is stored once, so that every attempt sends the same bytes. */
        body: Buffer;
        /** Additional headers of every attempt, such as `ce-id`; names in lower case. */
        headers?: Record<string, string>;
        /** Seconds before the first attempt; 0 by default. Negative to overtake waiting deliveries. */
        delaySeconds?: number;
      }
    | undefined;
}

/**
 * Records events in the transaction in which they happened, with their callbacks and their deliveries to the
 * account's webhook endpoints in the outbox. Runs one statement.
 *
 * Events of one subject are delivered in the order in which the database receives the calls, and within a
 * call in the order of the list. To record two events of one job or chat in two transactions, lock its row or
 * commit the first transaction before the second call.
 * @param outbox leases callbacks for the sender of this process
 * @returns the ids of the events, each also the `webhook-id` of its callback
 */
export async function recordEvents(
  transaction: Transaction,
  events: readonly NewEvent[],
  outbox?: Outbox,
): Promise<string[]> {
  const recorded = events.map(({ delivery, ...event }) => ({
    ...event,
    eventId: uuidv7(),
    delivery: delivery && {
      ...delivery,
      headers: delivery.headers ?? {},
      delaySeconds: delivery.delaySeconds ?? 0,
      host: hostOf(delivery.url),
    },
  }));
  if (recorded.length === 0) return [];
  const tokens = outbox?.lease(recorded) ?? [];
  const inserted = await insertEvents(transaction, recorded, tokens, outbox?.leaseSeconds ?? 0);
  outbox?.inserted(recorded, inserted);
  return recorded.map(({ eventId }) => eventId);
}

/** Returns the host and port of a callback URL, which host limits and circuit breakers use as key. */
export function hostOf(url: string): string {
  return URL.parse(url)?.host ?? '';
}

/** Seconds by which the sandbox trigger `late` delays a delivery. */
const LATE_SECONDS = 600;

/** Returns how a sandbox trigger changes the delivery of an event. */
export function deliveryByTrigger(
  environment: Environment,
  text: string | undefined,
): { headers?: Record<string, string>; delaySeconds?: number } {
  const trigger = sandboxTriggerOf(environment, text);
  if (trigger === 'late') return { delaySeconds: LATE_SECONDS };
  return trigger === 'twice' ? { headers: { [TRIGGER_HEADER]: trigger } } : {};
}

/**
 * Makes pending deliveries of a sandbox account due earlier by `seconds`. The 72 hours in which they are
 * attempted also end earlier. Does not change deliveries of production or circuit breakers.
 * @returns the number of deliveries
 */
export function skipDeliveryTime(on: Queryable, account: AccountRef, seconds: number): Promise<number> {
  return skipTime(on, account, seconds);
}

/**
 * Called when deliveries of chat messages are delivered, dead or replayed (`pending`), in the same transaction,
 * so that a message and its deliveries always agree. Not called for deliveries of jobs, which do not change the
 * job.
 */
export type OnDeliveriesChanged = (
  transaction: Transaction,
  deliveries: readonly ChangedDelivery[],
) => Promise<void>;

/**
 * Events and their deliveries. An event is on record, for the feed, from the transaction in which it happened;
 * where somebody is to be told, its delivery is in the outbox from that transaction too. So no event is lost, and
 * none is told of that did not happen. The sender does the rest.
 */
import type { AccountRef, Environment } from '../account.ts';
import type { Transaction } from '../database/database.ts';
import { uuidv7 } from '../ids.ts';
import { type EventType, insertEvents, type MovedDelivery, type Subject } from './store.ts';

export type { EventType, MovedDelivery, Subject } from './store.ts';

export interface NewEvent {
  account: AccountRef;
  environment: Environment;
  type: EventType;
  /** What it is about. Events of one job, and events of one chat, are delivered in the order of their recording. */
  subject: Subject;
  /** Whom to tell, and what; absent: the event is in the feed alone. */
  delivery?:
    | {
        url: string;
        contentType: string;
        /** Stored once; every attempt sends these bytes. */
        body: Buffer;
        /** Further headers, names in lower case, sent as they are by every attempt (`ce-id` and its like). */
        headers?: Record<string, string>;
      }
    | undefined;
}

/**
 * Records events in the transaction in which they happen, and puts their deliveries in the outbox: one statement,
 * however many there are.
 *
 * The order among events of one subject is that of the calls as the database sees them, and within a call that of
 * the list: whoever records two of one job or chat in two transactions must hold that row's lock, or otherwise let
 * one commit before the other is recorded.
 * @returns the events' ids, each also the `webhook-id` of its delivery
 */
export async function recordEvents(transaction: Transaction, events: readonly NewEvent[]): Promise<string[]> {
  const recorded = events.map(({ delivery, ...event }) => ({
    ...event,
    eventId: uuidv7(),
    delivery: delivery && { ...delivery, headers: delivery.headers ?? {}, host: hostOf(delivery.url) },
  }));
  if (recorded.length > 0) await insertEvents(transaction, recorded);
  return recorded.map(({ eventId }) => eventId);
}

/** The host of a callback address with its port, as the limits and breakers of a host know it. */
export function hostOf(url: string): string {
  return URL.parse(url)?.host ?? '';
}

/**
 * What the room of the deliveries' subjects does when deliveries end, `delivered` or `dead`, or begin anew by a
 * replay, `pending`: in the same transaction, so that the two can never disagree. Called for deliveries of messages
 * alone; a job does not follow its deliveries. `serve.ts` and the command line hand it in.
 */
export type DeliveriesMoved = (
  transaction: Transaction,
  deliveries: readonly MovedDelivery[],
) => Promise<void>;

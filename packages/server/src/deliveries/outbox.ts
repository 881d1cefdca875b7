/**
 * Deliveries that are leased when they are inserted. The sender of the process that settles a job or a message sends
 * them right after the commit. Their first attempt is recorded in the same transaction, so they need no claim and no
 * commit of their own before they are sent.
 */
import { uuidv7 } from '../base/ids.ts';
import type { LeaseWorker } from '../work/worker.ts';
import { createHostSlots } from './host-slots.ts';
import type { DeliveryLease } from './queue.ts';
import type { DeliveryRow, NewEventRow } from './store.ts';

/** The deliveries of one transaction. */
export interface Outbox {
  readonly leaseSeconds: number;
  /** Discards the leases of an earlier try of the transaction. */
  clear(): void;
  /** Returns a token for each delivery that the sender has a slot for. */
  lease(events: readonly NewEventRow[]): (string | undefined)[];
  /** @param leased the queueing time of each delivery that the database leased, by its id */
  inserted(events: readonly NewEventRow[], leased: ReadonlyMap<string, Date>): void;
}

export interface OutboxSender {
  /** Runs a transaction and sends the deliveries of its outbox after the commit. */
  withOutbox<T>(transaction: (outbox?: Outbox) => Promise<T>): Promise<T>;
}

/** @param perHost slots of a host */
export function createOutboxSender(
  worker: LeaseWorker<DeliveryLease, DeliveryRow>,
  perHost: number,
): OutboxSender {
  /** Deliveries of open transactions, which have taken their slots already. */
  const reserved = new Set<DeliveryLease>();

  function createOutbox() {
    const leases = new Map<string, DeliveryLease>();
    /** The jobs and chats whose first delivery in this transaction has been considered. */
    const seen = new Set<string>();
    let adopted: [DeliveryLease, DeliveryRow][] = [];
    let queued = false;

    function clear(): void {
      for (const lease of leases.values()) reserved.delete(lease);
      leases.clear();
      seen.clear();
      adopted = [];
      queued = false;
    }

    function reserve(event: NewEventRow, slots: ReturnType<typeof createHostSlots>): string | undefined {
      const { account, delivery, environment, eventId: id, subject } = event;
      if (delivery === undefined) return undefined;
      const { host } = delivery;
      // Only the first delivery of a job or chat; the next one must wait until it has arrived.
      const key = subject.kind === 'job' ? subject.jobId : subject.kind === 'message' ? subject.chatId : id;
      if (seen.has(key)) return undefined;
      seen.add(key);
      if (slots.freeFor({ account_id: account.accountId, host, failures: 0 }) <= 0) return undefined;
      // The limits of the sender apply to all accounts, so all reservations count.
      const room = worker.capacityFor(account);
      const weight = delivery.body.length;
      const weights = [...reserved].reduce((sum, lease) => sum + lease.weight, weight);
      if (reserved.size >= room.pieces || weights > room.weight) return undefined;
      const token = uuidv7();
      const lease = { account, id, token, attempts: 1, weight, host, environment, probe: false };
      leases.set(key, lease);
      reserved.add(lease);
      slots.take(lease);
      return token;
    }

    return {
      leaseSeconds: worker.leaseSeconds,
      clear,
      lease(events: readonly NewEventRow[]) {
        const slots = createHostSlots(perHost, [...worker.heldLeases(), ...reserved], []);
        return events.map((event) => reserve(event, slots));
      },
      inserted(events: readonly NewEventRow[], leased: ReadonlyMap<string, Date>) {
        const byId = new Map([...leases.values()].map((lease) => [lease.id, lease]));
        for (const event of events) {
          const queuedAt = leased.get(event.eventId);
          if (queuedAt !== undefined) adopted.push([byId.get(event.eventId)!, rowOf(event, queuedAt)]);
          else queued ||= event.delivery !== undefined;
        }
      },
      send() {
        const sent = adopted;
        const wakes = queued;
        clear();
        for (const [lease, row] of sent) worker.adopt(lease, row);
        if (wakes) worker.wake();
      },
    };
  }

  return {
    async withOutbox(transaction) {
      const outbox = createOutbox();
      try {
        const result = await transaction(outbox);
        outbox.send();
        return result;
      } finally {
        outbox.clear();
      }
    },
  };
}

/** Returns the row that the sender would read from the database. */
function rowOf({ environment, delivery, subject }: NewEventRow, queuedAt: Date): DeliveryRow {
  const { url, contentType, headers, body } = delivery!;
  const message_id = subject.kind === 'message' ? subject.messageId : null;
  const counted = { queued_at: queuedAt, attempts_before: 0 };
  return { environment, url, content_type: contentType, headers, body, message_id, ...counted };
}

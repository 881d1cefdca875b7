/**
 * Deliveries that are leased to the sender of this process when they are inserted. The sender sends them
 * right after the commit. The same transaction records their first attempt. Therefore these deliveries need
 * neither a claim nor another commit before they are sent.
 */
import { uuidv7 } from '../base/ids.ts';
import type { LeaseWorker } from '../work/worker.ts';
import type { InsertedEvents, NewEventRow } from './event-store.ts';
import { createHostSlots } from './host-slots.ts';
import type { DeliveryLease } from './queue.ts';
import type { DeliveryRow } from './store.ts';

/** Leases the deliveries of one transaction to the sender of this process. */
export interface Outbox {
  readonly leaseSeconds: number;
  /** Discards the leases of an earlier attempt to run the transaction. */
  clear(): void;
  /** Returns a lease token for each delivery that the sender has a slot for. */
  lease(events: readonly NewEventRow[]): (string | undefined)[];
  /** Called after the insert. @param inserted which callbacks the database leased, and what else it queued */
  inserted(events: readonly NewEventRow[], inserted: InsertedEvents): void;
}

export interface OutboxSender {
  /** Runs a transaction and sends the deliveries in its outbox after the commit. */
  withOutbox<T>(transaction: (outbox?: Outbox) => Promise<T>): Promise<T>;
}

/**
 * Creates the outbox of a sender.
 * @param perHost number of slots of each host
 * @param sawDue whether older deliveries of an account to a host are due, which new ones must not overtake
 */
export function createOutboxSender(
  worker: LeaseWorker<DeliveryLease, DeliveryRow>,
  perHost: number,
  sawDue: (host: string, accountId: string) => boolean,
): OutboxSender {
  /** The leased deliveries of open transactions. Each of them already uses a slot. */
  const reserved = new Set<DeliveryLease>();

  function createOutbox() {
    const leases = new Map<string, DeliveryLease>();
    /** The jobs and chats for which this transaction has already tried to lease the first delivery. */
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
      if (delivery === undefined || delivery.delaySeconds > 0) return undefined;
      const { host } = delivery;
      // Leases only the first delivery of a job or chat; the next one must wait until the first has arrived.
      const key = subject.kind === 'job' ? subject.jobId : subject.kind === 'message' ? subject.chatId : id;
      if (seen.has(key)) return undefined;
      seen.add(key);
      if (sawDue(host, account.accountId)) return undefined;
      if (slots.freeFor({ account_id: account.accountId, host, failures: 0 }) <= 0) return undefined;
      // The limits of the sender apply to all accounts and all open transactions together.
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
      inserted(events: readonly NewEventRow[], { leased, announced }: InsertedEvents) {
        const byId = new Map([...leases.values()].map((lease) => [lease.id, lease]));
        queued ||= announced.size > 0;
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

/** Builds the row that the sender would otherwise read from the database. */
function rowOf({ environment, delivery, subject }: NewEventRow, queuedAt: Date): DeliveryRow {
  const { url, contentType, headers, body, endpointId = null } = delivery!;
  const message_id = subject.kind === 'message' ? subject.messageId : null;
  const counted = { queued_at: queuedAt, attempts_before: 0, scheduled_at: null };
  const endpoint = { endpoint_id: endpointId, unwanted: false };
  return { environment, url, content_type: contentType, headers, body, message_id, ...counted, ...endpoint };
}

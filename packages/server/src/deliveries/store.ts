/** What is asked of the database about deliveries. */
import type { AccountRef, Environment } from '../account.ts';
import type { Queryable, Transaction } from '../database/database.ts';
import { statement } from '../database/statements.ts';

export type EventType =
  | 'job.completed'
  | 'job.failed'
  | 'message.translated'
  | 'message.failed'
  | 'message.corrected'
  | 'test';

/** What an event is about: a job, a message of a chat, or nothing but the delivery itself. */
export type Subject =
  | { kind: 'job'; jobId: string }
  | { kind: 'message'; chatId: string; messageId: string }
  | { kind: 'none' };

const jobOf = (subject: Subject) => (subject.kind === 'job' ? subject.jobId : null);
const chatOf = (subject: Subject) => (subject.kind === 'message' ? subject.chatId : null);
const messageOf = (subject: Subject) => (subject.kind === 'message' ? subject.messageId : null);

export interface NewEventRow {
  account: AccountRef;
  eventId: string;
  environment: Environment;
  type: EventType;
  subject: Subject;
}

const INSERT_EVENTS = statement(
  'deliveries.insert_events',
  `insert into events (part, account_id, event_id, environment, type, job_id, chat_id, message_id)
   select * from unnest($1::smallint[], $2::uuid[], $3::uuid[], $4::text[], $5::text[], $6::uuid[], $7::uuid[],
                        $8::uuid[])`,
);

export async function insertEvents(transaction: Transaction, events: readonly NewEventRow[]): Promise<void> {
  await transaction.query(INSERT_EVENTS, [
    events.map(({ account }) => account.part),
    events.map(({ account }) => account.accountId),
    events.map(({ eventId }) => eventId),
    events.map(({ environment }) => environment),
    events.map(({ type }) => type),
    events.map(({ subject }) => jobOf(subject)),
    events.map(({ subject }) => chatOf(subject)),
    events.map(({ subject }) => messageOf(subject)),
  ]);
}

export interface NewDelivery {
  account: AccountRef;
  deliveryId: string;
  environment: Environment;
  event: EventType;
  subject: Subject;
  url: string;
  host: string;
  contentType: string;
  headers: Record<string, string>;
  body: Buffer;
}

// The bodies come as one value, cut here: in an array the driver would write them in hexadecimal, twice as long.
const INSERT = statement(
  'deliveries.insert',
  `insert into deliveries (part, account_id, delivery_id, environment, event, url, host, content_type, headers,
                           job_id, chat_id, message_id, order_key, body)
   select part, account_id, delivery_id, environment, event, url, host, content_type, headers,
          job_id, chat_id, message_id, coalesce(job_id, chat_id), substring($15::bytea from start for length)
     from unnest($1::smallint[], $2::uuid[], $3::uuid[], $4::text[], $5::text[], $6::text[], $7::text[],
                 $8::text[], $9::jsonb[], $10::uuid[], $11::uuid[], $12::uuid[], $13::int[], $14::int[])
       with ordinality as given (part, account_id, delivery_id, environment, event, url, host, content_type,
                                 headers, job_id, chat_id, message_id, start, length, place)
    order by place`,
);

export async function insertDeliveries(
  transaction: Transaction,
  deliveries: readonly NewDelivery[],
): Promise<void> {
  let start = 1;
  const starts = deliveries.map(({ body }) => {
    start += body.length;
    return start - body.length;
  });
  await transaction.query(INSERT, [
    deliveries.map(({ account }) => account.part),
    deliveries.map(({ account }) => account.accountId),
    deliveries.map(({ deliveryId }) => deliveryId),
    deliveries.map(({ environment }) => environment),
    deliveries.map(({ event }) => event),
    deliveries.map(({ url }) => url),
    deliveries.map(({ host }) => host),
    deliveries.map(({ contentType }) => contentType),
    deliveries.map(({ headers }) => JSON.stringify(headers)),
    deliveries.map(({ subject }) => jobOf(subject)),
    deliveries.map(({ subject }) => chatOf(subject)),
    deliveries.map(({ subject }) => messageOf(subject)),
    starts,
    deliveries.map(({ body }) => body.length),
    Buffer.concat(deliveries.map(({ body }) => body)),
  ]);
}

export interface DeliveryRow {
  environment: Environment;
  url: string;
  content_type: string;
  headers: Record<string, string>;
  body: Buffer;
  queued_at: Date;
  message_id: string | null;
}

// One round trip, and one commit, before the request leaves: the attempt is on record even if the sender
// dies in the middle of it.
const BEGIN_ATTEMPT = statement<DeliveryRow>(
  'deliveries.begin_attempt',
  `with attempt as (
     insert into attempts (part, account_id, delivery_id, attempt)
     select part, account_id, delivery_id, attempts from deliveries
      where part = $1 and account_id = $2 and delivery_id = $3 and lease_token = $4)
   select environment, url, content_type, headers, body, queued_at, message_id from deliveries
    where part = $1 and account_id = $2 and delivery_id = $3 and lease_token = $4`,
);

/** Records that an attempt begins and gives what is to be sent; undefined when the lease is lost. */
export async function beginAttempt(
  on: Queryable,
  account: AccountRef,
  lease: { id: string; token: string },
): Promise<DeliveryRow | undefined> {
  const [row] = await on.query(BEGIN_ATTEMPT, [account.part, account.accountId, lease.id, lease.token]);
  return row;
}

export interface AttemptResult {
  attempt: number;
  outcome: string;
  statusCode: number | undefined;
  milliseconds: number;
}

export type Verdict =
  | { status: 'delivered' }
  | { status: 'dead'; failure: string }
  | { status: 'pending'; dueAt: Date };

/** A delivery that ended, or began anew. */
export interface MovedDelivery {
  deliveryId: string;
  event: EventType;
  chatId: string | null;
  messageId: string | null;
  status: 'delivered' | 'dead' | 'pending';
}

interface MovedRow {
  delivery_id: string;
  event: EventType;
  chat_id: string | null;
  message_id: string | null;
  status: MovedDelivery['status'];
}

function toMoved(row: MovedRow): MovedDelivery {
  const { delivery_id, event, chat_id, message_id, status } = row;
  return { deliveryId: delivery_id, event, chatId: chat_id, messageId: message_id, status };
}

// The attempt is recorded whatever became of the lease; the delivery is moved only by its holder.
const FINISH_ATTEMPT = statement<MovedRow>(
  'deliveries.finish_attempt',
  `with attempt as (
     update attempts set finished_at = now(), outcome = $6, status_code = $7, milliseconds = $8
      where part = $1 and account_id = $2 and delivery_id = $3 and attempt = $5)
   update deliveries
      set status = $9, failure = $10, due_at = $11, lease_token = null,
          finished_at = case when $9 = 'pending' then null else now() end
    where part = $1 and account_id = $2 and delivery_id = $3 and lease_token = $4 and status = 'pending'
   returning delivery_id, event, chat_id, message_id, status`,
);

/** Records how an attempt ended and what follows. @returns undefined when the lease was lost meanwhile */
export async function finishAttempt(
  on: Queryable,
  account: AccountRef,
  lease: { id: string; token: string },
  result: AttemptResult,
  verdict: Verdict,
): Promise<MovedDelivery | undefined> {
  const [row] = await on.query(FINISH_ATTEMPT, [
    account.part,
    account.accountId,
    lease.id,
    lease.token,
    result.attempt,
    result.outcome,
    result.statusCode ?? null,
    result.milliseconds,
    verdict.status,
    verdict.status === 'dead' ? verdict.failure : null,
    verdict.status === 'pending' ? verdict.dueAt : null,
  ]);
  return row && toMoved(row);
}

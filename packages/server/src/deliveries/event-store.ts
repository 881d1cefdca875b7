/** The SQL statement that records events with their deliveries. */
import type { AccountRef, Environment } from '../base/account.ts';
import type { Transaction } from '../database/database.ts';
import { columnsOf, statement } from '../database/statements.ts';
import { ofActiveAccount } from '../work/queue.ts';
import { MAX_ENDPOINTS } from './endpoint-schemas.ts';
import type { EventType } from './event-types.ts';

/** The subject of an event; `none` for a test event. */
export type EventSubject =
  | { kind: 'job'; jobId: string }
  | { kind: 'message'; chatId: string; messageId: string }
  | { kind: 'none' };

const jobOf = (subject: EventSubject) => (subject.kind === 'job' ? subject.jobId : null);
const chatOf = (subject: EventSubject) => (subject.kind === 'message' ? subject.chatId : null);
const messageOf = (subject: EventSubject) => (subject.kind === 'message' ? subject.messageId : null);

export interface NewEventRow {
  account: AccountRef;
  /** The id of the event and of its callback. */
  eventId: string;
  environment: Environment;
  type: EventType;
  subject: EventSubject;
  delivery:
    | {
        url: string;
        host: string;
        /** The webhook endpoint whose secret signs it; absent for a callback. */
        endpointId?: string | undefined;
        contentType: string;
        headers: Record<string, string>;
        body: Buffer;
        delaySeconds: number;
      }
    | undefined;
}

// All bodies are concatenated into one parameter, which the statement divides again: in an array, the driver
// would write them in hexadecimal, twice as long. A delivery with a lease token is leased, and its first
// attempt begins. It is queued instead if a delivery of its job or chat is pending, deliveries to its host
// have failed (a row in `breakers`) or its account is suspended.
//
// Each active webhook endpoint whose filter matches gets one more delivery, with the event as the feed shows it. The
// lateral query needs one index seek for an event, and no other part of the statement runs if it finds no endpoint.
// These deliveries have ids and order keys of their own: no callback or other endpoint waits until an earlier event has
// reached an endpoint. Their times of queueing follow the order of the list.
const INSERT = statement<{ event_id: string; lease_token: string | null; queued_at: Date }>(
  'deliveries.insert_events',
  `with given as materialized (
     select * from unnest(:part::smallint[], :account_id::uuid[], :event_id::uuid[], :environment::text[],
                          :type::text[], :job_id::uuid[], :chat_id::uuid[], :message_id::uuid[], :url::text[],
                          :host::text[], :to_endpoint::uuid[], :content_type::text[], :headers::jsonb[], :start::int[], :length::int[],
                          :token::uuid[], :delay::float8[])
       with ordinality as g (part, account_id, event_id, environment, type, job_id, chat_id, message_id, url, host,
                             to_endpoint, content_type, headers, start, length, token, delay, place)),
   leased as materialized (
     select g.event_id, g.token from given g
      where g.token is not null and ${ofActiveAccount('g')}
        and not exists (
          select from deliveries e
           where e.part = g.part and e.account_id = g.account_id and e.order_key = coalesce(g.job_id, g.chat_id)
             and e.status = 'pending')
        and not exists (
          select from breakers b where b.part = g.part and b.account_id = g.account_id and b.host = g.host)),
   recorded as (
     insert into events (part, account_id, event_id, environment, type, job_id, chat_id, message_id)
     select part, account_id, event_id, environment, type, job_id, chat_id, message_id from given order by place
     returning event_id, created_at),
   inserted as (
     insert into deliveries (part, account_id, delivery_id, environment, event, endpoint_id, url, host,
                             content_type, headers, job_id, chat_id, message_id, order_key, body, lease_token,
                             attempts, attempt_started_at, due_at)
     select part, account_id, event_id, environment, type, to_endpoint, url, host, content_type, headers,
            job_id, chat_id, message_id, coalesce(job_id, chat_id), substring(:bodies::bytea from start for length),
            l.token, case when l.token is null then 0 else 1 end, case when l.token is not null then now() end,
            now() + make_interval(secs => case when l.token is null then delay else :lease_seconds end)
       from given left join leased l using (event_id) where url is not null order by place
     returning part, account_id, delivery_id, lease_token, queued_at),
   matching as materialized (
     select g.*, w.endpoint_id, w.url as endpoint_url, w.host as endpoint_host
       from given g cross join lateral (
         select w.endpoint_id, w.url, w.host from webhook_endpoints w
          where w.part = g.part and w.account_id = g.account_id and w.environment = g.environment
            and w.status = 'active' and (w.events is null or g.type = any(w.events)) and g.type <> 'test'
          limit :max_endpoints) w),
   announced as (
     insert into deliveries (part, account_id, delivery_id, environment, event, endpoint_id, url, host, content_type,
                             job_id, chat_id, message_id, order_key, queued_at, body)
     select m.part, m.account_id, (left(m.event_id::text, 15) || right(gen_random_uuid()::text, 21))::uuid,
            m.environment, m.type, m.endpoint_id, m.endpoint_url, m.endpoint_host, 'application/json',
            m.job_id, m.chat_id, m.message_id,
            left(encode(sha256(convert_to(m.endpoint_id::text || coalesce(m.job_id, m.chat_id)::text, 'UTF8')),
                        'hex'), 32)::uuid,
            statement_timestamp() + m.place * interval '1 microsecond',
            convert_to(json_strip_nulls(json_build_object(
              'id', m.event_id,
              'type', m.type,
              'created_at', to_char(r.created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
              'job', case when j.uid is not null then json_build_object('uid', j.uid, 'tier', j.tier) end,
              'message', case when m.message_id is not null
                              then json_build_object('chat_id', m.chat_id, 'id', m.message_id) end))::text, 'UTF8')
       from matching m join recorded r using (event_id)
       left join jobs j on j.part = m.part and j.account_id = m.account_id and j.job_id = m.job_id)
   select delivery_id as event_id, lease_token, queued_at from inserted where lease_token is not null
   union all
   select event_id, null, now() from matching`,
);

export interface InsertedEvents {
  /** The queueing time of each leased callback, by the id of its event. */
  leased: ReadonlyMap<string, Date>;
  /** The ids of the events that webhook endpoints get. */
  announced: ReadonlySet<string>;
}

/**
 * Records events, and their callbacks and deliveries to webhook endpoints in the outbox.
 * @param tokens lease tokens of the callbacks, undefined for those to be queued
 */
export async function insertEvents(
  transaction: Transaction,
  events: readonly NewEventRow[],
  tokens: readonly (string | undefined)[],
  leaseSeconds: number,
): Promise<InsertedEvents> {
  const bodies = events.map(({ delivery }) => delivery?.body ?? Buffer.alloc(0));
  let start = 1;
  const starts = bodies.map(({ length }) => {
    start += length;
    return start - length;
  });
  const columns = columnsOf(events, {
    part: ({ account }) => account.part,
    account_id: ({ account }) => account.accountId,
    event_id: ({ eventId }) => eventId,
    environment: ({ environment }) => environment,
    type: ({ type }) => type,
    job_id: ({ subject }) => jobOf(subject),
    chat_id: ({ subject }) => chatOf(subject),
    message_id: ({ subject }) => messageOf(subject),
    url: ({ delivery }) => delivery?.url ?? null,
    host: ({ delivery }) => delivery?.host ?? null,
    to_endpoint: ({ delivery }) => delivery?.endpointId ?? null,
    content_type: ({ delivery }) => delivery?.contentType ?? null,
    headers: ({ delivery }) => (delivery === undefined ? null : JSON.stringify(delivery.headers)),
    delay: ({ delivery }) => delivery?.delaySeconds ?? 0,
  });
  const rows = await transaction.query(INSERT, {
    ...columns,
    start: starts,
    length: bodies.map(({ length }) => length),
    bodies: Buffer.concat(bodies),
    token: events.map((_, index) => tokens[index] ?? null),
    lease_seconds: leaseSeconds,
    max_endpoints: MAX_ENDPOINTS,
  });
  const announced = new Set(rows.flatMap((row) => (row.lease_token === null ? [row.event_id] : [])));
  for (const { account, eventId, subject, delivery } of events) {
    if (delivery === undefined && !announced.has(eventId)) continue;
    transaction.changed('deliveries', account, jobOf(subject) ?? undefined);
  }
  const leased = rows.flatMap(({ event_id, lease_token, queued_at }) =>
    lease_token === null ? [] : [[event_id, queued_at] as const],
  );
  return { leased: new Map(leased), announced };
}

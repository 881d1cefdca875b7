/** What is asked of the database about deliveries. */
import type { AccountRef, Environment } from '../account.ts';
import type { Queryable, Transaction } from '../database/database.ts';
import { statement } from '../database/statements.ts';
import { OPENING_FAILURES } from './breaker.ts';

export type EventType =
  | 'job.completed'
  | 'job.failed'
  | 'job.canceled'
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
  /** Its delivery's too. */
  eventId: string;
  environment: Environment;
  type: EventType;
  subject: Subject;
  delivery:
    | {
        url: string;
        host: string;
        contentType: string;
        headers: Record<string, string>;
        body: Buffer;
      }
    | undefined;
}

// The bodies come as one value, cut here: in an array the driver would write them in hexadecimal, twice as long.
const INSERT = statement(
  'deliveries.insert_events',
  `with given as materialized (
     select * from unnest($1::smallint[], $2::uuid[], $3::uuid[], $4::text[], $5::text[], $6::uuid[], $7::uuid[],
                          $8::uuid[], $9::text[], $10::text[], $11::text[], $12::jsonb[], $13::int[], $14::int[])
       with ordinality as g (part, account_id, event_id, environment, type, job_id, chat_id, message_id, url, host,
                             content_type, headers, start, length, place)),
   recorded as (
     insert into events (part, account_id, event_id, environment, type, job_id, chat_id, message_id)
     select part, account_id, event_id, environment, type, job_id, chat_id, message_id from given order by place)
   insert into deliveries (part, account_id, delivery_id, environment, event, url, host, content_type, headers,
                           job_id, chat_id, message_id, order_key, body)
   select part, account_id, event_id, environment, type, url, host, content_type, headers,
          job_id, chat_id, message_id, coalesce(job_id, chat_id), substring($15::bytea from start for length)
     from given where url is not null order by place`,
);

/** Puts events on record, and the deliveries that they have in the outbox. */
export async function insertEvents(transaction: Transaction, events: readonly NewEventRow[]): Promise<void> {
  const bodies = events.map(({ delivery }) => delivery?.body ?? Buffer.alloc(0));
  let start = 1;
  const starts = bodies.map(({ length }) => {
    start += length;
    return start - length;
  });
  await transaction.query(INSERT, [
    events.map(({ account }) => account.part),
    events.map(({ account }) => account.accountId),
    events.map(({ eventId }) => eventId),
    events.map(({ environment }) => environment),
    events.map(({ type }) => type),
    events.map(({ subject }) => jobOf(subject)),
    events.map(({ subject }) => chatOf(subject)),
    events.map(({ subject }) => messageOf(subject)),
    events.map(({ delivery }) => delivery?.url ?? null),
    events.map(({ delivery }) => delivery?.host ?? null),
    events.map(({ delivery }) => delivery?.contentType ?? null),
    events.map(({ delivery }) => (delivery === undefined ? null : JSON.stringify(delivery.headers))),
    starts,
    bodies.map(({ length }) => length),
    Buffer.concat(bodies),
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
  attempts_before: number;
}

// One round trip, and one commit, before the requests leave: the attempts are on record even if the sender dies in
// the middle of them. In the order of the key, as heartbeats lock.
const BEGIN_ATTEMPTS = statement<DeliveryRow & { delivery_id: string; lease_token: string }>(
  'deliveries.begin_attempts',
  `with held as materialized (
     select * from unnest($1::smallint[], $2::uuid[], $3::uuid[], $4::uuid[])
       as h (part, account_id, delivery_id, token)),
   attempt as (
     insert into attempts (part, account_id, delivery_id, attempt)
     select d.part, d.account_id, d.delivery_id, d.attempts from held h
       join deliveries d on d.part = h.part and d.account_id = h.account_id and d.delivery_id = h.delivery_id
        and d.lease_token = h.token
      order by d.part, d.account_id, d.delivery_id)
   select d.delivery_id, d.lease_token, d.environment, d.url, d.content_type, d.headers, d.body, d.queued_at,
          d.message_id, d.attempts_before
     from held h
     join deliveries d on d.part = h.part and d.account_id = h.account_id and d.delivery_id = h.delivery_id
      and d.lease_token = h.token`,
);

/** A lease on a delivery, as it is looked up. */
export interface HeldDelivery {
  account: AccountRef;
  id: string;
  token: string;
}

/** Records that attempts begin and gives what is to be sent, for each lease; undefined where it is lost. */
export async function beginAttempts(
  on: Queryable,
  leases: readonly HeldDelivery[],
): Promise<(DeliveryRow | undefined)[]> {
  const rows = await on.query(BEGIN_ATTEMPTS, [
    leases.map(({ account }) => account.part),
    leases.map(({ account }) => account.accountId),
    leases.map(({ id }) => id),
    leases.map(({ token }) => token),
  ]);
  const found = new Map(rows.map((row) => [row.delivery_id + row.lease_token, row]));
  return leases.map(({ id, token }) => found.get(id + token));
}

// Only by the holder of the lease: an attempt that somebody else has begun since has another number.
const WITHDRAW_ATTEMPT = statement(
  'deliveries.withdraw_attempt',
  `with held as (
     update deliveries set attempts = attempts - 1, lease_token = null, due_at = now() + make_interval(secs => $6)
      where part = $1 and account_id = $2 and delivery_id = $3 and lease_token = $4
     returning delivery_id)
   delete from attempts
    where part = $1 and account_id = $2 and delivery_id in (select delivery_id from held) and attempt = $5`,
);

/** Gives a delivery back as if this attempt had never begun; it is due again in `seconds`. */
export async function withdrawAttempt(
  on: Queryable,
  { account, id, token }: HeldDelivery,
  attempt: number,
  seconds: number,
): Promise<void> {
  await on.query(WITHDRAW_ATTEMPT, [account.part, account.accountId, id, token, attempt, seconds]);
}

export interface AttemptResult {
  attempt: number;
  outcome: string;
  detail: string | undefined;
  statusCode: number | undefined;
  milliseconds: number;
  /** Of the answer, for the log. */
  headers: Record<string, string> | undefined;
  answer: string | undefined;
  answerComplete: boolean | undefined;
}

/** What an attempt told of its host, for the breaker. */
export interface HostSign {
  host: string;
  sign: 'life' | 'trouble';
  probe: boolean;
  /** Seconds that a breaker stays open, the first time, the second, …; the last one repeats. */
  breakerSeconds: readonly number[];
}

export type Verdict =
  | { status: 'delivered' }
  | { status: 'dead'; failure: string }
  | { status: 'pending'; dueAt: Date };

/** A delivery that ended, or began anew. */
export interface MovedDelivery {
  account: AccountRef;
  deliveryId: string;
  event: EventType;
  chatId: string | null;
  messageId: string | null;
  status: 'delivered' | 'dead' | 'pending';
}

interface MovedRow {
  part: number;
  account_id: string;
  delivery_id: string;
  event: EventType;
  chat_id: string | null;
  message_id: string | null;
  status: MovedDelivery['status'];
}

function toMoved(row: MovedRow): MovedDelivery {
  const { part, account_id, delivery_id, event, chat_id, message_id, status } = row;
  const account = { part, accountId: account_id } as AccountRef;
  return { account, deliveryId: delivery_id, event, chatId: chat_id, messageId: message_id, status };
}

// Makes due at once what stands next in the order of deliveries that ended; it was parked until now.
const WAKE_NEXT = `
  update deliveries n set due_at = now() from ended d
   where n.part = $1 and n.account_id = $2 and n.lease_token is null
     and n.delivery_id = (
       select e.delivery_id from deliveries e
        where e.part = $1 and e.account_id = $2 and e.order_key = d.order_key and e.status = 'pending'
          and (e.queued_at, e.delivery_id) > (d.queued_at, d.delivery_id)
        order by e.queued_at, e.delivery_id limit 1)`;

// The attempt is recorded whatever became of the lease, and so is what it told of the host; the delivery is moved
// only by its holder. A host that answers has no breaker: in good times nothing is written about it.
const FINISH_ATTEMPT = statement<MovedRow & { opened: boolean }>(
  'deliveries.finish_attempt',
  `with attempt as (
     update attempts set finished_at = clock_timestamp(), outcome = $6, status_code = $7, milliseconds = $8, detail = $9,
            headers = $10, answer = $11, answer_complete = $12
      where part = $1 and account_id = $2 and delivery_id = $3 and attempt = $5),
   moved as (
     update deliveries
        set status = $13, failure = $14, due_at = $15, lease_token = null,
            finished_at = case when $13 = 'pending' then null else now() end
      where part = $1 and account_id = $2 and delivery_id = $3 and lease_token = $4 and status = 'pending'
     returning part, account_id, delivery_id, event, chat_id, message_id, status, order_key, queued_at),
   ended as (select * from moved where status <> 'pending'),
   next as (${WAKE_NEXT}),
   living as (
     delete from breakers where part = $1 and account_id = $2 and host = $16 and $17 = 'life'),
   troubled as (
     insert into breakers (part, account_id, host, failures)
     select $1, $2, $16, 1 where $17 = 'trouble'
     on conflict (part, account_id, host) do update
        set failures = breakers.failures + 1,
            (openings, open_until) = (
              select case when opens then breakers.openings + 1 else breakers.openings end,
                     case when opens
                          then now() + make_interval(secs => ($20::float8[])[least(breakers.openings + 1, cardinality($20))])
                          else breakers.open_until end
                from (select ($18 and breakers.openings > 0)
                             or (breakers.openings = 0 and breakers.failures + 1 >= $19) as opens) verdict)
     returning failures, openings, open_until)
   select m.part, m.account_id, m.delivery_id, m.event, m.chat_id, m.message_id, m.status,
          coalesce((select open_until > now() and ($18 or failures = $19) from troubled), false) as opened
     from (select 1) one left join moved m on true`,
);

/**
 * Records how an attempt ended and what follows.
 * @returns the delivery, undefined when the lease was lost meanwhile; and whether the host's breaker opened
 */
export async function finishAttempt(
  on: Queryable,
  account: AccountRef,
  lease: { id: string; token: string },
  result: AttemptResult,
  verdict: Verdict,
  host: HostSign,
): Promise<{ moved: MovedDelivery | undefined; opened: boolean }> {
  const [row] = await on.query(FINISH_ATTEMPT, [
    account.part,
    account.accountId,
    lease.id,
    lease.token,
    result.attempt,
    result.outcome,
    result.statusCode ?? null,
    result.milliseconds,
    result.detail ?? null,
    result.headers ?? null,
    result.answer ?? null,
    result.answerComplete ?? null,
    verdict.status,
    verdict.status === 'dead' ? verdict.failure : null,
    verdict.status === 'pending' ? verdict.dueAt : null,
    host.host,
    host.sign,
    host.probe,
    OPENING_FAILURES,
    host.breakerSeconds,
  ]);
  return { moved: row!.delivery_id === null ? undefined : toMoved(row!), opened: row!.opened };
}

// The same for many whose hosts gave a sign of life. Locked in the order of the key, as heartbeats lock them.
const FINISH_ANSWERED = statement<MovedRow & { token: string }>(
  'deliveries.finish_answered',
  `with given as materialized (
     select * from unnest($1::smallint[], $2::uuid[], $3::uuid[], $4::uuid[], $5::integer[], $6::smallint[],
       $7::integer[], $8::jsonb[], $9::text[], $10::boolean[], $11::text[], $12::text[], $13::timestamptz[],
       $14::text[])
       as g (part, account_id, delivery_id, token, attempt, status_code, milliseconds, headers, answer,
             answer_complete, status, failure, due_at, host)),
   attempt as (
     update attempts a set finished_at = clock_timestamp(), outcome = 'answered', status_code = g.status_code,
            milliseconds = g.milliseconds, headers = g.headers, answer = g.answer,
            answer_complete = g.answer_complete
       from given g
      where a.part = g.part and a.account_id = g.account_id and a.delivery_id = g.delivery_id
        and a.attempt = g.attempt),
   locked as materialized (
     select g.part, g.account_id, g.delivery_id, g.token, g.status, g.failure, g.due_at from given g
       join deliveries l on l.part = g.part and l.account_id = g.account_id and l.delivery_id = g.delivery_id
      where l.lease_token = g.token and l.status = 'pending'
      order by l.part, l.account_id, l.delivery_id for no key update of l),
   moved as (
     update deliveries d set status = k.status, failure = k.failure, due_at = k.due_at, lease_token = null,
            finished_at = case when k.status = 'pending' then null else now() end
       from locked k
      where d.part = k.part and d.account_id = k.account_id and d.delivery_id = k.delivery_id
     returning d.part, d.account_id, d.delivery_id, k.token, d.event, d.chat_id, d.message_id, d.status,
               d.order_key, d.queued_at),
   following as materialized (
     select d.part, d.account_id,
            (select e.delivery_id from deliveries e
              where e.part = d.part and e.account_id = d.account_id and e.order_key = d.order_key
                and e.status = 'pending' and (e.queued_at, e.delivery_id) > (d.queued_at, d.delivery_id)
              order by e.queued_at, e.delivery_id limit 1) as delivery_id
       from moved d where d.status <> 'pending' and d.order_key is not null),
   next as (
     update deliveries n set due_at = now() from following f
      where n.part = f.part and n.account_id = f.account_id and n.delivery_id = f.delivery_id
        and n.lease_token is null),
   living as (
     delete from breakers b using given g
      where b.part = g.part and b.account_id = g.account_id and b.host = g.host)
   select part, account_id, delivery_id, token, event, chat_id, message_id, status from moved`,
);

/** An attempt that was answered, and what follows. */
export interface AnsweredAttempt {
  lease: HeldDelivery & { host: string };
  result: AttemptResult;
  verdict: Verdict;
}

/**
 * Records how attempts ended whose hosts gave a sign of life, and what follows.
 * @returns each delivery; undefined where the lease was lost meanwhile
 */
export async function finishAnswered(
  transaction: Transaction,
  attempts: readonly AnsweredAttempt[],
): Promise<(MovedDelivery | undefined)[]> {
  const rows = await transaction.query(FINISH_ANSWERED, [
    attempts.map(({ lease }) => lease.account.part),
    attempts.map(({ lease }) => lease.account.accountId),
    attempts.map(({ lease }) => lease.id),
    attempts.map(({ lease }) => lease.token),
    attempts.map(({ result }) => result.attempt),
    attempts.map(({ result }) => result.statusCode ?? null),
    attempts.map(({ result }) => result.milliseconds),
    attempts.map(({ result }) => (result.headers === undefined ? null : JSON.stringify(result.headers))),
    attempts.map(({ result }) => result.answer ?? null),
    attempts.map(({ result }) => result.answerComplete ?? null),
    attempts.map(({ verdict }) => verdict.status),
    attempts.map(({ verdict }) => (verdict.status === 'dead' ? verdict.failure : null)),
    attempts.map(({ verdict }) => (verdict.status === 'pending' ? verdict.dueAt : null)),
    attempts.map(({ lease }) => lease.host),
  ]);
  const moved = new Map(rows.map((row) => [row.delivery_id + row.token, toMoved(row)]));
  return attempts.map(({ lease }) => moved.get(lease.id + lease.token));
}

export interface FailingHost {
  part: number;
  account_id: string;
  host: string;
}

const FAILING_HOSTS = statement<FailingHost>(
  'deliveries.failing_hosts',
  'select part, account_id, host from breakers where openings > 0',
);

/** The hosts, of all accounts, whose breakers are open or half open. */
export function findFailingHosts(on: Queryable): Promise<FailingHost[]> {
  return on.query(FAILING_HOSTS);
}

// What waits behind another has not had its turn, however old it is.
const EXPIRE = statement<MovedRow>(
  'deliveries.expire',
  `with late as materialized (
     select d.delivery_id from deliveries d
      where d.part = $1 and d.account_id = $2 and d.host = $3 and d.due_at is not null
        and (d.lease_token is null or d.due_at <= now())
        and d.queued_at <= now() - make_interval(secs => $4)
        and not exists (
          select from deliveries e
           where e.part = $1 and e.account_id = $2 and e.order_key = d.order_key and e.status = 'pending'
             and (e.queued_at, e.delivery_id) < (d.queued_at, d.delivery_id))
      limit 200 for update skip locked),
   ended as (
     update deliveries
        set status = 'dead', failure = 'out of time', due_at = null, lease_token = null, finished_at = now()
      where part = $1 and account_id = $2 and delivery_id = any(array(select delivery_id from late))
     returning part, account_id, delivery_id, event, chat_id, message_id, status, order_key, queued_at),
   next as (${WAKE_NEXT})
   select part, account_id, delivery_id, event, chat_id, message_id, status from ended`,
);

/** Gives up deliveries to a failing host whose time is over. @returns some of them; none when there are no more */
export async function expireDeliveries(
  transaction: Transaction,
  account: AccountRef,
  host: string,
  lifetimeSeconds: number,
): Promise<MovedDelivery[]> {
  const rows = await transaction.query(EXPIRE, [account.part, account.accountId, host, lifetimeSeconds]);
  return rows.map(toMoved);
}

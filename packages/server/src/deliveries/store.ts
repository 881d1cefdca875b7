/** The SQL statements of the sender: attempts, their results and the ends of deliveries. */
import type { AccountRef, Environment } from '../base/account.ts';
import type { Queryable, Transaction } from '../database/database.ts';
import { AS_TEXT, columnsOf, statement } from '../database/statements.ts';
import { ofActiveAccount } from '../work/queue.ts';
import { OPENING_FAILURES } from './breaker.ts';
import type { EventType } from './event-types.ts';

export interface DeliveryRow {
  environment: Environment;
  url: string;
  content_type: string;
  headers: Record<string, string>;
  body: Buffer;
  queued_at: Date;
  message_id: string | null;
  attempts_before: number;
  /** The time of the next scheduled attempt, if this attempt was requested before it. */
  scheduled_at: Date | null;
  /** The webhook endpoint to which it is delivered; null for a callback. */
  endpoint_id: string | null;
  /** Whether the endpoint was disabled or deleted since the event. A test event also reaches a disabled endpoint. */
  unwanted: boolean;
}

export interface HeldDelivery {
  account: AccountRef;
  id: string;
  token: string;
}

const WITHDRAW_ATTEMPT = statement<{ delivery_id: string }>(
  'deliveries.withdraw_attempt',
  `update deliveries
      set attempts = attempts - 1, attempt_started_at = null, lease_token = null,
          due_at = now() + make_interval(secs => $5)
    where part = $1 and account_id = $2 and delivery_id = $3 and lease_token = $4
   returning delivery_id`,
);

/** Returns a delivery to the queue as if its attempt had never begun. It is due again in `seconds`. */
export async function withdrawAttempt(
  on: Queryable,
  { account, id, token }: HeldDelivery,
  seconds: number,
): Promise<void> {
  const rows = await on.query(WITHDRAW_ATTEMPT, [account.part, account.accountId, id, token, seconds]);
  if (rows.length > 0) on.changed('deliveries', account);
}

export interface AttemptResult {
  attempt: number;
  outcome: string;
  detail: string | undefined;
  statusCode: number | undefined;
  milliseconds: number;
  /** The headers of the receiver's answer; undefined without an answer. */
  headers: Record<string, string> | undefined;
  answer: string | undefined;
  answerComplete: boolean | undefined;
}

/** The result of an attempt for the circuit breaker of the host. */
export interface HostSignal {
  host: string;
  /** `none`: the attempt does not change the circuit breaker. */
  signal: 'alive' | 'failing' | 'none';
  probe: boolean;
  /**
   * Seconds for which a breaker stays open: after its first opening, its second, and so on. The last value
   * repeats.
   */
  breakerSeconds: readonly number[];
}

export type DeliveryDecision =
  | { status: 'delivered' }
  | { status: 'dead'; failure: string }
  | { status: 'pending'; dueAt: Date };

export interface EndedAttempt {
  lease: HeldDelivery;
  result: AttemptResult;
  decision: DeliveryDecision;
}

export interface ChangedDelivery {
  account: AccountRef;
  deliveryId: string;
  event: EventType;
  chatId: string | null;
  messageId: string | null;
  status: 'delivered' | 'dead' | 'pending';
  /** True if the next delivery of the same job or chat became due. */
  next: boolean;
}

// SQL: the chat message whose status a delivery determines. A delivery to a webhook endpoint determines none.
export const FOLLOWING_MESSAGE = 'case when endpoint_id is null then message_id end as message_id';

interface ChangedRow {
  part: number;
  account_id: string;
  delivery_id: string;
  event: EventType;
  chat_id: string | null;
  message_id: string | null;
  status: ChangedDelivery['status'];
  next?: boolean;
}

function toChanged(row: ChangedRow): ChangedDelivery {
  const { part, account_id, delivery_id, event, chat_id, message_id, status } = row;
  const account = { part, accountId: account_id } as AccountRef;
  return {
    account,
    deliveryId: delivery_id,
    event,
    chatId: chat_id,
    messageId: message_id,
    status,
    next: row.next === true,
  };
}

// SQL: makes the next delivery of the same job or chat due when a delivery has ended.
const WAKE_NEXT = `
  update deliveries n set due_at = now() from ended d
   where n.part = :part and n.account_id = :account_id and n.lease_token is null
     and n.delivery_id = (
       select e.delivery_id from deliveries e
        where e.part = :part and e.account_id = :account_id and e.order_key = d.order_key and e.status = 'pending'
          and (e.queued_at, e.delivery_id) > (d.queued_at, d.delivery_id)
        order by e.queued_at, e.delivery_id limit 1)`;

// No attempt is counted, because no request was sent.
const END_UNWANTED = statement<{ delivery_id: string }>(
  'deliveries.end_unwanted',
  `with ended as (
     update deliveries
        set status = 'dead', failure = 'endpoint disabled', due_at = null, scheduled_at = null, lease_token = null,
            attempts = attempts - 1, attempt_started_at = null, finished_at = now()
      where part = :part and account_id = :account_id and delivery_id = :delivery_id and lease_token = :token
     returning delivery_id, order_key, queued_at),
   next as (${WAKE_NEXT})
   select delivery_id from ended`,
);

/** Ends a leased delivery whose webhook endpoint was disabled or deleted, unless the lease was lost. */
export async function endUnwanted(on: Queryable, { account, id, token }: HeldDelivery): Promise<void> {
  const rows = await on.query(END_UNWANTED, {
    part: account.part,
    account_id: account.accountId,
    delivery_id: id,
    token,
  });
  if (rows.length > 0) on.changed('deliveries', account);
}

// SQL: writes the rows of ended attempts. If the lease was lost, another claim may have inserted the row already.
const insertAttempts = (part: string) => `
     insert into attempts (part, account_id, delivery_id, attempt, started_at, finished_at, outcome, status_code,
                           milliseconds, detail, headers, answer, answer_complete)
     select d.part, d.account_id, d.delivery_id, g.attempt, coalesce(d.attempt_started_at, now()), clock_timestamp(),
            g.outcome, g.status_code, g.milliseconds, g.detail, g.headers, g.answer, g.answer_complete
       from given g
       join deliveries d on d.part = ${part} and d.account_id = g.account_id and d.delivery_id = g.delivery_id
      order by d.part, d.account_id, d.delivery_id
     on conflict (part, account_id, delivery_id, attempt) do update
        set finished_at = excluded.finished_at, outcome = excluded.outcome, status_code = excluded.status_code,
            milliseconds = excluded.milliseconds, detail = excluded.detail, headers = excluded.headers,
            answer = excluded.answer, answer_complete = excluded.answer_complete`;

// Records the attempt and what it shows about the host even if the lease was lost. Only the holder of the
// lease changes the delivery. A healthy host has no row in `breakers`, so usually that table is not written. The first
// failures of a host at the same time find no row to lock, so none of them may undo what another one wrote.
const FINISH_ATTEMPT = statement<ChangedRow & { opened: boolean }>(
  'deliveries.finish_attempt',
  `with given as (
     select :part::smallint as part, :account_id::uuid as account_id, :delivery_id::uuid as delivery_id,
            :attempt::integer as attempt, :outcome::text as outcome, :status_code::smallint as status_code,
            :milliseconds::integer as milliseconds, :detail::text as detail, :headers::jsonb as headers,
            :answer::text as answer, :answer_complete::boolean as answer_complete),
   attempt as (${insertAttempts(':part')}),
   moved as (
     update deliveries
        set status = :status, failure = :failure, due_at = :due_at, scheduled_at = null, lease_token = null,
            attempt_started_at = null, finished_at = (select now() where :status <> 'pending')
      where part = :part and account_id = :account_id and delivery_id = :delivery_id and lease_token = :token
        and status = 'pending'
     returning part, account_id, delivery_id, event, chat_id, ${FOLLOWING_MESSAGE}, status, order_key, queued_at),
   ended as (select * from moved where status <> 'pending'),
   next as (${WAKE_NEXT} returning n.delivery_id),
   alive as (
     delete from breakers where part = :part and account_id = :account_id and host = :host and :signal = 'alive'),
   before as materialized (
     select failures, openings, open_until from breakers
      where part = :part and account_id = :account_id and host = :host and :signal = 'failing' for update),
   counted as (
     select coalesce(b.failures, 0) + 1 as failures, coalesce(b.openings, 0) as openings, b.open_until
       from (select 1) one left join before b on true where :signal = 'failing'),
   decided as (
     select *, case when openings = 0 then failures >= :opening_failures else :probe end as opens from counted),
   failing as (
     insert into breakers (part, account_id, host, failures, openings, open_until)
     select :part, :account_id, :host, failures, case when opens then openings + 1 else openings end,
            case when opens
                 then now() + make_interval(secs => (:breaker_seconds::float8[])
                        [least(openings + 1, cardinality(:breaker_seconds))])
                 else open_until end
       from decided
     on conflict (part, account_id, host) do update
        set failures = breakers.failures + 1, openings = greatest(breakers.openings, excluded.openings),
            open_until = greatest(breakers.open_until, excluded.open_until))
   select m.part, m.account_id, m.delivery_id, m.event, m.chat_id, m.message_id, m.status,
          exists (select from next) as next,
          coalesce((select opens from decided), false) as opened
     from (select 1) one left join moved m on true`,
);

/**
 * Records the end of an attempt and its consequences.
 * @returns `changed`: the delivery, undefined if the lease was lost; `opened`: true if the host's breaker
 * opened
 */
export async function finishAttempt(
  on: Queryable,
  { lease, result, decision, signal }: EndedAttempt & { signal: HostSignal },
): Promise<{ changed: ChangedDelivery | undefined; opened: boolean }> {
  const { account } = lease;
  const [row] = await on.query(FINISH_ATTEMPT, {
    part: account.part,
    account_id: account.accountId,
    delivery_id: lease.id,
    token: lease.token,
    attempt: result.attempt,
    outcome: result.outcome,
    status_code: result.statusCode ?? null,
    milliseconds: result.milliseconds,
    detail: result.detail ?? null,
    headers: result.headers ?? null,
    answer: result.answer ?? null,
    answer_complete: result.answerComplete ?? null,
    status: decision.status,
    failure: decision.status === 'dead' ? decision.failure : null,
    due_at: decision.status === 'pending' ? decision.dueAt : null,
    host: signal.host,
    signal: signal.signal,
    probe: signal.probe,
    opening_failures: OPENING_FAILURES,
    breaker_seconds: signal.breakerSeconds,
  });
  on.changed('deliveries', account);
  return { changed: row!.delivery_id === null ? undefined : toChanged(row!), opened: row!.opened };
}

// Like FINISH_ATTEMPT, for many attempts at hosts that are alive. Rows are locked in key order, like
// heartbeats (which extend leases) do, so that the two cannot deadlock.
const FINISH_ANSWERED = statement<ChangedRow & { token: string }>(
  'deliveries.finish_answered',
  `with given as materialized (
     select *, 'answered' as outcome, null as detail
       from unnest(:part::smallint[], :account_id::uuid[], :delivery_id::uuid[], :token::uuid[], :attempt::integer[],
       :status_code::smallint[], :milliseconds::integer[], :headers::jsonb[], :answer::text[],
       :answer_complete::boolean[], :status::text[], :failure::text[], :due_at::timestamptz[], :host::text[])
       as g (part, account_id, delivery_id, token, attempt, status_code, milliseconds, headers, answer,
             answer_complete, status, failure, due_at, host)),
   attempt as (${insertAttempts('g.part')}),
   locked as materialized (
     select g.part, g.account_id, g.delivery_id, g.token, g.status, g.failure, g.due_at, ${AS_TEXT} from given g
       join deliveries l on l.part = g.part and l.account_id = g.account_id and l.delivery_id = g.delivery_id
      where l.lease_token = g.token and l.status = 'pending'
      order by l.part, l.account_id, l.delivery_id for no key update of l),
   moved as (
     update deliveries d set status = k.status, failure = k.failure, due_at = k.due_at, scheduled_at = null,
            lease_token = null, attempt_started_at = null, finished_at = (select now() where k.status <> 'pending')
       from locked k
      where d.part = k.part and d.account_id = k.account_id and d.delivery_id = k.delivery_id
     returning d.part, d.account_id, d.delivery_id, k.token, d.event, d.chat_id, ${FOLLOWING_MESSAGE}, d.status,
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
   alive as (
     delete from breakers b using given g
      where b.part = g.part and b.account_id = g.account_id and b.host = g.host)
   select part, account_id, delivery_id, token, event, chat_id, message_id, status,
          exists (select from following where delivery_id is not null) as next from moved`,
);

/**
 * Records the ends of attempts at hosts that are alive, and their consequences.
 * @returns each delivery; undefined if the lease was lost
 */
export async function finishAnswered(
  transaction: Transaction,
  attempts: readonly (EndedAttempt & { lease: { host: string } })[],
): Promise<(ChangedDelivery | undefined)[]> {
  const columns = columnsOf(attempts, {
    part: ({ lease }) => lease.account.part,
    account_id: ({ lease }) => lease.account.accountId,
    delivery_id: ({ lease }) => lease.id,
    token: ({ lease }) => lease.token,
    attempt: ({ result }) => result.attempt,
    status_code: ({ result }) => result.statusCode ?? null,
    milliseconds: ({ result }) => result.milliseconds,
    headers: ({ result }) => (result.headers === undefined ? null : JSON.stringify(result.headers)),
    answer: ({ result }) => result.answer ?? null,
    answer_complete: ({ result }) => result.answerComplete ?? null,
    status: ({ decision }) => decision.status,
    failure: ({ decision }) => (decision.status === 'dead' ? decision.failure : null),
    due_at: ({ decision }) => (decision.status === 'pending' ? decision.dueAt : null),
    host: ({ lease }) => lease.host,
  });
  const rows = await transaction.query(FINISH_ANSWERED, columns);
  if (rows.length > 0) for (const { lease } of attempts) transaction.changed('deliveries', lease.account);
  const changed = new Map(rows.map((row) => [row.delivery_id + row.token, toChanged(row)]));
  return attempts.map(({ lease }) => changed.get(lease.id + lease.token));
}

export interface FailingHostKey {
  part: number;
  account_id: string;
  host: string;
}

/**
 * Returns the hosts with an open or half-open breaker. Leaves out accounts that were suspended in the last
 * `seconds`.
 */
export const findFailingHosts = statement<FailingHostKey, { seconds: number }>(
  'deliveries.failing_hosts',
  `select part, account_id, host from breakers b where openings > 0 and ${ofActiveAccount('b', ':seconds')}`,
).rows;

// A delivery that waits behind an earlier one does not expire, because it has not been attempted yet. An attempt whose
// sender died gets its row, so that retention deletes it with the others. The lock lets that sender insert the row at the
// same time.
const EXPIRE = statement<ChangedRow & { environment: Environment }>(
  'deliveries.expire',
  `with late as materialized (
     select d.delivery_id, d.attempts, d.attempt_started_at from deliveries d
      where d.part = :part and d.account_id = :account_id and d.host = :host and d.due_at is not null
        and (d.lease_token is null or d.due_at <= now())
        and d.queued_at <= now() - make_interval(secs => :lifetime_seconds)
        and not exists (
          select from deliveries e
           where e.part = :part and e.account_id = :account_id and e.order_key = d.order_key and e.status = 'pending'
             and (e.queued_at, e.delivery_id) < (d.queued_at, d.delivery_id))
      limit 200 for no key update skip locked),
   interrupted as (
     insert into attempts (part, account_id, delivery_id, attempt, started_at)
     select :part, :account_id, delivery_id, attempts, attempt_started_at from late
      where attempt_started_at is not null order by delivery_id
     on conflict do nothing),
   ended as (
     update deliveries
        set status = 'dead', failure = 'out of time', due_at = null, lease_token = null, attempt_started_at = null,
            finished_at = now()
      where part = :part and account_id = :account_id and delivery_id = any(array(select delivery_id from late))
     returning part, account_id, delivery_id, event, chat_id, ${FOLLOWING_MESSAGE}, status, order_key, queued_at, environment),
   next as (${WAKE_NEXT})
   select part, account_id, delivery_id, event, chat_id, message_id, status, environment from ended`,
);

/**
 * Ends expired deliveries to a failing host, up to 200 per call. @returns an empty list when none are left
 */
export async function expireDeliveries(
  transaction: Transaction,
  account: AccountRef,
  host: string,
  lifetimeSeconds: number,
): Promise<(ChangedDelivery & { environment: Environment })[]> {
  const rows = await transaction.query(EXPIRE, {
    part: account.part,
    account_id: account.accountId,
    host,
    lifetime_seconds: lifetimeSeconds,
  });
  if (rows.length > 0) transaction.changed('deliveries', account);
  return rows.map((row) => ({ ...toChanged(row), environment: row.environment }));
}

/** Lists the hosts of all accounts with an open or half-open breaker, longest waiting first. */
export const listFailingHosts = statement<FailingHost, { limit: number }>(
  'deliveries.list_failing',
  `select a.username, b.host, b.failures, b.open_until,
          (select min(d.queued_at) from deliveries d
            where d.part = b.part and d.account_id = b.account_id and d.host = b.host and d.due_at is not null)
            as since,
          (select count(*) from deliveries d
            where d.part = b.part and d.account_id = b.account_id and d.host = b.host and d.due_at is not null)
            as waiting
     from accounts a join breakers b on b.part = a.part and b.account_id = a.account_id
    where b.openings > 0 order by since nulls last limit :limit`,
).rows;

/** A host with an open or half-open circuit breaker. */
export interface FailingHost {
  username: string;
  host: string;
  /** Consecutive failures of the account's deliveries to this host. */
  failures: number;
  open_until: Date | null;
  /** The time at which the oldest waiting delivery was queued. */
  since: Date | null;
  waiting: number;
}

/**
 * Reads deliveries and their attempts, and replays deliveries. A replay sends the same bytes with the same
 * `webhook-id`. Its attempt numbers continue, and its 72 hours start again. In the order of its job or chat,
 * it is placed after the other pending deliveries. Deliveries that were recorded after the replayed delivery
 * keep their status.
 */
import type { AudienceName } from '../access/audiences.ts';
import { type Actor, type KeyActor, recordAudit } from '../audit/audit.ts';
import type { AccountRef, Environment } from '../base/account.ts';
import { firstIdOf, momentOf } from '../base/ids.ts';
import type { Database, Queryable, Transaction } from '../database/database.ts';
import { statement } from '../database/statements.ts';
import { listAttempts } from './attempt-store.ts';
import type { OnDeliveriesChanged } from './deliveries.ts';
import type { EventType } from './event-types.ts';
import { withoutNote } from './post.ts';
import { TEST_FAILED } from './schedule.ts';
import { type ChangedDelivery, FOLLOWING_MESSAGE } from './store.ts';

export const DELIVERY_STATUSES = ['pending', 'delivered', 'dead'] as const;
export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number];

interface RecordRow {
  delivery_id: string;
  environment: Environment;
  event: EventType;
  uid: string | null;
  chat_id: string | null;
  message_id: string | null;
  endpoint_id: string | null;
  url: string;
  host: string;
  status: DeliveryStatus;
  failure: string | null;
  attempts: number;
  created_at: Date;
  finished_at: Date | null;
  due_at: Date | null;
  last_status_code: number | null;
  last_outcome: string | null;
}

const COLUMNS = `d.delivery_id, d.environment, d.event, j.uid, d.chat_id, d.message_id, d.endpoint_id, d.url, d.host,
  d.status, d.failure, d.attempts, d.created_at, d.finished_at, d.due_at, l.status_code as last_status_code,
  l.outcome as last_outcome`;
/** Returns the joins of {@link COLUMNS}. @param part the SQL of the account's part */
const joins = (
  part: string,
) => `left join jobs j on j.part = ${part} and j.account_id = d.account_id and j.job_id = d.job_id
  left join attempts l on l.part = ${part} and l.account_id = d.account_id and l.delivery_id = d.delivery_id
    and l.attempt = d.attempts`;

/**
 * The maximum difference between the times of an event's id and its delivery's id, in milliseconds. One
 * transaction creates both ids.
 */
const NEAR_MILLISECONDS = 5_000;

/** A delivery as customers and operators see it. Fields without a value are absent. */
export interface DeliveryRecord {
  id: string;
  environment: Environment;
  event: EventType;
  status: DeliveryStatus;
  url: string;
  uid?: string;
  chat_id?: string;
  message_id?: string;
  endpoint_id?: string;
  failure?: string;
  attempts: number;
  created_at: string;
  finished_at?: string;
  /** The earliest time of the next attempt, or the time at which the current attempt is considered lost. */
  next_attempt_at?: string;
  /** The HTTP status of the last attempt, if the receiver answered. */
  last_status_code?: number;
  /** How the last attempt ended; absent while it is in progress. */
  last_outcome?: string;
}

function present(row: RecordRow): DeliveryRecord {
  return {
    id: row.delivery_id,
    environment: row.environment,
    event: row.event,
    status: row.status,
    url: row.url,
    ...(row.uid === null ? {} : { uid: row.uid }),
    ...(row.chat_id === null ? {} : { chat_id: row.chat_id }),
    ...(row.message_id === null ? {} : { message_id: row.message_id }),
    ...(row.endpoint_id === null ? {} : { endpoint_id: row.endpoint_id }),
    ...(row.failure === null ? {} : { failure: row.failure }),
    attempts: row.attempts,
    created_at: row.created_at.toISOString(),
    ...(row.finished_at === null ? {} : { finished_at: row.finished_at.toISOString() }),
    // A test is due before its creation, so that it overtakes waiting deliveries.
    ...(row.due_at === null
      ? {}
      : { next_attempt_at: new Date(Math.max(+row.due_at, +row.created_at)).toISOString() }),
    ...(row.last_status_code === null ? {} : { last_status_code: row.last_status_code }),
    ...(row.last_outcome === null ? {} : { last_outcome: row.last_outcome }),
  };
}

const LIST = statement<RecordRow>(
  'deliveries.list',
  `select ${COLUMNS} from deliveries d ${joins('$1')}
    where d.part = $1 and d.account_id = $2 and d.environment = $3 and ($4::text is null or d.status = $4)
      and ($5::uuid is null or d.delivery_id < $5)
    order by d.delivery_id desc limit $6`,
);

/**
 * Lists deliveries of one environment, newest first. @param page `after`: the last id of the previous page
 */
export async function listDeliveries(
  on: Queryable,
  account: AccountRef,
  environment: Environment,
  filter: { status: DeliveryStatus | undefined },
  page: { after: string | undefined; limit: number },
): Promise<DeliveryRecord[]> {
  const values = [environment, filter.status ?? null, page.after ?? null, page.limit];
  return (await on.query(LIST, [account.part, account.accountId, ...values])).map(present);
}

const OF_JOB = statement<RecordRow>(
  'deliveries.of_job',
  `select ${COLUMNS} from unnest($4::uuid[], $5::uuid[]) as span (low, high)
     join deliveries d on d.part = $1 and d.account_id = $2 and d.delivery_id between span.low and span.high ${joins('$1')}
    where d.job_id = $3 order by d.delivery_id`,
);

/**
 * Lists the deliveries of a job, oldest first. No index by job exists, because it would slow down every insert.
 * Instead the query searches near the ids of the job's events, because a delivery's id is created within
 * seconds of its event's id.
 * @param moves ids of the job's events that have deliveries
 */
export async function listDeliveriesOfJob(
  on: Queryable,
  account: AccountRef,
  jobId: string,
  moves: readonly string[],
): Promise<DeliveryRecord[]> {
  const spans = moves.map((id) => {
    const at = momentOf(id);
    return { low: firstIdOf(at - NEAR_MILLISECONDS), high: firstIdOf(at + NEAR_MILLISECONDS) };
  });
  const merged = spans.filter(({ low }, index) => index === 0 || low > spans[index - 1]!.high);
  const rows = await on.query(OF_JOB, [
    account.part,
    account.accountId,
    jobId,
    merged.map(({ low }) => low),
    merged.map(({ high }) => high),
  ]);
  return rows.map(present);
}

/**
 * SQL: deliveries that failed. Leaves out failed tests of a URL, of which the person who sent them has seen the result,
 * and deliveries that the customer ended with their webhook endpoint.
 */
const FAILED_ONES = `status = 'dead' and coalesce(failure, '') not in ('${TEST_FAILED}', 'endpoint disabled')`;

const DEAD_SINCE = statement<{ environment: Environment; dead: number }>(
  'deliveries.dead_since',
  `select w.environment, d.dead from unnest(array['production', 'sandbox']) as w (environment), lateral (
     select count(*) as dead from (
       select from deliveries d
        where d.part = $1 and d.account_id = $2 and d.environment = w.environment and ${FAILED_ONES}
          and d.delivery_id > $3
        limit 1000) counted) d`,
);

/** Counts an account's dead deliveries that were recorded since `since`, capped at 1,000 per environment. */
export async function countDeadDeliveries(
  on: Queryable,
  account: AccountRef,
  since: Date,
): Promise<Record<Environment, number>> {
  const rows = await on.query(DEAD_SINCE, [account.part, account.accountId, firstIdOf(since.getTime())]);
  const of = (environment: Environment) => rows.find((row) => row.environment === environment)?.dead ?? 0;
  return { production: of('production'), sandbox: of('sandbox') };
}

const FAILED = statement<{ failed: number; until: Date }>(
  'deliveries.failed',
  `select now() as until, (select count(*) from (
     select from deliveries
      where part = $1 and account_id = $2 and environment = $3 and ${FAILED_ONES}
        and finished_at >= $4 and finished_at < coalesce($5, now())
      limit $6) counted) as failed`,
);

const MAX_COUNTED = 10_000;

/**
 * Counts deliveries of an environment that died in `[since, until)`, capped at 10,000.
 * @returns the number, and `until`, which defaults to now
 */
export async function countFailedDeliveries(
  on: Queryable,
  account: AccountRef,
  environment: Environment,
  since: Date,
  until?: Date,
): Promise<{ failed: number; until: Date }> {
  const values = [environment, since, until ?? null, MAX_COUNTED];
  const [row] = await on.query(FAILED, [account.part, account.accountId, ...values]);
  return { failed: row!.failed, until: until ?? row!.until };
}

const FIND = statement<RecordRow>(
  'deliveries.find',
  `select ${COLUMNS} from deliveries d ${joins('$1')}
    where d.part = $1 and d.account_id = $2 and d.delivery_id = $3 and ($4::text is null or d.environment = $4)`,
);

/** Finds a delivery of an account. @param environment undefined to search both environments */
export async function findDelivery(
  on: Queryable,
  account: AccountRef,
  environment: Environment | undefined,
  deliveryId: string,
): Promise<DeliveryRecord | undefined> {
  const [row] = await on.query(FIND, [account.part, account.accountId, deliveryId, environment ?? null]);
  return row && present(row);
}

/** An attempt of a delivery. Without an outcome, the attempt is in progress or its sender died. */
export interface AttemptRecord {
  attempt: number;
  started_at: string;
  finished_at?: string;
  outcome?: string;
  detail?: string;
  status_code?: number;
  milliseconds?: number;
  headers?: Record<string, string>;
  answer?: string;
  answer_complete?: boolean;
}

/**
 * Returns the last hundred attempts of a delivery, oldest first.
 * @param reader operators also see which address was refused
 */
export async function readAttempts(
  on: Queryable,
  account: AccountRef,
  deliveryId: string,
  reader: AudienceName,
): Promise<AttemptRecord[]> {
  const rows = await listAttempts(on, { account, deliveryId });
  return rows.reverse().map(({ attempt, started_at, finished_at, detail: written, ...rest }) => {
    const detail = written !== null && reader !== 'operator' ? withoutNote(written) : written;
    const given = Object.entries({ ...rest, detail }).filter(([, value]) => value !== null);
    return {
      attempt,
      started_at: started_at.toISOString(),
      ...(finished_at === null ? {} : { finished_at: finished_at.toISOString() }),
      ...Object.fromEntries(given),
    };
  });
}

interface ReplayedRow {
  delivery_id: string;
  event: EventType;
  chat_id: string | null;
  message_id: string | null;
  host: string;
  at: Date;
}

// Without its order key, a replay keeps no later event of its job or chat waiting, and waits for none. Times in the queue
// are one microsecond apart, so that replayed deliveries are begun in their order.
const AGAIN = `
   again as (
     update deliveries d
        set status = 'pending', failure = null, finished_at = null, due_at = now(), attempts_before = d.attempts,
            queued_at = p.queued_at, order_key = null
       from placed p
      where d.part = $1 and d.account_id = $2 and d.delivery_id = p.delivery_id
     returning d.delivery_id, d.event, d.chat_id, ${FOLLOWING_MESSAGE}, d.host, p.place),
   -- Whoever replays by hand has reason to think that the host works: the next one is its probe.
   tried as (
     update breakers set open_until = now()
      where part = $1 and account_id = $2 and host in (select host from again) and open_until > now())
   select delivery_id, event, chat_id, message_id, host, now() as at from again order by place`;

const REPLAY_ONE = statement<ReplayedRow>(
  'deliveries.replay_one',
  `with placed as materialized (
     select delivery_id, 0 as place, statement_timestamp() as queued_at from deliveries
      where part = $1 and account_id = $2 and delivery_id = $3 and status <> 'pending' for update),
   ${AGAIN}`,
);

const REPLAY_DEAD = statement<ReplayedRow>(
  'deliveries.replay_dead',
  `with found as materialized (
     select delivery_id, queued_at from deliveries
      where part = $1 and account_id = $2 and environment = $3 and ${FAILED_ONES}
        and finished_at >= $4 and finished_at < coalesce($5, now())
      order by queued_at, delivery_id limit $6 for update),
   ordered as (select delivery_id, row_number() over (order by queued_at, delivery_id) as place from found),
   placed as (
     select delivery_id, place, statement_timestamp() + place * interval '1 microsecond' as queued_at from ordered),
   ${AGAIN}`,
);

async function notify(
  transaction: Transaction,
  account: AccountRef,
  rows: readonly ReplayedRow[],
  onChanged: OnDeliveriesChanged | undefined,
): Promise<void> {
  const deliveries = rows.map(
    ({ delivery_id, event, chat_id, message_id }): ChangedDelivery => ({
      account,
      deliveryId: delivery_id,
      event,
      chatId: chat_id,
      messageId: message_id,
      next: false,
      status: 'pending',
    }),
  );
  const ofMessages = deliveries.filter(({ messageId }) => messageId !== null);
  if (ofMessages.length > 0) await onChanged?.(transaction, ofMessages);
}

/** Returns whether a replay gets an audit entry. Replays by an API key get none, because the delivery records them. */
const isAudited = (by: Actor | KeyActor): by is Actor => typeof by === 'string' || !('keyId' in by);

/**
 * Replays a delivery that is delivered or dead. @returns false if the delivery is pending or does not exist
 */
export function replayDelivery(
  database: Database,
  by: Actor | KeyActor,
  account: AccountRef,
  deliveryId: string,
  onChanged: OnDeliveriesChanged | undefined,
): Promise<boolean> {
  return database.transaction(async (transaction) => {
    const rows = await transaction.query(REPLAY_ONE, [account.part, account.accountId, deliveryId]);
    if (rows.length > 0) transaction.changed('deliveries', account);
    await notify(transaction, account, rows, onChanged);
    const [row] = rows;
    if (row !== undefined && isAudited(by)) {
      await recordAudit(transaction, by, {
        action: 'delivery.replayed',
        account,
        subject: deliveryId,
        detail: { host: row.host },
      });
    }
    return row !== undefined;
  });
}

const REPLAYS_A_TRANSACTION = 500;

/**
 * Replays the deliveries of an environment that died since `since`. Deliveries that die after this call began
 * are left out, so none is sent twice. Each transaction, of up to {@link REPLAYS_A_TRANSACTION} deliveries,
 * has an audit entry.
 * @param bounds `until`: only deliveries that died before it, so that a repeated call is harmless; `most`:
 * the maximum number of deliveries to replay
 * @returns the number of replayed deliveries
 */
export async function replayDead(
  database: Database,
  by: Actor | KeyActor,
  { ref: account, username }: { ref: AccountRef; username: string },
  environment: Environment,
  since: Date,
  onChanged: OnDeliveriesChanged | undefined,
  bounds: { until?: Date; most?: number } = {},
): Promise<number> {
  const { until = null, most = Number.POSITIVE_INFINITY } = bounds;
  let replayed = 0;
  let began: Date | null = until;
  for (;;) {
    const size = Math.min(REPLAYS_A_TRANSACTION, most - replayed);
    const values: unknown[] = [environment, since, began, size];
    const rows: ReplayedRow[] = await database.transaction(async (transaction) => {
      const some = await transaction.query(REPLAY_DEAD, [account.part, account.accountId, ...values]);
      if (some.length > 0) transaction.changed('deliveries', account);
      await notify(transaction, account, some, onChanged);
      if (some.length > 0 && isAudited(by)) {
        const detail = { environment, since: since.toISOString(), replayed: some.length };
        await recordAudit(transaction, by, {
          action: 'deliveries.replayed',
          account,
          subject: username,
          detail,
        });
      }
      return some;
    });
    replayed += rows.length;
    began ??= rows[0]?.at ?? null;
    if (rows.length < size || replayed >= most) return replayed;
  }
}

/** A delivery with its account, as operators see it. */
export interface OwnedDelivery extends DeliveryRecord {
  account: string;
}

type OwnedRow = RecordRow & { username: string; part: number; account_id: string };

const OF_FILTER = `($2::text is null or d.status = $2) and ($3::uuid is null or d.delivery_id = $3)
        and ($5::uuid is null or d.delivery_id < $5) and ($6::text is null or d.environment = $6)
        and ($7::text is null or d.host = $7)`;

// One index seek per account finds its latest deliveries, however many it has.
const LIST_OWNED = statement<OwnedRow>(
  'deliveries.list_owned',
  `select a.username, a.part, a.account_id, d.* from accounts a cross join lateral (
     select ${COLUMNS} from deliveries d ${joins('d.part')}
      where d.part = a.part and d.account_id = a.account_id and ${OF_FILTER}
      order by d.delivery_id desc limit $4) d
    where $1::text is null or a.username = $1
    order by d.delivery_id desc limit $4`,
  `select a.username, a.part, a.account_id, ${COLUMNS}
     from deliveries d join accounts a on a.part = d.part and a.account_id = d.account_id ${joins('d.part')}
    where ($1::text is null or a.username = $1) and ${OF_FILTER} order by d.delivery_id desc limit $4`,
);

export interface OwnedFilter {
  username?: string | undefined;
  status?: DeliveryStatus | undefined;
  id?: string | undefined;
  environment?: Environment | undefined;
  host?: string | undefined;
  /** The id of the last delivery of the previous page. */
  after?: string | undefined;
}

/** Lists deliveries of one account or of all accounts, newest first, for operators. */
export async function listOwnedDeliveries(
  on: Queryable,
  filter: OwnedFilter,
  limit: number,
): Promise<{ owner: AccountRef; delivery: OwnedDelivery }[]> {
  const { username, status, id, after, environment, host } = filter;
  const values = [username ?? null, status ?? null, id ?? null, limit];
  const rows = await on.query(LIST_OWNED, [...values, after ?? null, environment ?? null, host ?? null]);
  return rows.map((row) => ({
    owner: { part: row.part, accountId: row.account_id } as AccountRef,
    delivery: { account: row.username, ...present(row) },
  }));
}

/** Lists accounts with production deliveries that died since `since`. */
export const listDeadByAccount = statement<
  { username: string; dead: number; since: Date },
  { since: Date; limit: number }
>(
  'deliveries.died',
  `select a.username, d.dead, d.since from accounts a cross join lateral (
     select count(*) as dead, min(finished_at) as since from deliveries
      where part = a.part and account_id = a.account_id and ${FAILED_ONES} and environment = 'production'
        and finished_at > :since) d
    where d.dead > 0 order by d.dead desc limit :limit`,
  `select a.username, count(*) as dead, min(d.finished_at) as since
     from deliveries d join accounts a on a.part = d.part and a.account_id = d.account_id
    where ${FAILED_ONES.replaceAll('status', 'd.status')} and d.environment = 'production' and d.finished_at > :since
    group by d.part, d.account_id, a.username order by dead desc limit :limit`,
).rows;

/**
 * The log of deliveries: what became of each, every attempt with the receiver's answer, and replays. A replay sends
 * the same bytes under the same `webhook-id`; its attempts are counted on, and its 72 hours begin anew. It takes its
 * place at the end of its order: what was delivered meanwhile stays delivered.
 */
import type { AccountRef, Environment } from '../account.ts';
import type { Database, Queryable, Transaction } from '../database/database.ts';
import { statement } from '../database/statements.ts';
import { firstIdOf, momentOf } from '../ids.ts';
import type { DeliveriesMoved } from './deliveries.ts';
import type { EventType, MovedDelivery } from './store.ts';

export const DELIVERY_STATUSES = ['pending', 'delivered', 'dead'] as const;
export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number];

interface RecordRow {
  delivery_id: string;
  environment: Environment;
  event: EventType;
  uid: string | null;
  chat_id: string | null;
  message_id: string | null;
  url: string;
  host: string;
  status: DeliveryStatus;
  failure: string | null;
  attempts: number;
  created_at: Date;
  finished_at: Date | null;
  due_at: Date | null;
}

const COLUMNS = `d.delivery_id, d.environment, d.event, j.uid, d.chat_id, d.message_id, d.url, d.host, d.status,
  d.failure, d.attempts, d.created_at, d.finished_at, d.due_at`;
const WITH_JOB =
  'left join jobs j on j.part = d.part and j.account_id = d.account_id and j.job_id = d.job_id';

/** Both ids are made by one process, in one transaction. */
const NEAR_MILLISECONDS = 5_000;

/** A delivery as its account, and the operator, see it. Keys without a value are not there. */
export interface DeliveryRecord {
  id: string;
  event: EventType;
  status: DeliveryStatus;
  url: string;
  uid?: string;
  chat_id?: string;
  message_id?: string;
  failure?: string;
  attempts: number;
  created_at: string;
  finished_at?: string;
  /** Not before; while an attempt is under way, when it is given up at the latest. */
  next_attempt_at?: string;
}

function present(row: RecordRow): DeliveryRecord {
  return {
    id: row.delivery_id,
    event: row.event,
    status: row.status,
    url: row.url,
    ...(row.uid === null ? {} : { uid: row.uid }),
    ...(row.chat_id === null ? {} : { chat_id: row.chat_id }),
    ...(row.message_id === null ? {} : { message_id: row.message_id }),
    ...(row.failure === null ? {} : { failure: row.failure }),
    attempts: row.attempts,
    created_at: row.created_at.toISOString(),
    ...(row.finished_at === null ? {} : { finished_at: row.finished_at.toISOString() }),
    ...(row.due_at === null ? {} : { next_attempt_at: row.due_at.toISOString() }),
  };
}

const LIST = statement<RecordRow>(
  'deliveries.list',
  `select ${COLUMNS} from deliveries d ${WITH_JOB}
    where d.part = $1 and d.account_id = $2 and d.environment = $3 and ($4::text is null or d.status = $4)
      and ($5::uuid is null or d.delivery_id < $5)
    order by d.delivery_id desc limit $6`,
);

/** Deliveries of one environment, newest first. @param page `after`: the last one of the page before */
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
     join deliveries d on d.part = $1 and d.account_id = $2 and d.delivery_id between span.low and span.high ${WITH_JOB}
    where d.job_id = $3 order by d.delivery_id`,
);

/**
 * The deliveries of a job, oldest first. There is no index for them, which every insert would pay for: a delivery is
 * recorded with a move of its job, so its id lies close behind that move's.
 * @param moves ids of the moves that are delivered
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
    ...[account.part, account.accountId, jobId],
    merged.map(({ low }) => low),
    merged.map(({ high }) => high),
  ]);
  return rows.map(present);
}

const DEAD_SINCE = statement<{ environment: Environment; dead: number }>(
  'deliveries.dead_since',
  `select w.environment, d.dead from unnest(array['production', 'sandbox']) as w (environment), lateral (
     select count(*) as dead from (
       select from deliveries d
        where d.part = $1 and d.account_id = $2 and d.environment = w.environment and d.status = 'dead'
          and d.delivery_id > $3
        limit 1000) counted) d`,
);

/** How many deliveries of an account were recorded since a moment and are dead, up to a thousand. */
export async function countDead(
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
      where part = $1 and account_id = $2 and environment = $3 and status = 'dead'
        and finished_at >= $4 and finished_at < coalesce($5, now())
      limit $6) counted) as failed`,
);

const MAX_COUNTED = 10_000;

/**
 * How many deliveries of an environment are dead that died since then, up to ten thousand.
 * @param until counts those alone that had died by then
 * @returns `until`: the moment that it is true of, when none was given
 */
export async function countFailed(
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
  `select ${COLUMNS} from deliveries d ${WITH_JOB}
    where d.part = $1 and d.account_id = $2 and d.delivery_id = $3 and ($4::text is null or d.environment = $4)`,
);

/** @param environment undefined: either */
export async function findDelivery(
  on: Queryable,
  account: AccountRef,
  environment: Environment | undefined,
  deliveryId: string,
): Promise<DeliveryRecord | undefined> {
  const [row] = await on.query(FIND, [account.part, account.accountId, deliveryId, environment ?? null]);
  return row && present(row);
}

interface AttemptRow {
  attempt: number;
  started_at: Date;
  finished_at: Date | null;
  outcome: string | null;
  detail: string | null;
  status_code: number | null;
  milliseconds: number | null;
  headers: Record<string, string> | null;
  answer: string | null;
  answer_complete: boolean | null;
}

/** One try. Without an outcome it is under way, or its sender died in the middle of it. */
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

const ATTEMPTS = statement<AttemptRow>(
  'deliveries.attempts',
  `select attempt, started_at, finished_at, outcome, detail, status_code, milliseconds, headers, answer, answer_complete
     from attempts where part = $1 and account_id = $2 and delivery_id = $3 order by attempt desc limit 100`,
);

/** The last hundred attempts of a delivery, oldest first. */
export async function readAttempts(
  on: Queryable,
  account: AccountRef,
  deliveryId: string,
): Promise<AttemptRecord[]> {
  const rows = await on.query(ATTEMPTS, [account.part, account.accountId, deliveryId]);
  return rows.reverse().map(({ attempt, started_at, finished_at, ...rest }) => {
    const said = Object.entries(rest).filter(([, value]) => value !== null);
    return {
      attempt,
      started_at: started_at.toISOString(),
      ...(finished_at === null ? {} : { finished_at: finished_at.toISOString() }),
      ...Object.fromEntries(said),
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

// In the order in which they stood, a microsecond apart, so that what was in order stays so.
const AGAIN = `
   again as (
     update deliveries d
        set status = 'pending', failure = null, finished_at = null, due_at = now(), attempts_before = d.attempts,
            queued_at = clock_timestamp() + p.place * interval '1 microsecond'
       from placed p
      where d.part = $1 and d.account_id = $2 and d.delivery_id = p.delivery_id
     returning d.delivery_id, d.event, d.chat_id, d.message_id, d.host, p.place),
   -- Whoever replays by hand has reason to think that the host works: the next one is its probe.
   tried as (
     update breakers set open_until = now()
      where part = $1 and account_id = $2 and host in (select host from again) and open_until > now())
   select delivery_id, event, chat_id, message_id, host, now() as at from again order by place`;

const REPLAY_ONE = statement<ReplayedRow>(
  'deliveries.replay_one',
  `with placed as materialized (
     select delivery_id, 0 as place from deliveries
      where part = $1 and account_id = $2 and delivery_id = $3 and status <> 'pending' for update),
   ${AGAIN}`,
);

const REPLAY_DEAD = statement<ReplayedRow>(
  'deliveries.replay_dead',
  `with found as materialized (
     select delivery_id, queued_at from deliveries
      where part = $1 and account_id = $2 and environment = $3 and status = 'dead'
        and finished_at >= $4 and finished_at < coalesce($5, now())
      order by queued_at, delivery_id limit $6 for update),
   placed as (select delivery_id, row_number() over (order by queued_at, delivery_id) as place from found),
   ${AGAIN}`,
);

async function follow(
  transaction: Transaction,
  account: AccountRef,
  rows: readonly ReplayedRow[],
  moved: DeliveriesMoved | undefined,
): Promise<void> {
  const deliveries = rows.map(
    ({ delivery_id, event, chat_id, message_id }): MovedDelivery => ({
      ...{
        account,
        deliveryId: delivery_id,
        event,
        chatId: chat_id,
        messageId: message_id,
        status: 'pending',
      },
    }),
  );
  const ofMessages = deliveries.filter(({ messageId }) => messageId !== null);
  if (ofMessages.length > 0) await moved?.(transaction, ofMessages);
}

/** Sends a delivery again that has ended, delivered or dead. @returns whether there was one */
export function replayDelivery(
  database: Database,
  account: AccountRef,
  deliveryId: string,
  moved: DeliveriesMoved | undefined,
): Promise<boolean> {
  return database.transaction(async (transaction) => {
    const rows = await transaction.query(REPLAY_ONE, [account.part, account.accountId, deliveryId]);
    await follow(transaction, account, rows, moved);
    return rows.length > 0;
  });
}

const REPLAYS_A_TRANSACTION = 500;

/**
 * Sends all deliveries of an environment again that died since then. Those alone that were dead at the beginning: what
 * dies again meanwhile is not sent a third time.
 * @param bounds `until`: those alone that were dead then, which makes a repeated call harmless; `most`: no more than that
 * @returns how many
 */
export async function replayDead(
  database: Database,
  account: AccountRef,
  environment: Environment,
  since: Date,
  moved: DeliveriesMoved | undefined,
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
      await follow(transaction, account, some, moved);
      return some;
    });
    replayed += rows.length;
    began ??= rows[0]?.at ?? null;
    if (rows.length < size || replayed >= most) return replayed;
  }
}

/** A delivery with the account that it belongs to, for the operator. */
export interface OwnedDelivery extends DeliveryRecord {
  account: string;
  environment: Environment;
}

type OwnedRow = RecordRow & { username: string; part: number; account_id: string };

// One seek of an index an account for its latest, however many it has.
const LIST_OWNED = statement<OwnedRow>(
  'deliveries.list_owned',
  `select a.username, a.part, a.account_id, d.* from accounts a cross join lateral (
     select ${COLUMNS} from deliveries d ${WITH_JOB}
      where d.part = a.part and d.account_id = a.account_id and ($2::text is null or d.status = $2)
        and ($3::uuid is null or d.delivery_id = $3) and ($5::uuid is null or d.delivery_id < $5)
        and ($6::text is null or d.environment = $6) and ($7::text is null or d.host = $7)
      order by d.delivery_id desc limit $4) d
    where $1::text is null or a.username = $1
    order by d.delivery_id desc limit $4`,
);

export interface OwnedFilter {
  username?: string | undefined;
  status?: DeliveryStatus | undefined;
  id?: string | undefined;
  environment?: Environment | undefined;
  host?: string | undefined;
  /** The last one of the page before. */
  after?: string | undefined;
}

/** For the operator: deliveries of one account or of all, newest first. */
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
    delivery: { account: row.username, environment: row.environment, ...present(row) },
  }));
}

const FAILING = statement<FailingHost>(
  'deliveries.list_failing',
  `select a.username, b.host, b.failures, b.open_until,
          (select min(d.queued_at) from deliveries d
            where d.part = b.part and d.account_id = b.account_id and d.host = b.host and d.due_at is not null)
            as since,
          (select count(*) from deliveries d
            where d.part = b.part and d.account_id = b.account_id and d.host = b.host and d.due_at is not null)
            as waiting
     from accounts a join breakers b on b.part = a.part and b.account_id = a.account_id
    where b.openings > 0 order by since nulls last limit $1`,
);

/** A host that deliveries of an account are held back from. */
export interface FailingHost {
  username: string;
  host: string;
  /** In a row. */
  failures: number;
  open_until: Date | null;
  /** Of the oldest delivery that waits. */
  since: Date | null;
  waiting: number;
}

/** The hosts, of all accounts, that deliveries are held back from; where something has waited longest first. */
export function listFailingHosts(on: Queryable, limit: number): Promise<FailingHost[]> {
  return on.query(FAILING, [limit]);
}

const DIED = statement<{ username: string; dead: number; since: Date }>(
  'deliveries.died',
  `select a.username, d.dead, d.since from accounts a cross join lateral (
     select count(*) as dead, min(finished_at) as since from deliveries
      where part = a.part and account_id = a.account_id and status = 'dead' and environment = 'production'
        and finished_at > $1) d
    where d.dead > 0 order by d.dead desc limit $2`,
);

/** Accounts with deliveries that were given up since then, in production. */
export function listDied(
  on: Queryable,
  since: Date,
  limit: number,
): Promise<{ username: string; dead: number; since: Date }[]> {
  return on.query(DIED, [since, limit]);
}

const BODY = statement<{ content_type: string; body: Buffer }>(
  'deliveries.body',
  `select content_type, substring(body for 65536) as body from deliveries
    where part = $1 and account_id = $2 and delivery_id = $3`,
);

/** What a delivery posts, the first 64 KiB of it, as text. */
export async function readBody(
  on: Queryable,
  account: AccountRef,
  deliveryId: string,
): Promise<{ content_type: string; body: string } | undefined> {
  const [row] = await on.query(BODY, [account.part, account.accountId, deliveryId]);
  return row && { content_type: row.content_type, body: row.body.toString() };
}

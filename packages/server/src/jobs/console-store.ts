/** SQL statements that read jobs for the console. */
import type { Format } from '@dragoman/documents';
import type { AccountRef, Environment } from '../base/account.ts';
import type { Queryable } from '../database/database.ts';
import { statement } from '../database/statements.ts';
import type { Discount } from '../ledger/price-list.ts';
import { ofActiveAccount } from '../work/queue.ts';
import type { JobStatus } from './states.ts';
import type { JobTier } from './store.ts';
import type { Untranslated } from './untranslated.ts';

export interface ConsoleJobRow {
  part: number;
  account_id: string;
  username: string;
  job_id: string;
  order_number: number;
  environment: Environment;
  tier: JobTier;
  uid: string;
  status: JobStatus;
  source_language: string;
  target_language: string;
  text_format: Format;
  words: number;
  price_cents: number;
  discounts: Discount[] | null;
  fell_back: boolean;
  untranslated: Untranslated | null;
  created_at: Date;
  finished_at: Date | null;
  failure: string | null;
  brand: string | null;
  tone: string | null;
  callback_url: string | null;
  due_at: Date | null;
  attempts: number;
  /** True while a worker holds a lease on the job. */
  leased: boolean;
  redraft: string | null;
}

const COLUMNS = `j.part, j.account_id, j.job_id, j.order_number, j.environment, j.tier, j.uid, j.status,
  j.source_language, j.target_language, j.text_format, j.words, j.price_cents, j.discounts, j.fell_back, j.untranslated, j.created_at,
  j.finished_at, j.failure, coalesce(j.brand, j.default_brand) as brand, j.tone, j.callback_url, j.due_at, j.attempts, j.redraft,
  coalesce(j.lease_token is not null and j.due_at > now(), false) as leased`;

export interface ConsoleFilter {
  username?: string | undefined;
  environment?: Environment | undefined;
  statuses?: readonly JobStatus[] | undefined;
  source?: string | undefined;
  target?: string | undefined;
  /** Selects only jobs whose uid starts with this text. */
  uid?: string | undefined;
  /** The id of the last job of the previous page. */
  after?: string | undefined;
}

// One index seek per account finds its latest jobs, however many jobs it has.
const LIST = statement<ConsoleJobRow>(
  'jobs.console_list',
  `select a.username, j.* from accounts a cross join lateral (
     select ${COLUMNS} from jobs j
      where j.part = a.part and j.account_id = a.account_id and j.tier <> 'chat'
        and ($2::text is null or j.environment = $2) and ($3::text[] is null or j.status = any($3))
        and ($4::text is null or j.source_language = $4) and ($5::text is null or j.target_language = $5)
        and ($6::text is null or j.uid like $6) and ($7::uuid is null or j.job_id < $7)
      order by j.job_id desc limit $8) j
    where $1::text is null or a.username = $1
    order by j.job_id desc limit $8`,
  `select a.username, ${COLUMNS} from jobs j join accounts a on a.part = j.part and a.account_id = j.account_id
    where j.tier <> 'chat' and ($1::text is null or a.username = $1)
      and ($2::text is null or j.environment = $2) and ($3::text[] is null or j.status = any($3))
      and ($4::text is null or j.source_language = $4) and ($5::text is null or j.target_language = $5)
      and ($6::text is null or j.uid like $6) and ($7::uuid is null or j.job_id < $7)
    order by j.job_id desc limit $8`,
);

/** Lists jobs of all accounts, newest first. */
export function listConsoleJobs(
  on: Queryable,
  filter: ConsoleFilter,
  limit: number,
): Promise<ConsoleJobRow[]> {
  return on.query(LIST, [
    filter.username ?? null,
    filter.environment ?? null,
    filter.statuses ?? null,
    filter.source ?? null,
    filter.target ?? null,
    filter.uid === undefined ? null : `${filter.uid.replaceAll(/[\\%_]/g, '\\$&')}%`,
    filter.after ?? null,
    limit,
  ]);
}

const BY_NUMBER = statement<ConsoleJobRow>(
  'jobs.console_by_number',
  `select a.username, ${COLUMNS} from jobs j join accounts a on a.part = j.part and a.account_id = j.account_id
    where j.order_number = $1 and j.tier <> 'chat' and ($2::text is null or a.username = $2)
      and ($3::text is null or j.environment = $3)
    order by j.job_id desc limit $4`,
);

/** Returns the jobs with this order number, newest first: at most one for each account and environment. */
export function findConsoleJobsByNumber(
  on: Queryable,
  orderNumber: number,
  { username, environment }: Pick<ConsoleFilter, 'username' | 'environment'>,
  limit: number,
): Promise<ConsoleJobRow[]> {
  return on.query(BY_NUMBER, [orderNumber, username ?? null, environment ?? null, limit]);
}

const FIND = statement<ConsoleJobRow>(
  'jobs.console_find',
  `select a.username, ${COLUMNS} from jobs j join accounts a on a.part = j.part and a.account_id = j.account_id
    where j.part = $1 and j.account_id = $2 and j.job_id = $3`,
);

export async function findConsoleJob(
  on: Queryable,
  account: AccountRef,
  jobId: string,
): Promise<ConsoleJobRow | undefined> {
  const [row] = await on.query(FIND, [account.part, account.accountId, jobId]);
  return row;
}

export interface JobEventRow {
  event_id: string;
  from_status: string;
  to_status: string;
  actor: string;
  detail: string | null;
  created_at: Date;
}

const EVENTS = statement<JobEventRow>(
  'jobs.console_events',
  `select event_id, from_status, to_status, actor, detail, created_at from job_events
    where part = $1 and account_id = $2 and job_id = $3 order by event_id`,
);

/** Returns the status changes of a job in their order. */
export function listJobEvents(on: Queryable, account: AccountRef, jobId: string): Promise<JobEventRow[]> {
  return on.query(EVENTS, [account.part, account.accountId, jobId]);
}

const SEGMENTS = statement<{ route: string | null; failure: string | null; segments: number }>(
  'jobs.console_segments',
  `select route, failure, count(*) as segments from segments
    where part = $1 and account_id = $2 and job_id = $3 group by 1, 2 order by 3 desc limit 50`,
);

/** Counts the segments of a job by the engine route that drafted them, or by their failure. */
export function countSegmentsByRoute(
  on: Queryable,
  account: AccountRef,
  jobId: string,
): Promise<{ route: string | null; failure: string | null; segments: number }[]> {
  return on.query(SEGMENTS, [account.part, account.accountId, jobId]);
}

const TEXTS = statement<{ kind: string; body: string; characters: number }>(
  'jobs.console_texts',
  `select kind, left(body, 20000) as body, char_length(body) as characters from job_texts
    where part = $1 and account_id = $2 and job_id = $3 order by kind`,
);

/** Returns the first 20,000 characters of each text of a job. */
export function readTextBeginnings(
  on: Queryable,
  account: AccountRef,
  jobId: string,
): Promise<{ kind: string; body: string; characters: number }[]> {
  return on.query(TEXTS, [account.part, account.accountId, jobId]);
}

const HASTEN = statement<{ job_id: string }>(
  'jobs.console_hasten',
  `update jobs set due_at = now(), attempts = 0
    where part = $1 and account_id = $2 and job_id = $3 and status in ('new', 'machine_translate_in_progress')
      and (lease_token is null or due_at <= now())
   returning job_id`,
);

/** Makes a job due now if it waits for its next attempt. @returns false if the job was not waiting */
export async function makeJobDueNow(on: Queryable, account: AccountRef, jobId: string): Promise<boolean> {
  const rows = await on.query(HASTEN, [account.part, account.accountId, jobId]);
  if (rows.length > 0) on.changed('jobs', account, jobId);
  return rows.length > 0;
}

export interface StatusCount {
  environment: Environment;
  tier: JobTier;
  status: JobStatus;
  jobs: number;
}

const BY_STATUS = statement<StatusCount>(
  'jobs.count_by_status',
  `select environment, tier, status, sum(jobs)::bigint as jobs from job_counts
    where part = $1 and account_id = $2 and tier <> 'chat' group by 1, 2, 3 having sum(jobs) > 0 order by 1, 2, 3`,
);

export function countJobsByStatus(on: Queryable, account: AccountRef): Promise<StatusCount[]> {
  return on.query(BY_STATUS, [account.part, account.accountId]);
}

export interface PeriodCount {
  environment: Environment;
  tier: JobTier;
  jobs: number;
  words: number;
  cents: number;
}

// SQL condition for jobs whose price is held or charged; see `shownPrice`.
const CHARGED = `status not in ('failed', 'canceled') and not fell_back`;

const SINCE = statement<PeriodCount>(
  'jobs.count_since',
  `select environment, tier, count(*) as jobs, coalesce(sum(words), 0)::bigint as words,
          coalesce(sum(price_cents) filter (where ${CHARGED}), 0)::bigint as cents
     from jobs where part = $1 and account_id = $2 and job_id >= $3 and tier <> 'chat' group by 1, 2 order by 1, 2`,
);

/** Counts an account's jobs since the job with the id `since`, by environment and tier. */
export function countJobsSinceId(on: Queryable, account: AccountRef, since: string): Promise<PeriodCount[]> {
  return on.query(SINCE, [account.part, account.accountId, since]);
}

export interface DayRow {
  environment: Environment;
  /** The start of the day in UTC. */
  day: Date;
  jobs: number;
  cents: number;
}

const DAYS = statement<DayRow>(
  'jobs.count_days',
  `select environment, date_trunc('day', created_at, 'UTC') as day, count(*) as jobs,
          coalesce(sum(price_cents) filter (where ${CHARGED}), 0)::bigint as cents
     from jobs where part = $1 and account_id = $2 and job_id >= $3 and tier <> 'chat' group by 1, 2`,
);

/** Counts an account's jobs since the job with the id `since`, by day. Days without jobs have no row. */
export function listDayRows(on: Queryable, account: AccountRef, since: string): Promise<DayRow[]> {
  return on.query(DAYS, [account.part, account.accountId, since]);
}

export interface QueuedPair {
  source_language: string;
  target_language: string;
  /** The number of jobs that are due and that no worker has leased. */
  waiting: number;
  /** The number of leased jobs. */
  working: number;
  /** Seconds for which the oldest queued job has been due. */
  oldest: number;
}

const WAITING = statement<QueuedPair>(
  'jobs.waiting_pairs',
  `select source_language, target_language, count(*) filter (where due_at <= now()) as waiting,
          count(*) filter (where due_at > now() and lease_token is not null) as working,
          coalesce(extract(epoch from now() - min(due_at) filter (where due_at <= now())), 0)::float8 as oldest
     from jobs j where due_at is not null and ${ofActiveAccount('j')} group by 1, 2
   having count(*) filter (where due_at <= now() or lease_token is not null) > 0
    order by 5 desc, 3 desc limit 200`,
);

/** Counts queued and leased jobs by language pair. The pair with the longest-waiting job comes first. */
export function listQueuedPairs(on: Queryable): Promise<QueuedPair[]> {
  return on.query(WAITING);
}

export interface HourRow {
  hour: Date;
  created: number;
  words: number;
  failed: number;
}

const ANY = statement<{ has: boolean }>('jobs.any', 'select exists (select 1 from jobs) as has');

/** Returns true if any job exists. */
export async function hasJobs(on: Queryable): Promise<boolean> {
  return (await on.query(ANY))[0]!.has;
}

const HOURS = statement<HourRow>(
  'jobs.console_hours',
  `select date_trunc('hour', j.created_at) as hour, count(*) as created, sum(j.words)::bigint as words,
          count(*) filter (where j.status = 'failed') as failed
     from accounts a join jobs j on j.part = a.part and j.account_id = a.account_id and j.job_id >= $1
    group by 1 order by 1`,
);

/** Counts all jobs since the job with the id `since`, by hour. Hours without jobs have no row. */
export function listHourRows(on: Queryable, since: string): Promise<HourRow[]> {
  return on.query(HOURS, [since]);
}

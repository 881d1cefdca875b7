/** SQL statements that read jobs for the console. */
import type { Static } from 'typebox';
import type { AccountRef, Environment } from '../../base/account.ts';
import type { Queryable } from '../../database/database.ts';
import { statement } from '../../database/statements.ts';
import { ofActiveAccount } from '../../work/queue.ts';
import type { ConsoleJob, ConsoleJobDetail } from '../schemas.ts';
import type { JobStatus } from '../states.ts';
import type { JobRow, JobTier } from '../store.ts';

/** A job with the account that it belongs to. */
export type ConsoleJobRow = Omit<Static<typeof ConsoleJob>, 'price'> &
  Pick<
    Static<typeof ConsoleJobDetail>,
    'brand' | 'tone' | 'callback_url' | 'due_at' | 'attempts' | 'leased' | 'redraft'
  > &
  Pick<JobRow, 'price_cents' | 'discounts' | 'fell_back' | 'untranslated'>;

const COLUMNS = `j.job_id as job, j.order_number, j.environment, j.tier, j.uid, j.status, j.source_language,
  j.target_language, j.text_format, j.words, j.created_at, j.finished_at, j.failure, j.price_cents, j.discounts,
  j.fell_back, j.untranslated, coalesce(j.brand, j.default_brand) as brand, j.tone, j.callback_url, j.due_at, j.attempts,
  coalesce(j.lease_token is not null and j.due_at > now(), false) as leased, j.redraft`;

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
  `select a.username as account, j.* from accounts a cross join lateral (
     select ${COLUMNS} from jobs j
      where j.part = a.part and j.account_id = a.account_id and j.tier <> 'chat'
        and ($2::text is null or j.environment = $2) and ($3::text[] is null or j.status = any($3))
        and ($4::text is null or j.source_language = $4) and ($5::text is null or j.target_language = $5)
        and ($6::text is null or j.uid like $6) and ($7::uuid is null or j.job_id < $7)
      order by j.job_id desc limit $8) j
    where $1::text is null or a.username = $1
    order by j.job desc limit $8`,
  `select a.username as account, ${COLUMNS} from jobs j join accounts a on a.part = j.part
    and a.account_id = j.account_id
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
  `select a.username as account, ${COLUMNS} from jobs j join accounts a on a.part = j.part
    and a.account_id = j.account_id
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

export const findConsoleJob = statement<ConsoleJobRow, { account: AccountRef; jobId: string }>(
  'jobs.console_find',
  `select a.username as account, ${COLUMNS} from jobs j join accounts a on a.part = j.part
    and a.account_id = j.account_id
    where j.part = :part and j.account_id = :account_id and j.job_id = :jobId`,
).first;

export interface JobEventRow {
  event_id: string;
  at: Date;
  /** The new status. */
  status: JobStatus;
  actor: 'machine' | 'editor' | 'customer' | 'operator';
  detail: string | null;
}

/** Returns the status changes of a job in their order. */
export const listJobEvents = statement<JobEventRow, { account: AccountRef; jobId: string }>(
  'jobs.console_events',
  `select event_id, created_at as at, to_status as status, actor, detail from job_events
    where part = :part and account_id = :account_id and job_id = :jobId order by event_id`,
).rows;

/** Counts the segments of a job by the engine route that drafted them, or by their failure. */
export const countSegmentsByRoute = statement<
  Static<typeof ConsoleJobDetail>['routes'][number],
  { account: AccountRef; jobId: string }
>(
  'jobs.console_segments',
  `select route, failure, count(*) as segments from segments
    where part = :part and account_id = :account_id and job_id = :jobId group by 1, 2 order by 3 desc limit 50`,
).rows;

/** Returns the first 20,000 characters of each text of a job. */
export const readTextBeginnings = statement<
  Static<typeof ConsoleJobDetail>['texts'][number],
  { account: AccountRef; jobId: string }
>(
  'jobs.console_texts',
  `select kind, left(body, 20000) as body, char_length(body) as characters from job_texts
    where part = :part and account_id = :account_id and job_id = :jobId order by kind`,
).rows;

/** Makes a job due now if it waits for its next attempt. @returns false if the job was not waiting */
export const makeJobDueNow = statement<{ job_id: string }, { account: AccountRef; jobId: string }>(
  'jobs.console_hasten',
  `update jobs set due_at = now(), attempts = 0
    where part = :part and account_id = :account_id and job_id = :jobId
      and status in ('new', 'machine_translate_in_progress')
      and (lease_token is null or due_at <= now())
   returning job_id`,
).reporting('jobs').found;

export interface StatusCount {
  environment: Environment;
  tier: JobTier;
  status: JobStatus;
  jobs: number;
}

export const countJobsByStatus = statement<StatusCount, { account: AccountRef }>(
  'jobs.count_by_status',
  `select environment, tier, status, sum(jobs)::bigint as jobs from job_counts
    where part = :part and account_id = :account_id and tier <> 'chat' group by 1, 2, 3 having sum(jobs) > 0
      order by 1, 2, 3`,
).rows;

export interface PeriodCount {
  environment: Environment;
  tier: JobTier;
  jobs: number;
  words: number;
  cents: number;
}

// SQL condition for jobs whose price is held or charged; see `shownPrice`.
const CHARGED = `status not in ('failed', 'canceled') and not fell_back`;

/** Counts an account's jobs since the job with the id `since`, by environment and tier. */
export const countJobsSinceId = statement<PeriodCount, { account: AccountRef; since: string }>(
  'jobs.count_since',
  `select environment, tier, count(*) as jobs, coalesce(sum(words), 0)::bigint as words,
          coalesce(sum(price_cents) filter (where ${CHARGED}), 0)::bigint as cents
     from jobs where part = :part and account_id = :account_id and job_id >= :since
       and tier <> 'chat' group by 1, 2 order by 1, 2`,
).rows;

export interface DayRow {
  environment: Environment;
  /** The start of the day in UTC. */
  day: Date;
  jobs: number;
  cents: number;
}

/** Counts an account's jobs since the job with the id `since`, by day. Days without jobs have no row. */
export const listDayRows = statement<DayRow, { account: AccountRef; since: string }>(
  'jobs.count_days',
  `select environment, date_trunc('day', created_at, 'UTC') as day, count(*) as jobs,
          coalesce(sum(price_cents) filter (where ${CHARGED}), 0)::bigint as cents
     from jobs where part = :part and account_id = :account_id and job_id >= :since and tier <> 'chat' group by 1, 2`,
).rows;

export interface QueuedPair {
  source_language: string;
  target_language: string;
  /** The number of jobs that are due, or that failed and wait for their next attempt. */
  waiting: number;
  /** The number of leased jobs. */
  working: number;
  /** Seconds for which the oldest of them has been due, after a failure since its creation. */
  oldest: number;
}

/** Counts queued and leased jobs by language pair. The pair with the longest-waiting job comes first. */
export const listQueuedPairs = statement<QueuedPair>(
  'jobs.waiting_pairs',
  `select source_language, target_language, count(*) filter (where waits) as waiting,
          count(*) filter (where not waits and lease_token is not null) as working,
          coalesce(extract(epoch from now() - min(case when attempts > 0 then created_at else due_at end) filter (where waits)), 0)::float8 as oldest
     from jobs j cross join lateral (select due_at <= now() or (attempts > 0 and lease_token is null) as waits) w
    where due_at is not null and ${ofActiveAccount('j')} group by 1, 2
   having count(*) filter (where waits or lease_token is not null) > 0
    order by 5 desc, 3 desc limit 200`,
).rows;

export interface HourlyJobs {
  hour: Date;
  created: number;
  words: number;
  failed: number;
}

/** Returns true if any job exists. */
export const hasJobs = statement<{ has: boolean }>(
  'jobs.any',
  'select exists (select 1 from jobs) as has',
).value;

/** Counts all jobs since the job with the id `since`, by hour. Hours without jobs have no row. */
export const listHourRows = statement<HourlyJobs, { since: string }>(
  'jobs.console_hours',
  `select date_trunc('hour', j.created_at) as hour, count(*) as created, sum(j.words)::bigint as words,
          count(*) filter (where j.status = 'failed') as failed
     from accounts a join jobs j on j.part = a.part and j.account_id = a.account_id and j.job_id >= :since
    group by 1 order by 1`,
).rows;

/** SQL statements that change the status of jobs and record these changes as job events. */
import type { AccountRef } from '../base/account.ts';
import { uuidv7 } from '../base/ids.ts';
import type { Queryable, Transaction } from '../database/database.ts';
import { AS_TEXT, columnsOf, statement } from '../database/statements.ts';
import { ofActiveAccount } from '../work/queue.ts';
import type { JobStatus } from './states.ts';
import type { AnyJobRow } from './store.ts';

export interface JobMove {
  account: AccountRef;
  jobId: string;
  /** The lease that the change requires. If undefined, the change ends any lease. */
  leaseToken: string | undefined;
  failure: string | undefined;
  /** The time from which a worker has more work on the job: now, at the end of the delivery delay, or never. */
  due: 'now' | 'hold' | 'never';
  /**
   * The engine of a requested redraft, see `JobRow`. If it is undefined, the change ends a redraft in
   * progress.
   */
  redraft?: string;
}

// Locks rows in key order, like heartbeats do, so that the two cannot deadlock.
const MOVE = statement<{ event_id: string }>(
  'jobs.move',
  `with given as (
     select * from unnest(:part::smallint[], :account_id::uuid[], :job_id::uuid[], :token::uuid[], :failure::text[],
       :due::text[], :event_id::uuid[], :redraft::text[])
       as g (part, account_id, id, token, failure, due, event_id, redraft)),
   before as (
     select j.part, j.account_id, j.job_id, j.status, g.failure, g.event_id, g.redraft, ${AS_TEXT},
            case g.due when 'hold' then j.hold_until when 'now' then now() end as due_at,
            case when :to_status in ('completed', 'failed', 'canceled') then now()
                 when :to_status in ('accepted', 'rejected') then j.finished_at end as finished_at
       from jobs j join given g
         on j.part = g.part and j.account_id = g.account_id and j.job_id = g.id
      where (g.token is null or j.lease_token = g.token) and j.status = any(:from_statuses)
      order by j.part, j.account_id, j.job_id for update of j),
   moved as (
     update jobs j set status = :to_status, failure = b.failure, lease_token = null, attempts = 0,
            due_at = b.due_at, redraft = b.redraft,
            before_upgrade = case when :to_status = 'translating' then j.before_upgrade end, finished_at = b.finished_at
       from before b
      where j.part = b.part and j.account_id = b.account_id and j.job_id = b.job_id
     returning j.part, j.account_id, j.environment, j.tier, b.status as from_status, j.status, j.source_language,
       j.target_language),
   counted as (
     insert into job_counts (part, account_id, environment, tier, status, source_language, target_language, jobs)
     select m.part, m.account_id, m.environment, m.tier, c.status, m.source_language, m.target_language, sum(c.jobs)
       from moved m, lateral (values (m.from_status, -1), (m.status, 1)) as c (status, jobs)
      group by 1, 2, 3, 4, 5, 6, 7),
   event as (
     insert into job_events (part, account_id, event_id, job_id, from_status, to_status, actor, detail)
     select b.part, b.account_id, b.event_id, b.job_id, b.status, :to_status, :actor, b.failure from before b)
   select event_id from before`,
);

/** Changes the status of jobs and writes their job events. @returns for each job, true if it was changed */
export async function moveJobs(
  transaction: Transaction,
  moves: readonly JobMove[],
  move: { from: readonly JobStatus[]; to: JobStatus; actor: string },
): Promise<boolean[]> {
  const eventIds = moves.map(() => uuidv7());
  const rows = await transaction.query(MOVE, {
    ...columnsOf(moves, {
      part: ({ account }) => account.part,
      account_id: ({ account }) => account.accountId,
      job_id: ({ jobId }) => jobId,
      token: ({ leaseToken }) => leaseToken ?? null,
      failure: ({ failure }) => failure ?? null,
      due: ({ due }) => due,
      redraft: ({ redraft }) => redraft ?? null,
    }),
    event_id: eventIds,
    from_statuses: move.from,
    to_status: move.to,
    actor: move.actor,
  });
  const moved = new Set(rows.map(({ event_id }) => event_id));
  return moves.map(({ account, jobId }, index) => {
    if (!moved.has(eventIds[index]!)) return false;
    transaction.changed('jobs', account, jobId);
    return true;
  });
}

const UPDATE_PRICE = statement(
  'jobs.update_price',
  `update jobs set untranslated = $4, words = $5, discounts = $6, price_cents = $7
    where part = $1 and account_id = $2 and job_id = $3`,
);

/** Stores the untranslated segments of a job, and its price without them. */
export async function updatePrice(
  transaction: Transaction,
  account: AccountRef,
  job: Pick<AnyJobRow, 'job_id' | 'untranslated' | 'words' | 'discounts' | 'price_cents'>,
): Promise<void> {
  await transaction.query(UPDATE_PRICE, [
    account.part,
    account.accountId,
    job.job_id,
    job.untranslated && JSON.stringify(job.untranslated),
    job.words,
    job.discounts && JSON.stringify(job.discounts),
    job.price_cents,
  ]);
  transaction.changed('jobs', account, job.job_id);
}

const UNJUDGED = statement<{ part: number; account_id: string; job_id: string }>(
  'jobs.unjudged',
  `select part, account_id, job_id from jobs
    where status = 'completed' and tier = 'human' and finished_at <= now() - make_interval(hours => $1)
      and ${ofActiveAccount('jobs')}
    order by finished_at limit $2`,
);

/**
 * Finds human jobs that were completed at least `hours` ago and that are neither accepted nor rejected. Jobs of
 * suspended accounts are left out, because their customers cannot reject them.
 */
export async function findJobsToAutoAccept(
  on: Queryable,
  hours: number,
  limit: number,
): Promise<{ account: AccountRef; jobId: string }[]> {
  const rows = await on.query(UNJUDGED, [hours, limit]);
  return rows.map(({ part, account_id: accountId, job_id: jobId }) => ({
    account: { part, accountId } as AccountRef,
    jobId,
  }));
}

/** Records that a job was completed with a machine's draft, because no editor finished it in time. */
export const markFellBack = statement<never, { account: AccountRef; jobId: string }, Transaction>(
  'jobs.mark_fell_back',
  `update jobs set fell_back = true where part = :part and account_id = :account_id and job_id = :jobId`,
).reporting('jobs').run;

// A leased job keeps its `due_at`, the end of its lease. When the job is settled, it becomes due at the
// changed end of its delivery delay. Locks rows in key order, like heartbeats do, so that the two cannot
// deadlock.
const SKIP_JOB_TIME = statement<{ job_id: string }>(
  'jobs.skip_time',
  `with earlier as (
     select job_id, hold_until - make_interval(secs => $3::float8) as hold_until,
            case when lease_token is null then due_at - make_interval(secs => $3::float8) else due_at end as due_at
       from jobs
      where part = $1 and account_id = $2 and environment = 'sandbox' and due_at is not null
      order by job_id for update)
   update jobs j set hold_until = e.hold_until, due_at = e.due_at from earlier e
    where j.part = $1 and j.account_id = $2 and j.job_id = e.job_id
   returning j.job_id`,
);

/** Makes unfinished jobs of a sandbox account due earlier by `seconds`. @returns the number of jobs */
export async function skipJobTime(on: Queryable, account: AccountRef, seconds: number): Promise<number> {
  const skipped = await on.query(SKIP_JOB_TIME, [account.part, account.accountId, seconds]);
  if (skipped.length > 0) on.changed('jobs', account);
  return skipped.length;
}

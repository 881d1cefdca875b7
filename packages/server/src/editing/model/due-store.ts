/** The queue of edited jobs that are past their deadline or whose result must be assembled. */
import type { AccountRef } from '../../base/account.ts';
import type { Queryable, Transaction } from '../../database/database.ts';
import { statement } from '../../database/statements.ts';
import { ofActiveAccount } from '../../work/queue.ts';
import type { Stage } from './edited-jobs-store.ts';

export interface DueJob {
  account: AccountRef;
  jobId: string;
}

/** Returns the jobs of each account, each job once, so that a statement speaks of one account. */
export function jobsByAccount(jobs: readonly DueJob[]): [account: AccountRef, jobIds: string[]][] {
  const groups = Map.groupBy(jobs, ({ account }) => account.accountId);
  return [...groups.values()].map((own) => [own[0]!.account, [...new Set(own.map(({ jobId }) => jobId))]]);
}

/** The number of due jobs that are tried before none is taken. Other processes may be working on them. */
const TRIED = 32;

const DUE_JOBS = statement<{ part: number; account_id: string; job_id: string }>(
  'editing.due_jobs',
  `select part, account_id, job_id from edited_jobs q
    where due_at <= now() and account_id <> all($1::uuid[]) and ${ofActiveAccount('q')}
    order by due_at limit $2`,
);

// Taking a job moves its `due_at` into the future, like a lease: if this process dies, another process takes
// the job at that time.
const TAKE = statement<{ taken: true }>(
  'editing.take_due_job',
  `with due as (
     select job_id from edited_jobs
      where part = $1 and account_id = $2 and job_id = $3 and due_at <= now() for update skip locked)
   update edited_jobs e set due_at = now() + make_interval(secs => $4)
     from due where e.part = $1 and e.account_id = $2 and e.job_id = due.job_id
   returning true as taken`,
);

/** Takes the job that has been due longest. Jobs of the accounts in `except` are left out. */
export async function takeDueJob(
  on: Queryable,
  except: readonly string[],
  leaseSeconds: number,
): Promise<DueJob | undefined> {
  for (const { part, account_id: accountId, job_id: jobId } of await on.query(DUE_JOBS, [except, TRIED])) {
    const taken = await on.query(TAKE, [part, accountId, jobId, leaseSeconds]);
    if (taken.length > 0) return { account: { part, accountId } as AccountRef, jobId };
  }
  return undefined;
}

// Compares the stage, because a transaction that changed the stage in the meantime has also set `due_at`.
/** Makes a job due again after `seconds`, but not before its deadline if its assembly has not started. */
export const makeDueAgain = statement<
  never,
  { account: AccountRef; jobId: string; stage: Stage; seconds: number }
>(
  'editing.due_again',
  `update edited_jobs
      set due_at = greatest(now() + make_interval(secs => :seconds), case when stage <> 'assembling' then deadline_at end)
    where part = :part and account_id = :account_id and job_id = :jobId and stage = :stage and due_at is not null`,
).run;

// Skips locked rows: another transaction is processing them, or makes them due itself.
const DUE_NOW = statement(
  'editing.due_now',
  `update edited_jobs set due_at = now()
    where part = $1 and account_id = $2 and job_id = any(array(
      select job_id from edited_jobs
       where part = $1 and account_id = $2 and job_id = any($3::uuid[]) and stage in ('editing', 'review')
         and deadline_at <= now() and due_at > now()
         for update skip locked))`,
);

/**
 * Makes jobs due now if they are past their deadline, because the reason why their delivery was postponed, such as a
 * claim, may be gone.
 */
export async function makeDueNow(on: Queryable, jobs: readonly DueJob[]): Promise<void> {
  for (const [{ part, accountId }, jobIds] of jobsByAccount(jobs)) {
    await on.query(DUE_NOW, [part, accountId, jobIds]);
  }
}

/** Counts an attempt to assemble the result of a job. @returns the number of attempts at the job's stage */
export const countTry = statement<{ tries: number }, { account: AccountRef; jobId: string }, Transaction>(
  'editing.count_try',
  `update edited_jobs set tries = tries + 1 where part = :part and account_id = :account_id
    and job_id = :jobId returning tries`,
).value;

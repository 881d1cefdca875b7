/** SQL statements about the mails to customers whose jobs are finished. */
import type { AccountRef } from '../../base/account.ts';
import { isLockTimeout, type Queryable } from '../../database/database.ts';
import { statement } from '../../database/statements.ts';
import type { JobRow } from '../store.ts';

/** Requests a mail to a user when a job is finished. No effect if the job is finished or another user gets one. */
export const requestMail = statement<never, { account: AccountRef; jobId: string; userId: string }>(
  'jobs.request_mail',
  `update jobs set mail_to = :userId where part = :part and account_id = :account_id and job_id = :jobId
    and finished_at is null and mail_to is null`,
).run;

/**
 * Lists users who are to get a mail: all their jobs with a requested mail are finished, or one of these jobs was
 * finished an hour ago. The user of the oldest finished job comes first.
 */
export const listUsersToMail = statement<
  { part: number; account_id: string; user_id: string },
  { limit: number }
>(
  'jobs.due_mails',
  `select part, account_id, mail_to as user_id from jobs
    where mail_to is not null
    group by mail_to, part, account_id
   having bool_and(mail_at is null or mail_at <= now())
      and (bool_and(finished_at is not null) or min(finished_at) <= now() - interval '1 hour')
    order by min(finished_at) limit :limit`,
).rows;

/** A finished job, and the user who gets a mail about it. */
export type JobToMail = Pick<
  JobRow,
  'job_id' | 'uid' | 'tier' | 'status' | 'source_language' | 'target_language'
> & {
  /** Null if the user was removed or disabled. */
  email: string | null;
  name: string | null;
};

// `mail_at` is read again under the lock, so that two workers do not send the same mail. If one job is locked, none is
// claimed: a mail without the locked job would say that the others are all. The time between attempts doubles, from ten
// minutes up to a day.
const CLAIM = statement<JobToMail>(
  'jobs.claim_mails',
  `with done as (
     select part, account_id, job_id,
            now() + least(greatest(interval '10 minutes', now() - finished_at), interval '1 day') as mail_at from jobs
      where part = $1 and account_id = $2 and mail_to = $3 and finished_at is not null
        and (mail_at is null or mail_at <= now())
      order by job_id limit $4 for update nowait)
   update jobs j set mail_at = d.mail_at
     from done d left join users u on u.user_id = $3 and u.disabled_at is null
    where j.part = $1 and j.account_id = d.account_id and j.job_id = d.job_id
   returning j.job_id, j.uid, j.tier, j.status, j.source_language, j.target_language, u.email, u.name`,
);

/**
 * Returns the finished jobs of a user whose mail is to be sent now: none if another transaction locks one of them. If
 * their requests are not deleted, they are returned again later.
 */
export async function claimJobsToMail(
  on: Queryable,
  account: AccountRef,
  userId: string,
  limit: number,
): Promise<JobToMail[]> {
  try {
    return await on.query(CLAIM, [account.part, account.accountId, userId, limit]);
  } catch (error) {
    if (isLockTimeout(error)) return [];
    throw error;
  }
}

/** Deletes the requests for a mail about jobs, because it was sent or is not needed. */
export const deleteMailRequests = statement<never, { account: AccountRef; jobIds: readonly string[] }>(
  'jobs.delete_mail_requests',
  `update jobs set mail_to = null, mail_at = null where part = :part and account_id = :account_id
    and job_id = any(:jobIds)`,
).run;

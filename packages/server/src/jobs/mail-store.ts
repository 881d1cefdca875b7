/** SQL statements about the mails to customers whose jobs are finished. */
import type { AccountRef } from '../base/account.ts';
import type { Queryable } from '../database/database.ts';
import { statement } from '../database/statements.ts';
import type { JobRow } from './store.ts';

const REQUEST = statement(
  'jobs.request_mail',
  `update jobs set mail_to = $4 where part = $1 and account_id = $2 and job_id = $3 and finished_at is null and mail_to is null`,
);

/** Requests a mail to a user when a job is finished. No effect if the job is finished or another user gets one. */
export async function requestMail(
  on: Queryable,
  account: AccountRef,
  jobId: string,
  userId: string,
): Promise<void> {
  await on.query(REQUEST, [account.part, account.accountId, jobId, userId]);
}

/** A finished job, and the user who gets a mail about it. */
export type JobToMail = Pick<
  JobRow,
  'job_id' | 'uid' | 'environment' | 'tier' | 'status' | 'source_language' | 'target_language'
> & {
  part: number;
  account_id: string;
  /** Null if the user was removed or disabled. */
  email: string | null;
  name: string | null;
};

// The users of the oldest finished job come first. Rows that another worker has claimed are skipped.
const CLAIM = statement<JobToMail>(
  'jobs.claim_mails',
  `with done as (
     select part, account_id, job_id, mail_to from jobs
      where finished_at is not null and mail_to = (
        select mail_to from jobs where mail_to is not null and finished_at is not null order by finished_at limit 1)
      order by part, account_id, job_id limit $1 for update skip locked)
   update jobs j set mail_to = null
     from done d left join users u on u.user_id = d.mail_to and u.disabled_at is null
    where j.part = d.part and j.account_id = d.account_id and j.job_id = d.job_id
   returning j.part, j.account_id, j.job_id, j.uid, j.environment, j.tier, j.status, j.source_language,
     j.target_language, u.email, u.name`,
);

/** Returns finished jobs of one user and clears their requests for a mail; none if no mail is to be sent. */
export function claimJobsToMail(on: Queryable, limit: number): Promise<JobToMail[]> {
  return on.query(CLAIM, [limit]);
}

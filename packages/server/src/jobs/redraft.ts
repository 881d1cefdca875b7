/**
 * Drafting anew what a machine has drafted before, for an operator who is not content with it: docs/decisions/0014-drafting-anew.md.
 *
 *   asked for   the job is due at once, and says by which engine; its status and its tasks are as they were
 *   drafted     what nobody has touched has another draft; what could not be translated keeps the one that it had
 *
 * A worker has the job like any other: with a lease, tries, and a wait for an engine in trouble. Whatever moves the job
 * on meanwhile (its editors hand it in, its customer takes it back) ends it.
 */
import type { AccountRef } from '../account.ts';
import type { Database } from '../database/database.ts';
import { fieldError, notFound } from '../errors.ts';
import { type Actor as Auditor, recordAudit } from '../operations/audit.ts';
import { type JobFollower, moveAll } from './jobs.ts';
import { allows } from './states.ts';
import * as store from './store.ts';

/**
 * @param engine undefined: the route of now
 * @throws ApiError `not_found`; `invalid_request` where no editor's part is left untouched, or it is under way already
 */
export async function redraftJob(
  database: Database,
  follower: Pick<JobFollower, 'untouched'>,
  by: Auditor,
  account: AccountRef,
  jobId: string,
  engine: string | undefined,
): Promise<void> {
  await database.transaction(async (transaction) => {
    const job = await store.lockWork(transaction, account, jobId);
    if (job === undefined) throw notFound();
    const refusal = refusalOf(job) ?? (await refusalOfTasks());
    if (refusal !== undefined) throw fieldError('status', refusal);
    const move = {
      ...{ account, jobId, leaseToken: undefined, failure: undefined },
      ...{ due: 'now' as const, redraft: engine ?? '' },
    };
    const [moved] = await moveAll(transaction, [move], 'redraft', 'operator');
    if (!moved) throw new Error('a locked job was moved by another');
    await recordAudit(transaction, by, {
      ...{ action: 'job.redrafted', account, subject: job.uid },
      detail: { order_number: job.order_number, engine: engine ?? null },
    });

    async function refusalOfTasks(): Promise<string | undefined> {
      const untouched = await follower.untouched(transaction, account, jobId);
      return untouched > 0 ? undefined : NOTHING_LEFT;
    }
  });
}

const NOTHING_LEFT =
  'Its editors have every part, or have touched every segment of those that wait: nothing is left to draft anew.';

/** Why a job is not drafted anew, by what it is; undefined: its tasks decide. Pure. */
export function refusalOf(
  job: Pick<store.WorkRow, 'status' | 'tier' | 'environment' | 'redraft'>,
): string | undefined {
  if (job.status === 'failed') {
    return 'The job has failed: its customer was told and has the price back. It has to be created anew.';
  }
  if (!allows('redraft', job.status))
    return `The job is ${job.status}: only what waits for editors is drafted anew.`;
  if (job.tier !== 'human' || job.environment !== 'production') return 'No editor works on this job.';
  return job.redraft === null ? undefined : 'The job is being drafted anew already.';
}

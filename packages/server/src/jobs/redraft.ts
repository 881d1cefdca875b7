/**
 * Replaces the machine's drafts of a job at an operator's request: docs/decisions/0014-redrafting.md.
 *
 *   requested   the job is due at once, with the engine to use; its status and its tasks do not change
 *   drafted     untouched segments have new drafts; segments that could not be translated keep the old drafts
 *
 * A worker treats the job like any other: with a lease, attempts, and retries while an engine is unavailable.
 * Any other status change of the job ends the redraft, such as a submit by its editors or a cancel.
 */

import { type Actor, recordAudit } from '../audit/audit.ts';
import type { AccountRef } from '../base/account.ts';
import { fieldError, notFound } from '../base/errors.ts';
import type { Database } from '../database/database.ts';
import { type JobHooks, moveAll } from './jobs.ts';
import { allowsJobMove } from './states.ts';
import * as store from './store.ts';

/**
 * Requests new drafts for the untouched segments of a job.
 * @param engine undefined for the current engine route
 * @throws ApiError `not_found`; `invalid_request` if no segment is untouched or a redraft is in progress
 */
export async function redraftJob(
  database: Database,
  hooks: Pick<JobHooks, 'countUntouched'>,
  by: Actor,
  account: AccountRef,
  jobId: string,
  engine: string | undefined,
): Promise<void> {
  await database.transaction(async (transaction) => {
    const job = await store.lockJob(transaction, { account, jobId });
    if (job === undefined) throw notFound();
    const refusal = refusalOf(job) ?? (await refusalOfTasks());
    if (refusal !== undefined) throw fieldError('status', refusal);
    const move = {
      account,
      jobId,
      leaseToken: undefined,
      failure: undefined,
      due: 'now' as const,
      redraft: engine ?? '',
    };
    const [moved] = await moveAll(transaction, [move], 'redraft', 'operator');
    if (!moved) throw new Error('a locked job was moved by another');
    await recordAudit(transaction, by, {
      action: 'job.redrafted',
      account,
      subject: job.uid,
      detail: { order_number: job.order_number, engine: engine ?? null },
    });

    async function refusalOfTasks(): Promise<string | undefined> {
      const untouched = await hooks.countUntouched(transaction, account, jobId);
      return untouched > 0 ? undefined : NOTHING_LEFT;
    }
  });
}

const NOTHING_LEFT = 'No segment is left to redraft: editors have claimed or touched all of them.';

/**
 * Returns why a job cannot be redrafted, as far as its row shows; undefined if nothing in the row prevents
 * it. The tasks of the job, which may all be claimed, are not checked here.
 */
export function refusalOf(
  job: Pick<store.AnyJobRow, 'status' | 'tier' | 'environment' | 'redraft'>,
): string | undefined {
  if (job.status === 'failed') {
    return 'The job has failed and its price was released. Create it again.';
  }
  if (!allowsJobMove('redraft', job.status))
    return `The job is ${job.status}; only jobs that wait for editors can be redrafted.`;
  if (job.tier !== 'human' || job.environment !== 'production') return 'No editor works on this job.';
  return job.redraft === null ? undefined : 'A redraft is in progress already.';
}

/**
 * Acceptance of completed jobs by customers:
 *
 *   accepted   final; the translation memory prefers its translations
 *   rejected   editors edit it again with the reason, free of charge; the memory does not use its translations.
 *              Then it completes and is delivered again. An operator may refund it instead.
 *
 * A machine job cannot be rejected, because no editor worked on it and the customer paid for none. It can be
 * upgraded.
 */
import type { AccountRef, Caller } from '../base/account.ts';
import { fieldError, notFound, reason } from '../base/errors.ts';
import type { Database, Queryable, Transaction } from '../database/database.ts';
import { rateLessons } from '../memory/memory.ts';
import { completeEdited, moveAll } from './jobs.ts';
import { findJobsToAutoAccept, type JobMove } from './move-store.ts';
import type { JobStatus } from './states.ts';
import * as store from './store.ts';
import { readTexts } from './text-store.ts';

type CallerScope = Pick<Caller, 'account' | 'environment'>;

export interface Rejection {
  reason: string;
  /** The id of the user; undefined when an API key rejects the job. */
  userId: string | undefined;
}

/** Reopens a delivered job for its editors. @returns false if no editor has worked on it */
export type Reopen = (
  transaction: Transaction,
  account: AccountRef,
  jobId: string,
  by: Rejection,
) => Promise<boolean>;

/**
 * Accepts a completed job. Accepting it again changes nothing.
 * @param tier a job of another tier is not found
 * @throws ApiError `not_found` if the job is unknown or of another account; `invalid_request` if it is not
 * completed
 */
export async function acceptJob(
  database: Database,
  who: CallerScope,
  uid: string,
  tier?: store.JobTier,
): Promise<void> {
  await database.transaction(async (transaction) => {
    const { job_id: jobId } = await find(transaction, who, uid, tier);
    if (await accept(transaction, who.account, jobId, 'customer')) return;
    const { status } = await find(transaction, who, uid, tier);
    if (status !== 'accepted') {
      throw fieldError('status', reason('job_not_to_accept', { status }));
    }
  });
}

async function accept(
  transaction: Transaction,
  account: AccountRef,
  jobId: string,
  actor: 'customer' | 'machine',
): Promise<boolean> {
  const [moved] = await moveAll(transaction, [moveOf(account, jobId)], 'accept', actor);
  if (moved) await rateLessons(transaction, account, jobId, 'accepted');
  return moved!;
}

/**
 * Rejects a completed job, so that editors edit it again.
 * @throws ApiError `not_found` like `acceptJob`; `invalid_request` if the job is not completed or no editor
 * worked on it
 */
export async function rejectJob(
  database: Database,
  reopen: Reopen,
  who: CallerScope,
  uid: string,
  by: Rejection,
  tier?: store.JobTier,
): Promise<void> {
  const { account } = who;
  await database.transaction(async (transaction) => {
    const job = await find(transaction, who, uid, tier);
    const jobId = job.job_id;
    if (job.tier === 'machine') throw fieldError('status', reason('job_of_machine'));
    if (job.fell_back) throw fieldError('status', reason('job_fell_back'));
    const move = { ...moveOf(account, jobId), failure: by.reason };
    const [moved] = await moveAll(transaction, [move], 'reject', 'customer');
    if (!moved) {
      const { status } = await find(transaction, who, uid, tier);
      throw fieldError('status', reason('job_not_to_reject', { status }));
    }
    const { source, result } = await readTexts(transaction, account, jobId, ['source', 'result']);
    // Retention may have deleted the source text. Editing without it would give an empty result.
    if (source === undefined) throw fieldError('status', reason('job_forgotten'));
    await rateLessons(transaction, account, jobId, 'rejected');
    if (who.environment === 'sandbox') {
      // The sandbox has no editors, so the job completes at once. The customer's program still sees all
      // statuses.
      const again = { result: result ?? '', untranslated: job.untranslated ?? undefined };
      await completeEdited(transaction, account, jobId, again, 'revise', 'machine');
    } else if (!(await reopen(transaction, account, jobId, by)))
      throw fieldError('status', reason('job_without_editor'));
  });
}

/** Returns the status of a job. @throws ApiError `not_found` */
export async function readJobStatus(on: Queryable, who: CallerScope, uid: string): Promise<JobStatus> {
  return (await find(on, who, uid, undefined)).status;
}

async function find(
  on: Queryable,
  { account, environment }: CallerScope,
  uid: string,
  tier: store.JobTier | undefined,
): Promise<store.JobRow> {
  const job = await store.findJob(on, { account, environment, uid });
  if (job === undefined || (tier !== undefined && job.tier !== tier)) throw notFound();
  return job;
}

function moveOf(account: AccountRef, jobId: string): JobMove {
  return { account, jobId, leaseToken: undefined, failure: undefined, due: 'never' };
}

const ACCEPT_BATCH = 200;

/**
 * Accepts human jobs that were completed at least `hours` ago and that the customer has neither accepted nor
 * rejected. 0 hours turns this off.
 */
export async function autoAcceptJobs(database: Database, hours: number, ended = () => false): Promise<void> {
  if (hours === 0) return;
  for (;;) {
    const jobs = await findJobsToAutoAccept(database, hours, ACCEPT_BATCH);
    for (const { account, jobId } of jobs) {
      if (ended()) return;
      await database.transaction((transaction) => accept(transaction, account, jobId, 'machine'));
    }
    if (jobs.length < ACCEPT_BATCH) return;
  }
}

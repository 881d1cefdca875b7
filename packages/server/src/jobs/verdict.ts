/**
 * What a customer says of a completed job, which is the last word on it or opens it again:
 *
 *   accepted   nothing more happens to it; what it taught the memory weighs most
 *   rejected   its editors have it again, with the reason, at no price; what it taught the memory is not used. Once it is
 *              done, it completes and is delivered again. An operator may give the price back instead.
 *
 * What a machine alone has done cannot be rejected: no editor has had it, and none was paid for. It can be upgraded.
 */
import type { AccountRef, Caller } from '../account.ts';
import type { Database, Queryable, Transaction } from '../database/database.ts';
import { fieldError, notFound, reason } from '../errors.ts';
import { judge } from '../memory/memory.ts';
import { findUnusable } from '../text.ts';
import { completeEdited, moveAll } from './jobs.ts';
import type { Status } from './states.ts';
import * as store from './store.ts';

type Who = Pick<Caller, 'account' | 'environment'>;

/** Who rejects, and why. */
export interface Rejection {
  reason: string;
  /** The person; undefined for a customer's program. */
  userId: string | undefined;
}

/** Opens a delivered job again for its editors. @returns false where no editor has had it */
export type Reopen = (
  transaction: Transaction,
  account: AccountRef,
  jobId: string,
  by: Rejection,
) => Promise<boolean>;

/**
 * Accepting again changes nothing.
 * @param tier a job of another is not found
 * @throws ApiError `not_found` for an unknown uid and for another account's, alike; `invalid_request` for a job that is
 * not completed
 */
export async function acceptJob(database: Database, who: Who, uid: string, tier?: store.Tier): Promise<void> {
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
  if (moved) await judge(transaction, account, jobId, 'accepted');
  return moved!;
}

/**
 * @throws ApiError `not_found` as above; `invalid_request` for a job that is not completed, or that no editor has had
 */
export async function rejectJob(
  database: Database,
  reopen: Reopen,
  who: Who,
  uid: string,
  by: Rejection,
  tier?: store.Tier,
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
    const { source, result } = await store.readTexts(transaction, account, jobId, ['source', 'result']);
    // Editing nothing again would put nothing in the place of what was delivered.
    if (source === undefined) throw fieldError('status', reason('job_forgotten'));
    await judge(transaction, account, jobId, 'rejected');
    if (who.environment === 'sandbox') {
      // There is nobody to edit it: a program is shown the whole way all the same.
      await completeEdited(transaction, account, jobId, result ?? '', 'revise', 'machine');
    } else if (!(await reopen(transaction, account, jobId, by)))
      throw fieldError('status', reason('job_without_editor'));
  });
}

/** @throws ApiError `not_found` */
export async function statusOf(on: Queryable, who: Who, uid: string): Promise<Status> {
  return (await find(on, who, uid, undefined)).status;
}

async function find(
  on: Queryable,
  { account, environment }: Who,
  uid: string,
  tier: store.Tier | undefined,
): Promise<store.JobRow> {
  const job = await store.findJob(on, account, environment, uid);
  if (job === undefined || (tier !== undefined && job.tier !== tier)) throw notFound();
  return job;
}

function moveOf(account: AccountRef, jobId: string): store.JobMove {
  return { account, jobId, leaseToken: undefined, failure: undefined, due: 'never' };
}

/** Longer reasons are instructions for another job. */
const MAX_REASON = 2_000;

/** @throws ApiError `invalid_request` */
export function readReason(body: unknown): string {
  const given = typeof body === 'object' && body !== null ? (body as { reason?: unknown }).reason : undefined;
  if (given === undefined || given === null) throw fieldError('reason', reason('required'));
  if (typeof given !== 'string') throw fieldError('reason', reason('text'));
  if (given.trim() === '') throw fieldError('reason', reason('not_empty'));
  const unusable = findUnusable(given);
  if (unusable !== undefined) throw fieldError('reason', unusable);
  if (given.length > MAX_REASON) {
    throw fieldError('reason', reason('text_at_most', { most: MAX_REASON }));
  }
  return given.trim();
}

const ACCEPTED_AT_ONCE = 200;

/** Takes for accepted what was delivered so many hours ago and nobody has said anything of; 0 is never. */
export async function acceptUnjudged(database: Database, hours: number, ended = () => false): Promise<void> {
  if (hours === 0) return;
  for (;;) {
    const jobs = await store.findUnjudged(database, hours, ACCEPTED_AT_ONCE);
    for (const { account, jobId } of jobs) {
      if (ended()) return;
      await database.transaction((transaction) => accept(transaction, account, jobId, 'machine'));
    }
    if (jobs.length < ACCEPTED_AT_ONCE) return;
  }
}

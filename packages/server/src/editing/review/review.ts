/**
 * The stages of an edited job. After all tasks are submitted, either another editor reviews the job, or it is
 * delivered.
 *
 *   editing     after the last submit: `review` if the review share of an editor, a mark `unsure` or an earlier
 *               review requires one, otherwise `assembling`
 *   review      approved: `assembling`. Returned: `editing`; tasks with marked errors go back to their editors
 *   assembling  the result is assembled from the targets and delivered (`finish.ts`)
 */
import { createHash } from 'node:crypto';
import type { AccountRef } from '../../base/account.ts';
import { ApiError, fieldError, notFound } from '../../base/errors.ts';
import type { Transaction } from '../../database/database.ts';
import { findTask } from '../model/access-store.ts';
import type { EditingContext, EditingUser } from '../model/context.ts';
import { makeDueNow } from '../model/due-store.ts';
import * as editedJobs from '../model/edited-jobs-store.ts';
import * as edits from '../model/edits-store.ts';
import type { ClaimEnd, TaskStatus } from '../model/states.ts';
import type { IssueBody } from '../schemas/schemas.ts';
import { lostClaim } from '../tasks/claims.ts';
import * as claims from '../tasks/claims-store.ts';
import * as store from '../tasks/store.ts';
import { readTone, takeBack } from '../votes/lessons.ts';
import { readSources } from '../votes/readings-store.ts';
import { approveVotes } from '../votes/votes-store.ts';
import * as issues from './issues-store.ts';
import { recordLooks } from './looks-store.ts';
import { indexReadings } from './open.ts';
import { closeQueries } from './query-store.ts';
import { hasUnsure, writeUnsure } from './unsure-store.ts';

/**
 * Returns true if the work of this editor on this job must be reviewed. The answer is derived from a hash of
 * job and editor, so it is always the same.
 * @param share the percentage of the editor's jobs to review
 */
export function isReviewed(jobId: string, userId: string, share: number): boolean {
  const hash = createHash('sha256').update(`${jobId} ${userId}`).digest();
  return (hash.readUInt32BE(0) / 2 ** 32) * 100 < share;
}

/**
 * Runs `work` in a transaction with a valid claim and the edited job locked. @throws ApiError see `lostClaim`
 */
export async function withClaim<T>(
  context: EditingContext,
  user: EditingUser,
  key: store.TaskKey,
  token: string,
  work: (transaction: Transaction, held: claims.HeldRow) => Promise<T>,
): Promise<T> {
  const holder = { userId: user.userId, token };
  const done = await context.database.transaction(async (transaction) => {
    await editedJobs.lockEditedJob(transaction, key.account, key.jobId);
    await store.lockTasks(transaction, { account: key.account, jobId: key.jobId, tasks: [key.taskId] });
    const held = await claims.keepClaim(transaction, key, holder, context.rules.leaseSeconds);
    return held === undefined ? undefined : { value: await work(transaction, held) };
  });
  if (done === undefined) throw await lostClaim(context, key, { ...user, token });
  return done.value;
}

/**
 * Submits an editing task. Repeating the submit with the same token succeeds, because the first response may
 * have been lost.
 * @throws ApiError `unconfirmed`, `stale_lease`, `job_canceled`, `not_found`
 */
export function submit(
  context: EditingContext,
  user: EditingUser,
  key: store.TaskKey,
  token: string,
): Promise<TaskStatus> {
  return submitTask(context, user, key, token, 'edit');
}

/** Approves a job for delivery. @throws ApiError like `submit` */
export function approve(
  context: EditingContext,
  user: EditingUser,
  key: store.TaskKey,
  token: string,
): Promise<TaskStatus> {
  return submitTask(context, user, key, token, 'review');
}

/**
 * Runs `work` like `withClaim`. @param end how `work` ends the claim
 * @returns undefined if an earlier request has done it, whose response was lost. The requests may run at the same moment.
 */
async function endClaim<T>(
  context: EditingContext,
  user: EditingUser,
  key: store.TaskKey,
  token: string,
  end: ClaimEnd,
  work: (transaction: Transaction, held: claims.HeldRow) => Promise<T>,
): Promise<T | undefined> {
  try {
    return await withClaim(context, user, key, token, work);
  } catch (error) {
    const ended = await claims.findPastClaim(context.database, { ...key, userId: user.userId, token });
    if (ended === end) return undefined;
    throw error;
  }
}

async function submitTask(
  context: EditingContext,
  user: EditingUser,
  key: store.TaskKey,
  token: string,
  kind: 'edit' | 'review',
): Promise<TaskStatus> {
  const { account, jobId, taskId } = key;
  const stage = await endClaim(context, user, key, token, 'submitted', async (transaction, held) => {
    if (held.kind !== kind) throw notFound();
    const task = (await findTask(transaction, { ...key, userId: user.userId }))!;
    const { first_position, last_position } = task;
    const positions = await edits.listUnconfirmed(transaction, {
      account,
      jobId,
      first: first_position,
      last: last_position,
    });
    if (positions.length > 0) {
      throw new ApiError('unconfirmed', 'Some segments are not confirmed.', {}, { positions });
    }
    const move = {
      account,
      jobId,
      tasks: [taskId],
      trigger: 'submit',
      actor: 'editor',
      ends: 'submitted',
    } as const;
    await store.moveTasks(transaction, move);
    if (kind === 'edit') return afterSubmit(context, transaction, account, jobId);
    await approveVotes(transaction, { account, jobId });
    await editedJobs.setStage(transaction, account, jobId, ['review'], 'assembling');
    return 'assembling';
  });
  if (stage === undefined) return 'submitted';
  context.observer.ended('submitted');
  if (kind === 'review') context.wakePropagation();
  if (stage === 'assembling') context.wake();
  else await makeDueNow(context.database, [key]);
  return 'submitted';
}

/** Starts a review or the assembly after the last task was submitted. @returns the new stage of the job */
async function afterSubmit(
  context: EditingContext,
  transaction: Transaction,
  account: AccountRef,
  jobId: string,
): Promise<editedJobs.Stage> {
  const tasks = await store.listJobTasks(transaction, { account, jobId });
  if (tasks.some(({ kind, status }) => kind === 'edit' && status !== 'submitted')) return 'editing';
  const reviewer = await store.findLastReviewer(transaction, { account, jobId });
  const shares = await store.readReviewShares(transaction, { account, jobId });
  const wanted =
    reviewer !== undefined ||
    (await hasUnsure(transaction, { account, jobId })) ||
    shares.some(({ user_id, review_share }) => isReviewed(jobId, user_id, review_share));
  // Skips the review if no other editor may do it.
  if (!wanted || (await store.countReviewers(transaction, { account, jobId })) === 0) {
    await editedJobs.setStage(transaction, account, jobId, ['editing'], 'assembling');
    return 'assembling';
  }
  await store.insertTasks(transaction, account, jobId, [
    {
      kind: 'review',
      first: Math.min(...tasks.map(({ first_position }) => first_position)),
      last: Math.max(...tasks.map(({ last_position }) => last_position)),
      words: tasks.reduce((sum, { words }) => sum + words, 0),
      ...(reviewer === undefined
        ? {}
        : { reservedFor: reviewer, reservedHours: context.rules.reservedHours }),
    },
  ]);
  await editedJobs.setStage(transaction, account, jobId, ['editing'], 'review');
  return 'review';
}

/**
 * Returns a job to its editors: only the tasks with marked errors, or all tasks if the reviewer wrote a note
 * and marked no error. Marked segments must be confirmed again, and the deadline is extended for this work.
 * The votes of the marked segments are withdrawn.
 * @throws ApiError `invalid_request` without a marked error and without a note
 */
export async function returnJob(
  context: EditingContext,
  user: EditingUser,
  key: store.TaskKey,
  token: string,
  note: string | undefined,
): Promise<TaskStatus> {
  const { account, jobId, taskId } = key;
  const isReturned = await endClaim(context, user, key, token, 'returned', async (transaction, held) => {
    if (held.kind !== 'review') throw notFound();
    const marked = await issues.listMarked(transaction, { account, taskId });
    if (marked.length === 0 && note === undefined) {
      throw fieldError('note', 'is required if no error is marked.');
    }
    if (note !== undefined) {
      const comment = { position: undefined, userId: user.userId, body: note };
      await issues.insertComment(transaction, account, jobId, comment);
    }
    const tasks = (await store.listJobTasks(transaction, { account, jobId })).filter(
      ({ kind }) => kind === 'edit',
    );
    const back = tasks.filter(
      ({ first_position, last_position }) =>
        marked.length === 0 ||
        marked.some((position) => position >= first_position && position <= last_position),
    );
    await edits.unconfirm(transaction, { account, jobId, positions: marked });
    // Unmarked segments stay confirmed. Their votes count until an editor changes the segments.
    const ranges = marked.map((position) => ({ first: position, last: position }));
    await takeBack(transaction, account, jobId, ranges);
    await editedJobs.extendDeadline(transaction, {
      account,
      jobId,
      hours: Math.max(1, context.rules.reservedHours),
    });
    await store.moveTasks(transaction, {
      account,
      jobId,
      tasks: back.map(({ task_id }) => task_id),
      trigger: 'reopen',
      actor: 'reviewer',
      ends: 'returned',
      reservedHours: context.rules.reservedHours,
      returned: true,
    });
    await store.moveTasks(transaction, {
      account,
      jobId,
      tasks: [taskId],
      trigger: 'withdraw',
      actor: 'reviewer',
      ends: 'returned',
    });
    return editedJobs.setStage(transaction, account, jobId, ['review'], 'editing');
  });
  if (isReturned === undefined) return 'canceled';
  context.observer.ended('returned');
  context.wakePropagation();
  return 'canceled';
}

export function markIssue(
  context: EditingContext,
  user: EditingUser,
  key: store.TaskKey,
  token: string,
  issue: issues.NewIssue,
): Promise<IssueBody> {
  return withClaim(context, user, key, token, async (transaction, held) => {
    if (held.kind !== 'review') throw notFound();
    const { account, jobId, taskId } = key;
    const [row] = await edits.readSegments(transaction, account, jobId, issue.position, issue.position);
    if (row === undefined) throw fieldError('position', 'must be a segment of the job.');
    const where = { jobId, taskId, reviewerId: user.userId };
    return issues.insertIssue(transaction, account, where, issue);
  });
}

export function unmarkIssue(
  context: EditingContext,
  user: EditingUser,
  key: store.TaskKey,
  token: string,
  issueId: string,
): Promise<void> {
  return withClaim(context, user, key, token, async (transaction) => {
    if (!(await issues.deleteIssue(transaction, key.account, key.taskId, issueId))) throw notFound();
  });
}

/**
 * Records that the reviewer has seen segments. @returns the positions whose revision is the current one
 * @throws ApiError like `submit`
 */
export function markSeen(
  context: EditingContext,
  user: EditingUser,
  key: store.TaskKey,
  token: string,
  segments: readonly { position: number; revision: number }[],
): Promise<number[]> {
  return withClaim(context, user, key, token, async (transaction, held) => {
    if (held.kind !== 'review') throw notFound();
    return recordLooks(transaction, key.account, key.jobId, user.userId, segments);
  });
}

/**
 * Marks a segment of a claimed task as unsure, or removes the mark.
 * @throws ApiError like `submit`; `not_found` if the segment is not part of the task
 */
export function markUnsure(
  context: EditingContext,
  user: EditingUser,
  key: store.TaskKey,
  token: string,
  { position, unsure }: { position: number; unsure: boolean },
): Promise<{ position: number; unsure: boolean }> {
  return withClaim(context, user, key, token, async (transaction) => {
    await requireInTask(transaction, user, key, position);
    await writeUnsure(transaction, key.account, key.jobId, { position, userId: user.userId, unsure });
    return { position, unsure };
  });
}

/** Finds a segment of a task. @throws ApiError `not_found` if the task has no segment at this position */
export async function requireInTask(
  transaction: Transaction,
  user: EditingUser,
  key: store.TaskKey,
  position: number,
): Promise<void> {
  const { account, jobId } = key;
  const task = (await findTask(transaction, { ...key, userId: user.userId }))!;
  const [row] = await edits.readSegments(transaction, account, jobId, position, position);
  if (row === undefined || position < task.first_position || position > task.last_position) throw notFound();
}

/**
 * Cancels the tasks of a job in the transaction that cancels the job. Its votes are withdrawn, because the customer has not
 * paid for their texts.
 */
export async function cancelEditing(
  transaction: Transaction,
  account: AccountRef,
  jobId: string,
  ends: ClaimEnd = 'canceled',
): Promise<void> {
  if ((await editedJobs.lockEditedJob(transaction, account, jobId)) === undefined) return;
  await store.moveTasks(transaction, { account, jobId, trigger: 'cancel', actor: 'customer', ends });
  await takeBack(transaction, account, jobId, [{ first: 0, last: edits.MAX_POSITION }]);
  await closeQueries(transaction, account, jobId);
  await editedJobs.setStage(transaction, account, jobId, ['editing', 'review', 'assembling'], 'canceled');
}

/**
 * Reopens a delivered job in the transaction that rejects it. Each task is reserved for some hours for its
 * last editor. The votes of the job are withdrawn; texts that are confirmed from now on vote again.
 * @returns false if editing of the job was never finished
 */
export async function reopenEditing(
  context: Pick<EditingContext, 'rules'>,
  transaction: Transaction,
  account: AccountRef,
  jobId: string,
  { reason, userId }: { reason: string | undefined; userId: string | undefined },
): Promise<boolean> {
  const { rules } = context;
  if ((await editedJobs.lockEditedJob(transaction, account, jobId)) === undefined) return false;
  const tasks = await store.listJobTasks(transaction, { account, jobId });
  if (!tasks.some(({ kind, status }) => kind === 'edit' && status === 'done')) return false;
  const revision = await editedJobs.reopenEditedJob(transaction, {
    account,
    jobId,
    deadlineHours: rules.deadlineHours,
  });
  if (revision === undefined) return false;
  await takeBack(transaction, account, jobId, [{ first: 0, last: edits.MAX_POSITION }]);
  // The delivery deleted the readings. Without them, the corrected texts would be no votes.
  const { job, segments } = await readSources(transaction, account, jobId);
  const taskJob = await editedJobs.readTaskJob(transaction, account, jobId);
  const tone = await readTone(transaction, account, taskJob);
  await indexReadings(transaction, account, job, tone, segments);
  const common = { account, jobId, actor: 'customer', ends: 'returned' } as const;
  await store.moveTasks(transaction, {
    ...common,
    kinds: ['edit'],
    trigger: 'reopen',
    reservedHours: rules.reservedHours,
    returned: true,
  });
  await store.moveTasks(transaction, { ...common, kinds: ['review'], trigger: 'withdraw' });
  if (reason !== undefined && reason.trim() !== '') {
    await issues.insertComment(transaction, account, jobId, {
      position: undefined,
      userId,
      body: reason.slice(0, 2000),
    });
  }
  return true;
}

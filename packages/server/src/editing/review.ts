/**
 * What becomes of a job when its parts are handed in: a review by somebody else, or its delivery.
 *
 *   editing     the last part is handed in: reviewed by its editors' shares, else put together
 *   review      approved: put together; sent back: editing again, the parts with errors marked to their editors
 *   assembling  the result is made of the targets and delivered (`finish.ts`)
 */
import { createHash } from 'node:crypto';
import type { AccountRef } from '../account.ts';
import type { Transaction } from '../database/database.ts';
import { ApiError, fieldError, notFound } from '../errors.ts';
import { findTask } from './access-store.ts';
import { lostClaim } from './claims.ts';
import * as claims from './claims-store.ts';
import * as edits from './edits-store.ts';
import type { Asker, EditingRoom } from './room.ts';
import type { IssueBody } from './schemas.ts';
import type { ClaimEnd, TaskStatus } from './states.ts';
import * as store from './store.ts';
import { presentIssue } from './view.ts';

/** Whether this editor's work on this job is reviewed: the same answer however often one asks. Pure. */
export function isReviewed(jobId: string, userId: string, share: number): boolean {
  const hash = createHash('sha256').update(`${jobId} ${userId}`).digest();
  return (hash.readUInt32BE(0) / 2 ** 32) * 100 < share;
}

/** Work under a claim that holds, with the job to itself. @throws ApiError as `keepClaim` says */
async function withHeld<T>(
  room: EditingRoom,
  asker: Asker,
  key: store.TaskKey,
  token: string,
  work: (transaction: Transaction, held: claims.HeldRow) => Promise<T>,
): Promise<T> {
  const holder = { userId: asker.userId, token };
  const done = await room.database.transaction(async (transaction) => {
    await store.lockEditedJob(transaction, key.account, key.jobId);
    await store.lockTasks(transaction, key.account, key.jobId, [key.taskId]);
    const held = await claims.keepClaim(transaction, key, holder, room.rules.leaseSeconds);
    return held === undefined ? undefined : { value: await work(transaction, held) };
  });
  if (done === undefined) throw await lostClaim(room, key, { ...asker, token });
  return done.value;
}

/**
 * Hands a part in. One that was handed in by the same claim before is found to be so: the answer may have been lost.
 * @throws ApiError `unconfirmed`, `stale_lease`, `job_canceled`, `not_found`
 */
export function submit(
  room: EditingRoom,
  asker: Asker,
  key: store.TaskKey,
  token: string,
): Promise<TaskStatus> {
  return handIn(room, asker, key, token, 'edit');
}

/** A reviewer's word that the job can go. */
export function approve(
  room: EditingRoom,
  asker: Asker,
  key: store.TaskKey,
  token: string,
): Promise<TaskStatus> {
  return handIn(room, asker, key, token, 'review');
}

async function handIn(
  room: EditingRoom,
  asker: Asker,
  key: store.TaskKey,
  token: string,
  kind: 'edit' | 'review',
): Promise<TaskStatus> {
  const { account, jobId, taskId } = key;
  const before = await claims.findPastClaim(room.database, key, { userId: asker.userId, token });
  if (before === 'submitted') return 'submitted';
  const stage = await withHeld(room, asker, key, token, async (transaction, held) => {
    if (held.kind !== kind) throw notFound();
    const task = (await findTask(transaction, key, asker.userId))!;
    const { first_position, last_position } = task;
    const positions = await edits.listUnconfirmed(transaction, account, jobId, first_position, last_position);
    if (positions.length > 0) {
      const sentence = 'Some segments are not confirmed.';
      throw new ApiError('unconfirmed', sentence, {}, { positions });
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
    if (kind === 'edit') return handedIn(room, transaction, account, jobId);
    await store.setStage(transaction, account, jobId, ['review'], 'assembling');
    return 'assembling';
  });
  room.observer.ended('submitted');
  if (stage === 'assembling') room.wake();
  else await store.lookNow(room.database, [key]);
  return 'submitted';
}

/** What follows when a part was handed in. @returns the stage of its job */
async function handedIn(
  room: EditingRoom,
  transaction: Transaction,
  account: AccountRef,
  jobId: string,
): Promise<store.Stage> {
  const tasks = await store.listJobTasks(transaction, account, jobId);
  if (tasks.some(({ kind, status }) => kind === 'edit' && status !== 'submitted')) return 'editing';
  const reviewer = await store.findLastReviewer(transaction, account, jobId);
  const shares = await store.readReviewShares(transaction, account, jobId);
  const wanted =
    reviewer !== undefined ||
    shares.some(({ user_id, review_share }) => isReviewed(jobId, user_id, review_share));
  // Where nobody else reads the languages, waiting for a review would be waiting for ever.
  if (!wanted || (await store.countReviewers(transaction, account, jobId)) === 0) {
    await store.setStage(transaction, account, jobId, ['editing'], 'assembling');
    return 'assembling';
  }
  await store.insertTasks(transaction, account, jobId, [
    {
      kind: 'review',
      first: Math.min(...tasks.map(({ first_position }) => first_position)),
      last: Math.max(...tasks.map(({ last_position }) => last_position)),
      words: tasks.reduce((sum, { words }) => sum + words, 0),
      ...(reviewer === undefined ? {} : { reservedFor: reviewer, reservedHours: room.rules.reservedHours }),
    },
  ]);
  await store.setStage(transaction, account, jobId, ['editing'], 'review');
  return 'review';
}

/**
 * Sends the job back: the parts in which the review has marked something, or with a note all of them. Marked segments
 * are to be confirmed again, and the deadline leaves their editors the time for it.
 * @throws ApiError `invalid_request` where there is neither a mark nor a note
 */
export async function sendBack(
  room: EditingRoom,
  asker: Asker,
  key: store.TaskKey,
  token: string,
  note: string | undefined,
): Promise<TaskStatus> {
  const { account, jobId, taskId } = key;
  const before = await claims.findPastClaim(room.database, key, { userId: asker.userId, token });
  if (before === 'returned') return 'canceled';
  await withHeld(room, asker, key, token, async (transaction, held) => {
    if (held.kind !== 'review') throw notFound();
    const marked = await edits.listMarked(transaction, account, taskId);
    if (marked.length === 0 && note === undefined) {
      throw fieldError('note', 'is needed where no error is marked.');
    }
    if (note !== undefined) {
      const comment = { position: undefined, userId: asker.userId, body: note };
      await edits.insertComment(transaction, account, jobId, comment);
    }
    const tasks = (await store.listJobTasks(transaction, account, jobId)).filter(
      ({ kind }) => kind === 'edit',
    );
    const back = tasks.filter(
      ({ first_position, last_position }) =>
        marked.length === 0 ||
        marked.some((position) => position >= first_position && position <= last_position),
    );
    await edits.unconfirm(transaction, account, jobId, marked);
    await store.extendDeadline(transaction, account, jobId, Math.max(1, room.rules.reservedHours));
    await store.moveTasks(transaction, {
      account,
      jobId,
      tasks: back.map(({ task_id }) => task_id),
      trigger: 'reopen',
      actor: 'reviewer',
      ends: 'returned',
      reservedHours: room.rules.reservedHours,
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
    await store.setStage(transaction, account, jobId, ['review'], 'editing');
  });
  room.observer.ended('returned');
  return 'canceled';
}

export function markIssue(
  room: EditingRoom,
  asker: Asker,
  key: store.TaskKey,
  token: string,
  issue: edits.NewIssue,
): Promise<IssueBody> {
  return withHeld(room, asker, key, token, async (transaction, held) => {
    if (held.kind !== 'review') throw notFound();
    const { account, jobId, taskId } = key;
    const [row] = await edits.readSegments(transaction, account, jobId, issue.position, issue.position);
    if (row === undefined) throw fieldError('position', 'is no segment of the job.');
    const where = { jobId, taskId, reviewerId: asker.userId };
    return presentIssue(await edits.insertIssue(transaction, account, where, issue));
  });
}

export function unmarkIssue(
  room: EditingRoom,
  asker: Asker,
  key: store.TaskKey,
  token: string,
  issueId: string,
): Promise<void> {
  return withHeld(room, asker, key, token, async (transaction) => {
    if (!(await edits.deleteIssue(transaction, key.account, key.taskId, issueId))) throw notFound();
  });
}

/** The tasks of a job that was taken back, in the transaction that takes it back. */
export async function cancelEditing(
  room: Pick<EditingRoom, 'observer'>,
  transaction: Transaction,
  account: AccountRef,
  jobId: string,
  ends: ClaimEnd = 'canceled',
): Promise<void> {
  if ((await store.lockEditedJob(transaction, account, jobId)) === undefined) return;
  await store.moveTasks(transaction, { account, jobId, trigger: 'cancel', actor: 'customer', ends });
  await store.setStage(transaction, account, jobId, ['editing', 'review', 'assembling'], 'canceled');
}

/**
 * Opens a delivered job again, in the transaction that rejects it: each part waits some hours for who had it.
 * @returns false where nobody has edited the job, or not to its end: there is nothing to be edited again
 */
export async function reopenEditing(
  room: Pick<EditingRoom, 'rules'>,
  transaction: Transaction,
  account: AccountRef,
  jobId: string,
  { reason, userId }: { reason: string | undefined; userId: string | undefined },
): Promise<boolean> {
  const { rules } = room;
  if ((await store.lockEditedJob(transaction, account, jobId)) === undefined) return false;
  const tasks = await store.listJobTasks(transaction, account, jobId);
  if (!tasks.some(({ kind, status }) => kind === 'edit' && status === 'done')) return false;
  const revision = await store.reopenEditedJob(transaction, account, jobId, rules.deadlineHours);
  if (revision === undefined) return false;
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
    await edits.insertComment(transaction, account, jobId, {
      position: undefined,
      userId,
      body: reason.slice(0, 2000),
    });
  }
  return true;
}

/** Changes of segments other than saves: they need the claim, and leave a draft. */
import type { Piece } from '@dragoman/documents';
import { notFound } from '../../base/errors.ts';
import type { Transaction } from '../../database/database.ts';
import { findTask } from '../model/access-store.ts';
import type { EditingContext, EditingUser } from '../model/context.ts';
import * as editedJobs from '../model/edited-jobs-store.ts';
import * as edits from '../model/edits-store.ts';
import { withClaim } from '../review/review.ts';
import type { SegmentBody } from '../schemas/schemas.ts';
import { lostClaim } from '../tasks/claims.ts';
import type * as store from '../tasks/store.ts';
import { presentSegments, segmentConflict } from './view.ts';

/** Reads an editing task that the user holds, and its segments from `position` to `last`. */
export async function openEdit(
  context: EditingContext,
  user: EditingUser,
  key: store.TaskKey,
  token: string,
  position: number,
  last = Number.POSITIVE_INFINITY,
) {
  const { database } = context;
  const { account, jobId } = key;
  const task = await findTask(database, { ...key, userId: user.userId });
  if (!task?.holds) throw await lostClaim(context, key, { ...user, token });
  if (task.kind !== 'edit' || position < task.first_position) throw notFound();
  const [rows, job] = await Promise.all([
    edits.readSegments(database, account, jobId, position, Math.min(last, task.last_position)),
    editedJobs.readTaskJob(database, account, jobId),
  ]);
  return { rows, job };
}

/** Returns the target that the editor sees. */
export const shownTarget = (row: edits.SegmentRow): Piece[] | null =>
  row.target ?? edits.withShownDraft(row).draft;

/** @throws SegmentChanged if the segment has another revision now */
export async function saveDraft(
  transaction: Transaction,
  { userId }: EditingUser,
  { account, jobId }: store.TaskKey,
  { position, revision }: edits.SegmentRow,
  target: readonly Piece[],
): Promise<void> {
  const edit = { position, revision, target, status: 'draft', editorId: userId } as const;
  const unmeasured = { activeMs: 0, distance: 0, words: 0, acknowledged: [] };
  const isSaved = await edits.saveEdit(transaction, account, jobId, { ...edit, ...unmeasured });
  if (!isSaved) throw new SegmentChanged();
}

/** Thrown to roll back a change of a segment that another request has changed. */
export class SegmentChanged extends Error {
  override name = 'SegmentChanged';
}

/** Runs `work` under the claim. @throws ApiError `conflict` with the segment as it is now; see `withClaim` */
export async function change(
  context: EditingContext,
  user: EditingUser,
  key: store.TaskKey,
  token: string,
  position: number,
  work: (transaction: Transaction) => Promise<void>,
): Promise<void> {
  try {
    await withClaim(context, user, key, token, work);
  } catch (error) {
    if (!(error instanceof SegmentChanged)) throw error;
    const [segment] = await show(context, user, key, position, position);
    throw segmentConflict('A segment was changed meanwhile.', segment!);
  }
}

export async function show(
  context: EditingContext,
  user: EditingUser,
  key: store.TaskKey,
  first: number,
  last: number,
): Promise<SegmentBody[]> {
  const { database } = context;
  const [task, rows, job] = await Promise.all([
    findTask(database, { ...key, userId: user.userId }),
    edits.readSegments(database, key.account, key.jobId, first, last),
    editedJobs.readTaskJob(database, key.account, key.jobId),
  ]);
  return presentSegments(context, user, key, task!, job, rows);
}

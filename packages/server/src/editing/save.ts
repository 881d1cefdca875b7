/**
 * Saving a segment. A save names the claim that it belongs to and the revision that it changes. Where the claim is over,
 * the text is kept for whoever has the task next; where another revision is there, the answer brings that one. A save
 * that comes again, because its answer was lost, is found to have been made.
 */
import { isDeepStrictEqual } from 'node:util';
import { type CheckInput, check, distance, type Finding, keyOf } from '@dragoman/checks';
import { countSegmentWords, isRight, type Piece, plainText } from '@dragoman/documents';
import { readContext } from '../brands/brands.ts';
import type { Transaction } from '../database/database.ts';
import { ApiError, notFound } from '../errors.ts';
import { keptOf } from '../kept.ts';
import { findTask, type TaskRow } from './access-store.ts';
import { expire, presentLease, staleLease } from './claims.ts';
import * as claims from './claims-store.ts';
import * as edits from './edits-store.ts';
import { carry } from './repeats.ts';
import type { SaveRequest } from './request.ts';
import type { Asker, EditingRoom } from './room.ts';
import type { SavedBody, SegmentBody } from './schemas.ts';
import * as store from './store.ts';
import { describeJob, presentSegments } from './view.ts';

/** Repeats that one confirmation fills. */
const MOST_FILLED = 500;

/** @throws ApiError `stale_lease`, `conflict`, `checks_failed`, `job_canceled`, `not_found` */
export async function saveSegment(
  room: EditingRoom,
  asker: Asker,
  key: store.TaskKey,
  position: number,
  request: SaveRequest,
): Promise<SavedBody> {
  const { database } = room;
  const { account, jobId } = key;
  const task = await findTask(database, key, asker.userId);
  if (task === undefined || !task.has_claimed) throw notFound();
  if (position < task.first_position || position > task.last_position) throw notFound();
  const [row] = await edits.readSegments(database, account, jobId, position, position);
  if (row === undefined) throw notFound();
  const job = await store.readTaskJob(database, account, jobId);
  const edit = editOf(row, job, asker, request);
  // Nothing is checked for those who do not hold the task: findings quote the customer's glossary.
  if (!task.holds) throw await keepForNext(room, asker, key, edit, request.token);
  const inputOf = await checkInputs(room, key, job);
  const findings =
    request.status === 'confirmed' ? judge(inputOf(row, request.target), request.acknowledged) : [];

  const outcome = await database.transaction(async (transaction) => {
    const holder = { userId: asker.userId, token: request.token };
    const saved = { saves: 1, activeMs: request.activeMs };
    const held = await claims.keepClaim(transaction, key, holder, room.rules.leaseSeconds, saved);
    if (held === undefined) return 'stale';
    if (!(await edits.saveEdit(transaction, account, jobId, edit))) {
      const [now] = await edits.readSegments(transaction, account, jobId, position, position);
      return isSame(now!, edit) ? { held, filled: [] } : 'conflict';
    }
    if (edit.status === 'draft') return { held, filled: [] };
    await remember(transaction, key, edit);
    return { held, filled: await fill(transaction, key, task, row, edit, inputOf, job) };
  });

  if (outcome === 'stale') throw await keepForNext(room, asker, key, edit, request.token);
  const positions = outcome === 'conflict' ? [position] : [position, ...outcome.filled];
  const shown = await present(room, key, task, job, positions);
  if (outcome === 'conflict') {
    const sentence = 'The segment has been changed since.';
    throw new ApiError('conflict', sentence, {}, { segment: shown[0] });
  }
  return { segment: shown[0]!, filled: shown.slice(1), findings, lease: presentLease(outcome.held) };
}

function editOf(
  row: edits.SegmentRow,
  job: store.TaskJobRow,
  { userId }: Asker,
  { revision, target, status, acknowledged, activeMs }: SaveRequest,
): edits.Edit {
  const confirmed = status === 'confirmed';
  return {
    position: row.position,
    revision,
    target,
    status,
    editorId: userId,
    activeMs,
    distance: confirmed && row.draft !== null ? distance(plainText(row.draft), plainText(target)) : 0,
    words: confirmed && !keptOf(row.route) ? countSegmentWords(row.source, job.source_language) : 0,
    acknowledged,
  };
}

/** Whether what is there now is what was to be saved. */
function isSame(now: edits.SegmentRow, edit: edits.Edit): boolean {
  return (
    now.revision === edit.revision + 1 &&
    now.editor_id === edit.editorId &&
    now.status === edit.status &&
    isDeepStrictEqual(now.target, edit.target)
  );
}

type InputOf = (row: edits.SegmentRow, target: readonly Piece[]) => CheckInput;

/** What checks ask of the segments of a job. */
async function checkInputs(room: EditingRoom, key: store.TaskKey, job: store.TaskJobRow): Promise<InputOf> {
  const { account, jobId } = key;
  const [described, { terms }] = await Promise.all([
    describeJob(room, account, jobId, job),
    readContext(room.database, account, job.brand, job.target_language),
  ]);
  return ({ source, segment_id, route }, target) => {
    const said = described.get(segment_id);
    return {
      source,
      target,
      from: job.source_language,
      to: job.target_language,
      format: job.text_format,
      terms,
      kept: keptOf(route) !== undefined,
      ...(said?.maxLength === undefined ? {} : { maxLength: said.maxLength }),
      ...(said?.time === undefined ? {} : { time: said.time }),
    };
  };
}

/**
 * Codes must be whole, errors gone, warnings seen.
 * @throws ApiError `checks_failed`
 * @returns the warnings
 */
function judge(input: CheckInput, acknowledged: readonly string[]): Finding[] {
  const findings = check(input);
  const stops = findings.some((one) => one.severity === 'error' || !acknowledged.includes(keyOf(one)));
  if (stops || !isRight(input.source, input.target)) {
    throw new ApiError('checks_failed', 'The segment cannot be confirmed as it is.', {}, { findings });
  }
  return findings;
}

async function remember(transaction: Transaction, key: store.TaskKey, edit: edits.Edit): Promise<void> {
  await edits.insertHistory(transaction, key.account, key.jobId, {
    position: edit.position,
    kind: 'confirmed',
    target: edit.target,
    revision: edit.revision + 1,
    editorId: edit.editorId,
  });
}

/**
 * Gives its repeats the target of a confirmed segment, as long as nobody has touched them: confirmed in this task,
 * where the checks have nothing against it; a draft in tasks that still wait. What another editor has is left alone.
 * @returns their positions
 */
async function fill(
  transaction: Transaction,
  { account, jobId }: store.TaskKey,
  task: TaskRow,
  row: edits.SegmentRow,
  edit: edits.Edit,
  inputOf: InputOf,
  job: store.TaskJobRow,
): Promise<number[]> {
  const first = row.repeats ?? row.position;
  const repeats = await edits.readRepeats(transaction, account, jobId, first, row.position);
  if (repeats.length === 0) return [];
  const tasks = (await store.listJobTasks(transaction, account, jobId)).filter(({ kind }) => kind === 'edit');
  const filled: number[] = [];
  for (const repeat of repeats.slice(0, MOST_FILLED)) {
    const { position } = repeat;
    const isOwn = position >= task.first_position && position <= task.last_position;
    const its = tasks.find((one) => position >= one.first_position && position <= one.last_position);
    if (!isOwn && its?.status !== 'open') continue;
    const target = carry(row.source, repeat.source, edit.target);
    if (!isRight(repeat.source, target)) continue;
    const findings = check(inputOf(repeat, target));
    const passes = findings.every(
      (one) => one.severity === 'warning' && edit.acknowledged.includes(keyOf(one)),
    );
    const status = isOwn && passes ? 'confirmed' : 'draft';
    const request = { ...edit, activeMs: 0, status, target, revision: repeat.revision } as const;
    const asker = { userId: edit.editorId } as Asker;
    const own = {
      ...editOf(repeat, job, asker, { ...request, token: '', acknowledged: [...edit.acknowledged] }),
    };
    const saved = await edits.saveEdit(transaction, account, jobId, { ...own, filledFrom: row.position });
    if (!saved) continue;
    filled.push(position);
    if (status === 'confirmed') await remember(transaction, { account, jobId, taskId: task.task_id }, own);
  }
  return filled;
}

/**
 * A text that came after its claim had ended: a draft where the task waits and the segment is as it was, else kept in
 * the segment's history. Nothing is kept of a claim that never was, nor from somebody who lost the languages.
 */
async function keepForNext(
  room: EditingRoom,
  asker: Asker,
  key: store.TaskKey,
  edit: edits.Edit,
  token: string,
): Promise<ApiError> {
  const { account, jobId, taskId } = key;
  const holder = { userId: asker.userId, token };
  // What has run out may not have been ended yet.
  await expire(room);
  return room.database.transaction(async (transaction) => {
    const ended = await claims.findPastClaim(transaction, key, holder);
    if (ended === undefined) return staleLease(ended);
    await store.lockTasks(transaction, account, jobId, [taskId]);
    const task = await findTask(transaction, key, asker.userId);
    if (task?.has_pair !== true) return staleLease(ended);
    const draft = { ...edit, status: 'draft', distance: 0, words: 0, activeMs: 0 } as const;
    const [now] = await edits.readSegments(transaction, account, jobId, edit.position, edit.position);
    if (now !== undefined && isSame(now, edit)) return staleLease(ended, 'draft');
    const saved = task.status === 'open' && (await edits.saveEdit(transaction, account, jobId, draft));
    if (saved) return staleLease(ended, 'draft');
    await edits.insertHistory(transaction, account, jobId, {
      position: edit.position,
      kind: 'left',
      target: edit.target,
      revision: edit.revision,
      editorId: edit.editorId,
    });
    return staleLease(ended, 'history');
  });
}

async function present(
  room: EditingRoom,
  key: store.TaskKey,
  task: TaskRow,
  job: store.TaskJobRow,
  positions: readonly number[],
): Promise<SegmentBody[]> {
  const rows = await edits.readSegmentsAt(room.database, key.account, key.jobId, positions);
  return presentSegments(room, key, task, job, rows);
}

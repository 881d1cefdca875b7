/**
 * Saves a segment. A save sends the lease token of its claim and the revision that it replaces. If the claim
 * has ended, the text is stored for the next editor. If the segment has another revision, the error contains
 * the current segment. If it was joined with an earlier one, its text is stored in the history of that segment, and
 * the error contains that segment. Repeating a save whose response was lost succeeds without a change.
 */
import { isDeepStrictEqual } from 'node:util';
import { type CheckInput, check, distance, type Finding, keyOf } from '@dragoman/checks';
import { countSegmentWords, isCorrect, type Piece, plainText } from '@dragoman/documents';
import { ApiError, fieldError, notFound } from '../../base/errors.ts';
import { keptOf } from '../../base/kept.ts';
import type { Transaction } from '../../database/database.ts';
import { findTask, type TaskRow } from '../model/access-store.ts';
import { checkInputs, type InputOf } from '../model/check-inputs.ts';
import type { EditingContext, EditingUser } from '../model/context.ts';
import { takeCuts } from '../model/cuts.ts';
import * as editedJobs from '../model/edited-jobs-store.ts';
import * as edits from '../model/edits-store.ts';
import { recordLooks } from '../review/looks-store.ts';
import { MAX_TARGET, type SaveRequest, WRONG_TARGET } from '../schemas/route-schemas.ts';
import type { SavedBody, SegmentBody } from '../schemas/schemas.ts';
import { endExpiredClaims, presentLease, staleLease } from '../tasks/claims.ts';
import * as claims from '../tasks/claims-store.ts';
import * as store from '../tasks/store.ts';
import { type FillableRow, isUntouched, readFillable } from '../votes/fills-store.ts';
import { takeBack, teach } from '../votes/lessons.ts';
import { fitText } from '../votes/propagation.ts';
import { carry } from '../votes/repeats.ts';
import { listRules } from '../votes/rules-store.ts';
import { electFor } from '../votes/vote-rules.ts';
import { listVotes } from '../votes/votes-store.ts';
import { insertHistory } from './history-store.ts';
import { presentSegments, segmentConflict } from './view.ts';

/** The maximum number of segments with the same text to which one confirmation copies its target. */
const MAX_FILLED = 500;

/**
 * Saves a segment.
 * @throws ApiError `stale_lease`, `conflict`, `checks_failed`, `query_open`, `job_canceled`, `not_found`
 */
export async function saveSegment(
  context: EditingContext,
  user: EditingUser,
  key: store.TaskKey,
  position: number,
  request: SaveRequest,
): Promise<SavedBody> {
  const { database } = context;
  const { account, jobId } = key;
  const texts = request.target.map((piece) => ('text' in piece ? piece.text : ''));
  if (texts.join('').length > MAX_TARGET) throw fieldError('target', WRONG_TARGET);
  const task = await findTask(database, { ...key, userId: user.userId });
  if (task === undefined || !task.has_claimed) throw notFound();
  if (position < task.first_position || position > task.last_position) throw notFound();
  const row = await edits.readSegmentWith(database, account, jobId, position);
  if (row === undefined) throw notFound();
  const isPart = row.position !== position;
  const job = await editedJobs.readTaskJob(database, account, jobId);
  const { target, cuts } = takeCuts(row, request.target);
  const edit = { ...editOf(row, job, user, { ...request, target }), position, cuts };
  // The checks run only with a valid claim, because their findings quote the customer's glossary.
  if (!task.holds) throw await keepLateEdit(context, user, key, edit, request.token);
  const inputOf = await checkInputs(context, key, job);
  const confirms = request.status === 'confirmed' && !isPart;
  if (confirms && row.asked) {
    throw new ApiError('query_open', 'The segment waits for the answer of the customer.');
  }
  const findings = confirms ? requireConfirmable(inputOf(row, target), request.acknowledged) : [];

  const outcome = await database.transaction(async (transaction) => {
    const holder = { userId: user.userId, token: request.token };
    const saved = { saves: 1, activeMs: request.active_ms };
    const held = await claims.keepClaim(transaction, key, holder, context.rules.leaseSeconds, saved);
    if (held === undefined) return 'stale';
    if (isPart || !(await edits.saveEdit(transaction, account, jobId, edit))) {
      const now = (await edits.readSegmentWith(transaction, account, jobId, position))!;
      if (isSaved(now, edit)) return { held, filled: [] };
      if (now.position !== position) await keepInHistory(transaction, key, now, edit);
      return { conflict: now.position };
    }
    if (task.kind === 'review') {
      const revision = edit.revision + 1;
      await recordLooks(transaction, account, jobId, user.userId, [{ position, revision }]);
    }
    if (edit.status === 'draft') {
      if (row.status === 'confirmed') await takeBack(transaction, account, jobId, [rangeOf(position)]);
      return { held, filled: [] };
    }
    await recordConfirmed(transaction, key, edit);
    // The source of a joined segment is no segment of another text.
    if (row.joined !== null) return { held, filled: [] };
    await teach(transaction, key, { task, job }, row, edit);
    const filled = await fillRepeats(transaction, key, task, row, edit, inputOf, job);
    return { held, filled };
  });

  if (outcome === 'stale') throw await keepLateEdit(context, user, key, edit, request.token);
  const positions = 'conflict' in outcome ? [outcome.conflict] : [position, ...outcome.filled];
  if (!('conflict' in outcome) && (edit.status === 'confirmed' || row.status === 'confirmed')) {
    context.wakePropagation();
  }
  const shown = await present(context, user, key, task, job, positions);
  if ('conflict' in outcome) {
    throw segmentConflict('The segment was changed meanwhile.', shown[0]!);
  }
  return { segment: shown[0]!, filled: shown.slice(1), findings, lease: presentLease(outcome.held) };
}

function editOf(
  row: edits.SegmentRow,
  job: editedJobs.TaskJobRow,
  { userId }: EditingUser,
  { revision, target, status, acknowledged, active_ms: activeMs }: SaveRequest & { target: Piece[] },
): edits.Edit {
  const confirmed = status === 'confirmed';
  const { draft } = edits.withShownDraft(row);
  return {
    position: row.position,
    revision,
    target,
    status,
    editorId: userId,
    activeMs,
    distance: confirmed && draft !== null ? distance(plainText(draft), plainText(target)) : 0,
    words: confirmed && !keptOf(row.route) ? countSegmentWords(row.source, job.source_language) : 0,
    acknowledged,
  };
}

/** Returns true if an earlier attempt has already saved this edit. */
function isSaved(now: edits.SegmentRow, edit: edits.Edit): boolean {
  return (
    now.position === edit.position &&
    now.revision === edit.revision + 1 &&
    now.editor_id === edit.editorId &&
    now.status === edit.status &&
    isDeepStrictEqual(now.target, edit.target)
  );
}

/**
 * Checks that a target can be confirmed: all codes present, no errors, and every warning acknowledged.
 * @throws ApiError `checks_failed`
 * @returns the warnings
 */
function requireConfirmable(input: CheckInput, acknowledged: readonly string[]): Finding[] {
  const findings = check(input);
  const blocked = findings.some((one) => one.severity === 'error' || !acknowledged.includes(keyOf(one)));
  if (blocked || !isCorrect(input.source, input.target)) {
    throw new ApiError(
      'checks_failed',
      'The segment cannot be confirmed: see the findings.',
      {},
      { findings },
    );
  }
  return findings;
}

async function recordConfirmed(
  transaction: Transaction,
  key: store.TaskKey,
  edit: edits.Edit,
): Promise<void> {
  await insertHistory(transaction, key.account, key.jobId, {
    position: edit.position,
    kind: 'confirmed',
    target: edit.target,
    revision: edit.revision + 1,
    editorId: edit.editorId,
  });
}

const rangeOf = (position: number) => ({ first: position, last: position });

/**
 * Copies the target of a confirmed segment to the unedited segments with the same text. In this task the copy
 * is confirmed if the checks pass. Other tasks get the text from the vote of the segment; an open task gets a copy as a
 * draft where the vote changes nothing. @returns the positions of the segments with a copy
 */
async function fillRepeats(
  transaction: Transaction,
  key: store.TaskKey,
  task: TaskRow,
  row: edits.SegmentRow,
  edit: edits.Edit,
  inputOf: InputOf,
  job: editedJobs.TaskJobRow,
): Promise<number[]> {
  const { account, jobId } = key;
  const first = row.repeats ?? row.position;
  const repeats = await edits.readRepeats(transaction, account, jobId, first, row.position);
  const isInTask = ({ position }: { position: number }) =>
    position >= task.first_position && position <= task.last_position;
  const others = repeats.slice(0, MAX_FILLED).filter((one) => !isInTask(one));
  const leftOut = await listWithoutVote(transaction, key, others, inputOf);
  const filled: number[] = [];
  for (const repeat of repeats.slice(0, MAX_FILLED)) {
    const { position } = repeat;
    const inThisTask = isInTask(repeat);
    if (!inThisTask && !leftOut.has(position)) continue;
    const target = carry(row.source, repeat.source, edit.target);
    if (!isCorrect(repeat.source, target)) continue;
    const findings = check(inputOf(repeat, target));
    const passes = findings.every(
      (one) => one.severity === 'warning' && edit.acknowledged.includes(keyOf(one)),
    );
    const status = inThisTask && passes && !repeat.asked ? 'confirmed' : 'draft';
    const request = { ...edit, active_ms: 0, status, target, revision: repeat.revision } as const;
    const user = { userId: edit.editorId } as EditingUser;
    const copied = editOf(repeat, job, user, { ...request, token: '', acknowledged: [...edit.acknowledged] });
    const saved = await edits.saveEdit(transaction, account, jobId, { ...copied, filledFrom: row.position });
    if (!saved) continue;
    filled.push(position);
    if (status === 'confirmed') {
      await recordConfirmed(transaction, key, copied);
    }
  }
  return filled;
}

/**
 * Returns the positions of segments in open tasks that the votes do not fill: they have a copy already, the brand does not
 * use votes, the customer supplied the draft, the checks refuse the text, or engines leave the sentence as it is.
 */
async function listWithoutVote(
  transaction: Transaction,
  { account, jobId }: store.TaskKey,
  segments: readonly edits.SegmentRow[],
  inputOf: InputOf,
): Promise<ReadonlySet<number>> {
  if (segments.length === 0) return new Set();
  const tasks = (await store.listJobTasks(transaction, { account, jobId })).filter(
    ({ kind, status }) => kind === 'edit' && status === 'open',
  );
  const open = segments.filter(({ position }) =>
    tasks.some((one) => position >= one.first_position && position <= one.last_position),
  );
  const places = open.map(({ position }) => ({ job_id: jobId, position }));
  const rows = new Map((await readFillable(transaction, account, places)).map((row) => [row.position, row]));
  const readings = [...rows.values()].slice(0, 1).map(({ reading }) => reading);
  const rules = await listRules(transaction, account, readings);
  const cast = await listVotes(transaction, account, readings);
  const isLeftOut = (row: FillableRow | undefined) => {
    if (row === undefined || !isUntouched(row) || row.setting === 'off' || row.is_own) return true;
    if (rules.ruleFor(row) !== undefined) return false;
    const vote = electFor(cast, row)?.vote;
    return vote === undefined || typeof fitText(row, vote, inputOf) === 'string';
  };
  return new Set(open.map(({ position }) => position).filter((position) => isLeftOut(rows.get(position))));
}

/**
 * Stores a text that arrived after its claim had ended: as a draft if the task is open and the segment
 * unchanged, otherwise in the history of the segment, or of the one with which it was joined. The text is discarded if the user never had the claim or has
 * lost the language pair.
 * @returns the error to throw
 */
async function keepLateEdit(
  context: EditingContext,
  user: EditingUser,
  key: store.TaskKey,
  edit: edits.Edit,
  token: string,
): Promise<ApiError> {
  const { account, jobId, taskId } = key;
  const holder = { userId: user.userId, token };
  // Ends expired claims first, because the periodic run may not have ended the editor's claim yet.
  await endExpiredClaims(context);
  const error = await context.database.transaction(async (transaction) => {
    const ended = await claims.findPastClaim(transaction, { ...key, ...holder });
    if (ended === undefined) return staleLease(ended);
    await store.lockTasks(transaction, { account, jobId, tasks: [taskId] });
    const task = await findTask(transaction, { ...key, userId: user.userId });
    if (task?.has_pair !== true) return staleLease(ended);
    const draft = { ...edit, status: 'draft', distance: 0, words: 0, activeMs: 0 } as const;
    const now = (await edits.readSegmentWith(transaction, account, jobId, edit.position))!;
    if (isSaved(now, edit)) return staleLease(ended, 'draft');
    const isOpen = task.status === 'open' && now.position === edit.position;
    if (isOpen && (await edits.saveEdit(transaction, account, jobId, draft))) {
      if (now.status === 'confirmed') await takeBack(transaction, account, jobId, [rangeOf(edit.position)]);
      return staleLease(ended, 'draft');
    }
    await keepInHistory(transaction, key, now, edit);
    return staleLease(ended, 'history');
  });
  context.wakePropagation();
  return error;
}

/** Stores a text in the history of `row`: of its segment, or of the one with which that was joined. */
function keepInHistory(
  transaction: Transaction,
  { account, jobId }: store.TaskKey,
  { position }: edits.SegmentRow,
  { target, revision, editorId }: edits.Edit,
): Promise<void> {
  const past = { position, kind: 'left', target, revision, editorId } as const;
  return insertHistory(transaction, account, jobId, past);
}

async function present(
  context: EditingContext,
  user: EditingUser,
  key: store.TaskKey,
  task: TaskRow,
  job: editedJobs.TaskJobRow,
  positions: readonly number[],
): Promise<SegmentBody[]> {
  const rows = await edits.readSegmentsAt(context.database, key.account, key.jobId, positions);
  return presentSegments(context, user, key, task, job, rows);
}

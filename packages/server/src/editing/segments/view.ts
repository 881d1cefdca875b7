/** Builds the response bodies that show tasks and segments in the workbench. */
import { randomBytes } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { type Piece, TRAITS } from '@dragoman/documents';
import { ApiError, notFound } from '../../base/errors.ts';
import { keptOf } from '../../base/kept.ts';
import { readContext } from '../../brands/brands.ts';
import { readDocumentSettings } from '../../brands/document-settings.ts';
import { type JobTerm, readJobTerms } from '../../brands/proposals.ts';
import { createProjector } from '../../http/answers.ts';
import { readTexts } from '../../jobs/jobs.ts';
import { parseDraftNote } from '../../translation/draft-notes.ts';
import { findTask, type TaskRow } from '../model/access-store.ts';
import { proposalJob } from '../model/check-inputs.ts';
import type { EditingContext, EditingUser } from '../model/context.ts';
import { draftWithCuts, withCuts } from '../model/cuts.ts';
import { describeJob, UnpreparedDocument, unprepared } from '../model/descriptions.ts';
import * as editedJobs from '../model/edited-jobs-store.ts';
import * as edits from '../model/edits-store.ts';
import * as issues from '../review/issues-store.ts';
import { readLooks } from '../review/looks-store.ts';
import { listQueriesOfJob } from '../review/query-store.ts';
import {
  type ClaimedBody,
  type CommentBody,
  Segment,
  type SegmentBody,
  type SegmentVote,
  type TaskBody,
  type TermOfTask,
} from '../schemas/schemas.ts';
import {
  includesAccess,
  type OpenedTask,
  openTask,
  requireSegmentAccess,
  visibleSegments,
} from '../tasks/access.ts';
import { presentLease, report, staleLease } from '../tasks/claims.ts';
import * as claims from '../tasks/claims-store.ts';
import type * as store from '../tasks/store.ts';
import { readTone } from '../votes/lessons.ts';
import { readSegmentVotes } from '../votes/vote-view.ts';
import { readHistory } from './history-store.ts';

export async function readTask(
  context: EditingContext,
  user: EditingUser,
  key: store.TaskKey,
): Promise<TaskBody> {
  return presentTask(context, user, key, await openTask(context, user, key, 'record'));
}

async function presentTask(
  context: EditingContext,
  user: EditingUser,
  key: store.TaskKey,
  task: OpenedTask,
): Promise<TaskBody> {
  const { database } = context;
  const { account, jobId } = key;
  const visible = await visibleSegments(context, user, key, task);
  const isWhole = includesAccess(task.access, 'held');
  const [job, edited, rows, held, comments, activeMs, queries] = await Promise.all([
    editedJobs.readTaskJob(database, account, jobId),
    editedJobs.findEditedJob(database, account, jobId),
    'only' in visible
      ? edits.readSegmentsAt(database, account, jobId, visible.only)
      : edits.readSegments(database, account, jobId, visible.first, visible.last),
    claims.findHeld(database, key),
    isWhole ? issues.listComments(database, { account, jobId }) : [],
    claims.readActiveTime(database, { ...key, userId: user.userId }),
    isWhole ? listQueriesOfJob(database, account, jobId) : [],
  ]);
  const votes = isWhole ? await readSegmentVotes(context, account, jobId, rows) : undefined;
  const [segments, brand, tone, { instructions }, terms] = await Promise.all([
    presentSegments(context, user, key, task, job, rows, votes),
    readContext(database, account, job.brand, job.target_language),
    readTone(database, account, job),
    readTexts(database, account, jobId, ['instructions']),
    isWhole ? readJobTerms(database, account, proposalJob(jobId, job)) : [],
  ]);
  const allInstructions = [
    ...(brand.instructions === undefined ? [] : [{ from: 'brand' as const, text: brand.instructions }]),
    ...(instructions === undefined ? [] : [{ from: 'job' as const, text: instructions }]),
  ];
  return {
    task: task.task_id,
    kind: task.kind,
    status: task.status,
    access: task.access,
    words: task.words,
    returned: task.returned,
    active_ms: activeMs,
    job: {
      uid: job.uid,
      order_number: job.order_number,
      format: job.text_format,
      source_language: job.source_language,
      target_language: job.target_language,
      tone: tone ?? null,
      topics: job.topics ?? [],
      brand: job.brand_name,
      name: includesAccess(task.access, 'offer') ? job.name : null,
      instructions: includesAccess(task.access, 'offer') ? allInstructions : [],
      words: edited!.words,
      revision: edited!.revision,
      created_at: job.created_at,
      deadline: edited!.deadline_at,
    },
    ...(held !== undefined && held.user_id === user.userId ? { lease: presentLease(held) } : {}),
    segments,
    terms: terms.map((term) => presentTaskTerm(user, term)),
    comments,
    queries,
  };
}

/**
 * Reads a task that was just claimed. On a busy server the claim may end before the task is read. A task
 * whose document takes too long to prepare is reported to the operators, because no editor can open it.
 * @throws ApiError `stale_lease`, `invalid_request`
 */
export async function readClaimed(
  context: EditingContext,
  user: EditingUser,
  key: store.TaskKey,
): Promise<ClaimedBody> {
  const held = await findTask(context.database, { ...key, userId: user.userId });
  if (held?.holds !== true) throw staleLease(null);
  const access = user.role === 'operator' ? 'all' : 'held';
  const task = await presentTask(context, user, key, { ...held, access }).catch(async (error: unknown) => {
    if (!(error instanceof UnpreparedDocument)) throw error;
    const claim = await claims.findHeld(context.database, key);
    if (claim)
      await report(context, user, key, claim.claim_id, { reason: 'bad_source', note: error.message });
    throw error;
  });
  if (!task.lease) throw staleLease(null);
  return { task, lease: task.lease };
}

/** Builds the response bodies of segments, with their notes, lengths, times and codes from the document. */
export async function presentSegments(
  context: EditingContext,
  { userId }: EditingUser,
  { account, jobId }: store.TaskKey,
  task: Pick<TaskRow, 'kind' | 'first_position' | 'last_position'>,
  job: editedJobs.TaskJobRow,
  rows: readonly edits.SegmentRow[],
  votes: ReadonlyMap<number, SegmentVote> = new Map(),
): Promise<SegmentBody[]> {
  const [described, rowsOfIssues, looks] = await Promise.all([
    describeJob(context, account, jobId, job),
    issues.listIssues(context.database, { account, jobId }),
    task.kind === 'review' ? readLooks(context.database, account, jobId, userId) : undefined,
  ]);
  const issuesOf = Map.groupBy(rowsOfIssues, ({ position }) => position);
  return rows.map(edits.withShownDraft).map((row): SegmentBody => {
    const description = described.get(row.segment_id);
    const vote = votes.get(row.position);
    return {
      position: row.position,
      unit: description?.unit ?? Number.parseInt(row.segment_id, 10),
      source: withCuts(row.source, row.cuts?.source),
      target: row.target && withCuts(row.target, row.cuts?.target),
      draft: draftWithCuts(row, job.target_language),
      origin: draftOriginOf(row),
      route: row.route,
      ...keptBody(row),
      ...confidenceBody(row),
      status: row.status,
      revision: row.revision,
      mine: row.position >= task.first_position && row.position <= task.last_position,
      ...(description?.element === undefined ? {} : { element: description.element }),
      notes: [...(description?.notes ?? [])],
      draft_notes: row.notes.flatMap((note) => parseDraftNote(note) ?? []),
      failure: row.failure,
      ...(description?.maxLength === undefined ? {} : { max_length: description.maxLength }),
      ...(description?.time === undefined ? {} : { time: description.time }),
      ...(description?.breaks === undefined ? {} : { breaks: description.breaks }),
      codes: row.joined?.codes ?? description?.codes ?? {},
      ...(row.joined === null ? {} : { joined_to: row.joined.last }),
      ...(row.repeats === null || row.joined !== null ? {} : { repeats: row.repeats }),
      filled: row.filled,
      ...(vote === undefined ? {} : { vote }),
      changed: row.editor_id === userId && !row.filled && !isDeepStrictEqual(row.target, row.draft),
      acknowledged: row.acknowledged,
      asked: row.asked,
      unsure: row.unsure,
      comments: row.comments,
      issues: issuesOf.get(row.position) ?? [],
      ...(looks && presentLook(row.target, looks.get(row.position))),
    };
  });
}

const projectSegment = createProjector(Segment);

/** Returns the error `conflict` with the segment as it is now. */
export function segmentConflict(message: string, segment: SegmentBody): ApiError {
  return new ApiError('conflict', message, {}, { segment: projectSegment(segment) });
}

/** @param looked the target that the reviewer saw last; undefined if they have not seen the segment */
function presentLook(
  target: Piece[] | null,
  looked: Piece[] | undefined,
): Pick<SegmentBody, 'seen' | 'last_seen'> {
  if (looked === undefined) return { seen: 'unseen' };
  return isDeepStrictEqual(looked, target) ? { seen: 'seen' } : { seen: 'changed', last_seen: looked };
}

export function draftOriginOf({ draft, route }: edits.SegmentRow): SegmentBody['origin'] {
  if (draft === null) return 'none';
  if (route === null || route === 'supplied') return 'supplied';
  if (keptOf(route) !== undefined) return 'kept';
  return route.startsWith('memory') ? 'memory' : 'machine';
}

function keptBody({ route }: edits.SegmentRow): Pick<SegmentBody, 'kept'> {
  const kept = keptOf(route);
  return kept === undefined ? {} : { kept };
}

/**
 * Returns the confidence of the engine, if the draft is the engine's. A text of the memory or of other editors may stand
 * in place of that draft, and a joined segment has the drafts of several segments.
 */
function confidenceBody(row: edits.SegmentRow): Pick<SegmentBody, 'confidence'> {
  const { confidence: mean, least_confidence: minimum, joined } = row;
  if (mean === null || minimum === null || joined !== null || draftOriginOf(row) !== 'machine') return {};
  return { confidence: { mean, minimum } };
}

export function presentTaskTerm({ userId }: EditingUser, term: JobTerm): TermOfTask {
  const { proposal } = term;
  return {
    source: term.source,
    target: term.target,
    case_sensitive: term.caseSensitive,
    forbidden: term.forbidden,
    do_not_translate: term.doNotTranslate,
    ...(term.note === undefined ? {} : { note: term.note }),
    ...(proposal && {
      proposal: {
        proposal: proposal.id,
        by: proposal.by,
        may_withdraw: proposal.userId === userId && proposal.status === 'proposed',
      },
    }),
  };
}

/**
 * Adds a comment to a segment or a job.
 * @throws ApiError `not_found` if the user does not hold the task or cannot see the segment
 */
export async function addComment(
  context: EditingContext,
  user: EditingUser,
  key: store.TaskKey,
  { text, position }: { text: string; position?: number | undefined },
): Promise<CommentBody> {
  const task = await openTask(context, user, key, 'held');
  const { account, jobId } = key;
  if (position !== undefined) {
    await requireSegmentAccess(context, user, key, task, position);
    const [row] = await edits.readSegments(context.database, account, jobId, position, position);
    if (row === undefined) throw notFound();
  }
  const comment = { position, userId: user.userId, body: text };
  const made = await issues.insertComment(context.database, account, jobId, comment);
  return { ...made, position: position ?? null, text, by: user.name, role: user.role };
}

/**
 * Assembles the whole document from the current targets. A segment without a target shows its draft, or else
 * its source. In HTML, comments mark where each segment begins and ends.
 * @throws ApiError `not_found` if the user does not hold the task
 */
export async function preview(context: EditingContext, user: EditingUser, key: store.TaskKey) {
  await openTask(context, user, key, 'held');
  const { account, jobId } = key;
  const [job, texts, targets] = await Promise.all([
    editedJobs.readTaskJob(context.database, account, jobId),
    readTexts(context.database, account, jobId, ['source']),
    edits.readTargets(context.database, { account, jobId, unconfirmed: true }),
  ]);
  const drafts = targets.flatMap(({ segment_id, target }) =>
    target === null ? [] : [[segment_id, target] as const],
  );
  const task = {
    text: texts.source ?? '',
    format: job.text_format,
    sourceLanguage: job.source_language,
    targetLanguage: job.target_language,
    settings: await readDocumentSettings(context.database, account, job.document_settings),
    drafts,
    sources: edits.sourcesOf(targets),
    joins: edits.joinsOf(targets),
  };
  if (TRAITS[job.text_format].flow !== 'page') {
    return { format: job.text_format, text: await context.scanner.assemble(account, task).catch(unprepared) };
  }
  const mark = randomBytes(8).toString('hex');
  const marks = targets.map(({ segment_id, position }) => [segment_id, `${mark} ${position}`] as const);
  const text = await context.scanner.assemble(account, { ...task, marks }).catch(unprepared);
  return { format: job.text_format, text, mark };
}

export async function readSegmentHistory(
  context: EditingContext,
  user: EditingUser,
  key: store.TaskKey,
  position: number,
) {
  await requireSegmentAccess(context, user, key, await openTask(context, user, key, 'record'), position);
  const { account, jobId } = key;
  return { entries: await readHistory(context.database, { account, jobId, position }) };
}

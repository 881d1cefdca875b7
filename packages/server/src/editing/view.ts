/** A task as the workbench shows it. */
import type { Description } from '@dragoman/documents';
import type { Term } from '@dragoman/engines';
import type { AccountRef } from '../account.ts';
import { readContext } from '../brands/brands.ts';
import { notFound } from '../errors.ts';
import { readTexts } from '../jobs/jobs.ts';
import { keptOf } from '../kept.ts';
import { mustReach, type OpenedTask, openTask, reaches, shownOf } from './access.ts';
import { findTask, type TaskRow } from './access-store.ts';
import { presentLease, staleLease } from './claims.ts';
import * as claims from './claims-store.ts';
import * as edits from './edits-store.ts';
import type { Asker, EditingRoom } from './room.ts';
import type { ClaimedBody, CommentBody, IssueBody, SegmentBody, TaskBody } from './schemas.ts';
import * as store from './store.ts';

/** Of the texts whose descriptions are remembered, and of how many. */
const REMEMBER_LENGTH = 8 * 1024 * 1024;
const REMEMBER_JOBS = 64;

export async function readTask(room: EditingRoom, asker: Asker, key: store.TaskKey): Promise<TaskBody> {
  return presentTask(room, asker, key, await openTask(room, asker, key, 'record'));
}

async function presentTask(
  room: EditingRoom,
  asker: Asker,
  key: store.TaskKey,
  task: OpenedTask,
): Promise<TaskBody> {
  const { database } = room;
  const { account, jobId } = key;
  const shown = await shownOf(room, asker, key, task);
  const isWhole = reaches(task.access, 'held');
  const [job, edited, rows, held, comments] = await Promise.all([
    store.readTaskJob(database, account, jobId),
    store.findEditedJob(database, account, jobId),
    'only' in shown
      ? edits.readSegmentsAt(database, account, jobId, shown.only)
      : edits.readSegments(database, account, jobId, shown.first, shown.last),
    claims.findHeld(database, key),
    isWhole ? listComments(room, key) : [],
  ]);
  const [segments, said, { instructions }] = await Promise.all([
    presentSegments(room, key, task, job, rows),
    readContext(database, account, job.brand, job.target_language),
    readTexts(database, account, jobId, ['instructions']),
  ]);
  const wishes = [
    ...(said.instructions === undefined ? [] : [{ from: 'brand' as const, text: said.instructions }]),
    ...(instructions === undefined ? [] : [{ from: 'job' as const, text: instructions }]),
  ];
  return {
    task: task.task_id,
    kind: task.kind,
    status: task.status,
    access: task.access,
    words: task.words,
    returned: task.returned,
    job: {
      uid: job.uid,
      order_number: job.order_number,
      format: job.text_format,
      source_language: job.source_language,
      target_language: job.target_language,
      tone: job.tone ?? said.tone ?? null,
      topics: job.topics ?? [],
      brand: job.brand_name,
      instructions: reaches(task.access, 'offer') ? wishes : [],
      words: edited!.words,
      revision: edited!.revision,
      created_at: job.created_at.toISOString(),
      deadline: edited!.deadline_at.toISOString(),
    },
    ...(held !== undefined && held.user_id === asker.userId ? { lease: presentLease(held) } : {}),
    segments,
    terms: isWhole ? said.terms.map(presentTerm) : [],
    comments,
  };
}

/**
 * A task just claimed. The claim may be over before the task is read: a crowded server, a lease that was almost out.
 * @throws ApiError `stale_lease` then
 */
export async function readClaimed(room: EditingRoom, asker: Asker, key: store.TaskKey): Promise<ClaimedBody> {
  const held = await findTask(room.database, key, asker.userId);
  if (held?.holds !== true) throw staleLease(null);
  const task = await presentTask(room, asker, key, {
    ...held,
    access: asker.role === 'operator' ? 'all' : 'held',
  });
  if (task.lease === undefined) throw staleLease(null);
  return { task, lease: task.lease };
}

/** Segments with what the document says of them. */
export async function presentSegments(
  room: EditingRoom,
  { account, jobId }: store.TaskKey,
  task: Pick<TaskRow, 'kind' | 'first_position' | 'last_position'>,
  job: store.TaskJobRow,
  rows: readonly edits.SegmentRow[],
): Promise<SegmentBody[]> {
  const [described, issues] = await Promise.all([
    describeJob(room, account, jobId, job),
    edits.listIssues(room.database, account, jobId),
  ]);
  const issuesOf = Map.groupBy(issues, ({ position }) => position);
  return rows.map((row): SegmentBody => {
    const said = described.get(row.segment_id);
    return {
      position: row.position,
      unit: said?.unit ?? Number.parseInt(row.segment_id, 10),
      source: row.source,
      target: row.target,
      draft: row.draft,
      origin: originOf(row),
      route: row.route,
      ...keptBody(row),
      status: row.status,
      revision: row.revision,
      mine: row.position >= task.first_position && row.position <= task.last_position,
      notes: [...(said?.notes ?? []), ...row.notes],
      ...(row.failure === null ? {} : { failure: row.failure }),
      ...(said?.maxLength === undefined ? {} : { max_length: said.maxLength }),
      ...(said?.time === undefined ? {} : { time: said.time }),
      codes: said?.codes ?? {},
      ...(row.repeats === null ? {} : { repeats: row.repeats }),
      filled: row.filled,
      acknowledged: row.acknowledged,
      comments: row.comments,
      issues: (issuesOf.get(row.position) ?? []).map(presentIssue),
    };
  });
}

function originOf({ draft, route }: edits.SegmentRow): SegmentBody['origin'] {
  if (draft === null) return 'none';
  if (route === null || route === 'supplied') return 'supplied';
  if (keptOf(route) !== undefined) return 'kept';
  return route.startsWith('memory') ? 'memory' : 'machine';
}

function keptBody({ route }: edits.SegmentRow): Pick<SegmentBody, 'kept'> {
  const kept = keptOf(route);
  return kept === undefined ? {} : { kept };
}

/** Scanned once for as long as somebody works on it; the least recently asked for go first. */
export async function describeJob(
  room: EditingRoom,
  account: AccountRef,
  jobId: string,
  job: store.TaskJobRow,
): Promise<ReadonlyMap<string, Description>> {
  const { descriptions } = room;
  const known = descriptions.get(jobId);
  if (known !== undefined) {
    descriptions.delete(jobId);
    descriptions.set(jobId, known);
    return known.ofId;
  }
  const { source = '' } = await readTexts(room.database, account, jobId, ['source']);
  const described = await room.scanner.describe(account, {
    text: source,
    format: job.text_format,
    sourceLanguage: job.source_language,
    targetLanguage: job.target_language,
  });
  const ofId = new Map(described.map((one) => [one.id, one]));
  descriptions.set(jobId, { ofId, length: source.length });
  let length = 0;
  for (const one of descriptions.values()) length += one.length;
  for (const [oldest, one] of descriptions) {
    if (descriptions.size <= REMEMBER_JOBS && length <= REMEMBER_LENGTH) break;
    if (oldest === jobId) break;
    descriptions.delete(oldest);
    length -= one.length;
  }
  return ofId;
}

export function presentTerm(term: Term): TaskBody['terms'][number] {
  return {
    source: term.source,
    target: term.target,
    case_sensitive: term.caseSensitive,
    forbidden: term.forbidden,
    do_not_translate: term.doNotTranslate,
    ...(term.note === undefined ? {} : { note: term.note }),
  };
}

export function presentIssue(row: edits.IssueRow): IssueBody {
  return {
    issue: row.issue_id,
    position: row.position,
    category: row.category as IssueBody['category'],
    severity: row.severity as IssueBody['severity'],
    ...(row.note === null ? {} : { note: row.note }),
    ...(row.range_start === null || row.range_end === null
      ? {}
      : { range: { start: row.range_start, end: row.range_end } }),
    by: row.by,
    created_at: row.created_at.toISOString(),
  };
}

/** @throws ApiError `not_found` for who does not hold the task */
export async function readComments(
  room: EditingRoom,
  asker: Asker,
  key: store.TaskKey,
): Promise<{ comments: CommentBody[] }> {
  await openTask(room, asker, key, 'held');
  return { comments: await listComments(room, key) };
}

async function listComments(room: EditingRoom, { account, jobId }: store.TaskKey): Promise<CommentBody[]> {
  const rows = await edits.listComments(room.database, account, jobId);
  return rows.map((row) => ({
    comment: row.comment_id,
    ...(row.position === null ? {} : { position: row.position }),
    text: row.body,
    by: row.by,
    role: row.role,
    created_at: row.created_at.toISOString(),
  }));
}

/** @throws ApiError `not_found` for who does not hold the task, and where the job has no such segment */
export async function addComment(
  room: EditingRoom,
  asker: Asker,
  key: store.TaskKey,
  { text, position }: { text: string; position: number | undefined },
): Promise<CommentBody> {
  const task = await openTask(room, asker, key, 'held');
  const { account, jobId } = key;
  if (position !== undefined) {
    await mustReach(room, asker, key, task, position);
    const [row] = await edits.readSegments(room.database, account, jobId, position, position);
    if (row === undefined) throw notFound();
  }
  const comment = { position, userId: asker.userId, body: text };
  const made = await edits.insertComment(room.database, account, jobId, comment);
  return {
    comment: made.comment_id,
    ...(position === undefined ? {} : { position }),
    text,
    by: asker.name,
    role: asker.role,
    created_at: made.created_at.toISOString(),
  };
}

/**
 * The document with what is there now; what has neither target nor draft is the source. It has every part of the job.
 * @throws ApiError `not_found` for who does not hold the task
 */
export async function preview(room: EditingRoom, asker: Asker, key: store.TaskKey) {
  await openTask(room, asker, key, 'held');
  const { account, jobId } = key;
  const [job, texts, targets] = await Promise.all([
    store.readTaskJob(room.database, account, jobId),
    readTexts(room.database, account, jobId, ['source']),
    edits.readTargets(room.database, account, jobId, true),
  ]);
  const text = await room.scanner.assemble(account, {
    text: texts.source ?? '',
    format: job.text_format,
    sourceLanguage: job.source_language,
    targetLanguage: job.target_language,
    drafts: targets.flatMap(({ segment_id, target }) =>
      target === null ? [] : [[segment_id, target] as const],
    ),
  });
  return { format: job.text_format, text };
}

export async function readHistory(room: EditingRoom, asker: Asker, key: store.TaskKey, position: number) {
  await mustReach(room, asker, key, await openTask(room, asker, key, 'record'), position);
  const rows = await edits.readHistory(room.database, key.account, key.jobId, position);
  return { entries: rows.map((row) => ({ ...row, created_at: row.created_at.toISOString() })) };
}

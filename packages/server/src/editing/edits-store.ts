/** What is asked of the database about segments in editing: what an editor has made of them, and what was said of them. */
import type { Piece } from '@dragoman/documents';
import type { AccountRef } from '../account.ts';
import type { Queryable, Transaction } from '../database/database.ts';
import { statement } from '../database/statements.ts';
import { uuidv7 } from '../ids.ts';

/** A segment as its editor finds it. */
export interface SegmentRow {
  position: number;
  segment_id: string;
  source: Piece[];
  draft: Piece[] | null;
  route: string | null;
  notes: string[];
  failure: string | null;
  repeats: number | null;
  status: 'open' | 'draft' | 'confirmed';
  target: Piece[] | null;
  revision: number;
  editor_id: string | null;
  acknowledged: string[];
  filled: boolean;
  comments: number;
}

const SEGMENTS_FROM = `select s.position, s.segment_id, s.source, s.draft, s.route, s.notes, s.failure, s.repeats,
          coalesce(e.status, 'open') as status, e.target, coalesce(e.revision, 0) as revision, e.editor_id,
          coalesce(e.acknowledged, '{}') as acknowledged, e.filled_from is not null as filled,
          (select count(*) from comments c
            where c.part = s.part and c.account_id = s.account_id and c.job_id = s.job_id
              and c.position = s.position) as comments
     from segments s
     left join edits e on e.part = s.part and e.account_id = s.account_id and e.job_id = s.job_id
      and e.position = s.position`;

const SEGMENTS = statement<SegmentRow>(
  'editing.segments',
  `${SEGMENTS_FROM}
    where s.part = $1 and s.account_id = $2 and s.job_id = $3 and s.position between $4 and $5 order by s.position`,
);

export function readSegments(
  on: Queryable,
  account: AccountRef,
  jobId: string,
  first: number,
  last: number,
): Promise<SegmentRow[]> {
  return on.query(SEGMENTS, [account.part, account.accountId, jobId, first, last]);
}

const SEGMENTS_AT = statement<SegmentRow>(
  'editing.segments_at',
  `${SEGMENTS_FROM}
    where s.part = $1 and s.account_id = $2 and s.job_id = $3 and s.position = any($4) order by s.position`,
);

/** Those at `positions`, in their order there. */
export async function readSegmentsAt(
  on: Queryable,
  account: AccountRef,
  jobId: string,
  positions: readonly number[],
): Promise<SegmentRow[]> {
  const rows = await on.query(SEGMENTS_AT, [account.part, account.accountId, jobId, positions]);
  const at = new Map(rows.map((row) => [row.position, row]));
  return positions.flatMap((position) => at.get(position) ?? []);
}

// The group of a segment that repeats: the first of them, and all that name it.
const REPEATS = statement<SegmentRow>(
  'editing.repeats',
  `${SEGMENTS_FROM}
    where s.part = $1 and s.account_id = $2 and s.job_id = $3 and s.position <> $5
      and (s.repeats = $4 or s.position = $4) and (e.position is null or e.filled_from is not null)
    order by s.position`,
);

/** The segments that read the same as the one at `position` and that nobody has touched. */
export function readRepeats(
  on: Queryable,
  account: AccountRef,
  jobId: string,
  first: number,
  position: number,
): Promise<SegmentRow[]> {
  return on.query(REPEATS, [account.part, account.accountId, jobId, first, position]);
}

/** What is delivered of a segment. */
export interface TargetRow {
  segment_id: string;
  position: number;
  target: Piece[] | null;
  /** An editor has confirmed a text of it, now or before. */
  confirmed: boolean;
}

// A segment that was confirmed and is a draft again: sent back by its reviewer, or changed and not confirmed since.
const TARGETS = statement<TargetRow>(
  'editing.targets',
  `select s.segment_id, s.position,
          coalesce(case when $4 or e.status = 'confirmed' then e.target else c.target end, s.draft) as target,
          coalesce(e.status = 'confirmed' or c.target is not null, false) as confirmed
     from segments s
     left join edits e on e.part = s.part and e.account_id = s.account_id and e.job_id = s.job_id
      and e.position = s.position
     left join lateral (
       select h.target from edit_history h
        where e.status = 'draft' and h.part = e.part and h.account_id = e.account_id and h.job_id = e.job_id
          and h.position = e.position and h.kind = 'confirmed'
        order by h.revision desc limit 1) c on true
    where s.part = $1 and s.account_id = $2 and s.job_id = $3 order by s.position`,
);

/**
 * Returns the text of every segment of a job: the last one that an editor confirmed, else the draft. A machine's draft
 * never replaces a confirmed text.
 * @param unconfirmed whether an editor's unconfirmed text goes before both, as a preview shows it
 */
export function readTargets(
  on: Queryable,
  account: AccountRef,
  jobId: string,
  unconfirmed: boolean,
): Promise<TargetRow[]> {
  return on.query(TARGETS, [account.part, account.accountId, jobId, unconfirmed]);
}

// Of the segments `s`: in a part that waits and that nobody has, and never saved.
const UNTOUCHED = `
  exists (select from edited_jobs e
           where e.part = s.part and e.account_id = s.account_id and e.job_id = s.job_id and e.stage = 'editing')
  and exists (select from tasks t
               where t.part = s.part and t.account_id = s.account_id and t.job_id = s.job_id and t.kind = 'edit'
                 and t.status in ('open', 'reported') and s.position between t.first_position and t.last_position)
  and not exists (select from edits e
                   where e.part = s.part and e.account_id = s.account_id and e.job_id = s.job_id
                     and e.position = s.position)`;
const COUNT_UNTOUCHED = statement<{ segments: number }>(
  'editing.count_untouched',
  `select count(*) as segments from segments s
    where s.part = $1 and s.account_id = $2 and s.job_id = $3 and ${UNTOUCHED}`,
);

/** How many segments of a job no editor has or has touched. */
export async function countUntouched(on: Queryable, account: AccountRef, jobId: string): Promise<number> {
  return (await on.query(COUNT_UNTOUCHED, [account.part, account.accountId, jobId]))[0]!.segments;
}

const REPLACE_UNTOUCHED = statement<{ position: number }>(
  'editing.replace_untouched',
  `update segments s set draft = g.draft, route = g.route, failure = null,
          notes = array(select jsonb_array_elements_text(g.notes))
     from unnest($4::integer[], $5::text[], $6::jsonb[], $7::text[], $8::jsonb[])
       as g (position, segment_id, draft, route, notes)
    where s.part = $1 and s.account_id = $2 and s.job_id = $3 and s.position = g.position
      and s.segment_id = g.segment_id and ${UNTOUCHED}
   returning s.position`,
);

/** Other drafts for those of these segments. @returns which had them */
export async function replaceUntouched(
  transaction: Transaction,
  account: AccountRef,
  jobId: string,
  drafts: readonly {
    position: number;
    segmentId: string;
    draft?: unknown;
    route: string | undefined;
    notes: readonly string[];
  }[],
): Promise<number[]> {
  const rows = await transaction.query(REPLACE_UNTOUCHED, [
    account.part,
    account.accountId,
    jobId,
    drafts.map(({ position }) => position),
    drafts.map(({ segmentId }) => segmentId),
    drafts.map(({ draft }) => JSON.stringify(draft)),
    drafts.map(({ route }) => route ?? null),
    drafts.map(({ notes }) => JSON.stringify(notes)),
  ]);
  return rows.map(({ position }) => position);
}

const UNCONFIRMED = statement<{ position: number }>(
  'editing.unconfirmed',
  `select s.position
     from segments s
     left join edits e on e.part = s.part and e.account_id = s.account_id and e.job_id = s.job_id
      and e.position = s.position
    where s.part = $1 and s.account_id = $2 and s.job_id = $3 and s.position between $4 and $5
      and e.status is distinct from 'confirmed' order by s.position`,
);

export async function listUnconfirmed(
  on: Queryable,
  account: AccountRef,
  jobId: string,
  first: number,
  last: number,
): Promise<number[]> {
  const rows = await on.query(UNCONFIRMED, [account.part, account.accountId, jobId, first, last]);
  return rows.map(({ position }) => position);
}

export interface Edit {
  position: number;
  /** That it changes; 0 where there is none yet. */
  revision: number;
  target: readonly Piece[];
  status: 'draft' | 'confirmed';
  editorId: string;
  activeMs: number;
  distance: number;
  words: number;
  acknowledged: readonly string[];
  filledFrom?: number;
}

const FIRST_EDIT = statement<{ revision: number }>(
  'editing.first_edit',
  `insert into edits (part, account_id, job_id, position, status, target, revision, editor_id, active_ms, distance, words,
     acknowledged, filled_from, confirmed_at)
   values ($1, $2, $3, $4, $6, $7, $5 + 1, $8, $9, $10, $11, $12, $13, case when $6 = 'confirmed' then now() end)
   on conflict (part, account_id, job_id, position) do nothing
   returning revision`,
);
const NEXT_EDIT = statement<{ revision: number }>(
  'editing.next_edit',
  `update edits set status = $6, target = $7, revision = revision + 1, editor_id = $8, active_ms = active_ms + $9,
          distance = $10, words = $11, acknowledged = $12, filled_from = $13, changed_at = now(),
          confirmed_at = case when $6 = 'confirmed' then now() end
    where part = $1 and account_id = $2 and job_id = $3 and position = $4 and revision = $5
   returning revision`,
);

/** Saves a target in place of the revision that it names. @returns false where another is there */
export async function saveEdit(
  transaction: Transaction,
  account: AccountRef,
  jobId: string,
  edit: Edit,
): Promise<boolean> {
  const rows = await transaction.query(edit.revision === 0 ? FIRST_EDIT : NEXT_EDIT, [
    account.part,
    account.accountId,
    jobId,
    edit.position,
    edit.revision,
    edit.status,
    JSON.stringify(edit.target),
    edit.editorId,
    edit.activeMs,
    edit.distance,
    edit.words,
    edit.acknowledged,
    edit.filledFrom ?? null,
  ]);
  return rows.length > 0;
}

const UNCONFIRM = statement(
  'editing.unconfirm',
  `update edits set status = 'draft', revision = revision + 1, confirmed_at = null, changed_at = now()
    where part = $1 and account_id = $2 and job_id = $3 and position = any($4) and status = 'confirmed'`,
);

/** Confirmed segments become drafts again. */
export async function unconfirm(
  transaction: Transaction,
  account: AccountRef,
  jobId: string,
  positions: readonly number[],
): Promise<void> {
  await transaction.query(UNCONFIRM, [account.part, account.accountId, jobId, positions]);
}

export interface PastTarget {
  position: number;
  kind: 'confirmed' | 'left';
  target: readonly Piece[];
  revision: number;
  editorId: string;
}

const INSERT_HISTORY = statement(
  'editing.insert_history',
  `insert into edit_history (part, account_id, history_id, job_id, position, kind, target, revision, editor_id)
   values ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
);

export async function insertHistory(
  transaction: Transaction,
  account: AccountRef,
  jobId: string,
  past: PastTarget,
): Promise<void> {
  const { position, kind, target, revision, editorId } = past;
  const key = [account.part, account.accountId, uuidv7(), jobId];
  await transaction.query(INSERT_HISTORY, [
    ...key,
    position,
    kind,
    JSON.stringify(target),
    revision,
    editorId,
  ]);
}

export interface HistoryRow {
  target: Piece[];
  kind: 'confirmed' | 'left';
  by: string;
  revision: number;
  created_at: Date;
}

const HISTORY = statement<HistoryRow>(
  'editing.history',
  `select h.target, h.kind, coalesce(u.name, '') as by, h.revision, h.created_at
     from edit_history h left join users u on u.user_id = h.editor_id
    where h.part = $1 and h.account_id = $2 and h.job_id = $3 and h.position = $4
    order by h.history_id desc limit 100`,
);

export function readHistory(
  on: Queryable,
  account: AccountRef,
  jobId: string,
  position: number,
): Promise<HistoryRow[]> {
  return on.query(HISTORY, [account.part, account.accountId, jobId, position]);
}

export interface IssueRow {
  issue_id: string;
  position: number;
  category: string;
  severity: string;
  note: string | null;
  range_start: number | null;
  range_end: number | null;
  by: string;
  created_at: Date;
}

const ISSUES = statement<IssueRow>(
  'editing.issues',
  `select i.issue_id, i.position, i.category, i.severity, i.note, i.range_start, i.range_end,
          coalesce(u.name, '') as by, i.created_at
     from issues i left join users u on u.user_id = i.reviewer_id
    where i.part = $1 and i.account_id = $2 and i.job_id = $3 order by i.issue_id`,
);

export function listIssues(on: Queryable, account: AccountRef, jobId: string): Promise<IssueRow[]> {
  return on.query(ISSUES, [account.part, account.accountId, jobId]);
}

export interface NewIssue {
  position: number;
  category: string;
  severity: string;
  note: string | undefined;
  range: { start: number; end: number } | undefined;
}

// Whose the target is: not the reviewer's, who may have put it right before marking what was wrong with it.
const INSERT_ISSUE = statement<IssueRow>(
  'editing.insert_issue',
  `with made as (
     insert into issues (part, account_id, issue_id, job_id, position, category, severity, note, range_start, range_end,
       reviewer_id, editor_id, task_id)
     select $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11,
            coalesce(
              (select editor_id from edits
                where part = $1 and account_id = $2 and job_id = $4 and position = $5 and editor_id <> $11),
              (select editor_id from edit_history
                where part = $1 and account_id = $2 and job_id = $4 and position = $5 and kind = 'confirmed'
                  and editor_id <> $11
                order by history_id desc limit 1)), $12
     returning issue_id, position, category, severity, note, range_start, range_end, reviewer_id, created_at)
   select m.*, coalesce(u.name, '') as by from made m left join users u on u.user_id = m.reviewer_id`,
);

export async function insertIssue(
  transaction: Transaction,
  account: AccountRef,
  { jobId, taskId, reviewerId }: { jobId: string; taskId: string; reviewerId: string },
  { position, category, severity, note, range }: NewIssue,
): Promise<IssueRow> {
  const [row] = await transaction.query(INSERT_ISSUE, [
    account.part,
    account.accountId,
    uuidv7(),
    jobId,
    position,
    category,
    severity,
    note ?? null,
    range?.start ?? null,
    range?.end ?? null,
    reviewerId,
    taskId,
  ]);
  return row!;
}

const DELETE_ISSUE = statement<{ issue_id: string }>(
  'editing.delete_issue',
  `delete from issues where part = $1 and account_id = $2 and task_id = $3 and issue_id = $4 returning issue_id`,
);

/** @returns false where this review has marked no such issue */
export async function deleteIssue(
  transaction: Transaction,
  account: AccountRef,
  taskId: string,
  issueId: string,
): Promise<boolean> {
  const values = [account.part, account.accountId, taskId, issueId];
  return (await transaction.query(DELETE_ISSUE, values)).length > 0;
}

const MARKED = statement<{ position: number }>(
  'editing.marked',
  `select distinct position from issues where part = $1 and account_id = $2 and task_id = $3 order by position`,
);

/** The segments in which a review has marked something. */
export async function listMarked(on: Queryable, account: AccountRef, taskId: string): Promise<number[]> {
  const rows = await on.query(MARKED, [account.part, account.accountId, taskId]);
  return rows.map(({ position }) => position);
}

export interface CommentRow {
  comment_id: string;
  position: number | null;
  body: string;
  by: string;
  role: 'customer' | 'editor' | 'operator';
  created_at: Date;
}

const COMMENTS = statement<CommentRow>(
  'editing.comments',
  `select c.comment_id, c.position, c.body, coalesce(u.name, a.username) as by, coalesce(u.role, 'customer') as role,
          c.created_at
     from comments c join accounts a on a.account_id = c.account_id left join users u on u.user_id = c.user_id
    where c.part = $1 and c.account_id = $2 and c.job_id = $3 order by c.comment_id limit 1000`,
);

export function listComments(on: Queryable, account: AccountRef, jobId: string): Promise<CommentRow[]> {
  return on.query(COMMENTS, [account.part, account.accountId, jobId]);
}

const INSERT_COMMENT = statement<{ comment_id: string; created_at: Date }>(
  'editing.insert_comment',
  `insert into comments (part, account_id, comment_id, job_id, position, user_id, body)
   values ($1, $2, $3, $4, $5, $6, $7) returning comment_id, created_at`,
);

/** @param userId undefined: the customer, by the interface for programs */
export async function insertComment(
  on: Queryable,
  account: AccountRef,
  jobId: string,
  comment: { position: number | undefined; userId: string | undefined; body: string },
): Promise<{ comment_id: string; created_at: Date }> {
  const { position, userId, body } = comment;
  const key = [account.part, account.accountId, uuidv7(), jobId];
  const [row] = await on.query(INSERT_COMMENT, [...key, position ?? null, userId ?? null, body]);
  return row!;
}

/** SQL statements about edits of segments and their history. */
import type { Piece } from '@dragoman/documents';
import type { Confidence } from '@dragoman/engines';
import type { AccountRef } from '../../base/account.ts';
import type { Queryable, Transaction } from '../../database/database.ts';
import { columnsOf, statement } from '../../database/statements.ts';
import type { ComparedTarget, DeliveredSegment } from '../../memory/efforts.ts';

/** The last position that a segment can have. */
export const MAX_POSITION = 2 ** 31 - 1;

/** A segment with its current edit. Segments that are joined with an earlier one are not listed. */
export interface SegmentRow {
  position: number;
  segment_id: string;
  source: Piece[];
  draft: Piece[] | null;
  route: string | null;
  notes: string[];
  failure: string | null;
  /** The mean and the lowest confidence of the engine that made the draft; null: not reported. */
  confidence: number | null;
  least_confidence: number | null;
  repeats: number | null;
  status: 'open' | 'draft' | 'confirmed';
  target: Piece[] | null;
  revision: number;
  editor_id: string | null;
  acknowledged: string[];
  filled: boolean;
  comments: number;
  unsure: boolean;
  asked: boolean;
  /** What an editor has joined with this segment; null: nothing. */
  joined: JoinedColumn | null;
  /** Where an editor has split this segment; null: nowhere. */
  cuts: Cuts | null;
  /** The similar memory entry that editors see as the draft; null: they see `draft`. */
  similar: ComparedTarget | null;
}

/** The places that divide the source and the target of a segment into its parts. A place counts characters and codes. */
export interface Cuts {
  /** In ascending order. */
  source: number[];
  /** One for each place of the source. Targets that were not saved in the workbench may be shorter. */
  target: number[];
}

/**
 * SQL condition on segment `s`: editors see a similar memory entry as its draft. A vote or another engine has another
 * route, so its text is shown.
 */
export const SHOWS_SIMILAR = showsSimilar('s.route');
/** @param route the SQL expression for the route of the draft that may be replaced */
export function showsSimilar(route: string): string {
  return `coalesce((s.similar_entry->>'better')::boolean and s.similar_entry->>'than' = ${route}, false)`;
}

/** SQL expression for the route of the draft of segment `s` that editors see. */
export const SHOWN_ROUTE = `case when ${SHOWS_SIMILAR} then 'memory:' || (s.similar_entry->>'score') else s.route end`;

/**
 * Returns a segment with the draft that editors see. A similar memory entry is only shown: without an editor, the
 * engine's draft is delivered, which stays in the row.
 */
export function withShownDraft(row: SegmentRow): SegmentRow {
  const { similar } = row;
  return similar === null
    ? row
    : { ...row, draft: similar.target, route: `memory:${similar.score}`, notes: [] };
}

/** The stored state of a segment that an editor has joined with those after it. Retention keeps only `last`. */
export interface JoinedColumn {
  /** The position of the last segment. */
  last: number;
  /** The markup of each code. */
  codes: Record<string, string>;
  /** The target after the join; null if the targets of the parts are lost. */
  target: Piece[] | null;
  /** The first segment before the join. */
  own: JoinedSegment;
}

/** The columns, the target and the last confirmed target of a segment before a join. Older joins lack `confirmed`. */
export interface JoinedSegment
  extends Pick<SegmentRow, 'source' | 'draft' | 'route' | 'notes' | 'failure' | 'target'> {
  confirmed?: { target: Piece[]; editorId: string } | undefined;
}

// SQL of a query whose first parameter is the account's part.
const SEGMENTS_FROM = `select s.position, s.segment_id, s.source, s.draft, s.route, s.notes, s.failure, s.repeats,
          s.confidence, s.least_confidence, s.joined, s.cuts, case when ${SHOWS_SIMILAR} then s.similar_entry end as similar,
          coalesce(e.status, 'open') as status, e.target, coalesce(e.revision, 0) as revision, e.editor_id,
          coalesce(e.acknowledged, '{}') as acknowledged, e.filled_from is not null as filled,
          (select count(*) from comments c
            where c.part = $1 and c.account_id = s.account_id and c.job_id = s.job_id
              and c.position = s.position) as comments,
          exists (select from unsure_marks m
                   where m.part = $1 and m.account_id = s.account_id and m.job_id = s.job_id
                     and m.position = s.position) as unsure,
          exists (select from queries q
                   where q.part = $1 and q.account_id = s.account_id and q.job_id = s.job_id
                     and q.position = s.position and q.status = 'open') as asked
     from segments s
     left join edits e on e.part = $1 and e.account_id = s.account_id and e.job_id = s.job_id
      and e.position = s.position
    where s.joined_to is null`;

const SEGMENTS = statement<SegmentRow>(
  'editing.segments',
  `${SEGMENTS_FROM}
      and s.part = $1 and s.account_id = $2 and s.job_id = $3 and s.position between $4 and $5 order by s.position`,
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

const SEGMENT_WITH = statement<SegmentRow>(
  'editing.segment_with',
  `${SEGMENTS_FROM}
      and s.part = $1 and s.account_id = $2 and s.job_id = $3 and s.position = (
        select coalesce(o.joined_to, o.position) from segments o
         where o.part = $1 and o.account_id = $2 and o.job_id = $3 and o.position = $4)`,
);

/** Returns the segment at `position`, or the earlier one with which it is joined. */
export async function readSegmentWith(
  on: Queryable,
  account: AccountRef,
  jobId: string,
  position: number,
): Promise<SegmentRow | undefined> {
  return (await on.query(SEGMENT_WITH, [account.part, account.accountId, jobId, position]))[0];
}

const SEGMENTS_AT = statement<SegmentRow>(
  'editing.segments_at',
  `${SEGMENTS_FROM}
      and s.part = $1 and s.account_id = $2 and s.job_id = $3 and s.position = any($4) order by s.position`,
);

/** Returns the segments at `positions`, in that order. */
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

// SQL query for the segments with the same text that no editor has edited. The column `repeats` of a segment
// has the position of the first segment with its text.
const REPEATS = statement<SegmentRow>(
  'editing.repeats',
  `${SEGMENTS_FROM}
      and s.part = $1 and s.account_id = $2 and s.job_id = $3 and s.position <> $5
      and (s.repeats = $4 or s.position = $4) and (e.position is null or e.filled_from is not null)
    order by s.position`,
);

/** Returns the other segments of the job that have the same text and that no editor has edited. */
export function readRepeats(
  on: Queryable,
  account: AccountRef,
  jobId: string,
  first: number,
  position: number,
): Promise<SegmentRow[]> {
  return on.query(REPEATS, [account.part, account.accountId, jobId, first, position]);
}

/** A segment's text for the delivery. */
export interface SegmentTargetRow {
  segment_id: string;
  source: Piece[];
  position: number;
  /** The number of segments that its target translates. */
  segments: number;
  target: Piece[] | null;
  route: string | null;
  /** Why no engine could translate it, if so. */
  failure: string | null;
  /** The editor of the last confirmed target of this segment; null: no target was ever confirmed. */
  confirmed_by: string | null;
}

// A confirmed segment becomes a draft again when a reviewer returns it or an editor changes it. The last
// confirmed target is then in the history. A target from before a join or a separation translates another source.
/**
 * Returns the text of every segment of a job: the last confirmed target, otherwise the draft.
 * @param unconfirmed true if an unconfirmed edit or a similar memory entry takes precedence, as in a preview
 */
export const readTargets = statement<
  SegmentTargetRow,
  { account: AccountRef; jobId: string; unconfirmed: boolean }
>(
  'editing.targets',
  `select s.segment_id, s.source, s.position, s.route, s.failure,
          coalesce((s.joined->>'last')::integer - s.position + 1, 1) as segments,
          coalesce(case when :unconfirmed or e.status = 'confirmed' then e.target else c.target end,
            case when :unconfirmed and ${SHOWS_SIMILAR} then s.similar_entry->'target' end, s.draft) as target,
          case when e.status = 'confirmed' then e.editor_id else c.editor_id end as confirmed_by
     from segments s
     left join edits e on e.part = :part and e.account_id = s.account_id and e.job_id = s.job_id
      and e.position = s.position
     left join lateral (
       select h.target, h.editor_id from edit_history h
        where e.status = 'draft' and h.part = :part and h.account_id = e.account_id and h.job_id = e.job_id
          and h.position = e.position and h.kind = 'confirmed' and h.revision > s.divided_at
        order by h.revision desc limit 1) c on true
    where s.part = :part and s.account_id = :account_id and s.job_id = :jobId and s.joined_to is null
      order by s.position`,
).rows;

// A segment that was filled shows nothing: its editor started from another text. The length is limited, because the time
// of a comparison grows with its square.
/** Returns segments that editors confirmed and that have drafts of an engine and of the memory, at most 500. */
export const readCompared = statement<DeliveredSegment, { account: AccountRef; jobId: string }>(
  'editing.compared',
  `select s.draft, s.route, s.similar_entry as similar, e.target
     from segments s
     join edits e on e.part = :part and e.account_id = s.account_id and e.job_id = s.job_id and e.position = s.position
    where s.part = :part and s.account_id = :account_id and s.job_id = :jobId and s.similar_entry->>'than' = s.route
      and e.status = 'confirmed' and e.filled_from is null
      and length(s.draft::text) <= 4000 and length(e.target::text) <= 4000
      and not exists (select from fills f
                       where f.part = :part and f.account_id = s.account_id and f.job_id = s.job_id
                         and f.position = s.position)
    order by s.position limit 500`,
).rows;

/** Returns the number of segments of each joined segment, by the id of the first one. */
export function joinsOf(targets: readonly SegmentTargetRow[]): [segmentId: string, segments: number][] {
  return targets.flatMap(({ segment_id, segments }) => (segments > 1 ? [[segment_id, segments]] : []));
}

/** Returns the sources of segments by their ids, in their order. */
export const sourcesOf = (targets: readonly SegmentTargetRow[]): [segmentId: string, source: Piece[]][] =>
  targets.map(({ segment_id, source }) => [segment_id, source]);

/** SQL condition on segment `s`: nobody has edited it, and no editor holds its task. @param part its SQL */
const untouched = (part: string) => `
  exists (select from edited_jobs e
           where e.part = ${part} and e.account_id = s.account_id and e.job_id = s.job_id and e.stage = 'editing')
  and exists (select from tasks t
               where t.part = ${part} and t.account_id = s.account_id and t.job_id = s.job_id and t.kind = 'edit'
                 and t.status in ('open', 'reported') and s.position between t.first_position and t.last_position)
  and not exists (select from edits e
                   where e.part = ${part} and e.account_id = s.account_id and e.job_id = s.job_id
                     and e.position = s.position)`;
const COUNT_UNTOUCHED = statement<{ segments: number }>(
  'editing.count_untouched',
  `select count(*) as segments from segments s
    where s.part = $1 and s.account_id = $2 and s.job_id = $3 and ${untouched('$1')}`,
);

/** Counts the segments of a job that no editor holds or has edited. */
export async function countUntouched(on: Queryable, account: AccountRef, jobId: string): Promise<number> {
  return (await on.query(COUNT_UNTOUCHED, [account.part, account.accountId, jobId]))[0]!.segments;
}

const REPLACE_UNTOUCHED = statement<{ position: number }>(
  'editing.replace_untouched',
  `update segments s set draft = g.draft, route = g.route, failure = null, similar_entry = null,
          confidence = g.confidence, least_confidence = g.least_confidence,
          notes = array(select jsonb_array_elements_text(g.notes))
     from unnest(:position::integer[], :segment_id::text[], :draft::jsonb[], :route::text[], :notes::jsonb[],
       :confidence::real[], :least_confidence::real[])
       as g (position, segment_id, draft, route, notes, confidence, least_confidence)
    where s.part = :part and s.account_id = :account_id and s.job_id = :job_id and s.position = g.position
      and s.segment_id = g.segment_id and ${untouched(':part')}
   returning s.position`,
);

/** Replaces the drafts of unedited segments. @returns the positions of the replaced drafts */
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
    confidence?: Confidence | undefined;
  }[],
): Promise<number[]> {
  const rows = await transaction.query(REPLACE_UNTOUCHED, {
    part: account.part,
    account_id: account.accountId,
    job_id: jobId,
    ...columnsOf(drafts, {
      position: ({ position }) => position,
      segment_id: ({ segmentId }) => segmentId,
      draft: ({ draft }) => JSON.stringify(draft),
      route: ({ route }) => route ?? null,
      notes: ({ notes }) => JSON.stringify(notes),
      confidence: ({ confidence }) => confidence?.mean ?? null,
      least_confidence: ({ confidence }) => confidence?.minimum ?? null,
    }),
  });
  if (rows.length > 0) transaction.changed('edit', account, jobId);
  return rows.map(({ position }) => position);
}

/** Returns the positions of segments that are not confirmed or have an open query. */
export const listUnconfirmed = statement<
  { position: number },
  { account: AccountRef; jobId: string; first: number; last: number }
>(
  'editing.unconfirmed',
  `select s.position
     from segments s
     left join edits e on e.part = :part and e.account_id = s.account_id and e.job_id = s.job_id
      and e.position = s.position
    where s.part = :part and s.account_id = :account_id and s.job_id = :jobId
      and s.position between :first and :last and s.joined_to is null
      and (e.status is distinct from 'confirmed' or exists (
        select from queries q
         where q.part = :part and q.account_id = s.account_id and q.job_id = s.job_id
           and q.position = s.position and q.status = 'open'))
    order by s.position`,
).values;

export interface Edit {
  position: number;
  /** The revision that this edit replaces; 0 for the first edit. */
  revision: number;
  target: readonly Piece[];
  status: 'draft' | 'confirmed';
  editorId: string;
  activeMs: number;
  distance: number;
  words: number;
  acknowledged: readonly string[];
  filledFrom?: number;
  /** Where the segment is split with this target; undefined: as before. */
  cuts?: Cuts | undefined;
}

const FIRST_EDIT = statement<{ revision: number }>(
  'editing.first_edit',
  `insert into edits (part, account_id, job_id, position, status, target, revision, editor_id, active_ms, distance, words,
     acknowledged, filled_from, confirmed_at)
   values (:part, :account_id, :job_id, :position, :status, :target, :revision + 1,
     :editor_id, :active_ms, :distance, :words, :acknowledged, :filled_from,
     case when :status = 'confirmed' then now() end)
   on conflict (part, account_id, job_id, position) do nothing
   returning revision`,
);
const NEXT_EDIT = statement<{ revision: number }>(
  'editing.next_edit',
  `update edits set status = :status, target = :target, revision = revision + 1, editor_id = :editor_id,
          active_ms = active_ms + :active_ms, distance = :distance, words = :words,
          acknowledged = :acknowledged, filled_from = :filled_from, changed_at = now(),
          confirmed_at = (select now() where :status = 'confirmed')
    where part = :part and account_id = :account_id and job_id = :job_id and position = :position
      and revision = :revision
   returning revision`,
);

/**
 * Saves an edit. @returns false if the current revision of the segment is not the one that the edit replaces
 */
export async function saveEdit(
  transaction: Transaction,
  account: AccountRef,
  jobId: string,
  edit: Edit,
): Promise<boolean> {
  const rows = await transaction.query(edit.revision === 0 ? FIRST_EDIT : NEXT_EDIT, {
    part: account.part,
    account_id: account.accountId,
    job_id: jobId,
    position: edit.position,
    revision: edit.revision,
    status: edit.status,
    target: JSON.stringify(edit.target),
    editor_id: edit.editorId,
    active_ms: edit.activeMs,
    distance: edit.distance,
    words: edit.words,
    acknowledged: edit.acknowledged,
    filled_from: edit.filledFrom ?? null,
  });
  if (rows.length === 0) return false;
  if (edit.cuts) await setCuts(transaction, account, jobId, edit.position, edit.cuts);
  transaction.changed('edit', account, jobId);
  return true;
}

const SET_CUTS = statement(
  'editing.set_cuts',
  'update segments set cuts = $5 where part = $1 and account_id = $2 and job_id = $3 and position = $4',
);

/** Splits a segment at `cuts`; undefined: nowhere. */
export async function setCuts(
  transaction: Transaction,
  account: AccountRef,
  jobId: string,
  position: number,
  cuts: Cuts | undefined,
): Promise<void> {
  const stored = cuts === undefined ? null : JSON.stringify(cuts);
  await transaction.query(SET_CUTS, [account.part, account.accountId, jobId, position, stored]);
  transaction.changed('edit', account, jobId);
}

/**
 * Shows a similar entry as the draft of a segment. @returns false if somebody has edited it, or it has another draft, or a
 * better entry
 */
export const showSimilar = statement<
  { position: number },
  { account: AccountRef; jobId: string; position: number; similar: string },
  Transaction
>(
  'editing.show_similar',
  `update segments s set similar_entry = :similar
    where part = :part and account_id = :account_id and job_id = :jobId and position = :position
      and :similar::jsonb->>'than' = route
      and (not ${SHOWS_SIMILAR} or (similar_entry->>'score')::integer < (:similar::jsonb->>'score')::integer)
      and not exists (
        select from edits e
         where e.part = :part and e.account_id = s.account_id and e.job_id = s.job_id and e.position = s.position)
   returning position`,
).reporting('edit').found;

export const unconfirm = statement<
  never,
  { account: AccountRef; jobId: string; positions: readonly number[] },
  Transaction
>(
  'editing.unconfirm',
  `update edits set status = 'draft', revision = revision + 1, confirmed_at = null, changed_at = now()
    where part = :part and account_id = :account_id and job_id = :jobId and position = any(:positions)
      and status = 'confirmed'`,
).reporting('edit').run;

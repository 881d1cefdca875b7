/** SQL statements that fill waiting segments with the text of a vote, and restore them. */
import type { Piece } from '@dragoman/documents';
import type { AccountRef } from '../../base/account.ts';
import type { Queryable, Transaction } from '../../database/database.ts';
import { columnsOf, statement } from '../../database/statements.ts';
import type { Stage, TaskJobRow } from '../model/edited-jobs-store.ts';
import { SHOWS_SIMILAR, showsSimilar } from '../model/edits-store.ts';
import type { TaskStatus } from '../model/states.ts';
import type { ReadingContext } from './readings.ts';

export interface SegmentPlace {
  job_id: string;
  position: number;
}

const PLACES_OF_READING = statement<SegmentPlace>(
  'editing.places_of_reading',
  `select job_id, position from readings
    where part = $1 and account_id = $2 and reading = $3 and (job_id, position) > ($4::uuid, $5::integer)
    order by job_id, position limit $6`,
);
const NO_ID = '00000000-0000-0000-0000-000000000000';

/**
 * Returns the segments that have this reading, in the order of job and position, after the segment `after`.
 */
export function listPlacesOfReading(
  on: Queryable,
  account: AccountRef,
  reading: Buffer,
  after: SegmentPlace | undefined,
  limit: number,
): Promise<SegmentPlace[]> {
  const { job_id, position } = after ?? { job_id: NO_ID, position: -1 };
  return on.query(PLACES_OF_READING, [account.part, account.accountId, reading, job_id, position, limit]);
}

const PLACES_OF_JOB = statement<SegmentPlace>(
  'editing.places_of_job',
  `select r.job_id, r.position from readings r
    where r.part = $1 and r.account_id = $2 and r.job_id = $3 and r.position > $4
      and (exists (select from votes v
                    where v.part = $1 and v.account_id = r.account_id and v.reading = r.reading
                      and v.withdrawn_at is null)
           or exists (select from disagreements d
                       where d.part = $1 and d.account_id = r.account_id and d.reading = r.reading
                         and d.ruled_at is not null)
           or exists (select from fills f
                       where f.part = $1 and f.account_id = r.account_id and f.job_id = r.job_id
                         and f.position = r.position))
    order by r.position limit $5`,
);

/**
 * Returns the segments of a job that hold the text of a vote or whose reading has votes or a rule, after the
 * segment `after`.
 */
export function listPlacesOfJob(
  on: Queryable,
  account: AccountRef,
  jobId: string,
  after: SegmentPlace | undefined,
  limit: number,
): Promise<SegmentPlace[]> {
  const key = [account.part, account.accountId, jobId];
  return on.query(PLACES_OF_JOB, [...key, after?.position ?? -1, limit]);
}

/** A segment with everything that decides whether and how it is filled. */
export interface FillableRow
  extends SegmentPlace,
    Pick<TaskJobRow, 'source_language' | 'target_language' | 'text_format' | 'document_settings'> {
  segment_id: string;
  source: Piece[];
  /** The draft that editors see; null without one, and if they see a similar memory entry. */
  draft: Piece[] | null;
  reading: Buffer;
  context: ReadingContext;
  stage: Stage;
  /** The task that edits the segment. */
  task_id: string;
  task_status: TaskStatus;
  /** The revision of the segment's edit; null if nobody has edited it. */
  revision: number | null;
  /** The hash of the target that a vote has filled in; null if there is none. */
  filled_hash: Buffer | null;
  /** The revision of the edit with which the fill confirmed the target; 0 if the fill is a draft. */
  filled_revision: number | null;
  /** The draft that editors saw before the fill. */
  former_draft: Piece[] | null;
  /** True if the draft is the customer's own translation. */
  is_own: boolean;
  brand: string | null;
  /** What votes do in the jobs of the brand. */
  setting: 'off' | 'draft' | 'confirm';
  /** The vote whose target is filled in; null if there is none. The vote may have expired. */
  filled_vote: string | null;
  /** True if the filled text is that of a rule. */
  by_rule: boolean;
  /** Like `filled_hash` and `filled_vote`, but under a rule those of the fill that the rule replaced. */
  voted_hash: Buffer | null;
  voted_vote: string | null;
  /** True if a query to the customer is open, so that the segment cannot be confirmed. */
  asked: boolean;
}

// Jobs without a brand have the setting that is the default for brands. A removed brand may have switched votes off, so
// they change nothing in its jobs. Drafts of jobs that correct chat messages have the route `supplied`, although an
// engine made them.
const FILLABLE = statement<FillableRow>(
  'editing.fillable',
  `select r.job_id, r.position, r.reading, r.context, s.segment_id, s.source,
          case when not ${SHOWS_SIMILAR} then s.draft end as draft, w.stage, t.task_id,
          t.status as task_status, e.revision, f.target_hash as filled_hash, f.revision as filled_revision,
          case when ${showsSimilar('f.route')} then s.similar_entry->'target' else f.draft end as former_draft,
          j.source_language, j.target_language, j.text_format, j.document_settings,
          b.external_id as brand,
          coalesce(s.route = 'supplied', false) and s.draft is not null and j.tier <> 'chat' as is_own,
          coalesce(b.votes, case when coalesce(j.brand, j.default_brand) is null then 'draft' else 'off' end) as setting,
          f.vote_id as filled_vote, f.under_rule is not null as by_rule,
          case when f.under_rule is null then f.target_hash else (f.under_rule->>'target_hash')::bytea end as voted_hash,
          case when f.under_rule is null then f.vote_id else (f.under_rule->>'vote_id')::uuid end as voted_vote,
          exists (select from queries q
                   where q.part = $1 and q.account_id = r.account_id and q.job_id = r.job_id
                     and q.position = r.position and q.status = 'open') as asked
     from unnest($3::uuid[], $4::integer[]) as g (job_id, position)
     join readings r on r.part = $1 and r.account_id = $2 and r.job_id = g.job_id and r.position = g.position
     join segments s on s.part = $1 and s.account_id = r.account_id and s.job_id = r.job_id
      and s.position = r.position
     join jobs j on j.part = $1 and j.account_id = r.account_id and j.job_id = r.job_id
     join edited_jobs w on w.part = $1 and w.account_id = r.account_id and w.job_id = r.job_id
     join tasks t on t.part = $1 and t.account_id = r.account_id and t.job_id = r.job_id
      and t.kind = 'edit' and t.status <> 'canceled'
      and r.position between t.first_position and t.last_position
     left join edits e on e.part = $1 and e.account_id = r.account_id and e.job_id = r.job_id
      and e.position = r.position
     left join fills f on f.part = $1 and f.account_id = r.account_id and f.job_id = r.job_id
      and f.position = r.position
     left join brands b on b.part = $1 and b.account_id = j.account_id
      and b.external_id = coalesce(j.brand, j.default_brand)
    order by r.job_id, r.position`,
);

export function readFillable(
  on: Queryable,
  account: AccountRef,
  places: readonly SegmentPlace[],
): Promise<FillableRow[]> {
  return on.query(FILLABLE, [account.part, account.accountId, ...columnsOfPlaces(places)]);
}

/** Returns true if no editor has edited the segment. Its current edit, if any, was made by a fill. */
export function isUntouched({ revision, filled_revision }: FillableRow): boolean {
  return revision === null || (filled_revision !== null && revision === filled_revision);
}

/** Returns true if the segment is untouched, nobody holds its task, and its job is being edited. */
export function isWaiting(row: FillableRow): boolean {
  return row.stage === 'editing' && ['open', 'reported'].includes(row.task_status) && isUntouched(row);
}

const FILLED = statement<SegmentPlace>(
  'editing.filled',
  `select job_id, position from fills
    where part = $1 and account_id = $2 and vote_id = any($3) and (job_id, position) > ($4::uuid, $5::integer)
    order by job_id, position limit $6`,
);

/** Returns the segments that hold the text of these votes, after the segment `after`. */
export function listFilled(
  on: Queryable,
  account: AccountRef,
  voteIds: readonly string[],
  after: SegmentPlace | undefined,
  limit: number,
): Promise<SegmentPlace[]> {
  const { job_id, position } = after ?? { job_id: NO_ID, position: -1 };
  return on.query(FILLED, [account.part, account.accountId, voteIds, job_id, position, limit]);
}

/** A segment that holds the text of a vote, and why an undo of the vote does not change it. */
export interface KeptFill {
  uid: string;
  position: number;
  why: 'edited' | 'held' | 'delivered';
}

/**
 * Returns up to 1,000 segments that still hold the text of these votes, and why an undo does not change them.
 */
export const findKept = statement<KeptFill, { account: AccountRef; voteIds: readonly string[] }>(
  'editing.kept_fills',
  `select j.uid, f.position,
          case when w.stage = 'done' then 'delivered'
               when e.revision is null or e.revision = f.revision then 'held' else 'edited' end as why
     from fills f
     join jobs j on j.part = :part and j.account_id = f.account_id and j.job_id = f.job_id
     join edited_jobs w on w.part = :part and w.account_id = f.account_id and w.job_id = f.job_id
     left join edits e on e.part = :part and e.account_id = f.account_id and e.job_id = f.job_id
      and e.position = f.position
    where f.part = :part and f.account_id = :account_id and f.vote_id = any(:voteIds) and f.under_rule is null
      and w.stage <> 'canceled'
    order by f.job_id, f.position limit 1000`,
).rows;

/** Locks tasks of several jobs, so that nobody claims them before the transaction ends. */
export const lockTasksOf = statement<never, { account: AccountRef; taskIds: readonly string[] }, Transaction>(
  'editing.lock_tasks_of',
  `select task_id from tasks where part = :part and account_id = :account_id and task_id = any(:taskIds)
    order by task_id for update`,
).run;

// A transaction that fills segments locks their tasks for update. Tasks in other statuses are left out, because a change
// of the status waits for the end of that transaction.
const WAIT_FOR_FILLS = statement(
  'editing.wait_for_fills',
  `select t.task_id from unnest($3::uuid[], $4::integer[]) as g (job_id, position)
     join tasks t on t.part = $1 and t.account_id = $2 and t.job_id = g.job_id and t.kind = 'edit'
      and g.position between t.first_position and t.last_position
    where t.status in ('open', 'reported') order by t.task_id for key share of t`,
);

/**
 * Waits for the transactions that fill or restore these segments now. They may have read the votes and rules
 * before the latest change.
 */
export async function waitForFills(
  on: Queryable,
  account: AccountRef,
  places: readonly SegmentPlace[],
): Promise<void> {
  await on.query(WAIT_FOR_FILLS, [account.part, account.accountId, ...columnsOfPlaces(places)]);
}

/** The text of a vote or rule for one segment. */
export interface NewFill extends SegmentPlace {
  voteId: string;
  byRule: boolean;
  targetHash: Buffer;
  target: readonly Piece[];
  /** The words that the segment takes from another job: those of its source, or 0 if the vote is of its own job. */
  words: number;
  /** The revision of the edit that confirms the text; 0 for a draft. */
  revision: number;
  editorId: string;
  acknowledged: readonly string[];
}

const KEEP_UNDER_RULES = statement(
  'editing.keep_under_rules',
  `update fills f
      set under_rule = k.kept
     from (select o.job_id, o.position,
                  jsonb_build_object('vote_id', o.vote_id, 'target_hash', o.target_hash, 'revision', o.revision,
                    'words', o.words, 'filled_at', o.filled_at, 'draft', s.draft, 'edit', to_jsonb(e)) as kept
             from unnest($3::uuid[], $4::integer[]) as g (job_id, position)
             join fills o on o.part = $1 and o.account_id = $2 and o.job_id = g.job_id and o.position = g.position
             join segments s on s.part = $1 and s.account_id = $2 and s.job_id = g.job_id and s.position = g.position
             left join edits e on e.part = $1 and e.account_id = s.account_id and e.job_id = s.job_id
              and e.position = s.position
            where o.under_rule is null) k
    where f.part = $1 and f.account_id = $2 and f.job_id = k.job_id and f.position = k.position
      and f.under_rule is null`,
);

/**
 * Keeps what votes have filled into segments, with the edits that they confirmed, because rules are about to
 * replace it.
 */
export async function keepUnderRules(
  transaction: Transaction,
  account: AccountRef,
  places: readonly SegmentPlace[],
): Promise<void> {
  if (places.length === 0) return;
  await transaction.query(KEEP_UNDER_RULES, [account.part, account.accountId, ...columnsOfPlaces(places)]);
}

const FORGET_UNDER_RULES = statement(
  'editing.forget_under_rules',
  `update fills f set under_rule = '{}' from unnest($3::uuid[], $4::integer[]) as g (job_id, position)
    where f.part = $1 and f.account_id = $2 and f.job_id = g.job_id and f.position = g.position`,
);

/**
 * Forgets what votes have filled into segments before rules replaced it. When the rules end, the segments get their
 * former drafts. The caller holds the locks of their tasks.
 */
export async function forgetUnderRules(
  transaction: Transaction,
  account: AccountRef,
  places: readonly SegmentPlace[],
): Promise<void> {
  if (places.length === 0) return;
  await transaction.query(FORGET_UNDER_RULES, [account.part, account.accountId, ...columnsOfPlaces(places)]);
}

// A second fill of a segment keeps the draft that the first fill replaced.
const KEEP_DRAFTS = statement(
  'editing.keep_drafts',
  `insert into fills (part, account_id, job_id, position, vote_id, target_hash, revision, words, draft, route, notes,
     failure, under_rule)
   select s.part, s.account_id, s.job_id, s.position, g.vote_id, g.target_hash, g.revision, g.words, s.draft, s.route,
          s.notes, s.failure, case when g.by_rule then '{}'::jsonb end
     from unnest(:job_ids::uuid[], :positions::integer[], :vote_ids::uuid[], :target_hashes::bytea[],
       :revisions::integer[], :words::integer[], :by_rules::boolean[])
       as g (job_id, position, vote_id, target_hash, revision, words, by_rule)
     join segments s on s.part = :part and s.account_id = :account_id and s.job_id = g.job_id
      and s.position = g.position
   on conflict (part, account_id, job_id, position) do update
      set vote_id = excluded.vote_id, target_hash = excluded.target_hash, revision = excluded.revision,
          words = excluded.words, filled_at = excluded.filled_at`,
);
const FILL_DRAFTS = statement(
  'editing.fill_drafts',
  `update segments s set draft = g.target, route = 'memory:vote', notes = '{}', failure = null
     from unnest($3::uuid[], $4::integer[], $5::jsonb[]) as g (job_id, position, target)
    where s.part = $1 and s.account_id = $2 and s.job_id = g.job_id and s.position = g.position`,
);
// The words are not counted as an editor's work, because nobody has worked on them.
const CONFIRM_FILLS = statement(
  'editing.confirm_fills',
  `insert into edits (part, account_id, job_id, position, status, target, revision, editor_id, acknowledged, confirmed_at)
   select :part, :account_id, g.job_id, g.position, 'confirmed', g.target, g.revision, g.editor_id,
          array(select jsonb_array_elements_text(g.acknowledged)), now()
     from unnest(:job_ids::uuid[], :positions::integer[], :targets::jsonb[], :revisions::integer[],
       :editor_ids::uuid[], :acknowledged::jsonb[])
       as g (job_id, position, target, revision, editor_id, acknowledged)
   on conflict (part, account_id, job_id, position) do update
      set status = excluded.status, target = excluded.target, revision = excluded.revision,
          editor_id = excluded.editor_id, acknowledged = excluded.acknowledged, changed_at = excluded.changed_at,
          confirmed_at = excluded.confirmed_at`,
);

/** Writes the texts of votes and rules into waiting segments. The caller holds the locks of their tasks. */
export async function fillSegments(
  transaction: Transaction,
  account: AccountRef,
  fills: readonly NewFill[],
): Promise<void> {
  if (fills.length === 0) return;
  const own = { part: account.part, account_id: account.accountId };
  await transaction.query(KEEP_DRAFTS, {
    ...own,
    ...columnsOf(fills, {
      job_ids: ({ job_id }) => job_id,
      positions: ({ position }) => position,
      vote_ids: ({ voteId }) => voteId,
      target_hashes: ({ targetHash }) => targetHash,
      revisions: ({ revision }) => revision,
      words: ({ words }) => words,
      by_rules: ({ byRule }) => byRule,
    }),
  });
  const targets = fills.map(({ target }) => JSON.stringify(target));
  await transaction.query(FILL_DRAFTS, [account.part, account.accountId, ...columnsOfPlaces(fills), targets]);
  const confirmed = fills.filter(({ revision }) => revision > 0);
  if (confirmed.length > 0) {
    await transaction.query(CONFIRM_FILLS, {
      ...own,
      ...columnsOf(confirmed, {
        job_ids: ({ job_id }) => job_id,
        positions: ({ position }) => position,
        targets: ({ target }) => JSON.stringify(target),
        revisions: ({ revision }) => revision,
        editor_ids: ({ editorId }) => editorId,
        acknowledged: ({ acknowledged }) => JSON.stringify(acknowledged),
      }),
    });
  }
  for (const jobId of new Set(fills.map(({ job_id }) => job_id))) {
    transaction.changed('edit', account, jobId);
  }
}

const UNCONFIRM_FILLS = statement(
  'editing.unconfirm_fills',
  `delete from edits e using unnest($3::uuid[], $4::integer[]) as g (job_id, position), fills f
    where e.part = $1 and e.account_id = $2 and e.job_id = g.job_id and e.position = g.position
      and f.part = e.part and f.account_id = e.account_id and f.job_id = e.job_id and f.position = e.position
      and f.revision = e.revision`,
);

/** Deletes the confirmations that fills made. The texts stay as drafts. */
export async function unconfirmFills(
  transaction: Transaction,
  account: AccountRef,
  places: readonly SegmentPlace[],
): Promise<void> {
  if (places.length === 0) return;
  await transaction.query(UNCONFIRM_FILLS, [account.part, account.accountId, ...columnsOfPlaces(places)]);
  for (const { job_id: jobId } of places) transaction.changed('edit', account, jobId);
}

const RESTORE_DRAFTS = statement(
  'editing.restore_drafts',
  `with gone as (
     delete from fills f using unnest($3::uuid[], $4::integer[]) as g (job_id, position)
      where f.part = $1 and f.account_id = $2 and f.job_id = g.job_id and f.position = g.position
     returning f.*)
   update segments s set draft = g.draft, route = g.route, notes = g.notes, failure = g.failure
     from gone g
    where s.part = $1 and s.account_id = g.account_id and s.job_id = g.job_id and s.position = g.position`,
);

// The segment keeps its route, because votes and rules have the same.
const LIFT_RULES = statement<SegmentPlace>(
  'editing.lift_rules',
  `with back as (
     update fills f
        set vote_id = o.vote_id, target_hash = o.target_hash, revision = o.revision, filled_at = o.filled_at,
            words = coalesce(o.words, f.words), under_rule = null
       from unnest($3::uuid[], $4::integer[]) as g (job_id, position)
       join fills u on u.part = $1 and u.account_id = $2 and u.job_id = g.job_id and u.position = g.position
      cross join jsonb_populate_record(null::fills, u.under_rule) o
      where f.part = $1 and f.account_id = $2 and f.job_id = u.job_id and f.position = u.position
        and o.vote_id is not null
     returning f.part, f.account_id, f.job_id, f.position, u.under_rule as under),
   drafts as (
     update segments s set draft = b.under->'draft' from back b
      where s.part = $1 and s.account_id = b.account_id and s.job_id = b.job_id and s.position = b.position),
   confirmed as (
     insert into edits (part, account_id, job_id, position, status, target, revision, editor_id, acknowledged,
       changed_at, confirmed_at)
     select b.part, b.account_id, b.job_id, b.position, e.status, e.target, e.revision, e.editor_id, e.acknowledged,
            e.changed_at, e.confirmed_at
       from back b cross join jsonb_populate_record(null::edits, nullif(b.under->'edit', 'null')) e
      where e.revision is not null)
   select job_id, position from back`,
);

/**
 * Restores what fills replaced, and deletes the edits that the fills confirmed. Under a rule, that is the text
 * of a vote if there was one, with the edit that it had confirmed; otherwise it is the former draft.
 */
export async function restoreSegments(
  transaction: Transaction,
  account: AccountRef,
  places: readonly SegmentPlace[],
): Promise<void> {
  if (places.length === 0) return;
  await unconfirmFills(transaction, account, places);
  const key = [account.part, account.accountId];
  const lifted = await transaction.query(LIFT_RULES, [...key, ...columnsOfPlaces(places)]);
  const nameOf = ({ job_id, position }: SegmentPlace) => `${job_id} ${position}`;
  const names = new Set(lifted.map(nameOf));
  const others = places.filter((place) => !names.has(nameOf(place)));
  if (others.length > 0) await transaction.query(RESTORE_DRAFTS, [...key, ...columnsOfPlaces(others)]);
  for (const { job_id: jobId } of places) transaction.changed('edit', account, jobId);
}

/**
 * Deletes the records of fills whose drafts were replaced, and the confirmations that the fills made. Otherwise the new
 * drafts would count as the texts of votes.
 * @param positions null for all segments of the job
 */
export const forgetFills = statement<
  never,
  { account: AccountRef; jobId: string; positions: readonly number[] | null },
  Transaction
>(
  'editing.forget_fills',
  `with gone as (
     delete from fills
      where part = :part and account_id = :account_id and job_id = :jobId
        and (:positions::integer[] is null or position = any(:positions))
     returning position, revision)
   delete from edits e using gone g
    where e.part = :part and e.account_id = :account_id and e.job_id = :jobId and e.position = g.position
      and e.revision = g.revision`,
).reporting('edit').run;

function columnsOfPlaces(places: readonly SegmentPlace[]): [unknown[], unknown[]] {
  return [places.map(({ job_id }) => job_id), places.map(({ position }) => position)];
}

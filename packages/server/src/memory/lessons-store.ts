/**
 * SQL statements for lessons (the records of which job segments added a memory entry), and for the jobs that
 * used entries.
 */
import type { AccountRef } from '../base/account.ts';
import type { Queryable, Transaction } from '../database/database.ts';
import { statement } from '../database/statements.ts';

/**
 * What has become of a segment: its editor confirmed it, and later the outcome of its job for the customer. A `confirmed`
 * or `rejected` one adds no weight.
 */
export type LessonOutcome = 'confirmed' | 'rejected' | 'delivered' | 'reviewed' | 'accepted';
/**
 * How a job used an entry: `applied` if the entry became a draft, `taken` if an editor confirmed its
 * translation unchanged.
 */
export type Use = 'applied' | 'taken';

/** Deletes the lessons of a job. @returns the ids of the entries that the job had added or confirmed */
export const deleteLessons = statement<
  { memory_id: string },
  { account: AccountRef; jobId: string },
  Transaction
>(
  'memory.forget_lessons',
  `delete from memory_lessons where part = :part and account_id = :account_id and job_id = :jobId returning memory_id`,
).values;

/** Segments of a job, from the first to the last position. */
export interface SegmentRange {
  jobId: string;
  first: number;
  last: number;
}

// An entry that was not delivered goes with its last lesson. Without waiting for a transaction that has locked it: what
// is left is deleted by `deleteStaleLessons`.
const DELETE_LESSONS_OF = statement(
  'memory.forget_segments',
  `with gone as (
     delete from memory_lessons l using unnest($3::uuid[], $4::integer[], $5::integer[]) as g (job_id, first, last)
      where l.part = $1 and l.account_id = $2 and l.job_id = g.job_id and l.position between g.first and g.last
        and l.outcome = 'confirmed'
     returning l.job_id, l.position, l.memory_id),
   free as (
     select memory_id from memory m
      where part = $1 and account_id = $2 and memory_id in (select memory_id from gone) and memory_id <> all($6)
        and not delivered and weight = 0
        and not exists (
          select from memory_lessons l
           where l.part = $1 and l.account_id = m.account_id and l.memory_id = m.memory_id
             and (l.job_id, l.position, l.memory_id) not in (select * from gone))
        for update skip locked)
   delete from memory where part = $1 and account_id = $2 and memory_id in (select memory_id from free)`,
);

/**
 * Takes back what segments taught that are not confirmed any more, or whose job is not delivered with them: deletes their
 * lessons, and the entries that nothing else has taught. What their job taught with its delivery stays.
 * @param but entries that stay, because they are taught again at once
 */
export async function deleteLessonsOf(
  transaction: Transaction,
  account: AccountRef,
  ranges: readonly SegmentRange[],
  but: readonly string[] = [],
): Promise<void> {
  await transaction.query(DELETE_LESSONS_OF, [
    account.part,
    account.accountId,
    ranges.map(({ jobId }) => jobId),
    ranges.map(({ first }) => first),
    ranges.map(({ last }) => last),
    but,
  ]);
}

/** Returns accounts with entries that were not delivered within an hour. */
export const findUndelivered = statement<AccountRef, { limit: number }>(
  'memory.undelivered_accounts',
  `select distinct part, account_id as "accountId" from memory
    where not delivered and created_at < now() - interval '1 hour' limit :limit`,
).rows;

/**
 * Deletes lessons that wait for no delivery any more, and entries that were not delivered and have no lesson: older
 * versions end jobs without taking them back. @returns a value for each deleted entry
 */
export const deleteStaleLessons = statement<{ one: number }, { account: AccountRef; limit: number }>(
  'memory.delete_stale',
  `with gone as (
     delete from memory_lessons l
      where part = :part and account_id = :account_id and outcome = 'confirmed' and exists (
        select from jobs j
         where j.part = :part and j.account_id = l.account_id and j.job_id = l.job_id
           and j.status not in ('new', 'translating', 'rejected'))),
   free as (
     select memory_id from memory m
      where part = :part and account_id = :account_id and not delivered and weight = 0
        and created_at < now() - interval '1 hour' and not exists (
          select from memory_lessons l
           where l.part = :part and l.account_id = m.account_id and l.memory_id = m.memory_id)
      limit :limit for update skip locked)
   delete from memory where part = :part and account_id = :account_id and memory_id in (select memory_id from free)
   returning 1 as one`,
).values;

const TAUGHT_BEFORE = statement<{ memory_id: string }>(
  'memory.taught_before',
  `select memory_id from memory m
    where part = $1 and account_id = $2 and memory_id = any($4) and (origin = 'import' or exists (
      select from memory_lessons l
       where l.part = $1 and l.account_id = m.account_id and l.memory_id = m.memory_id and l.job_id <> $3
         and l.outcome <> 'confirmed'))`,
);

/** Returns the entries that a file, or another delivered job, has added. */
export async function findTaughtBefore(
  transaction: Transaction,
  account: AccountRef,
  jobId: string,
  memoryIds: readonly string[],
): Promise<Set<string>> {
  const rows = await transaction.query(TAUGHT_BEFORE, [account.part, account.accountId, jobId, memoryIds]);
  return new Set(rows.map(({ memory_id }) => memory_id));
}

export interface NewLesson {
  position: number;
  memoryId: string;
  editor: string | undefined;
  context: Buffer | undefined;
}

// Two parts of a segment can have the same texts, and then teach one entry.
const INSERT_LESSONS = statement(
  'memory.teach',
  `insert into memory_lessons (part, account_id, job_id, position, memory_id, editor_id, outcome, context_hash)
   select $1, $2, $3, position, memory_id, editor_id, $4, context_hash
     from unnest($5::integer[], $6::uuid[], $7::uuid[], $8::bytea[]) as g (position, memory_id, editor_id, context_hash)
   on conflict do nothing`,
);

export async function insertLessons(
  transaction: Transaction,
  account: AccountRef,
  { jobId, outcome }: { jobId: string; outcome: LessonOutcome },
  lessons: readonly NewLesson[],
): Promise<void> {
  await transaction.query(INSERT_LESSONS, [
    account.part,
    account.accountId,
    jobId,
    outcome,
    lessons.map(({ position }) => position),
    lessons.map(({ memoryId }) => memoryId),
    lessons.map(({ editor }) => editor ?? null),
    lessons.map(({ context }) => context ?? null),
  ]);
}

/** Stores the outcome of a job in its lessons. @returns the ids of the entries of these lessons */
export const setOutcome = statement<
  { memory_id: string },
  { account: AccountRef; jobId: string; outcome: LessonOutcome },
  Transaction
>(
  'memory.judge',
  `update memory_lessons set outcome = :outcome
    where part = :part and account_id = :account_id and job_id = :jobId and outcome <> 'confirmed' returning memory_id`,
).values;

/**
 * Recomputes the weights of entries from the outcomes of the jobs that added them. @param importWeight the
 * weight of imported entries; entries of jobs weigh more
 */
export const updateWeights = statement<
  never,
  { account: AccountRef; memoryIds: readonly string[]; importWeight: number },
  Transaction
>(
  'memory.weigh',
  `with heaviest as (
     select m.part, m.account_id, m.memory_id,
            greatest(case m.origin when 'import' then :importWeight::smallint else 0 end,
              coalesce(max(array_position(array['delivered', 'reviewed', 'accepted'], l.outcome) + :importWeight), 0)) as weight
       from memory m left join memory_lessons l
         on l.part = :part and l.account_id = m.account_id and l.memory_id = m.memory_id
      where m.part = :part and m.account_id = :account_id and m.memory_id = any(:memoryIds)
      group by m.part, m.account_id, m.memory_id, m.origin)
   update memory m set weight = h.weight from heaviest h
    where m.part = :part and m.account_id = h.account_id and m.memory_id = h.memory_id and m.weight <> h.weight`,
).run;

const USED = statement(
  'memory.used',
  `insert into memory_uses (part, account_id, memory_id, job_id, position, how)
   select $1, $2, memory_id, $3, position, how
     from unnest($4::uuid[], $5::integer[], $6::text[]) as g (memory_id, position, how)
    where exists (select from memory m where m.part = $1 and m.account_id = $2 and m.memory_id = g.memory_id)
   on conflict (part, account_id, memory_id, job_id, position, how) do nothing`,
);

export async function insertUses(
  on: Queryable,
  account: AccountRef,
  jobId: string,
  uses: readonly { memoryId: string; position: number; how: Use }[],
): Promise<void> {
  await on.query(USED, [
    account.part,
    account.accountId,
    jobId,
    uses.map(({ memoryId }) => memoryId),
    uses.map(({ position }) => position),
    uses.map(({ how }) => how),
  ]);
}

export interface TouchRow {
  job_id: string;
  uid: string;
  environment: string;
  status: string;
  position: number;
  /**
   * The relation between the segment and the entry; `taught` means that the entry was made from this segment.
   */
  how: Use | 'taught';
  outcome: LessonOutcome | null;
  editor_id: string | null;
  created_at: Date;
}

/**
 * Returns the segments of jobs from which an entry was made or in which it was used, latest first.
 * @param open also returns the segments from which it was made in jobs that were not delivered since
 */
export const findTouched = statement<
  TouchRow,
  { account: AccountRef; memoryId: string; limit: number; open: boolean }
>(
  'memory.touched',
  `select t.job_id, j.uid, j.environment, j.status, t.position, t.how, t.outcome, t.editor_id, t.created_at
     from (
       select part, account_id, job_id, position, how, null as outcome, null::uuid as editor_id, created_at
         from memory_uses where part = :part and account_id = :account_id and memory_id = :memoryId
       union all
       select part, account_id, job_id, position, 'taught', outcome, editor_id, created_at
         from memory_lessons
        where part = :part and account_id = :account_id and memory_id = :memoryId
          and (outcome <> 'confirmed' or :open)) t
     join jobs j on j.part = :part and j.account_id = t.account_id and j.job_id = t.job_id
    order by t.created_at desc, t.job_id, t.position limit :limit`,
).rows;

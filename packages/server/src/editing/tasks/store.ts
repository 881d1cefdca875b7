/** SQL statements about tasks. */
import type { AccountRef } from '../../base/account.ts';
import { uuidv7 } from '../../base/ids.ts';
import { inBatches } from '../../base/turns.ts';
import type { Queryable, Transaction } from '../../database/database.ts';
import { columnsOf, statement } from '../../database/statements.ts';
import { TASK_COLUMNS, type TaskKey, type TaskRow } from '../model/access-store.ts';
import {
  type ClaimEnd,
  TASK_MOVES,
  type TaskActor,
  type TaskKind,
  type TaskStatus,
  type TaskTrigger,
} from '../model/states.ts';
import { queueWaitingJobs } from '../votes/votes-store.ts';

export type { TaskKey } from '../model/access-store.ts';

// Reads across accounts, because an editor's request names a task by its id alone. Returns only the task's key.
const LOCATE = statement<{ part: number; account_id: string; job_id: string }>(
  'editing.locate',
  `select part, account_id, job_id from tasks where task_id = $1`,
);

export async function locateTask(on: Queryable, taskId: string): Promise<TaskKey | undefined> {
  const [row] = await on.query(LOCATE, [taskId]);
  if (row === undefined) return undefined;
  return { account: { part: row.part, accountId: row.account_id } as AccountRef, taskId, jobId: row.job_id };
}

export interface NewTask {
  kind: TaskKind;
  first: number;
  last: number;
  words: number;
  /** The only user who may claim the task during the next `reservedHours`. */
  reservedFor?: string;
  reservedHours?: number;
}

const INSERT_TASKS = statement(
  'editing.insert_tasks',
  `insert into tasks (part, account_id, task_id, job_id, kind, first_position, last_position, words, source_language,
     target_language, deadline_at, reserved_for, reserved_until)
   select e.part, e.account_id, t.task_id, e.job_id, t.kind, t.first, t.last, t.words, j.source_language,
          j.target_language, e.deadline_at, t.reserved_for,
          case when t.reserved_for is not null then now() + make_interval(secs => t.reserved_hours * 3600) end
     from edited_jobs e join jobs j on j.part = :part and j.account_id = e.account_id and j.job_id = e.job_id,
          unnest(:ids::uuid[], :kinds::text[], :firsts::integer[],
            :lasts::integer[], :words::integer[], :reserved_for::uuid[],
            :reserved_hours::float8[])
       as t (task_id, kind, first, last, words, reserved_for, reserved_hours)
    where e.part = :part and e.account_id = :account_id and e.job_id = :job_id`,
);

export async function insertTasks(
  transaction: Transaction,
  account: AccountRef,
  jobId: string,
  tasks: readonly NewTask[],
): Promise<void> {
  for (const batch of inBatches(tasks, () => 1)) {
    await transaction.query(INSERT_TASKS, {
      part: account.part,
      account_id: account.accountId,
      job_id: jobId,
      ...columnsOf(batch, {
        ids: () => uuidv7(),
        kinds: ({ kind }) => kind,
        firsts: ({ first }) => first,
        lasts: ({ last }) => last,
        words: ({ words }) => words,
        reserved_for: ({ reservedFor }) => reservedFor ?? null,
        reserved_hours: ({ reservedHours }) => reservedHours ?? 0,
      }),
    });
  }
  transaction.changed('tasks', account, jobId);
}

const MARK_REPEATS = statement(
  'editing.mark_repeats',
  `update segments s set repeats = r.first
     from unnest($4::integer[], $5::integer[]) as r (position, first)
    where s.part = $1 and s.account_id = $2 and s.job_id = $3 and s.position = r.position`,
);

export async function markRepeats(
  transaction: Transaction,
  account: AccountRef,
  jobId: string,
  repeats: readonly { position: number; first: number }[],
): Promise<void> {
  await transaction.query(MARK_REPEATS, [
    account.part,
    account.accountId,
    jobId,
    repeats.map(({ position }) => position),
    repeats.map(({ first }) => first),
  ]);
  transaction.changed('edit', account, jobId);
}

export interface MovedTask {
  task_id: string;
  kind: TaskKind;
  editor_id: string | null;
}

// Lock order everywhere, to prevent deadlocks: edited job, tasks, claims, slots, edits. Locking is a separate
// statement, so that the next statement sees claims that were made while this one waited.
/** Locks tasks of a job. The value `tasks` is null for all tasks of the job. */
export const lockTasks = statement<
  never,
  { account: AccountRef; jobId: string; tasks: readonly string[] | null },
  Transaction
>(
  'editing.lock_tasks',
  `select task_id from tasks
    where part = :part and account_id = :account_id and job_id = :jobId
      and (:tasks::uuid[] is null or task_id = any(:tasks))
    order by task_id for update`,
).run;

const MOVE = statement<MovedTask>(
  'editing.move',
  `with here as (
     select task_id from tasks
      where part = :part and account_id = :account_id and job_id = :job_id
        and kind = any(:kinds) and status = any(:from)
        and (:tasks::uuid[] is null or task_id = any(:tasks))),
   ended as (
     update claims c set ended_at = statement_timestamp(), ended = :ends
      where c.part = :part and c.account_id = :account_id and c.job_id = :job_id and c.ended_at is null
        and c.task_id in (select task_id from here)),
   freed as (
     delete from editor_slots
      where part = :part and account_id = :account_id and task_id in (select task_id from here))
   update tasks t set status = :to, changed_at = now(), returned = t.returned or :returned,
          reserved_for = case when :to = 'open' and :reserved_hours > 0
            then coalesce(:reserved_for, t.editor_id) end,
          reserved_until = (select now() + make_interval(secs => :reserved_hours * 3600)
            where :to = 'open' and :reserved_hours > 0 and coalesce(:reserved_for, t.editor_id) is not null),
          deadline_at = e.deadline_at
     from edited_jobs e
    where t.part = :part and t.account_id = :account_id and t.job_id = :job_id
      and t.task_id in (select task_id from here)
      and e.part = t.part and e.account_id = t.account_id and e.job_id = t.job_id
   returning t.task_id, t.kind, t.editor_id`,
);

export interface TaskMove {
  account: AccountRef;
  jobId: string;
  kinds?: readonly TaskKind[];
  /** The ids of the tasks to change; defaults to all tasks of the job. */
  tasks?: readonly string[];
  trigger: TaskTrigger;
  actor: TaskActor;
  /** How the claims on these tasks end. */
  ends: ClaimEnd;
  /**
   * The number of hours for which the tasks are reserved for their last editor, or for the user
   * `reservedFor`.
   */
  reservedHours?: number;
  reservedFor?: string;
  returned?: boolean;
}

/**
 * Applies `move.trigger` to the tasks of a job: changes their status and ends their claims. Tasks whose status does
 * not allow the trigger stay unchanged.
 * @returns the changed tasks
 */
export async function moveTasks(transaction: Transaction, move: TaskMove): Promise<MovedTask[]> {
  const { from, to, by } = TASK_MOVES[move.trigger];
  if (!(by as readonly TaskActor[]).includes(move.actor)) {
    throw new Error(`${move.actor} may not ${move.trigger} a task`);
  }
  await lockTasks(transaction, { account: move.account, jobId: move.jobId, tasks: move.tasks ?? null });
  const rows = await transaction.query(MOVE, {
    part: move.account.part,
    account_id: move.account.accountId,
    job_id: move.jobId,
    kinds: move.kinds ?? ['edit', 'review'],
    from,
    tasks: move.tasks ?? null,
    to,
    ends: move.ends,
    returned: move.returned ?? false,
    reserved_hours: move.reservedHours ?? 0,
    reserved_for: move.reservedFor ?? null,
  });
  if (rows.length === 0) return rows;
  transaction.changed('tasks', move.account, move.jobId);
  if (to === 'open' || to === 'reported') await queueWaitingJobs(transaction, [move]);
  return rows;
}

export const listJobTasks = statement<TaskRow, { account: AccountRef; jobId: string }>(
  'editing.job_tasks',
  `select ${TASK_COLUMNS} from tasks
    where part = :part and account_id = :account_id and job_id = :jobId and status <> 'canceled'
      order by kind, first_position`,
).rows;

// A user counts as an editor of the job if they saved an edit under a claim on one of its editing tasks.
/** Counts the users who may review a job: users with review rights for its pair who have not edited it. */
export const countReviewers = statement<{ reviewers: number }, { account: AccountRef; jobId: string }>(
  'editing.count_reviewers',
  `select count(*) as reviewers
     from jobs j join user_languages l using (source_language, target_language) join users u using (user_id)
    where j.part = :part and j.account_id = :account_id and j.job_id = :jobId and l.review and u.disabled_at is null
      and not exists (
        select from claims c
         where c.part = :part and c.account_id = :account_id and c.job_id = :jobId and c.kind = 'edit'
           and c.user_id = l.user_id
           and c.saves > 0)`,
).value;

/** Returns the review share of each editor of a job, in percent. */
export const readReviewShares = statement<
  { user_id: string; review_share: number },
  { account: AccountRef; jobId: string }
>(
  'editing.review_shares',
  `select distinct u.user_id, u.review_share
     from tasks t join users u on u.user_id = t.editor_id
    where t.part = :part and t.account_id = :account_id and t.job_id = :jobId and t.kind = 'edit'
      and t.status = 'submitted'`,
).rows;

export const findLastReviewer = statement<{ user_id: string }, { account: AccountRef; jobId: string }>(
  'editing.last_return',
  `select user_id from claims
    where part = :part and account_id = :account_id and job_id = :jobId and ended = 'returned'
      order by ended_at desc limit 1`,
).firstValue;

// Counts only skips after the last report, because an operator has handled that report.
const INSERT_SKIP = statement<{ skips: number }>(
  'editing.insert_skip',
  `with skipped as (
     insert into task_skips (part, account_id, task_id, user_id, reason) values ($1, $2, $3, $4, $5)
     on conflict (part, account_id, task_id, user_id) do nothing returning 1)
   select count(*) + (select count(*) from skipped) as skips
     from task_skips s
    where s.part = $1 and s.account_id = $2 and s.task_id = $3 and not exists (
      select from task_reports r
       where r.part = $1 and r.account_id = $2 and r.task_id = $3 and r.created_at >= s.created_at)`,
);

/**
 * Records that a user skips a task.
 *
 * @returns the number of users who have skipped the task since it was last reported to the operators
 */
export async function insertSkip(
  transaction: Transaction,
  { account, taskId }: TaskKey,
  userId: string,
  reason: string,
): Promise<number> {
  const values = [account.part, account.accountId, taskId, userId, reason];
  const [row] = await transaction.query(INSERT_SKIP, values);
  transaction.changed('tasks', account);
  return row!.skips;
}

const INSERT_REPORT = statement(
  'editing.insert_report',
  `insert into task_reports (part, account_id, report_id, task_id, user_id, reason, note)
   values ($1, $2, $3, $4, $5, $6, $7)`,
);

export async function insertReport(
  transaction: Transaction,
  { account, taskId }: Pick<TaskKey, 'account' | 'taskId'>,
  userId: string,
  reason: string,
  note: string | undefined,
): Promise<void> {
  await transaction.query(INSERT_REPORT, [
    account.part,
    account.accountId,
    uuidv7(),
    taskId,
    userId,
    reason,
    note ?? null,
  ]);
}

const SET_PRIORITY = statement<{ status: TaskStatus }>(
  'editing.set_priority',
  `update tasks set priority = $4, changed_at = now()
    where part = $1 and account_id = $2 and task_id = $3 and status in ('open', 'claimed', 'reported')
   returning status`,
);

/** Returns undefined if the task was submitted or is finished. */
export async function setPriority(
  on: Queryable,
  { account, taskId }: TaskKey,
  priority: number,
): Promise<TaskStatus | undefined> {
  const [row] = await on.query(SET_PRIORITY, [account.part, account.accountId, taskId, priority]);
  if (row !== undefined) on.changed('tasks', account);
  return row?.status;
}

/**
 * Returns true if a user has the task's language pair, has not skipped the task, and would not review their
 * own work.
 */
export const mayHaveTask = statement<{ able: boolean }, { userId: string } & TaskKey>(
  'editing.is_able',
  `select exists (
     select from tasks t join user_languages l using (source_language, target_language) join users u using (user_id)
      where t.part = :part and t.account_id = :account_id and t.task_id = :taskId and l.user_id = :userId
        and u.disabled_at is null
        and not exists (
          select from task_skips k
           where k.part = :part and k.account_id = t.account_id and k.task_id = t.task_id and k.user_id = :userId)
        and (t.kind = 'edit' or l.review and not exists (
          select from claims c
           where c.part = :part and c.account_id = t.account_id and c.job_id = t.job_id and c.kind = 'edit'
             and c.user_id = :userId and c.saves > 0))) as able`,
).value;

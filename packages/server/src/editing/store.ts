/** What is asked of the database about jobs in editing and their tasks. */
import type { AccountRef } from '../account.ts';
import type { Queryable, Transaction } from '../database/database.ts';
import { statement } from '../database/statements.ts';
import { uuidv7 } from '../ids.ts';
import { TASK_COLUMNS, type TaskRow } from './access-store.ts';
import {
  type ClaimEnd,
  TASK_MOVES,
  type TaskActor,
  type TaskKind,
  type TaskStatus,
  type TaskTrigger,
} from './states.ts';

export type Stage = 'editing' | 'review' | 'assembling' | 'done' | 'canceled';

/** A task, and whose it is: what every question about it starts from. */
export interface TaskKey {
  account: AccountRef;
  taskId: string;
  jobId: string;
}

// An editor works for every account and names a task alone; whose it is, is all that this says.
const LOCATE = statement<{ part: number; account_id: string; job_id: string }>(
  'editing.locate',
  `select part, account_id, job_id from tasks where task_id = $1`,
);

export async function locateTask(on: Queryable, taskId: string): Promise<TaskKey | undefined> {
  const [row] = await on.query(LOCATE, [taskId]);
  if (row === undefined) return undefined;
  return { account: { part: row.part, accountId: row.account_id } as AccountRef, taskId, jobId: row.job_id };
}

export interface NewEditedJob {
  account: AccountRef;
  jobId: string;
  stage: Stage;
  words: number;
  brand: string | undefined;
  deadlineHours: number;
}

// A fallback has its time; who waits needs no looking after. One that was canceled is there again where a machine's job is
// upgraded again.
const INSERT_JOB = statement<{ deadline_at: Date }>(
  'editing.insert_job',
  `insert into edited_jobs (part, account_id, job_id, stage, words, fallback, deadline_at, due_at)
   select $1, $2, $3, $4, $5, f.fallback, d.at,
          case when $4 = 'assembling' then now() when f.fallback = 'machine' then d.at end
     from (select now() + make_interval(secs => $7 * 3600) as at) d,
          (select coalesce((select fallback from brands where part = $1 and account_id = $2 and external_id = $6),
                  'wait') as fallback) f
   on conflict (part, account_id, job_id) do update
      set stage = excluded.stage, words = excluded.words, fallback = excluded.fallback,
          deadline_at = excluded.deadline_at, due_at = excluded.due_at, finished_at = null
    where edited_jobs.stage = 'canceled'
   returning deadline_at`,
);

export async function insertEditedJob(transaction: Transaction, job: NewEditedJob): Promise<Date> {
  const { account, jobId, stage, words, brand, deadlineHours } = job;
  const values = [account.part, account.accountId, jobId, stage, words, brand ?? null, deadlineHours];
  return (await transaction.query(INSERT_JOB, values))[0]!.deadline_at;
}

export interface NewTask {
  kind: TaskKind;
  first: number;
  last: number;
  words: number;
  /** Who may have it before others, and for how long. */
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
     from edited_jobs e join jobs j on j.part = e.part and j.account_id = e.account_id and j.job_id = e.job_id,
          unnest($4::uuid[], $5::text[], $6::integer[], $7::integer[], $8::integer[], $9::uuid[], $10::float8[])
       as t (task_id, kind, first, last, words, reserved_for, reserved_hours)
    where e.part = $1 and e.account_id = $2 and e.job_id = $3`,
);

export async function insertTasks(
  transaction: Transaction,
  account: AccountRef,
  jobId: string,
  tasks: readonly NewTask[],
): Promise<void> {
  await transaction.query(INSERT_TASKS, [
    account.part,
    account.accountId,
    jobId,
    tasks.map(() => uuidv7()),
    tasks.map(({ kind }) => kind),
    tasks.map(({ first }) => first),
    tasks.map(({ last }) => last),
    tasks.map(({ words }) => words),
    tasks.map(({ reservedFor }) => reservedFor ?? null),
    tasks.map(({ reservedHours }) => reservedHours ?? 0),
  ]);
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
}

export interface EditedJobRow {
  stage: Stage;
  revision: number;
  words: number;
  fallback: 'wait' | 'machine';
  deadline_at: Date;
  late: boolean;
}

const EDITED_JOB = `select stage, revision, words, fallback, deadline_at, deadline_at <= now() as late
     from edited_jobs where part = $1 and account_id = $2 and job_id = $3`;
const FIND_JOB = statement<EditedJobRow>('editing.find_job', EDITED_JOB);
const LOCK_JOB = statement<EditedJobRow>('editing.lock_job', `${EDITED_JOB} for update`);

export async function findEditedJob(
  on: Queryable,
  account: AccountRef,
  jobId: string,
): Promise<EditedJobRow | undefined> {
  return (await on.query(FIND_JOB, [account.part, account.accountId, jobId]))[0];
}

/** Whoever decides what becomes of a whole job does so alone. Locked before its claims and tasks, after the job. */
export async function lockEditedJob(
  transaction: Transaction,
  account: AccountRef,
  jobId: string,
): Promise<EditedJobRow | undefined> {
  return (await transaction.query(LOCK_JOB, [account.part, account.accountId, jobId]))[0];
}

const SET_STAGE = statement<{ stage: Stage }>(
  'editing.set_stage',
  `update edited_jobs set stage = $5,
          due_at = case when $5 = 'assembling' then now()
                        when $5 in ('editing', 'review') and fallback = 'machine' and revision = 1 then deadline_at end,
          finished_at = case when $5 in ('done', 'canceled') then now() end
    where part = $1 and account_id = $2 and job_id = $3 and stage = any($4)
   returning stage`,
);

/** @returns false where the job is at none of the stages that it may come from */
export async function setStage(
  transaction: Transaction,
  account: AccountRef,
  jobId: string,
  from: readonly Stage[],
  to: Stage,
): Promise<boolean> {
  return (await transaction.query(SET_STAGE, [account.part, account.accountId, jobId, from, to])).length > 0;
}

const EXTEND_DEADLINE = statement(
  'editing.extend_deadline',
  `update edited_jobs set deadline_at = greatest(deadline_at, now() + make_interval(secs => $4 * 3600))
    where part = $1 and account_id = $2 and job_id = $3`,
);

/** Gives a job at least so many hours from now. */
export async function extendDeadline(
  transaction: Transaction,
  account: AccountRef,
  jobId: string,
  hours: number,
): Promise<void> {
  await transaction.query(EXTEND_DEADLINE, [account.part, account.accountId, jobId, hours]);
}

const REOPEN_JOB = statement<{ revision: number }>(
  'editing.reopen_job',
  `update edited_jobs set stage = 'editing', revision = revision + 1, finished_at = null, due_at = null,
          deadline_at = now() + make_interval(secs => $4 * 3600)
    where part = $1 and account_id = $2 and job_id = $3 and stage = 'done'
   returning revision`,
);

export async function reopenEditedJob(
  transaction: Transaction,
  account: AccountRef,
  jobId: string,
  deadlineHours: number,
): Promise<number | undefined> {
  const values = [account.part, account.accountId, jobId, deadlineHours];
  return (await transaction.query(REOPEN_JOB, values))[0]?.revision;
}

/** Of a job's tasks that a move is made on. */
export interface Moved {
  task_id: string;
  kind: TaskKind;
  editor_id: string | null;
}

// Everybody locks the job in editing first, then its tasks, then claims, slots and edits: nobody waits in a circle. A
// statement of its own, so that the next one sees a claim that was made while this one waited.
const LOCK_TASKS = statement(
  'editing.lock_tasks',
  `select task_id from tasks
    where part = $1 and account_id = $2 and job_id = $3 and ($4::uuid[] is null or task_id = any($4))
    order by task_id for update`,
);

/** @param tasks absent: all of the job */
export async function lockTasks(
  transaction: Transaction,
  account: AccountRef,
  jobId: string,
  tasks?: readonly string[],
): Promise<void> {
  await transaction.query(LOCK_TASKS, [account.part, account.accountId, jobId, tasks ?? null]);
}

const MOVE = statement<Moved>(
  'editing.move',
  `with here as (
     select task_id from tasks
      where part = $1 and account_id = $2 and job_id = $3 and kind = any($4) and status = any($5)
        and ($6::uuid[] is null or task_id = any($6))),
   ended as (
     update claims c set ended_at = clock_timestamp(), ended = $8
      where c.part = $1 and c.account_id = $2 and c.job_id = $3 and c.ended_at is null
        and c.task_id in (select task_id from here)),
   freed as (
     delete from editor_slots where part = $1 and account_id = $2 and task_id in (select task_id from here))
   update tasks t set status = $7, changed_at = now(), returned = t.returned or $9,
          reserved_for = case when $7 = 'open' and $10 > 0 then coalesce($11, t.editor_id) end,
          reserved_until = case when $7 = 'open' and $10 > 0 and coalesce($11, t.editor_id) is not null
            then now() + make_interval(secs => $10 * 3600) end,
          deadline_at = e.deadline_at
     from edited_jobs e
    where t.part = $1 and t.account_id = $2 and t.job_id = $3 and t.task_id in (select task_id from here)
      and e.part = t.part and e.account_id = t.account_id and e.job_id = t.job_id
   returning t.task_id, t.kind, t.editor_id`,
);

export interface TaskMove {
  account: AccountRef;
  jobId: string;
  kinds?: readonly TaskKind[];
  /** Absent: all of the job. */
  tasks?: readonly string[];
  trigger: TaskTrigger;
  actor: TaskActor;
  /** Of the claims on them. */
  ends: ClaimEnd;
  /** They come back to who had them, or to another: for so many hours nobody else may claim them. */
  reservedHours?: number;
  reservedFor?: string;
  returned?: boolean;
}

/** Moves those tasks of a job that may be moved, and ends their claims. @returns those */
export async function moveTasks(transaction: Transaction, move: TaskMove): Promise<Moved[]> {
  const { from, to, by } = TASK_MOVES[move.trigger];
  if (!(by as readonly TaskActor[]).includes(move.actor)) {
    throw new Error(`${move.actor} may not ${move.trigger} a task`);
  }
  await lockTasks(transaction, move.account, move.jobId, move.tasks);
  return transaction.query(MOVE, [
    move.account.part,
    move.account.accountId,
    move.jobId,
    move.kinds ?? ['edit', 'review'],
    from,
    move.tasks ?? null,
    to,
    move.ends,
    move.returned ?? false,
    move.reservedHours ?? 0,
    move.reservedFor ?? null,
  ]);
}

const JOB_TASKS = statement<TaskRow>(
  'editing.job_tasks',
  `select ${TASK_COLUMNS} from tasks
    where part = $1 and account_id = $2 and job_id = $3 and status <> 'canceled' order by kind, first_position`,
);

export function listJobTasks(on: Queryable, account: AccountRef, jobId: string): Promise<TaskRow[]> {
  return on.query(JOB_TASKS, [account.part, account.accountId, jobId]);
}

/** The job of a task, as far as an editor sees it. */
export interface TaskJobRow {
  uid: string;
  order_number: number;
  text_format: 'text' | 'html' | 'srt' | 'xliff';
  source_language: string;
  target_language: string;
  tone: string | null;
  topics: string[] | null;
  brand: string | null;
  brand_name: string | null;
  created_at: Date;
  username: string;
}

const TASK_JOB = statement<TaskJobRow>(
  'editing.task_job',
  `select j.uid, j.order_number, j.text_format, j.source_language, j.target_language, j.tone, j.topics,
          b.external_id as brand, b.name as brand_name, j.created_at, a.username
     from jobs j
     join accounts a on a.account_id = j.account_id
     left join brands b on b.part = j.part and b.account_id = j.account_id
      and b.external_id = coalesce(j.brand, j.default_brand)
    where j.part = $1 and j.account_id = $2 and j.job_id = $3`,
);

export async function readTaskJob(on: Queryable, account: AccountRef, jobId: string): Promise<TaskJobRow> {
  const [row] = await on.query(TASK_JOB, [account.part, account.accountId, jobId]);
  if (row === undefined) throw new Error('a task without its job');
  return row;
}

// Who edited the job: those who saved something under a claim on one of its parts.
const REVIEWERS = statement<{ reviewers: number }>(
  'editing.count_reviewers',
  `select count(*) as reviewers
     from jobs j join user_languages l using (source_language, target_language) join users u using (user_id)
    where j.part = $1 and j.account_id = $2 and j.job_id = $3 and l.review and u.disabled_at is null
      and not exists (
        select from claims c
         where c.part = $1 and c.account_id = $2 and c.job_id = $3 and c.kind = 'edit' and c.user_id = l.user_id
           and c.saves > 0)`,
);

/** How many could review a job: everybody who reviews the pair and has not edited it. */
export async function countReviewers(on: Queryable, account: AccountRef, jobId: string): Promise<number> {
  return (await on.query(REVIEWERS, [account.part, account.accountId, jobId]))[0]!.reviewers;
}

const SHARES = statement<{ user_id: string; review_share: number }>(
  'editing.review_shares',
  `select distinct u.user_id, u.review_share
     from tasks t join users u on u.user_id = t.editor_id
    where t.part = $1 and t.account_id = $2 and t.job_id = $3 and t.kind = 'edit' and t.status = 'submitted'`,
);

/** How often work of this job's editors is reviewed, in percent. */
export function readReviewShares(
  on: Queryable,
  account: AccountRef,
  jobId: string,
): Promise<{ user_id: string; review_share: number }[]> {
  return on.query(SHARES, [account.part, account.accountId, jobId]);
}

const LAST_RETURN = statement<{ user_id: string }>(
  'editing.last_return',
  `select user_id from claims
    where part = $1 and account_id = $2 and job_id = $3 and ended = 'returned' order by ended_at desc limit 1`,
);

/** The reviewer who sent the job back last. */
export async function findLastReviewer(
  on: Queryable,
  account: AccountRef,
  jobId: string,
): Promise<string | undefined> {
  return (await on.query(LAST_RETURN, [account.part, account.accountId, jobId]))[0]?.user_id;
}

// Taken by moving its time on, as the work queue does: who dies with it leaves it to another.
const DUE_JOBS = statement<{ part: number; account_id: string; job_id: string; stage: Stage }>(
  'editing.due_jobs',
  `update edited_jobs e set due_at = now() + make_interval(secs => $2)
     from (select part, account_id, job_id from edited_jobs where due_at <= now()
            order by due_at limit $1 for update skip locked) d
    where e.part = d.part and e.account_id = d.account_id and e.job_id = d.job_id
   returning e.part, e.account_id, e.job_id, e.stage`,
);

export async function takeDueJobs(
  on: Queryable,
  count: number,
  leaseSeconds: number,
): Promise<{ account: AccountRef; jobId: string; stage: Stage }[]> {
  const rows = await on.query(DUE_JOBS, [count, leaseSeconds]);
  return rows.map(({ part, account_id, job_id, stage }) => ({
    account: { part, accountId: account_id } as AccountRef,
    jobId: job_id,
    stage,
  }));
}

// Who moved it to another stage meanwhile has said when it is due.
const DUE_AGAIN = statement(
  'editing.due_again',
  `update edited_jobs
      set due_at = greatest(now() + make_interval(secs => $5), case when stage <> 'assembling' then deadline_at end)
    where part = $1 and account_id = $2 and job_id = $3 and stage = $4 and due_at is not null`,
);

/** Makes a job due again after so many seconds, while it waits not before its deadline. */
export async function lookAgain(
  on: Queryable,
  account: AccountRef,
  jobId: string,
  stage: Stage,
  seconds: number,
): Promise<void> {
  await on.query(DUE_AGAIN, [account.part, account.accountId, jobId, stage, seconds]);
}

// One that another has locked is looked at by them, or in its time.
const DUE_NOW = statement(
  'editing.due_now',
  `update edited_jobs e set due_at = now()
     from (select e.part, e.account_id, e.job_id
             from unnest($1::smallint[], $2::uuid[], $3::uuid[]) as g (part, account_id, job_id)
             join edited_jobs e using (part, account_id, job_id)
            where e.stage in ('editing', 'review') and e.deadline_at <= now() and e.due_at > now()
              for update of e skip locked) d
    where e.part = d.part and e.account_id = d.account_id and e.job_id = d.job_id`,
);

/** Makes those of the jobs due now that are past their deadline and do not wait for editors: one may be free. */
export async function lookNow(
  on: Queryable,
  jobs: readonly { account: AccountRef; jobId: string }[],
): Promise<void> {
  if (jobs.length === 0) return;
  await on.query(DUE_NOW, [
    jobs.map(({ account }) => account.part),
    jobs.map(({ account }) => account.accountId),
    jobs.map(({ jobId }) => jobId),
  ]);
}

// A task that was before an operator and is open again was looked at: who skipped it before that counts no more.
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

/** @returns how many have skipped the task since it was last before an operator */
export async function insertSkip(
  transaction: Transaction,
  { account, taskId }: TaskKey,
  userId: string,
  reason: string,
): Promise<number> {
  const values = [account.part, account.accountId, taskId, userId, reason];
  return (await transaction.query(INSERT_SKIP, values))[0]!.skips;
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
    where part = $1 and account_id = $2 and task_id = $3 returning status`,
);

export async function setPriority(
  on: Queryable,
  { account, taskId }: TaskKey,
  priority: number,
): Promise<TaskStatus | undefined> {
  return (await on.query(SET_PRIORITY, [account.part, account.accountId, taskId, priority]))[0]?.status;
}

const IS_EDITOR = statement<{ able: boolean }>(
  'editing.is_able',
  `select exists (
     select from tasks t join user_languages l using (source_language, target_language) join users u using (user_id)
      where t.part = $1 and t.account_id = $2 and t.task_id = $3 and l.user_id = $4 and u.disabled_at is null
        and not exists (
          select from task_skips k
           where k.part = t.part and k.account_id = t.account_id and k.task_id = t.task_id and k.user_id = $4)
        and (t.kind = 'edit' or l.review and not exists (
          select from claims c
           where c.part = t.part and c.account_id = t.account_id and c.job_id = t.job_id and c.kind = 'edit'
             and c.user_id = $4 and c.saves > 0))) as able`,
);

/** Whether a person may have a task: its languages, not skipped, and of a review not one's own work. */
export async function isAble(on: Queryable, { account, taskId }: TaskKey, userId: string): Promise<boolean> {
  return (await on.query(IS_EDITOR, [account.part, account.accountId, taskId, userId]))[0]!.able;
}

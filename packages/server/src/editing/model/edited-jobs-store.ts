/** SQL statements about edited jobs, that is, the jobs that editors work on: their stage, deadline and revision. */
import type { Format } from '@dragoman/documents';
import type { AccountRef } from '../../base/account.ts';
import type { Queryable, Transaction } from '../../database/database.ts';
import { statement } from '../../database/statements.ts';
import { fileNameOf } from '../../jobs/jobs.ts';

export type Stage = 'editing' | 'review' | 'assembling' | 'done' | 'canceled';

export interface NewEditedJob {
  account: AccountRef;
  jobId: string;
  stage: Stage;
  words: number;
  brand: string | undefined;
  /** The tone of the brand now; undefined: none. */
  brandTone: string | undefined;
  deadlineHours: number;
}

// Only a job whose brand has a fallback becomes due at its deadline. If a canceled upgrade is repeated, the
// canceled row of the first upgrade still exists and is replaced.
const INSERT_JOB = statement<{ deadline_at: Date }>(
  'editing.insert_job',
  `insert into edited_jobs (part, account_id, job_id, stage, words, fallback, deadline_at, due_at, brand_tone)
   select $1, $2, $3, $4, $5, f.fallback, d.at,
          case when $4 = 'assembling' then now() when f.fallback = 'machine' then d.at end, $8
     from (select now() + make_interval(secs => $7 * 3600) as at) d,
          (select coalesce((select fallback from brands where part = $1 and account_id = $2 and external_id = $6),
                  'wait') as fallback) f
   on conflict (part, account_id, job_id) do update
      set stage = excluded.stage, words = excluded.words, fallback = excluded.fallback,
          deadline_at = excluded.deadline_at, due_at = excluded.due_at, finished_at = null,
          brand_tone = excluded.brand_tone
    where edited_jobs.stage = 'canceled'
   returning deadline_at`,
);

export async function insertEditedJob(transaction: Transaction, job: NewEditedJob): Promise<Date> {
  const { account, jobId, stage, words, brand, brandTone, deadlineHours } = job;
  const key = [account.part, account.accountId, jobId];
  const values = [...key, stage, words, brand ?? null, deadlineHours, brandTone ?? ''];
  const [row] = await transaction.query(INSERT_JOB, values);
  transaction.changed('job', account, jobId);
  return row!.deadline_at;
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

/**
 * Locks the edited job for decisions about the whole job. The lock order is: job row, edited job, tasks,
 * claims.
 */
export async function lockEditedJob(
  transaction: Transaction,
  account: AccountRef,
  jobId: string,
): Promise<EditedJobRow | undefined> {
  return (await transaction.query(LOCK_JOB, [account.part, account.accountId, jobId]))[0];
}

const SET_STAGE = statement<{ stage: Stage }>(
  'editing.set_stage',
  `update edited_jobs set stage = $5, tries = 0,
          due_at = coalesce((select now() where $5 = 'assembling'),
                     case when $5 in ('editing', 'review') and fallback = 'machine' and revision = 1 then deadline_at end),
          finished_at = (select now() where $5 in ('done', 'canceled'))
    where part = $1 and account_id = $2 and job_id = $3 and stage = any($4)
   returning stage`,
);

/** Deletes the readings of a job that has ended. */
const deleteReadings = statement<never, { account: AccountRef; jobId: string }, Transaction>(
  'editing.delete_readings',
  `delete from readings where part = :part and account_id = :account_id and job_id = :jobId`,
).run;

/**
 * Changes the stage of a job. A job that ends has no waiting segments, so its readings are deleted.
 * @returns false if the job is at none of the stages in `from`
 */
export async function setStage(
  transaction: Transaction,
  account: AccountRef,
  jobId: string,
  from: readonly Stage[],
  to: Stage,
): Promise<boolean> {
  const rows = await transaction.query(SET_STAGE, [account.part, account.accountId, jobId, from, to]);
  if (rows.length === 0) return false;
  transaction.changed('job', account, jobId);
  if (to === 'done' || to === 'canceled') await deleteReadings(transaction, { account, jobId });
  return true;
}

/** Extends the deadline of a job to at least `hours` from now. */
export const extendDeadline = statement<
  never,
  { account: AccountRef; jobId: string; hours: number },
  Transaction
>(
  'editing.extend_deadline',
  `update edited_jobs set deadline_at = greatest(deadline_at, now() + make_interval(secs => :hours * 3600))
    where part = :part and account_id = :account_id and job_id = :jobId`,
).reporting('job').run;

export const reopenEditedJob = statement<
  { revision: number },
  { account: AccountRef; jobId: string; deadlineHours: number },
  Transaction
>(
  'editing.reopen_job',
  `update edited_jobs set stage = 'editing', revision = revision + 1, finished_at = null, due_at = null,
          deadline_at = now() + make_interval(secs => :deadlineHours * 3600)
    where part = :part and account_id = :account_id and job_id = :jobId and stage = 'done'
   returning revision`,
).reporting('job').firstValue;

/** The columns of a job that its editors see. */
export interface TaskJobRow {
  uid: string;
  order_number: number;
  text_format: Format;
  source_language: string;
  target_language: string;
  words: number;
  tone: string | null;
  topics: string[] | null;
  /** The brand of the job, also after it was removed; `brand_name` is then null. */
  brand: string | null;
  brand_name: string | null;
  name: string | null;
  /** The tone of the brand when the tasks were opened. '': none; null: not recorded by older versions. */
  brand_tone: string | null;
  /** See `JobRow`. */
  document_settings: string | null;
  created_at: Date;
  username: string;
}

const TASK_JOB = statement<TaskJobRow>(
  'editing.task_job',
  `select j.uid, j.order_number, j.text_format, j.source_language, j.target_language, j.words, j.tone, j.topics,
          coalesce(j.brand, j.default_brand) as brand, b.name as brand_name, e.brand_tone, j.document_settings,
          ${fileNameOf('$1')} as name,
          j.created_at, a.username
     from jobs j
     join edited_jobs e on e.part = $1 and e.account_id = j.account_id and e.job_id = j.job_id
     join accounts a on a.account_id = j.account_id
     left join brands b on b.part = $1 and b.account_id = j.account_id
      and b.external_id = coalesce(j.brand, j.default_brand)
    where j.part = $1 and j.account_id = $2 and j.job_id = $3`,
);

export async function readTaskJob(on: Queryable, account: AccountRef, jobId: string): Promise<TaskJobRow> {
  const [row] = await on.query(TASK_JOB, [account.part, account.accountId, jobId]);
  if (row === undefined) throw new Error('a task without its job');
  return row;
}

/** The progress of a job: segments drafted by an engine, or confirmed by editors; and who worked on its words. */
import Type, { type Static } from 'typebox';
import type { AccountRef } from '../base/account.ts';
import type { Queryable, Transaction } from '../database/database.ts';
import { statement } from '../database/statements.ts';
import type { EditedWordCounts } from '../http/schemas.ts';
import type { JobStatus } from './states.ts';

/** Reports how many segments of a job are drafted. Workers publish these numbers; they are not stored. */
export interface ProgressSource {
  progressOf(job: string): { drafted: number; segments: number } | undefined;
}

export const JobProgress = Type.Union(
  [
    Type.Object(
      {
        work: Type.Enum(['drafting', 'editing']),
        done: Type.Integer({ description: 'Segments drafted by the machine, or confirmed by an editor.' }),
        segments: Type.Integer({ description: 'All segments.' }),
      },
      { title: 'JobProgress' },
    ),
    Type.Null(),
  ],
  { description: 'Null when nobody works on the job, or its progress is unknown.' },
);

const CONFIRMED = statement<{ segments: number; confirmed: number }>(
  'jobs.confirmed',
  `select count(*) as segments, count(*) filter (where e.status = 'confirmed') as confirmed
     from segments s left join edits e
       on e.part = $1 and e.account_id = s.account_id and e.job_id = s.job_id and e.position = s.position
    where s.part = $1 and s.account_id = $2 and s.job_id = $3 and s.joined_to is null`,
);

/**
 * Returns the progress of a job; null if neither a worker nor an editor works on the job, or if its progress
 * is unknown.
 */
export async function readProgress(
  on: Queryable,
  source: ProgressSource,
  account: AccountRef,
  job: { job_id: string; status: JobStatus; tier: string },
): Promise<Static<typeof JobProgress>> {
  if (job.status === 'new' || job.status === 'machine_translate_in_progress') {
    const known = source.progressOf(job.job_id);
    return known === undefined ? null : { work: 'drafting', done: known.drafted, segments: known.segments };
  }
  if (job.tier === 'machine' || (job.status !== 'translating' && job.status !== 'rejected')) return null;
  const [counted] = await on.query(CONFIRMED, [account.part, account.accountId, job.job_id]);
  const { segments, confirmed } = counted!;
  return segments === 0 ? null : { work: 'editing', done: confirmed, segments };
}

const EDITED_WORDS = statement<{ segments: number; opened: number; voted: number }>(
  'jobs.edited_words',
  `select count(*) as segments, coalesce(sum(e.words) filter (where e.filled_from is null), 0) as opened,
          coalesce(sum(f.words) filter (where s.route = 'memory:vote' and (e.position is null
            or e.status = 'confirmed' and e.distance = 0)), 0) as voted
     from segments s left join edits e
       on e.part = $1 and e.account_id = s.account_id and e.job_id = s.job_id and e.position = s.position
     left join fills f
       on f.part = $1 and f.account_id = s.account_id and f.job_id = s.job_id and f.position = s.position
    where s.part = $1 and s.account_id = $2 and s.job_id = $3`,
);

/** Counts the words of a job that editors confirmed, and the words whose text came from other jobs by votes. */
async function countEditedWords(
  on: Queryable,
  account: AccountRef,
  jobId: string,
): Promise<EditedWordCounts> {
  const [counted] = await on.query(EDITED_WORDS, [account.part, account.accountId, jobId]);
  const { segments, opened, voted } = counted!;
  return segments === 0 ? null : { opened, voted };
}

const KEPT_WORDS = statement<{ edited_words: EditedWordCounts }>(
  'jobs.kept_words',
  'select edited_words from jobs where part = $1 and account_id = $2 and job_id = $3',
);

/** Returns how many words of a human job editors confirmed and how many came from votes: now, or at its delivery. */
export async function readEditedWords(
  on: Queryable,
  account: AccountRef,
  job: { job_id: string; status: JobStatus; tier: string },
): Promise<EditedWordCounts> {
  if (job.tier !== 'human') return null;
  if (job.status === 'translating' || job.status === 'rejected') {
    return countEditedWords(on, account, job.job_id);
  }
  return (await on.query(KEPT_WORDS, [account.part, account.accountId, job.job_id]))[0]!.edited_words;
}

// The sandbox has no editors.
const KEEP_WORDS = statement(
  'jobs.keep_words',
  `update jobs set edited_words = $4
    where part = $1 and account_id = $2 and job_id = $3 and environment = 'production'`,
);

/**
 * Stores how many words of a job editors confirmed and how many came from votes, in the transaction that delivers it.
 * Retention later deletes the rows that are counted, and a statement names many jobs.
 */
export async function keepEditedWords(
  transaction: Transaction,
  account: AccountRef,
  jobId: string,
): Promise<void> {
  const words = await countEditedWords(transaction, account, jobId);
  await transaction.query(KEEP_WORDS, [account.part, account.accountId, jobId, words]);
  transaction.changed('jobs', account, jobId);
}

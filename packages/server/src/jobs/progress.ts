/** The progress of a job: segments drafted by an engine, or confirmed by editors. */
import Type, { type Static } from 'typebox';
import type { AccountRef } from '../base/account.ts';
import type { Queryable } from '../database/database.ts';
import { statement } from '../database/statements.ts';
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
       on e.part = s.part and e.account_id = s.account_id and e.job_id = s.job_id and e.position = s.position
    where s.part = $1 and s.account_id = $2 and s.job_id = $3`,
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

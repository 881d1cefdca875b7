/** How far the work on a job is: what a machine has drafted, or what editors have confirmed. */
import Type, { type Static } from 'typebox';
import type { AccountRef } from '../account.ts';
import type { Queryable } from '../database/database.ts';
import { statement } from '../database/statements.ts';
import type { Hub } from '../live/hub.ts';
import type { Status } from './states.ts';

/** Who knows how far a machine is: it says so itself, and nothing of it is kept. */
export type Live = Pick<Hub, 'progressOf'>;

export const Progress = Type.Union(
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
  { description: 'While somebody is at work on it, and it is known; null: neither.' },
);

const CONFIRMED = statement<{ segments: number; confirmed: number }>(
  'jobs.confirmed',
  `select count(*) as segments, count(*) filter (where e.status = 'confirmed') as confirmed
     from segments s left join edits e
       on e.part = s.part and e.account_id = s.account_id and e.job_id = s.job_id and e.position = s.position
    where s.part = $1 and s.account_id = $2 and s.job_id = $3`,
);

/** @returns null where there is nothing to be told */
export async function readProgress(
  on: Queryable,
  live: Live,
  account: AccountRef,
  job: { job_id: string; status: Status; tier: string },
): Promise<Static<typeof Progress>> {
  if (job.status === 'new' || job.status === 'machine_translate_in_progress') {
    const told = live.progressOf(job.job_id);
    return told === undefined ? null : { work: 'drafting', done: told.drafted, segments: told.segments };
  }
  if (job.tier === 'machine' || (job.status !== 'translating' && job.status !== 'rejected')) return null;
  const [counted] = await on.query(CONFIRMED, [account.part, account.accountId, job.job_id]);
  const { segments, confirmed } = counted!;
  return segments === 0 ? null : { work: 'editing', done: confirmed, segments };
}

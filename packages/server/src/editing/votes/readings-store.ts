/** SQL statements about the readings of waiting segments. */
import type { Piece } from '@dragoman/documents';
import type { AccountRef, Environment } from '../../base/account.ts';
import type { Queryable, Transaction } from '../../database/database.ts';
import { columnsOf, statement } from '../../database/statements.ts';
import type { ReadingContext } from './readings.ts';

export interface NewReading {
  position: number;
  reading: Buffer;
  context: ReadingContext;
}

// If a canceled upgrade is repeated, the readings of the first upgrade may still exist.
const INSERT_READINGS = statement(
  'editing.insert_readings',
  `insert into readings (part, account_id, job_id, position, reading, context)
   select :part, :account_id, :job_id, r.position, r.reading, r.context
     from unnest(:positions::integer[], :readings::bytea[], :contexts::text[]) as r (position, reading, context)
   on conflict (part, account_id, job_id, position) do update
      set reading = excluded.reading, context = excluded.context`,
);

export async function insertReadings(
  transaction: Transaction,
  account: AccountRef,
  jobId: string,
  readings: readonly NewReading[],
): Promise<void> {
  await transaction.query(INSERT_READINGS, {
    part: account.part,
    account_id: account.accountId,
    job_id: jobId,
    ...columnsOf(readings, {
      positions: ({ position }) => position,
      readings: ({ reading }) => reading,
      contexts: ({ context }) => context,
    }),
  });
}

/** The columns of a job that are part of the readings of its segments. */
export interface ReadingJob {
  job_id: string;
  environment: Environment;
  source_language: string;
  target_language: string;
  brand: string | null;
  default_brand: string | null;
}

const READING_JOB = statement<ReadingJob>(
  'editing.reading_job',
  `select job_id, environment, source_language, target_language, brand, default_brand from jobs
    where part = $1 and account_id = $2 and job_id = $3`,
);
const SOURCES = statement<{ source: Piece[]; route: string | null }>(
  'editing.sources',
  `select coalesce(joined->'own'->'source', source) as source, route from segments
    where part = $1 and account_id = $2 and job_id = $3 order by position`,
);

/** Returns a job with the sources of all its segments, in order, as they were before segments were joined. */
export async function readSources(
  on: Queryable,
  account: AccountRef,
  jobId: string,
): Promise<{ job: ReadingJob; segments: { source: Piece[]; route: string | null }[] }> {
  const key = [account.part, account.accountId, jobId];
  const [job] = await on.query(READING_JOB, key);
  if (job === undefined) throw new Error('segments without their job');
  return { job, segments: await on.query(SOURCES, key) };
}

/** SQL statements about the readings of waiting segments. */
import type { AccountRef } from '../base/account.ts';
import type { Transaction } from '../database/database.ts';
import { columnsOf, statement } from '../database/statements.ts';
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

const DELETE_READINGS = statement(
  'editing.delete_readings',
  `delete from readings where part = $1 and account_id = $2 and job_id = $3`,
);

/** Deletes the readings of a job that has ended. */
export async function deleteReadings(
  transaction: Transaction,
  account: AccountRef,
  jobId: string,
): Promise<void> {
  await transaction.query(DELETE_READINGS, [account.part, account.accountId, jobId]);
}

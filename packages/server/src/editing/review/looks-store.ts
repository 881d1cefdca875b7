/** SQL statements about the looks of reviewers: which segments they have seen, and with which target. */
import type { Piece } from '@dragoman/documents';
import type { AccountRef } from '../../base/account.ts';
import type { Queryable, Transaction } from '../../database/database.ts';
import { statement } from '../../database/statements.ts';

const RECORD = statement<{ position: number }>(
  'editing.record_looks',
  `insert into looks (part, account_id, job_id, position, user_id, target)
   select distinct on (e.position) e.part, e.account_id, e.job_id, e.position, $4::uuid, e.target
     from edits e, unnest($5::integer[], $6::integer[]) as s (position, revision)
    where e.part = $1 and e.account_id = $2 and e.job_id = $3 and e.position = s.position
      and e.revision = s.revision
   on conflict (part, account_id, job_id, position, user_id) do update set target = excluded.target
   returning position`,
);

/**
 * Records that a reviewer has seen the current target of each segment. Ignores segments that have another
 * revision, because the reviewer saw an older target. @returns the positions of the recorded segments
 */
export async function recordLooks(
  transaction: Transaction,
  account: AccountRef,
  jobId: string,
  userId: string,
  segments: readonly { position: number; revision: number }[],
): Promise<number[]> {
  const rows = await transaction.query(RECORD, [
    account.part,
    account.accountId,
    jobId,
    userId,
    segments.map(({ position }) => position),
    segments.map(({ revision }) => revision),
  ]);
  return rows.map(({ position }) => position).sort((one, other) => one - other);
}

const LOOKS = statement<{ position: number; target: Piece[] }>(
  'editing.looks',
  `select position, target from looks where part = $1 and account_id = $2 and job_id = $3 and user_id = $4`,
);

/** Returns the target that a reviewer saw last, for each segment that they have seen. */
export async function readLooks(
  on: Queryable,
  account: AccountRef,
  jobId: string,
  userId: string,
): Promise<ReadonlyMap<number, Piece[]>> {
  const rows = await on.query(LOOKS, [account.part, account.accountId, jobId, userId]);
  return new Map(rows.map(({ position, target }) => [position, target]));
}

/** SQL statements about the segments that editors marked as unsure. */
import type { AccountRef } from '../../base/account.ts';
import type { Transaction } from '../../database/database.ts';
import { statement } from '../../database/statements.ts';

const MARK = statement(
  'editing.mark_unsure',
  `insert into unsure_marks (part, account_id, job_id, position, user_id) values ($1, $2, $3, $4, $5)
   on conflict (part, account_id, job_id, position) do nothing`,
);
const UNMARK = statement(
  'editing.unmark_unsure',
  `delete from unsure_marks where part = $1 and account_id = $2 and job_id = $3 and position = $4`,
);

/** Marks a segment as unsure, or removes the mark. */
export async function writeUnsure(
  transaction: Transaction,
  account: AccountRef,
  jobId: string,
  { position, userId, unsure }: { position: number; userId: string; unsure: boolean },
): Promise<void> {
  const key = [account.part, account.accountId, jobId, position];
  if (unsure) await transaction.query(MARK, [...key, userId]);
  else await transaction.query(UNMARK, key);
  transaction.changed('edit', account, jobId);
}

/** Returns true if any segment of the job is marked as unsure. */
export const hasUnsure = statement<{ marked: boolean }, { account: AccountRef; jobId: string }>(
  'editing.has_unsure',
  `select exists (select from unsure_marks where part = :part and account_id = :account_id
    and job_id = :jobId) as marked`,
).value;

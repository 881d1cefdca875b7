/** SQL statements about earlier targets of segments. */
import type { Piece } from '@dragoman/documents';
import type { AccountRef } from '../../base/account.ts';
import { uuidv7 } from '../../base/ids.ts';
import type { Transaction } from '../../database/database.ts';
import { statement } from '../../database/statements.ts';

export interface PastTarget {
  position: number;
  kind: 'confirmed' | 'left';
  target: readonly Piece[];
  revision: number;
  editorId: string;
}

const INSERT_HISTORY = statement(
  'editing.insert_history',
  `insert into edit_history (part, account_id, history_id, job_id, position, kind, target, revision, editor_id)
   values ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
);

export async function insertHistory(
  transaction: Transaction,
  account: AccountRef,
  jobId: string,
  past: PastTarget,
): Promise<void> {
  const { position, kind, target, revision, editorId } = past;
  const key = [account.part, account.accountId, uuidv7(), jobId];
  await transaction.query(INSERT_HISTORY, [
    ...key,
    position,
    kind,
    JSON.stringify(target),
    revision,
    editorId,
  ]);
}

export interface HistoryRow {
  target: Piece[];
  kind: 'confirmed' | 'left';
  by: string;
  revision: number;
  created_at: Date;
}

export const readHistory = statement<HistoryRow, { account: AccountRef; jobId: string; position: number }>(
  'editing.history',
  `select h.target, h.kind, coalesce(u.name, '') as by, h.revision, h.created_at
     from edit_history h left join users u on u.user_id = h.editor_id
    where h.part = :part and h.account_id = :account_id and h.job_id = :jobId and h.position = :position
    order by h.history_id desc limit 100`,
).rows;

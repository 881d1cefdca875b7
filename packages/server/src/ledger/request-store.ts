/** SQL statements that make requests for transfers idempotent. */
import type { AccountRef } from '../base/account.ts';
import type { Transaction } from '../database/database.ts';
import { statement } from '../database/statements.ts';

// If two requests have the same key, the second waits for the commit of the first.
/** Reserves an idempotency key. @returns whether the key was free */
export const takeRequest = statement<
  { key: string },
  { account: AccountRef; key: string; requestHash: Buffer },
  Transaction
>(
  'ledger.take_request',
  `insert into money_requests (part, account_id, key, request_hash) values (:part, :account_id, :key, :requestHash)
   on conflict (part, account_id, key) do nothing returning key`,
).found;
const ANSWER_REQUEST = statement(
  'ledger.answer_request',
  'update money_requests set answer = $4 where part = $1 and account_id = $2 and key = $3',
);
export const readRequest = statement<
  { request_hash: Buffer; answer: unknown },
  { account: AccountRef; key: string },
  Transaction
>(
  'ledger.read_request',
  'select request_hash, answer from money_requests where part = :part and account_id = :account_id and key = :key',
).first;

/** Stores the answer to a request, so that a repeated request gets the same answer. */
export async function answerRequest(
  transaction: Transaction,
  account: AccountRef,
  key: string,
  answer: object,
): Promise<void> {
  await transaction.query(ANSWER_REQUEST, [account.part, account.accountId, key, JSON.stringify(answer)]);
}

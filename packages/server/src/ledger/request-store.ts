/** SQL statements that make requests for transfers idempotent. */
import type { AccountRef } from '../base/account.ts';
import type { Transaction } from '../database/database.ts';
import { statement } from '../database/statements.ts';

// If two requests have the same key, the second waits for the commit of the first.
const TAKE_REQUEST = statement<{ key: string }>(
  'ledger.take_request',
  `insert into money_requests (part, account_id, key, request_hash) values ($1, $2, $3, $4)
   on conflict (part, account_id, key) do nothing returning key`,
);
const ANSWER_REQUEST = statement(
  'ledger.answer_request',
  'update money_requests set answer = $4 where part = $1 and account_id = $2 and key = $3',
);
const READ_REQUEST = statement<{ request_hash: Buffer; answer: unknown }>(
  'ledger.read_request',
  'select request_hash, answer from money_requests where part = $1 and account_id = $2 and key = $3',
);

/** Reserves an idempotency key. @returns whether the key was free */
export async function takeRequest(
  transaction: Transaction,
  account: AccountRef,
  key: string,
  requestHash: Buffer,
): Promise<boolean> {
  const values = [account.part, account.accountId, key, requestHash];
  return (await transaction.query(TAKE_REQUEST, values)).length > 0;
}

/** Stores the answer to a request, so that a repeated request gets the same answer. */
export async function answerRequest(
  transaction: Transaction,
  account: AccountRef,
  key: string,
  answer: object,
): Promise<void> {
  await transaction.query(ANSWER_REQUEST, [account.part, account.accountId, key, JSON.stringify(answer)]);
}

export async function readRequest(
  transaction: Transaction,
  account: AccountRef,
  key: string,
): Promise<{ request_hash: Buffer; answer: unknown } | undefined> {
  const [row] = await transaction.query(READ_REQUEST, [account.part, account.accountId, key]);
  return row;
}

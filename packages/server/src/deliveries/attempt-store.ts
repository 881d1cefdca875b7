/** SQL statements that read the request and the attempts of a delivery. */
import type { AccountRef } from '../base/account.ts';
import type { Queryable } from '../database/database.ts';
import { statement } from '../database/statements.ts';

export interface AttemptRow {
  attempt: number;
  started_at: Date;
  finished_at: Date | null;
  outcome: string | null;
  detail: string | null;
  status_code: number | null;
  milliseconds: number | null;
  headers: Record<string, string> | null;
  answer: string | null;
  answer_complete: boolean | null;
}

const ATTEMPTS = statement<AttemptRow>(
  'deliveries.attempts',
  `select attempt, started_at, finished_at, outcome, detail, status_code, milliseconds, headers, answer, answer_complete
     from attempts where part = $1 and account_id = $2 and delivery_id = $3 order by attempt desc limit 100`,
);

/** Returns the last hundred attempts of a delivery, latest first. */
export function listAttempts(on: Queryable, account: AccountRef, deliveryId: string): Promise<AttemptRow[]> {
  return on.query(ATTEMPTS, [account.part, account.accountId, deliveryId]);
}

export interface SentRequestRow {
  content_type: string;
  headers: Record<string, string>;
  body: Buffer;
  body_bytes: number;
}

const REQUEST = statement<SentRequestRow>(
  'deliveries.request',
  `select content_type, headers, substring(body for $4) as body, octet_length(body) as body_bytes from deliveries
    where part = $1 and account_id = $2 and delivery_id = $3`,
);

/** Returns what a delivery sends, with the first `most` bytes of its body. */
export async function findSentRequest(
  on: Queryable,
  account: AccountRef,
  deliveryId: string,
  most: number,
): Promise<SentRequestRow | undefined> {
  return (await on.query(REQUEST, [account.part, account.accountId, deliveryId, most]))[0];
}

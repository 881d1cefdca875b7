/** SQL statements that read the request and the attempts of a delivery. */
import type { AccountRef } from '../base/account.ts';
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

// The attempt in progress, or one that was interrupted and not yet followed by another, is in its delivery.
/** Returns the last hundred attempts of a delivery, latest first. */
export const listAttempts = statement<AttemptRow, { account: AccountRef; deliveryId: string }>(
  'deliveries.attempts',
  `select coalesce(a.attempt, d.attempts) as attempt, coalesce(a.started_at, d.attempt_started_at) as started_at,
          a.finished_at, a.outcome, a.detail, a.status_code, a.milliseconds, a.headers, a.answer, a.answer_complete
     from (select attempts, attempt_started_at from deliveries
            where part = :part and account_id = :account_id and delivery_id = :deliveryId
              and attempt_started_at is not null) d
     full join (select * from attempts where part = :part and account_id = :account_id and delivery_id = :deliveryId) a
       on a.attempt = d.attempts
    order by 1 desc limit 100`,
).rows;

export interface SentRequestRow {
  content_type: string;
  headers: Record<string, string>;
  body: Buffer;
  body_bytes: number;
}

/** Returns what a delivery sends, with the first `most` bytes of its body. */
export const findSentRequest = statement<
  SentRequestRow,
  { account: AccountRef; deliveryId: string; most: number }
>(
  'deliveries.request',
  `select content_type, headers, substring(body for :most) as body, octet_length(body) as body_bytes from deliveries
    where part = :part and account_id = :account_id and delivery_id = :deliveryId`,
).first;

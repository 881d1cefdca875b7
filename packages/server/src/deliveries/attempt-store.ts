/** SQL statements that read the attempts of a delivery. */
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

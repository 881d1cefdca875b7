/** What is asked of the database about deliveries. */
import type { AccountRef, Environment } from '../account.ts';
import type { Queryable, Transaction } from '../database/database.ts';
import { statement } from '../database/statements.ts';

export type DeliveryEvent = 'job.completed' | 'job.failed';

export interface NewDelivery {
  deliveryId: string;
  environment: Environment;
  jobId: string;
  event: DeliveryEvent;
  url: string;
  contentType: string;
  body: Buffer;
}

const INSERT = statement(
  'deliveries.insert',
  `insert into deliveries (part, account_id, delivery_id, environment, job_id, event, url, content_type, body)
   values ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
);

export async function insertDelivery(
  transaction: Transaction,
  account: AccountRef,
  delivery: NewDelivery,
): Promise<void> {
  await transaction.query(INSERT, [
    account.part,
    account.accountId,
    delivery.deliveryId,
    delivery.environment,
    delivery.jobId,
    delivery.event,
    delivery.url,
    delivery.contentType,
    delivery.body,
  ]);
}

export interface DeliveryRow {
  environment: Environment;
  url: string;
  content_type: string;
  body: Buffer;
  created_at: Date;
}

// One round trip, and one commit, before the request leaves: the attempt is on record even if the sender
// dies in the middle of it.
const BEGIN_ATTEMPT = statement<DeliveryRow>(
  'deliveries.begin_attempt',
  `with attempt as (
     insert into attempts (part, account_id, delivery_id, attempt)
     select part, account_id, delivery_id, attempts from deliveries
      where part = $1 and account_id = $2 and delivery_id = $3 and lease_token = $4)
   select environment, url, content_type, body, created_at from deliveries
    where part = $1 and account_id = $2 and delivery_id = $3 and lease_token = $4`,
);

/** Records that an attempt begins and gives what is to be sent; undefined when the lease is lost. */
export async function beginAttempt(
  on: Queryable,
  account: AccountRef,
  lease: { id: string; token: string },
): Promise<DeliveryRow | undefined> {
  const [row] = await on.query(BEGIN_ATTEMPT, [account.part, account.accountId, lease.id, lease.token]);
  return row;
}

export interface AttemptResult {
  attempt: number;
  outcome: string;
  statusCode: number | undefined;
  milliseconds: number;
}

export type Verdict =
  | { status: 'delivered' }
  | { status: 'dead'; failure: string }
  | { status: 'pending'; dueAt: Date };

// The attempt is recorded whatever became of the lease; the delivery is moved only by its holder.
const FINISH_ATTEMPT = statement<{ status: string }>(
  'deliveries.finish_attempt',
  `with attempt as (
     update attempts set finished_at = now(), outcome = $6, status_code = $7, milliseconds = $8
      where part = $1 and account_id = $2 and delivery_id = $3 and attempt = $5)
   update deliveries
      set status = $9, failure = $10, due_at = $11, lease_token = null,
          finished_at = case when $9 = 'pending' then null else now() end
    where part = $1 and account_id = $2 and delivery_id = $3 and lease_token = $4 and status = 'pending'
   returning status`,
);

/** Records how an attempt ended and what follows. @returns false when the lease was lost meanwhile */
export async function finishAttempt(
  on: Queryable,
  account: AccountRef,
  lease: { id: string; token: string },
  result: AttemptResult,
  verdict: Verdict,
): Promise<boolean> {
  const rows = await on.query(FINISH_ATTEMPT, [
    account.part,
    account.accountId,
    lease.id,
    lease.token,
    result.attempt,
    result.outcome,
    result.statusCode ?? null,
    result.milliseconds,
    verdict.status,
    verdict.status === 'dead' ? verdict.failure : null,
    verdict.status === 'pending' ? verdict.dueAt : null,
  ]);
  return rows.length > 0;
}

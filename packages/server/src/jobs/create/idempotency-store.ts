/** SQL statements for idempotency keys: which jobs a request with a key created. */
import type { AccountRef, Environment } from '../../base/account.ts';
import type { Queryable, Transaction } from '../../database/database.ts';
import { statement } from '../../database/statements.ts';

/** An idempotency key with the hash of its request. */
export interface IdempotencyKey {
  key: string;
  requestHash: Buffer;
}

export interface IdempotencyEntry extends IdempotencyKey {
  account: AccountRef;
  environment: Environment;
  jobIds: readonly string[];
}

// Keys are inserted in their order, so that two batches with the same keys cannot deadlock.
const INSERT_KEYS = statement<{ job_id: string }>(
  'jobs.insert_keys',
  `insert into idempotency (part, account_id, environment, key, request_hash, job_ids)
   select part, account_id, environment, key, request_hash, array(select jsonb_array_elements_text(job_ids))::uuid[]
     from unnest($1::smallint[], $2::uuid[], $3::text[], $4::text[], $5::bytea[], $6::jsonb[])
       as g (part, account_id, environment, key, request_hash, job_ids)
    order by part, account_id, environment, key
   on conflict (part, account_id, environment, key) do nothing
   returning job_ids[1] as job_id`,
);

/** Inserts keys before their jobs. @returns the first job id of each key that was unused */
export async function insertIdempotencyKeys(
  transaction: Transaction,
  entries: readonly IdempotencyEntry[],
): Promise<Set<string>> {
  const rows = await transaction.query(INSERT_KEYS, [
    entries.map(({ account }) => account.part),
    entries.map(({ account }) => account.accountId),
    entries.map(({ environment }) => environment),
    entries.map(({ key }) => key),
    entries.map(({ requestHash }) => requestHash),
    entries.map(({ jobIds }) => JSON.stringify(jobIds)),
  ]);
  return new Set(rows.map(({ job_id }) => job_id));
}

export const findIdempotencyKey = statement<
  { request_hash: Buffer; job_ids: string[] },
  { account: AccountRef; environment: Environment; key: string }
>(
  'jobs.find_key',
  `select request_hash, job_ids from idempotency
    where part = :part and account_id = :account_id and environment = :environment and key = :key`,
).first;

/** Sets the job ids of a key that this transaction inserted. */
export const correctIdempotencyKey = statement<
  never,
  { account: AccountRef; environment: Environment; jobIds: readonly string[] } & IdempotencyKey,
  Transaction
>(
  'jobs.correct_key',
  `update idempotency set job_ids = :jobIds where part = :part and account_id = :account_id
    and environment = :environment and key = :key`,
).run;

/** Deletes a key that this transaction inserted, because the request created no job. */
export const deleteIdempotencyKey = statement<
  never,
  { account: AccountRef; environment: Environment } & IdempotencyKey,
  Transaction
>(
  'jobs.delete_key',
  `delete from idempotency where part = :part and account_id = :account_id and environment = :environment
    and key = :key`,
).run;

const FORGET_KEYS = statement<{ forgotten: number }>(
  'jobs.forget_keys',
  `with gone as (
     delete from idempotency where (part, account_id, environment, key) in (
       select part, account_id, environment, key from idempotency
        where created_at < now() - make_interval(hours => $1) order by created_at limit $2)
     returning 1)
   select count(*) as forgotten from gone`,
);

/** Deletes at most `limit` keys older than `hours`. @returns their number */
export async function deleteIdempotencyKeysOlderThan(
  on: Queryable,
  hours: number,
  limit: number,
): Promise<number> {
  const [row] = await on.query(FORGET_KEYS, [hours, limit]);
  return row?.forgotten ?? 0;
}

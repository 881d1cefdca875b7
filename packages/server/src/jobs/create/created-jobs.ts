/** Functions that single and bulk creation share: quota words, idempotency keys, and creation bodies. */
import { quotaWords, type SandboxQuota } from '../../accounts/sandbox-words.ts';
import type { Caller } from '../../base/account.ts';
import { ApiError, fieldError } from '../../base/errors.ts';
import type { Database } from '../../database/database.ts';
import { isOverdrawn, isOverLimit, readBalances } from '../../ledger/ledger.ts';
import type { NewJob } from '../insert-store.ts';
import { readAccountBalance } from '../jobs.ts';
import { presentCreation } from '../present.ts';
import type { JobCreationBody } from '../schemas.ts';
import * as store from '../store.ts';
import { findIdempotencyKey, type IdempotencyKey } from './idempotency-store.ts';
import type { JobInserter } from './insert.ts';
import type { JobPreparer } from './prepare.ts';

/** Dependencies of the functions that create jobs. */
export interface CreationContext {
  database: Database;
  quota: SandboxQuota;
  prepare: JobPreparer;
  inserts: JobInserter;
}

/**
 * The maximum number of attempts to assign a free uid. Uids have 40 random bits, so five conflicts in a row
 * are practically impossible.
 */
export const UID_TRIES = 5;

/** Returns the number of words that the sandbox quota counts for jobs. */
export function countQuotaWords(jobs: readonly NewJob[]): number {
  return jobs.reduce((sum, { words, text }) => sum + quotaWords(words, text), 0);
}

/**
 * Returns the quota words of the jobs that this request has inserted, recognized by their ids. The number is
 * correct even if the reply to the commit was lost.
 */
export async function countInsertedWords(
  database: Database,
  { account, environment }: Caller,
  jobs: readonly NewJob[],
): Promise<number> {
  const uids = jobs.map(({ uid }) => uid);
  const found = await store.findJobsByUid(database, { account, environment, uids });
  const ids = new Set(found.map(({ job_id }) => job_id));
  return countQuotaWords(jobs.filter(({ jobId }) => ids.has(jobId)));
}

/**
 * Finds the jobs that were created under an idempotency key; undefined if the key is unused.
 * @param texts the texts of this request. They are also the texts of the found jobs, because a key belongs to
 * one request
 * @throws ApiError `invalid_request` if another request used the key
 */
export async function findKeyedJobs(
  database: Database,
  caller: Caller,
  key: IdempotencyKey,
  texts: readonly string[],
): Promise<{ rows: store.JobRow[]; bodies: JobCreationBody[] } | undefined> {
  const used = await findIdempotencyKey(database, {
    account: caller.account,
    environment: caller.environment,
    key: key.key,
  });
  if (used === undefined) return undefined;
  if (!used.request_hash.equals(key.requestHash)) {
    throw fieldError('idempotency_key', 'was used for another request.');
  }
  const [found, balance] = await Promise.all([
    store.findJobsById(database, { account: caller.account, jobIds: used.job_ids }),
    readAccountBalance(database, caller),
  ]);
  const byId = new Map(found.map((row) => [row.job_id, row]));
  const rows = used.job_ids.map((id) => byId.get(id)!);
  return { rows, bodies: rows.map((row, index) => presentCreation(row, texts[index]!, balance)) };
}

/**
 * Rethrows an insert error. An overdrawn balance becomes `insufficient_balance` with the cents that are missing, and
 * an order above the daily limit of the key `key_limit`.
 */
export async function rejectInsert(
  database: Database,
  error: unknown,
  caller: Caller,
  cents: number,
): Promise<never> {
  if (isOverLimit(error)) {
    const limit = `This key may order for ${caller.dailyCents} cents a day (UTC)`;
    throw new ApiError('key_limit', `${limit}; ${cents} cents more would be above that.`);
  }
  if (!isOverdrawn(error)) throw error;
  const balances = await readBalances(database, caller.account);
  const { balance, credit_limit } = balances.find(({ environment }) => environment === caller.environment)!;
  const message = `insufficient balance: needs ${cents} cents, has ${balance}`;
  throw new ApiError('insufficient_balance', message, {}, { missing: cents - balance - (credit_limit ?? 0) });
}

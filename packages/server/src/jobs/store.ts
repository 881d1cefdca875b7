/** SQL statements that read jobs. */
import type { Format } from '@dragoman/documents';
import type { AccountRef, Dialect, Environment } from '../base/account.ts';
import type { Queryable, Transaction } from '../database/database.ts';
import { statement } from '../database/statements.ts';
import type { Discount } from '../ledger/price-list.ts';
import type { JobStatus } from './states.ts';
import type { Untranslated } from './untranslated.ts';

export type JobTier = 'human' | 'machine';
/** The tier `chat` marks a job that corrects a chat message. */
export type AnyTier = JobTier | 'chat';

/** A customer's job, without its texts. */
export interface JobRow {
  job_id: string;
  order_number: number;
  environment: Environment;
  tier: JobTier;
  uid: string;
  request_hash: Buffer;
  dialect: Dialect;
  status: JobStatus;
  source_language: string;
  target_language: string;
  text_format: Format;
  tone: string | null;
  topics: string[] | null;
  brand: string | null;
  default_brand: string | null;
  /** The hash of its document settings; null if its text is read without any. */
  document_settings: string | null;
  callback_url: string | null;
  price_cents: number;
  words: number;
  cents_per_word: number;
  /** Null if every word has the full price. */
  discounts: Discount[] | null;
  charge: number;
  created_at: Date;
  hold_until: Date | null;
  failure: string | null;
  upgrade_hash: Buffer | null;
  /**
   * True if the deadline passed before an editor finished: the result is a machine translation and was not
   * charged.
   */
  fell_back: boolean;
  /** The segments that keep their source text in the result; null if there are none. */
  untranslated: Untranslated | null;
  /** The engine of a requested redraft; '' for the current engine route, null without a requested redraft. */
  redraft: string | null;
}

/** A job of a customer, or a job that corrects a chat message. */
export type AnyJobRow = Omit<JobRow, 'tier'> & { tier: AnyTier };

export const JOB_COLUMNS = `job_id, order_number, environment, tier, uid, request_hash, dialect, status, source_language,
  target_language, text_format, tone, topics, brand, default_brand, callback_url, price_cents, words, cents_per_word,
  discounts, charge, created_at, hold_until, failure, upgrade_hash, fell_back, untranslated, redraft,
  document_settings`;

export const findJob = statement<JobRow, { account: AccountRef; environment: Environment; uid: string }>(
  'jobs.find',
  `select ${JOB_COLUMNS} from jobs where part = :part and account_id = :account_id and environment = :environment
    and uid = :uid
    and tier <> 'chat'`,
).first;

export const findJobsByUid = statement<
  JobRow,
  { account: AccountRef; environment: Environment; uids: readonly string[] }
>(
  'jobs.find_all',
  `select ${JOB_COLUMNS} from jobs where part = :part and account_id = :account_id and environment = :environment
    and uid = any(:uids)
    and tier <> 'chat'`,
).rows;

export const findJobsById = statement<JobRow, { account: AccountRef; jobIds: readonly string[] }>(
  'jobs.find_by_id',
  `select ${JOB_COLUMNS} from jobs where part = :part and account_id = :account_id and job_id = any(:jobIds)`,
).rows;

export const findAnyJob = statement<AnyJobRow, { account: AccountRef; jobId: string }>(
  'jobs.find_work',
  `select ${JOB_COLUMNS} from jobs where part = :part and account_id = :account_id and job_id = :jobId`,
).first;

/** Reads a job and locks its row until the end of the transaction. */
export const lockJob = statement<AnyJobRow, { account: AccountRef; jobId: string }, Transaction>(
  'jobs.lock_work',
  `select ${JOB_COLUMNS} from jobs where part = :part and account_id = :account_id and job_id = :jobId for update`,
).first;

export interface LeasedJobRow extends AnyJobRow {
  /** True during the job's delivery delay. */
  held: boolean;
  lease_token: string;
  /** Seconds since the job's creation, by the database's clock. */
  age: number;
}

export interface LeaseKey {
  account: AccountRef;
  id: string;
  token: string;
}

/** Returns the columns of leases as arrays for `unnest`: accounts' `part` and id, job ids, lease tokens. */
export function leaseColumns(leases: readonly LeaseKey[]): unknown[] {
  return [
    leases.map(({ account }) => account.part),
    leases.map(({ account }) => account.accountId),
    leases.map(({ id }) => id),
    leases.map(({ token }) => token),
  ];
}

const LEASED = statement<LeasedJobRow>(
  'jobs.leased',
  `select ${JOB_COLUMNS}, lease_token, coalesce(hold_until > now(), false) as held,
          extract(epoch from now() - created_at)::float8 as age
     from unnest($1::smallint[], $2::uuid[], $3::uuid[], $4::uuid[]) as g (part, account_id, id, token)
     join jobs j on j.part = g.part and j.account_id = g.account_id and j.job_id = g.id and j.lease_token = g.token`,
);

/** Returns the leased jobs whose leases are still valid. */
export function findLeasedJobs(on: Queryable, leases: readonly LeaseKey[]): Promise<LeasedJobRow[]> {
  return on.query(LEASED, leaseColumns(leases));
}

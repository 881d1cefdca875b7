/** SQL statements that insert new jobs with their texts. */
import type { Format } from '@dragoman/documents';
import type { AccountRef, Dialect, Environment } from '../base/account.ts';
import type { Transaction } from '../database/database.ts';
import { AND_PART, columnsOf, statement } from '../database/statements.ts';
import type { Discount } from '../ledger/price-list.ts';
import type { PresentedJob } from './present.ts';
import type { JobStatus } from './states.ts';
import type { AnyTier, JobRow, JobTier } from './store.ts';

export interface NewJob {
  account: AccountRef;
  /** The job id and the order number are assigned just before the insert (`order-numbers.ts`). */
  jobId: string;
  orderNumber: number;
  environment: Environment;
  tier: JobTier;
  uid: string;
  requestHash: Buffer;
  dialect: Dialect;
  status: JobStatus;
  sourceLanguage: string;
  targetLanguage: string;
  textFormat: Format;
  tone: string | undefined;
  topics: string[] | undefined;
  brand: string | undefined;
  /** The account's default brand, if the request names no brand. */
  defaultBrand: string | undefined;
  /** The hash of its document settings, if it has any. */
  documentSettings: string | undefined;
  callbackUrl: string | undefined;
  words: number;
  priceCents: number;
  /** The key whose daily limit counts the price; undefined for a key without a limit and for people. */
  limitedKey?: string | undefined;
  /** The price of a word without a discount. */
  centsPerWord: number;
  /** Undefined if every word has the full price. */
  discounts?: Discount[] | undefined;
  /**
   * The sandbox's delivery delay in seconds, counted from the creation. A finished result is not shown before
   * this delay ends.
   */
  holdSeconds: number;
  text: string;
  targetText: string | undefined;
  instructions: string | undefined;
  /** The name of the document's file, if the job was created in the web app. */
  name?: string | undefined;
  /** The lease token, if the insert leases the job to the worker of this process. */
  leaseToken: string | undefined;
}

/** A new job of a customer, or a new job that corrects a chat message. */
export type AnyNewJob = Omit<NewJob, 'tier'> & { tier: AnyTier };

export interface InsertedJobRow {
  job_id: string;
  created_at: Date;
  hold_until: Date | null;
}

/** A column: its type, and its value for a new job. */
type Column = readonly [type: string, read: (job: AnyNewJob) => unknown];

/** The columns of a job's row whose values the new job gives. */
const GIVEN: Record<string, Column> = {
  part: ['smallint', ({ account }) => account.part],
  account_id: ['uuid', ({ account }) => account.accountId],
  job_id: ['uuid', ({ jobId }) => jobId],
  environment: ['text', ({ environment }) => environment],
  tier: ['text', ({ tier }) => tier],
  uid: ['text', ({ uid }) => uid],
  request_hash: ['bytea', ({ requestHash }) => requestHash],
  dialect: ['text', ({ dialect }) => dialect],
  status: ['text', ({ status }) => status],
  source_language: ['text', ({ sourceLanguage }) => sourceLanguage],
  target_language: ['text', ({ targetLanguage }) => targetLanguage],
  text_format: ['text', ({ textFormat }) => textFormat],
  tone: ['text', ({ tone }) => tone ?? null],
  brand: ['text', ({ brand }) => brand ?? null],
  callback_url: ['text', ({ callbackUrl }) => callbackUrl ?? null],
  words: ['integer', ({ words }) => words],
  characters: ['integer', ({ text }) => text.length],
  price_cents: ['bigint', ({ priceCents }) => priceCents],
  default_brand: ['text', ({ defaultBrand }) => defaultBrand ?? null],
  lease_token: ['uuid', ({ leaseToken }) => leaseToken ?? null],
  order_number: ['bigint', ({ orderNumber }) => orderNumber],
  cents_per_word: ['bigint', ({ centsPerWord }) => centsPerWord],
  discounts: ['jsonb', ({ discounts }) => (discounts === undefined ? null : JSON.stringify(discounts))],
  document_settings: ['text', ({ documentSettings }) => documentSettings ?? null],
};
const GIVEN_NAMES = Object.keys(GIVEN).join(', ');

/**
 * The given columns, the values from which other columns follow, and the texts. Topics are JSON, because PostgreSQL arrays
 * of arrays must all have the same length.
 */
const PARAMETERS: Record<string, Column> = {
  ...GIVEN,
  topics: ['jsonb', ({ topics }) => (topics === undefined ? null : JSON.stringify(topics))],
  hold_seconds: ['integer', ({ holdSeconds }) => holdSeconds],
  source: ['text', ({ text }) => text],
  supplied: ['text', ({ targetText }) => targetText ?? null],
  instructions: ['text', ({ instructions }) => instructions ?? null],
  name: ['text', ({ name }) => name ?? null],
};
const ARRAYS = Object.entries(PARAMETERS).map(([name, [type]]) => `:${name}::${type}[]`);
const READERS = Object.fromEntries(Object.entries(PARAMETERS).map(([name, [, read]]) => [name, read]));

// Columns are passed as arrays, so that one prepared statement serves batches of any size.
const INSERT = statement<{ ended: boolean } & (InsertedJobRow | { [Field in keyof InsertedJobRow]: null })>(
  'jobs.insert',
  `with given as (
     select *, now() as at from unnest(${ARRAYS.join(', ')}) as g (${Object.keys(PARAMETERS).join(', ')})),
   ended as (delete from creations where creation_id = :creation_id ${AND_PART} returning creation_id),
   inserted as (
     insert into jobs (${GIVEN_NAMES}, topics, created_at, hold_until, due_at, attempts)
     select ${GIVEN_NAMES}, case when topics is not null then array(select jsonb_array_elements_text(topics)) end, at,
       case when hold_seconds > 0 then at + make_interval(secs => hold_seconds) end,
       at + make_interval(secs => case when lease_token is null then 0 else :lease_seconds end),
       case when lease_token is null then 0 else 1 end
       from given
     on conflict (part, account_id, environment, uid) do nothing
     returning part, account_id, job_id, environment, tier, status, source_language,
       target_language, created_at, hold_until),
   counted as (
     insert into job_counts (part, account_id, environment, tier, status, source_language, target_language, jobs)
     select part, account_id, environment, tier, status, source_language, target_language, count(*)
       from inserted group by 1, 2, 3, 4, 5, 6, 7),
   texts as (
     insert into job_texts (part, account_id, job_id, kind, body)
     select i.part, i.account_id, i.job_id, t.kind, t.body
       from inserted i join given g
         on g.part = i.part and g.account_id = i.account_id and g.job_id = i.job_id,
       lateral (values ('source', g.source), ('supplied', g.supplied), ('instructions', g.instructions),
         ('name', g.name)) as t (kind, body)
      where t.body is not null)
   select i.job_id, i.created_at, i.hold_until, exists (select from ended) as ended
     from (select) one left join inserted i on true`,
);

/**
 * Inserts jobs with their texts, and deletes their creation record.
 * @param leaseSeconds the lease of jobs with a lease token
 * @param creationId the id of the creation record, see `order-numbers.ts`
 * @returns the new rows, none for an existing uid; and whether the creation record still existed
 */
export async function insertJobs(
  transaction: Transaction,
  jobs: readonly AnyNewJob[],
  leaseSeconds: number,
  creationId: string | undefined,
): Promise<{ rows: InsertedJobRow[]; ended: boolean }> {
  const rows = await transaction.query(INSERT, {
    ...columnsOf(jobs, READERS),
    lease_seconds: leaseSeconds,
    creation_id: creationId ?? null,
  });
  const inserted = new Set(rows.map(({ job_id }) => job_id));
  for (const { account, jobId } of jobs) if (inserted.has(jobId)) transaction.changed('jobs', account, jobId);
  return { rows: rows.filter((row) => row.job_id !== null), ended: rows.every((row) => row.ended) };
}

/** Returns the fields of a new job that its creation body shows. */
export function newPresentedJob(job: NewJob, orderNumber: number): PresentedJob {
  return {
    uid: job.uid,
    order_number: orderNumber,
    tier: job.tier,
    status: job.status,
    source_language: job.sourceLanguage,
    target_language: job.targetLanguage,
    text_format: job.textFormat,
    tone: job.tone ?? null,
    topics: job.topics ?? null,
    brand: job.brand ?? null,
    callback_url: job.callbackUrl ?? null,
    price_cents: job.priceCents,
    discounts: job.discounts ?? null,
    failure: null,
  };
}

/** Builds the row of a newly inserted job without reading it. */
export function newJobRow(job: NewJob, inserted: InsertedJobRow): JobRow {
  return {
    ...newPresentedJob(job, job.orderNumber),
    job_id: job.jobId,
    environment: job.environment,
    request_hash: job.requestHash,
    dialect: job.dialect,
    default_brand: job.defaultBrand ?? null,
    document_settings: job.documentSettings ?? null,
    words: job.words,
    cents_per_word: job.centsPerWord,
    charge: 1,
    created_at: inserted.created_at,
    hold_until: inserted.hold_until,
    upgrade_hash: null,
    fell_back: false,
    untranslated: null,
    redraft: null,
  };
}

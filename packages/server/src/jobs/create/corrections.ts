/**
 * Jobs that correct chat messages. They have the tier `chat`. Customers cannot list or read them and do not
 * pay for them.
 */
import type { Format } from '@dragoman/documents';
import type { AccountRef, Environment } from '../../base/account.ts';
import type { Transaction } from '../../database/database.ts';
import { type AnyNewJob, insertJobs } from '../insert-store.ts';
import { moveAll } from '../jobs.ts';
import { assignOrderNumber } from '../order-numbers.ts';

export interface CorrectionJob {
  jobId: string;
  environment: Environment;
  from: string;
  to: string;
  format: Format;
  brand: string | undefined;
  defaultBrand: string | undefined;
  /** The hash of the document settings of the message. */
  documentSettings: string | undefined;
  text: string;
  /** The machine translation, used as the editor's draft; undefined if an engine drafts the job again. */
  translated: string | undefined;
}

/** Cancels an unfinished correction job when all jobs of an account are canceled. */
export async function cancelCorrectionJob(
  transaction: Transaction,
  account: AccountRef,
  jobId: string,
): Promise<void> {
  const move = { account, jobId, leaseToken: undefined, failure: undefined, due: 'never' } as const;
  await moveAll(transaction, [move], 'cancel', 'operator');
}

/** A correction job is always queued. Its insert does not lease it to a worker. */
const NO_LEASE = 0;

/**
 * Creates a job in which editors correct a text. The job is due at once, because a worker must first divide
 * the draft into tasks.
 */
export async function createCorrectionJob(
  transaction: Transaction,
  account: AccountRef,
  { jobId, from, to, format, text, translated, ...fields }: CorrectionJob,
): Promise<void> {
  const job: AnyNewJob = {
    ...fields,
    account,
    jobId,
    orderNumber: 0,
    tier: 'chat',
    uid: jobId,
    requestHash: Buffer.alloc(0),
    dialect: 'spec',
    status: 'new',
    sourceLanguage: from,
    targetLanguage: to,
    textFormat: format,
    tone: undefined,
    topics: undefined,
    callbackUrl: undefined,
    words: 0,
    priceCents: 0,
    centsPerWord: 0,
    holdSeconds: 0,
    text,
    targetText: translated,
    instructions: undefined,
    leaseToken: undefined,
  };
  await assignOrderNumber(transaction, job);
  await insertJobs(transaction, [job], NO_LEASE, undefined);
}

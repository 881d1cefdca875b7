/** Jobs that correct a chat's messages: of a tier of their own, which no customer lists, reads or pays for. */
import type { AccountRef, Environment } from '../account.ts';
import type { Transaction } from '../database/database.ts';
import { moveAll } from './jobs.ts';
import { numberJob } from './numbers.ts';
import { insertJobs, type NewWork, type TextFormat } from './store.ts';

export interface Correction {
  jobId: string;
  environment: Environment;
  from: string;
  to: string;
  format: TextFormat;
  brand: string | undefined;
  defaultBrand: string | undefined;
  text: string;
  /** What the machine answered: the draft. */
  translated: string;
}

/** Takes back one that is not finished, where all of its account's are. */
export async function withdrawCorrection(
  transaction: Transaction,
  account: AccountRef,
  jobId: string,
): Promise<void> {
  const move = { account, jobId, leaseToken: undefined, failure: undefined, due: 'never' } as const;
  await moveAll(transaction, [move], 'cancel', 'operator');
}

/** No worker has it yet. */
const NO_LEASE = 0;

/** Has a text corrected by people. It falls due at once, for its draft to be cut into tasks. */
export async function orderCorrection(
  transaction: Transaction,
  account: AccountRef,
  { jobId, from, to, format, text, translated, ...fields }: Correction,
): Promise<void> {
  const job: NewWork = {
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
    holdSeconds: 0,
    text,
    targetText: translated,
    instructions: undefined,
    leaseToken: undefined,
  };
  await numberJob(transaction, job);
  await insertJobs(transaction, [job], NO_LEASE, undefined);
}

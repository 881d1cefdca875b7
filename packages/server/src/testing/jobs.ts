import { randomBytes } from 'node:crypto';
import type { AccountRef } from '../base/account.ts';
import { uuidv7 } from '../base/ids.ts';
import type { NewJob } from '../jobs/insert-store.ts';

/** Returns rows of machine jobs from English to Spanish. By default the jobs are free and have no callback. */
export function newJobs(account: AccountRef, count: number, fields: Partial<NewJob> = {}): NewJob[] {
  return Array.from({ length: count }, (_, place) => {
    const jobId = uuidv7();
    return {
      account,
      jobId,
      orderNumber: place + 1,
      environment: 'production',
      tier: 'machine',
      uid: jobId,
      requestHash: randomBytes(32),
      dialect: 'spec',
      status: 'machine_translate_in_progress',
      sourceLanguage: 'en',
      targetLanguage: 'es',
      textFormat: 'text',
      tone: undefined,
      topics: undefined,
      brand: undefined,
      defaultBrand: undefined,
      documentSettings: undefined,
      callbackUrl: undefined,
      words: 1,
      priceCents: 0,
      centsPerWord: 0,
      holdSeconds: 0,
      text: 'House.',
      targetText: undefined,
      instructions: undefined,
      leaseToken: undefined,
      ...fields,
    };
  });
}

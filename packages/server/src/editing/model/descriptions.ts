/** Describes the segments of a job: their notes, lengths, times and codes, read from its document. */
import type { Description } from '@dragoman/documents';
import type { AccountRef } from '../../base/account.ts';
import { ApiError } from '../../base/errors.ts';
import { readDocumentSettings } from '../../brands/document-settings.ts';
import { readTexts } from '../../jobs/jobs.ts';
import { TextTakesTooLong } from '../../scanning/scanner.ts';
import type { EditingContext } from './context.ts';
import type * as editedJobs from './edited-jobs-store.ts';

/**
 * The limits of the cache of segment descriptions: the total length of its documents in UTF-16 code units,
 * and the number of its jobs.
 */
const CACHED_LENGTH = 8 * 1024 * 1024;
const CACHED_JOBS = 64;

/**
 * The error for a document that takes too long to prepare. The message is written for editors, who cannot
 * send another document.
 */
export class UnpreparedDocument extends ApiError {
  override name = 'UnpreparedDocument';

  constructor() {
    super(
      'invalid_request',
      'This document takes too long to prepare. Report the task if it is not reported yet: an operator can cancel ' +
        'the job, and its customer gets the price back.',
    );
  }
}

/**
 * Throws an error of the scanner again. If the document takes too long, throws an `UnpreparedDocument` instead.
 */
export function unprepared(error: unknown): never {
  throw error instanceof TextTakesTooLong ? new UnpreparedDocument() : error;
}

/** The fields of a job that its descriptions depend on. */
export type DescribedJob = Pick<
  editedJobs.TaskJobRow,
  'text_format' | 'source_language' | 'target_language' | 'document_settings'
>;

/** Returns the descriptions of a job's segments by their ids, from a cache of recently used documents. */
export async function describeJob(
  context: EditingContext,
  account: AccountRef,
  jobId: string,
  job: DescribedJob,
): Promise<ReadonlyMap<string, Description>> {
  const { descriptions } = context;
  // A repeated upgrade of a job may have other settings.
  const key = `${jobId} ${job.document_settings ?? ''}`;
  const known = descriptions.get(key);
  if (known !== undefined) {
    descriptions.delete(key);
    descriptions.set(key, known);
    return known.ofId;
  }
  const { source = '' } = await readTexts(context.database, account, jobId, ['source']);
  const task = {
    text: source,
    format: job.text_format,
    sourceLanguage: job.source_language,
    targetLanguage: job.target_language,
    settings: await readDocumentSettings(context.database, account, job.document_settings),
  };
  const described = await context.scanner.describe(account, task).catch(unprepared);
  const ofId = new Map(described.map((one) => [one.id, one]));
  descriptions.set(key, { ofId, length: source.length });
  let length = 0;
  for (const one of descriptions.values()) length += one.length;
  for (const [oldest, one] of descriptions) {
    if (descriptions.size <= CACHED_JOBS && length <= CACHED_LENGTH) break;
    if (oldest === key) break;
    descriptions.delete(oldest);
    length -= one.length;
  }
  return ofId;
}

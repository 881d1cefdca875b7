/**
 * Upgrades a completed machine job to a human job with the same uid. The upgraded job is treated and charged
 * like a human job that was created with the machine's result as `target_text`: that translation is the draft. The charge for the machine
 * job stays (docs/decisions/0008-upgrades.md). If the upgraded job is canceled before an editor has finished
 * it, it becomes the completed machine job again (`cancelJob`).
 */
import type { Caller } from '../../base/account.ts';
import { ApiError, fieldError, notFound } from '../../base/errors.ts';
import { readDocumentSettings } from '../../brands/document-settings.ts';
import type { Database } from '../../database/database.ts';
import { holdPrices, nextCharge } from '../../ledger/ledger.ts';
import type { DocumentSettings } from '../../scanning/scanner.ts';
import type { NewJob } from '../insert-store.ts';
import { readAccountBalance } from '../jobs.ts';
import { presentCreation } from '../present.ts';
import type { JobCreationBody } from '../schemas.ts';
import { allowsJobMove, JOB_MOVES } from '../states.ts';
import * as store from '../store.ts';
import { readTexts, type TextKind } from '../text-store.ts';
import * as upgrades from '../upgrade-store.ts';
import { rejectInsert } from './created-jobs.ts';
import type { JobPreparer } from './prepare.ts';
import { type ParsedUpgrade, readCreateRequest, readUpgradeRequest } from './request.ts';

export interface UpgradeOptions {
  database: Database;
  prepare: JobPreparer;
  maxTextBytes: number;
}

/**
 * Upgrades a job, or finds that the same request upgraded it before.
 * @returns its creation body, as a human job
 * @throws ApiError `not_found` if the caller has no such machine job; `invalid_request` if it is not
 * completed or another request upgraded it; `insufficient_balance`
 */
export async function upgradeJob(
  { database, prepare, maxTextBytes }: UpgradeOptions,
  caller: Caller,
  uid: string,
  body: unknown,
): Promise<JobCreationBody> {
  const row = await store.findJob(database, {
    account: caller.account,
    environment: caller.environment,
    uid,
  });
  if (row === undefined || (row.tier === 'human' && row.upgrade_hash === null)) throw notFound();
  const request = readUpgradeRequest(body);
  const texts = await readTexts(database, caller.account, row.job_id, ['source', 'instructions']);
  if (row.tier === 'machine') {
    if (!allowsJobMove('upgrade', row.status)) {
      throw fieldError('status', `the job is ${row.status}; only a completed one can be upgraded.`);
    }
    const settings = await readDocumentSettings(database, caller.account, row.document_settings);
    const job = await prepareUpgrade(prepare, caller, row, { texts, settings }, request, maxTextBytes);
    await move(database, caller, row, job, request.hash).catch((error: unknown) =>
      rejectInsert(database, error, caller, job.priceCents),
    );
  }
  // Reads the job again, because a concurrent request may have upgraded it.
  const [after, balance] = await Promise.all([
    store.findJob(database, { account: caller.account, environment: caller.environment, uid }),
    readAccountBalance(database, caller),
  ]);
  if (after?.upgrade_hash == null) throw notFound();
  if (!after.upgrade_hash.equals(request.hash)) {
    throw fieldError('status', 'the job has been upgraded already, by another request.');
  }
  return presentCreation(after, texts.source ?? '', balance);
}

/**
 * Prepares the job like a create of a human job, from the fields of the machine job and those that the
 * upgrade request replaces.
 */
async function prepareUpgrade(
  prepare: JobPreparer,
  caller: Caller,
  row: store.JobRow,
  { texts, settings }: { texts: Partial<Record<TextKind, string>>; settings: DocumentSettings },
  { properties }: ParsedUpgrade,
  maxTextBytes: number,
): Promise<NewJob> {
  const fields = {
    callback_url: row.callback_url,
    brand: row.brand,
    tone: row.tone,
    topics: row.topics,
    instructions: texts.instructions,
    ...('formality' in properties && !('tone' in properties) ? { tone: properties.formality } : {}),
    ...properties,
    uid: row.uid,
    text: texts.source,
    text_format: row.text_format,
    retranslate: settings.retranslate,
    set_lang: settings.setLang,
    source_language: row.source_language,
    target_language: row.target_language,
  };
  try {
    // The draft is the machine's translation, so matches of the memory do not lower the price.
    const request = readCreateRequest(fields, 'human', maxTextBytes);
    return await prepare(caller, 'human', request, { hasDraft: true });
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== 'invalid_request') throw error;
    const lines = error.message.split('\n').map((line) => `properties.${line}`);
    throw new ApiError('invalid_request', lines.join('\n'));
  }
}

/**
 * Changes the status and holds the price in one transaction. Does nothing if another request has already
 * upgraded the job.
 */
async function move(
  database: Database,
  caller: Caller,
  row: store.JobRow,
  job: NewJob,
  hash: Buffer,
): Promise<void> {
  const { from, to, by } = JOB_MOVES.upgrade;
  await database.transaction(async (transaction) => {
    const { account, environment } = caller;
    await store.lockJob(transaction, { account, jobId: row.job_id });
    const charge = await nextCharge(transaction, account, row.job_id);
    const upgrade = { jobId: row.job_id, job, hash, charge, from, to, actor: by[0] };
    if (!(await upgrades.writeUpgrade(transaction, account, upgrade))) return;
    const hold = {
      account,
      environment,
      jobId: row.job_id,
      charge,
      cents: job.priceCents,
      limitedKey: job.limitedKey,
    };
    await holdPrices(transaction, [hold]);
  });
}

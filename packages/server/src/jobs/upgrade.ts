/**
 * A machine's finished job goes on to a human: the same uid, from now on among the human jobs. It becomes what it
 * would be had it been created there with the machine's result as `target_text`, and is charged for that; what the
 * machine's work cost stays as it was (docs/decisions/0008-upgrades.md). Canceled before a human has finished it, it is
 * the machine's finished job again (`cancelJob`).
 */
import type { Caller } from '../account.ts';
import type { Database } from '../database/database.ts';
import { ApiError, fieldError, notFound } from '../errors.ts';
import { holdPrices, isOverdrawn, nextCharge } from '../ledger/ledger.ts';
import { readPurse } from './jobs.ts';
import type { Preparer } from './prepare.ts';
import { presentCreation } from './present.ts';
import { readCreateRequest, readUpgradeRequest, type UpgradeRequest } from './request.ts';
import type { JobCreationBody } from './schemas.ts';
import { allows, MOVES } from './states.ts';
import * as store from './store.ts';
import * as upgrades from './upgrade-store.ts';

export interface UpgradeOptions {
  database: Database;
  prepare: Preparer;
  maxTextBytes: number;
}

/**
 * Upgrades a job, or finds that the same request has upgraded it before.
 * @returns its creation body, as a human job
 * @throws ApiError `not_found` for what is no machine job of the caller's; `invalid_request` for one that is not
 * completed, or was upgraded by another request; `insufficient_balance`
 */
export async function upgradeJob(
  { database, prepare, maxTextBytes }: UpgradeOptions,
  caller: Caller,
  uid: string,
  body: unknown,
): Promise<JobCreationBody> {
  const row = await store.findJob(database, caller.account, caller.environment, uid);
  if (row === undefined || (row.tier === 'human' && row.upgrade_hash === null)) throw notFound();
  const request = readUpgradeRequest(body);
  const texts = await store.readTexts(database, caller.account, row.job_id, ['source', 'instructions']);
  if (row.tier === 'machine') {
    if (!allows('upgrade', row.status)) {
      throw fieldError('status', `the job is ${row.status}; only a completed one can be upgraded.`);
    }
    const job = await prepareAnew(prepare, caller, row, texts, request, maxTextBytes);
    await move(database, caller, row, job, request.hash).catch(async (error: unknown) => {
      if (!isOverdrawn(error)) throw error;
      const { balance } = await readPurse(database, caller);
      const sentence = `insufficient balance: needs ${job.priceCents} cents, has ${balance}`;
      throw new ApiError('insufficient_balance', sentence);
    });
  }
  // Whoever moved it, this request or one at the same time: what is told is what is there now.
  const [after, purse] = await Promise.all([
    store.findJob(database, caller.account, caller.environment, uid),
    readPurse(database, caller),
  ]);
  if (after?.upgrade_hash == null) throw notFound();
  if (!after.upgrade_hash.equals(request.hash)) {
    throw fieldError('status', 'the job has been upgraded already, by another request.');
  }
  return presentCreation(after, texts.source ?? '', purse);
}

/** The job as a create of a human job would make it: with what it has, and what is given anew. */
async function prepareAnew(
  prepare: Preparer,
  caller: Caller,
  row: store.JobRow,
  texts: Partial<Record<store.TextKind, string>>,
  { properties }: UpgradeRequest,
  maxTextBytes: number,
): Promise<store.NewJob> {
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
    source_language: row.source_language,
    target_language: row.target_language,
  };
  try {
    return await prepare(caller, 'human', readCreateRequest(fields, 'human', maxTextBytes));
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== 'invalid_request') throw error;
    const lines = error.message.split('\n').map((line) => `properties.${line}`);
    throw new ApiError('invalid_request', lines.join('\n'));
  }
}

/** The move with its hold on the balance, in one transaction; nothing where another was first. */
async function move(
  database: Database,
  caller: Caller,
  row: store.JobRow,
  job: store.NewJob,
  hash: Buffer,
): Promise<void> {
  const { from, to, by } = MOVES.upgrade;
  await database.transaction(async (transaction) => {
    const { account, environment } = caller;
    await store.lockWork(transaction, account, row.job_id);
    const charge = await nextCharge(transaction, account, row.job_id);
    const upgrade = { jobId: row.job_id, job, hash, charge, from, to, actor: by[0] };
    if (!(await upgrades.upgradeJob(transaction, account, upgrade))) return;
    const hold = { account, environment, jobId: row.job_id, charge, cents: job.priceCents };
    await holdPrices(transaction, [hold]);
  });
}

/** Creates up to 1,000 human jobs in one request, all or none. */
import { isOverQuota } from '../accounts/sandbox-words.ts';
import type { Caller } from '../base/account.ts';
import { ApiError, fieldErrors, MAX_LINES } from '../base/errors.ts';
import { assignUid } from '../base/ids.ts';
import {
  type CreationContext,
  countInsertedWords,
  countQuotaWords,
  findKeyedJobs,
  rejectInsert,
  UID_TRIES,
} from './created-jobs.ts';
import type { IdempotencyKey } from './idempotency-store.ts';
import type { BulkInsertResult } from './insert.ts';
import { type NewJob, newPresentedJob } from './insert-store.ts';
import { readAccountBalance } from './jobs.ts';
import { createComparisonBudget } from './matches.ts';
import { presentCreation } from './present.ts';
import type { CreateRequest } from './request.ts';
import type { JobCreationBody } from './schemas.ts';
import * as store from './store.ts';

/**
 * The texts of a bulk are scanned in this process up to this total length, in UTF-16 code units. Scanning
 * longer texts here would delay other requests.
 */
const INLINE_BULK_LENGTH = 64 * 1024;

type InsertedBulk = Extract<BulkInsertResult, { kind: 'inserted' }>;

/**
 * Creates human jobs, or finds those that the same request created before.
 * @returns their creation bodies, in the order of the requests
 * @throws ApiError like `JobCreator.createBulk`
 */
export async function createBulk(
  context: CreationContext,
  caller: Caller,
  requests: readonly CreateRequest[],
  key: IdempotencyKey | undefined,
): Promise<JobCreationBody[]> {
  try {
    return await insertBulk(context, caller, requests, await prepareBulk(context, caller, requests), key);
  } catch (error) {
    const texts = requests.map(({ text }) => text);
    const keyed =
      key && error instanceof ApiError
        ? await findKeyedJobs(context.database, caller, key, texts)
        : undefined;
    if (keyed === undefined) throw error;
    return keyed.bodies;
  }
}

/** Prepares all jobs. The error lists the problems of all jobs, up to the maximum number of lines. */
async function prepareBulk(
  { prepare }: CreationContext,
  caller: Caller,
  requests: readonly CreateRequest[],
): Promise<NewJob[]> {
  const length = requests.reduce(
    (sum, { text, targetText }) => sum + text.length + (targetText?.length ?? 0),
    0,
  );
  const jobs: NewJob[] = [];
  const complaints: string[] = [];
  const budget = createComparisonBudget();
  for (const [index, request] of requests.entries()) {
    try {
      jobs.push(await prepare(caller, 'human', request, length > INLINE_BULK_LENGTH, budget));
    } catch (error) {
      if (!(error instanceof ApiError) || error.code !== 'invalid_request') throw error;
      complaints.push(...error.message.split('\n').map((line) => `objects[${index}].${line}`));
    }
    if (complaints.length >= MAX_LINES && index < requests.length - 1) {
      // The error already has its maximum number of lines, so checking the remaining jobs would only cost
      // database queries and CPU time.
      complaints.push(`objects: those after objects[${index}] were not checked.`);
      throw new ApiError('invalid_request', complaints.join('\n'));
    }
  }
  if (complaints.length > 0) throw fieldErrors(complaints);
  return jobs;
}

async function insertBulk(
  context: CreationContext,
  caller: Caller,
  requests: readonly CreateRequest[],
  jobs: NewJob[],
  key: IdempotencyKey | undefined,
): Promise<JobCreationBody[]> {
  const { database } = context;
  for (let tried = 1; tried <= UID_TRIES; tried++) {
    assignDistinctUids(requests, jobs);
    const inserted = await insertWithinQuota(context, caller, jobs, key);
    if (inserted.kind === 'inserted') return presentBulk(context, caller, jobs, inserted);
    if (inserted.kind === 'key used') {
      const texts = requests.map(({ text }) => text);
      const found = await findKeyedJobs(database, caller, key!, texts);
      if (found !== undefined) return found.bodies;
      continue;
    }
    const complaints = jobs.flatMap(({ uid }, index) =>
      requests[index]!.uid !== undefined && inserted.uids.has(uid)
        ? [`objects[${index}].uid: already exists`]
        : [],
    );
    if (complaints.length > 0) throw fieldErrors(complaints);
    for (const job of jobs) if (inserted.uids.has(job.uid)) job.uid = assignUid();
  }
  throw new Error('no free uid was found');
}

/**
 * Inserts jobs and counts their words. If an earlier attempt created some of the jobs, only the missing ones
 * are counted.
 */
async function insertWithinQuota(
  { database, quota, inserts }: CreationContext,
  caller: Caller,
  jobs: readonly NewJob[],
  key: IdempotencyKey | undefined,
): Promise<BulkInsertResult> {
  const insert = (counted: readonly NewJob[]) =>
    quota.within(
      caller,
      { words: countQuotaWords(counted), field: 'objects' },
      () => inserts.bulk({ jobs, key }),
      (result) =>
        result.kind === 'inserted' && jobs.every(({ uid }) => isNew(result, uid))
          ? countQuotaWords(jobs)
          : countInsertedWords(database, caller, jobs),
    );
  return insert(jobs)
    .catch(async (error: unknown) => {
      const missing = isOverQuota(error) ? await withoutExisting(database, caller, jobs) : jobs;
      if (missing.length === jobs.length) throw error;
      return insert(missing);
    })
    .catch((error: unknown) => {
      const cents = jobs.reduce((sum, { priceCents }) => sum + priceCents, 0);
      return rejectInsert(database, error, caller, cents);
    });
}

async function withoutExisting(
  database: CreationContext['database'],
  { account, environment }: Caller,
  jobs: readonly NewJob[],
): Promise<NewJob[]> {
  const uids = jobs.map(({ uid }) => uid);
  const found = await store.findJobsByUid(database, account, environment, uids);
  const existing = new Set(found.map(({ uid }) => uid));
  return jobs.filter(({ uid }) => !existing.has(uid));
}

async function presentBulk(
  { database }: CreationContext,
  caller: Caller,
  jobs: readonly NewJob[],
  { found, balance: known }: InsertedBulk,
): Promise<JobCreationBody[]> {
  const balance =
    known === undefined
      ? await readAccountBalance(database, caller)
      : { balance: known, client: caller.username };
  return jobs.map((job) => {
    const one = found.get(job.uid)!;
    const presented = 'orderNumber' in one ? newPresentedJob(job, one.orderNumber) : one;
    return presentCreation(presented, job.text, balance);
  });
}

function isNew({ found }: InsertedBulk, uid: string): boolean {
  return 'orderNumber' in found.get(uid)!;
}

/** Assigns uids that differ from each other and from the uids that the caller gave. */
function assignDistinctUids(requests: readonly CreateRequest[], jobs: readonly NewJob[]): void {
  const uids = new Set(requests.flatMap(({ uid }) => uid ?? []));
  for (const [index, job] of jobs.entries()) {
    if (requests[index]!.uid !== undefined) continue;
    while (uids.has(job.uid)) job.uid = assignUid();
    uids.add(job.uid);
  }
}

/** Creates up to 1,000 human jobs in one request, all or none. */
import type { Caller } from '../../base/account.ts';
import { ApiError, fieldErrors, MAX_LINES } from '../../base/errors.ts';
import { assignUid } from '../../base/ids.ts';
import { type NewJob, newPresentedJob } from '../insert-store.ts';
import { readAccountBalance } from '../jobs.ts';
import { presentCreation } from '../present.ts';
import type { JobCreationBody } from '../schemas.ts';
import * as store from '../store.ts';
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
import { createComparisonBudget } from './matches.ts';
import { type CreateRequest, fingerprint } from './request.ts';

/**
 * The texts of a bulk are scanned in this process up to this total length, in UTF-16 code units. Scanning
 * longer texts here would delay other requests.
 */
const INLINE_BULK_LENGTH = 64 * 1024;

type InsertedBulk = Extract<BulkInsertResult, { kind: 'inserted' }>;

interface Bulk {
  context: CreationContext;
  caller: Caller;
  requests: readonly CreateRequest[];
  key: IdempotencyKey | undefined;
  /** The jobs that an earlier attempt created, by their place in `requests`. */
  earlier: ReadonlyMap<number, store.JobRow>;
}

/** A job to insert, with its place in the requests. */
interface PlacedJob {
  index: number;
  job: NewJob;
}

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
  const bulk: Bulk = { context, caller, requests, key, earlier: new Map() };
  try {
    return await insertBulk(bulk, await prepareBulk(bulk));
  } catch (error) {
    // A repeated request may be refused today: its brand may be gone, its language pair closed, or the sandbox
    // quota used up. The jobs that an earlier attempt created are not checked.
    if (!(error instanceof ApiError)) throw error;
    const keyed = await findKeyed(bulk);
    if (keyed !== undefined) return keyed;
    const earlier = await findEarlier(bulk);
    if (earlier.size === 0) throw error;
    const rest = { ...bulk, earlier };
    return insertBulk(rest, await prepareBulk(rest));
  }
}

async function findKeyed({ context, caller, requests, key }: Bulk): Promise<JobCreationBody[] | undefined> {
  const texts = requests.map(({ text }) => text);
  return key && (await findKeyedJobs(context.database, caller, key, texts))?.bodies;
}

/** Finds the jobs that an earlier attempt created, by their uids. */
async function findEarlier({ context, caller, requests }: Bulk): Promise<Bulk['earlier']> {
  const { account, environment } = caller;
  const uids = requests.flatMap(({ uid }) => uid ?? []);
  const rows = await store.findJobsByUid(context.database, { account, environment, uids });
  const byUid = new Map(rows.map((row) => [row.uid, row]));
  return new Map(
    requests.flatMap((request, index) => {
      const row = request.uid === undefined ? undefined : byUid.get(request.uid);
      return row?.request_hash.equals(fingerprint('human', request)) ? [[index, row] as const] : [];
    }),
  );
}

/**
 * Prepares the jobs that no earlier attempt created. The error lists the problems of all of them, up to the maximum
 * number of lines.
 */
async function prepareBulk({ context, caller, requests, earlier }: Bulk): Promise<PlacedJob[]> {
  const length = requests.reduce(
    (sum, { text, targetText }) => sum + text.length + (targetText?.length ?? 0),
    0,
  );
  const jobs: PlacedJob[] = [];
  const complaints: string[] = [];
  const budget = createComparisonBudget();
  for (const [index, request] of requests.entries()) {
    if (earlier.has(index)) continue;
    try {
      const apart = length > INLINE_BULK_LENGTH;
      const job = await context.prepare(caller, 'human', request, { apart, budget });
      jobs.push({ index, job });
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

async function insertBulk(bulk: Bulk, jobs: readonly PlacedJob[]): Promise<JobCreationBody[]> {
  const { requests } = bulk;
  if (jobs.length === 0) return presentBulk(bulk, jobs, undefined);
  for (let tried = 1; tried <= UID_TRIES; tried++) {
    assignDistinctUids(requests, jobs);
    const inserted = await insertWithinQuota(
      bulk,
      jobs.map(({ job }) => job),
    );
    if (inserted.kind === 'inserted') return presentBulk(bulk, jobs, inserted);
    if (inserted.kind === 'key used') {
      const keyed = await findKeyed(bulk);
      if (keyed !== undefined) return keyed;
      continue;
    }
    const taken = jobs.filter(({ job }) => inserted.uids.has(job.uid));
    const complaints = taken.flatMap(({ index }) =>
      requests[index]!.uid === undefined ? [] : [`objects[${index}].uid: already exists`],
    );
    if (complaints.length > 0) throw fieldErrors(complaints);
    for (const { job } of taken) job.uid = assignUid();
  }
  throw new Error('no free uid was found');
}

/** Inserts jobs and counts the words of those that are new. */
function insertWithinQuota(
  { context, caller, key, earlier }: Bulk,
  jobs: readonly NewJob[],
): Promise<BulkInsertResult> {
  const { database, quota, inserts } = context;
  const ids = new Map([...earlier].map(([index, { job_id }]) => [index, job_id]));
  return quota
    .within(
      caller,
      { words: countQuotaWords(jobs), field: 'objects' },
      () => inserts.bulk({ jobs, key, earlier: ids }),
      (result) =>
        result.kind === 'inserted' && jobs.every(({ uid }) => isNew(result, uid))
          ? countQuotaWords(jobs)
          : countInsertedWords(database, caller, jobs),
    )
    .catch((error: unknown) => {
      const cents = jobs.reduce((sum, { priceCents }) => sum + priceCents, 0);
      return rejectInsert(database, error, caller, cents);
    });
}

/** @param inserted undefined if an earlier attempt created all jobs */
async function presentBulk(
  { context, caller, requests, earlier }: Bulk,
  jobs: readonly PlacedJob[],
  inserted: InsertedBulk | undefined,
): Promise<JobCreationBody[]> {
  const balance =
    inserted?.balance === undefined
      ? await readAccountBalance(context.database, caller)
      : { balance: inserted.balance, client: caller.username };
  const made = new Map(
    jobs.map(({ index, job }) => {
      const one = inserted!.found.get(job.uid)!;
      return [index, 'orderNumber' in one ? newPresentedJob(job, one.orderNumber) : one];
    }),
  );
  return requests.map(({ text }, index) =>
    presentCreation((earlier.get(index) ?? made.get(index))!, text, balance),
  );
}

function isNew({ found }: InsertedBulk, uid: string): boolean {
  return 'orderNumber' in found.get(uid)!;
}

/** Assigns uids that differ from each other and from the uids that the caller gave. */
function assignDistinctUids(requests: readonly CreateRequest[], jobs: readonly PlacedJob[]): void {
  const uids = new Set(requests.flatMap(({ uid }) => uid ?? []));
  for (const { index, job } of jobs) {
    if (requests[index]!.uid !== undefined) continue;
    while (uids.has(job.uid)) job.uid = assignUid();
    uids.add(job.uid);
  }
}

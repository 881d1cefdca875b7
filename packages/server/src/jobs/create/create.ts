/**
 * Creates jobs: a single job, a bulk, or a human job from a completed machine job. The response is sent after
 * the commit, so an acknowledged job is on disk and queued, and its price is held once. A repeated request is
 * recognized by its uid or its idempotency key and gets the existing job.
 */
import type { SandboxQuota } from '../../accounts/sandbox-words.ts';
import type { Caller } from '../../base/account.ts';
import { ApiError, fieldError, joinFieldErrors } from '../../base/errors.ts';
import { assignUid } from '../../base/ids.ts';
import type { Settings } from '../../settings/settings.ts';
import { type NewJob, newPresentedJob } from '../insert-store.ts';
import { readAccountBalance } from '../jobs.ts';
import { presentCreation } from '../present.ts';
import type { JobCreationBody } from '../schemas.ts';
import * as store from '../store.ts';
import { createBulk } from './create-bulk.ts';
import {
  type CreationContext,
  countInsertedWords,
  countQuotaWords,
  findKeyedJobs,
  rejectInsert,
  UID_TRIES,
} from './created-jobs.ts';
import type { IdempotencyKey } from './idempotency-store.ts';
import { createJobInserter, type InsertResult, type JobInserterOptions } from './insert.ts';
import { createJobPreparer, type JobPreparerOptions, type Quote, quoteJob, resolveNames } from './prepare.ts';
import {
  type CreateRequest,
  fingerprint,
  fingerprintRequests,
  readBulkRequest,
  readCreateRequest,
  readIdempotencyKey,
  readNamedFields,
} from './request.ts';
import { upgradeJob } from './upgrade.ts';

export interface JobCreatorOptions extends JobPreparerOptions, JobInserterOptions {
  settings: JobPreparerOptions['settings'] & Pick<Settings, 'maxTextBytes'>;
  quota: SandboxQuota;
}

export interface CreatedJob {
  /** 201 for a new job; 200 for a job that an earlier attempt at the request created. */
  status: 201 | 200;
  body: JobCreationBody;
}

export interface JobCreator {
  /**
   * Creates a job, or finds the job that the same request created before.
   * @param idempotencyKey the unchecked `Idempotency-Key` header
   * @param name the name of the document's file, if it has one
   * @param price the price in cents that the customer was shown, if any
   * @throws ApiError `invalid_request`, `too_large`, `insufficient_balance`, `sandbox_quota`, `unavailable`,
   *   `price_changed`
   */
  create(
    caller: Caller,
    tier: store.JobTier,
    body: unknown,
    idempotencyKey?: unknown,
    name?: string,
    price?: number,
  ): Promise<CreatedJob>;
  /**
   * Checks the body of a create and calculates the prices of both tiers. Nothing is created.
   * @param tier the tier whose fields the body may have
   * @throws ApiError `invalid_request`, `too_large`, `unavailable`
   */
  quote(caller: Caller, tier: store.JobTier, body: unknown): Promise<Quote>;
  /**
   * Creates human jobs, all or none. If an earlier attempt at this request created a job, the existing job is
   * returned.
   * @returns their creation bodies, in order
   * @throws ApiError like `create`, each line with the object's index
   */
  createBulk(caller: Caller, body: unknown, idempotencyKey?: unknown): Promise<JobCreationBody[]>;
  /** Turns a completed machine job into a human job; see `upgradeJob`. */
  upgrade(caller: Caller, uid: string, body: unknown): Promise<JobCreationBody>;
  /** Resolves when no creation is in progress, including creations whose client has disconnected. */
  idle(): Promise<void>;
}

export function createJobCreator(options: JobCreatorOptions): JobCreator {
  const { database, quota } = options;
  const { maxTextBytes } = options.settings;
  const prepare = createJobPreparer(options);
  const inserts = createJobInserter(options);
  const context: CreationContext = { database, quota, prepare, inserts };

  /**
   * Reads a create. The error also has a line for each field that can be read and names nothing that there is. These
   * fields are left out if they cannot be checked now.
   */
  async function readCreate(caller: Caller, tier: store.JobTier, body: unknown): Promise<CreateRequest> {
    try {
      return readCreateRequest(body, tier, maxTextBytes);
    } catch (error) {
      if (!(error instanceof ApiError && error.code === 'invalid_request')) throw error;
      await resolveNames(caller, readNamedFields(body, error), options).catch((other: unknown) => {
        if (!(other instanceof ApiError)) throw other;
        if (other.code === 'invalid_request') throw joinFieldErrors([error, other]);
      });
      throw error;
    }
  }

  return {
    async create(caller, tier, body, header, name, price) {
      const request = await readCreate(caller, tier, body);
      const key = readIdempotencyKey(header, () => fingerprintRequests(tier, [request]));
      try {
        const job = { ...(await prepare(caller, tier, request)), name };
        if (price !== undefined && price !== job.priceCents) {
          const message = `The price has changed: it is ${job.priceCents} cents now.`;
          throw new ApiError('price_changed', message, {}, { price: job.priceCents });
        }
        return await insertOne(context, caller, job, request.uid === undefined, key);
      } catch (error) {
        return findEarlierJob(context, error, caller, tier, request, key);
      }
    },
    quote: async (caller, tier, body) => quoteJob(caller, await readCreate(caller, tier, body), options),
    async createBulk(caller, body, header) {
      const requests = readBulkRequest(body, maxTextBytes);
      const key = readIdempotencyKey(header, () => fingerprintRequests('bulk', requests));
      return createBulk(context, caller, requests, key);
    },
    async upgrade(caller, uid, body) {
      const upgraded = await upgradeJob({ database, prepare, maxTextBytes }, caller, uid, body);
      // An upgrade creates no new job, but makes the upgraded job due.
      options.created(0, 1);
      return upgraded;
    },
    idle: () => inserts.idle(),
  };
}

/**
 * Inserts a job, or finds the job that an earlier attempt at the same request created.
 * @param assigned true if the server chose the uid, so that it may choose another
 */
async function insertOne(
  context: CreationContext,
  caller: Caller,
  job: NewJob,
  assigned: boolean,
  key: IdempotencyKey | undefined,
): Promise<CreatedJob> {
  const { database, quota, inserts } = context;
  for (let tried = 1; tried <= UID_TRIES; tried++) {
    const brought = { words: countQuotaWords([job]), field: 'text' };
    const insert = () => inserts.one({ job, key });
    const usedBy = ({ kind }: InsertResult) =>
      kind === 'inserted' ? brought.words : countInsertedWords(database, caller, [job]);
    const inserted = await quota
      .within(caller, brought, insert, usedBy)
      .catch((error: unknown) => rejectInsert(database, error, caller, job.priceCents));
    if (inserted.kind === 'inserted') {
      return acknowledge(context, caller, job, job.orderNumber, inserted.balance);
    }
    if (inserted.kind === 'key used') {
      const found = await findKeyedJobs(database, caller, key!, [job.text]);
      // If the idempotency key was deleted after the failed insert, the insert can be repeated.
      if (found === undefined) continue;
      const [row] = found.rows;
      if (row!.job_id === job.jobId) return acknowledge(context, caller, job, row!.order_number, undefined);
      return { status: 200, body: found.bodies[0]! };
    }
    const existing = await store.findJob(database, {
      account: caller.account,
      environment: caller.environment,
      uid: job.uid,
    });
    // Our own earlier attempt: it committed, but the reply was lost.
    if (existing?.job_id === job.jobId) {
      return acknowledge(context, caller, job, existing.order_number, undefined);
    }
    if (!assigned) return presentRepeat(context, caller, job.requestHash, job.text, existing);
    job.uid = assignUid();
  }
  throw new Error('no free uid was found');
}

/**
 * Returns the answer for a new job.
 * @param known the available cents of the account, if the insert returned them
 */
async function acknowledge(
  { database }: CreationContext,
  caller: Caller,
  job: NewJob,
  orderNumber: number,
  known: number | undefined,
): Promise<CreatedJob> {
  // The creation body of a machine job shows no balance, so the balance is not read.
  const balance =
    known === undefined && job.tier === 'human'
      ? await readAccountBalance(database, caller)
      : { balance: known ?? 0, client: caller.username };
  return { status: 201, body: presentCreation(newPresentedJob(job, orderNumber), job.text, balance) };
}

/**
 * Returns the answer for a uid that already exists.
 * @throws ApiError `invalid_request` if the repeated request differs
 */
async function presentRepeat(
  { database }: CreationContext,
  caller: Caller,
  requestHash: Buffer,
  text: string,
  existing: store.JobRow | undefined,
): Promise<CreatedJob> {
  if (existing === undefined || !existing.request_hash.equals(requestHash)) {
    throw fieldError('uid', 'already exists');
  }
  const balance = await readAccountBalance(database, caller);
  return { status: 200, body: presentCreation(existing, text, balance) };
}

/**
 * Finds the existing job for a repeated request that would be refused today: the language pair may be closed,
 * the callback URL forbidden, or the sandbox quota used up.
 * @throws `error` if no earlier request created the job
 */
async function findEarlierJob(
  context: CreationContext,
  error: unknown,
  caller: Caller,
  tier: store.JobTier,
  request: CreateRequest,
  key: IdempotencyKey | undefined,
): Promise<CreatedJob> {
  const { database } = context;
  if (!(error instanceof ApiError)) throw error;
  const keyed = key && (await findKeyedJobs(database, caller, key, [request.text]));
  if (keyed !== undefined) return { status: 200, body: keyed.bodies[0]! };
  if (request.uid === undefined) throw error;
  const existing = await store.findJob(database, {
    account: caller.account,
    environment: caller.environment,
    uid: request.uid,
  });
  const hash = fingerprint(tier, request);
  if (existing?.request_hash.equals(hash))
    return presentRepeat(context, caller, hash, request.text, existing);
  throw error;
}

/**
 * Inserts jobs with group commit: requests that arrive during a commit share the next commit. A bulk has its
 * own commit, because all of its jobs are created or none.
 */
import type { AccountRef, Environment } from '../../base/account.ts';
import { ApiError } from '../../base/errors.ts';
import {
  type Batcher,
  BatcherFull,
  createBatcher,
  REQUEST_BATCH_MILLISECONDS,
} from '../../database/batcher.ts';
import {
  type Database,
  isUnavailable,
  retryUnknownCommit,
  type Transaction,
} from '../../database/database.ts';
import { holdPrices } from '../../ledger/ledger.ts';
import type { Lease } from '../../work/queue.ts';
import { assignLeases, type LeaseWorker, newLease } from '../../work/worker.ts';
import { type InsertedJobRow, insertJobs, type NewJob, newJobRow } from '../insert-store.ts';
import type { LeasedJob } from '../jobs.ts';
import { beginCreation, endCreation, type OpenCreation } from '../order-numbers.ts';
import * as store from '../store.ts';
import {
  correctIdempotencyKey,
  deleteIdempotencyKey,
  type IdempotencyEntry,
  type IdempotencyKey,
  insertIdempotencyKeys,
} from './idempotency-store.ts';

/** A job to insert, with the idempotency key of its request. */
export interface KeyedJob {
  job: NewJob;
  key: IdempotencyKey | undefined;
}

export type InsertResult =
  /**
   * `balance` is the available balance of the account after the insert, in cents; undefined if the job's
   * price is 0.
   */
  | { kind: 'inserted'; balance: number | undefined }
  /** The uid belongs to an existing job. */
  | { kind: 'exists' }
  /** The idempotency key was used before, by a retry of this request or by another request. */
  | { kind: 'key used' };

export interface JobBulk {
  jobs: readonly NewJob[];
  key: IdempotencyKey | undefined;
  /** The ids of jobs that an earlier attempt created, by their place in the request. They are not in `jobs`. */
  earlier: ReadonlyMap<number, string>;
}

export type BulkInsertResult =
  | {
      kind: 'inserted';
      /**
       * For each uid: the order number of the new job, or the row of the job that an earlier attempt at the
       * request created.
       */
      found: Map<string, { orderNumber: number } | store.JobRow>;
      balance: number | undefined;
    }
  /** Nothing was inserted, because some uids (`uids`) belong to other jobs. */
  | { kind: 'taken'; uids: ReadonlySet<string> }
  | { kind: 'key used' };

export interface JobInserter {
  /**
   * Inserts one job.
   * @throws ApiError `unavailable` if the queue is full; PostgreSQL's check violation, see `isOverdrawn`
   */
  one(creation: KeyedJob): Promise<InsertResult>;
  /** Inserts all jobs of a bulk or none of them. @throws like `one` */
  bulk(bulk: JobBulk): Promise<BulkInsertResult>;
  /** Resolves when no insert is in progress. */
  idle(): Promise<void>;
}

const MAX_BATCH_JOBS = 500;
const MAX_BATCH_BYTES = 4 * 1024 * 1024;
/**
 * Two batches run at a time: one waits for the disk while the other executes. At 64 connections on two cores,
 * the throughput with two batches is 1.25 to 1.4 times that with one batch; a third batch adds nothing.
 */
const MAX_RUNNING = 2;
/**
 * The maximum number of jobs that wait for their insert, which is several seconds of work. Further requests
 * get the status 503.
 */
const MAX_WAITING = 10_000;
/** The maximum number of waiting bulks, because each may take 40 MB of memory. */
const MAX_WAITING_BULKS = 32;

/** The functions of a worker that an insert needs. */
type JobWorker = Pick<LeaseWorker<Lease, LeasedJob>, 'leaseSeconds' | 'capacityFor' | 'adopt'>;

export interface JobInserterOptions {
  database: Database;
  /** Returns the worker of this process, if it has one. */
  worker(): JobWorker | undefined;
  /**
   * Called after a commit with new jobs. `waiting` is the number of new jobs that the insert did not lease to
   * this process.
   */
  created(count: number, waiting: number): void;
}

export function createJobInserter({ database, worker, created }: JobInserterOptions): JobInserter {
  // Retries a failed batch by inserting each job alone, except when the database is unavailable: then 500
  // retries would only add load.
  const isolates = (error: unknown) => !isUnavailable(error);
  const singles = createBatcher<KeyedJob, InsertResult>({
    async run(creations, lockMilliseconds) {
      const open = worker();
      const jobs = creations.map(({ job }) => job);
      assignLeaseTokens(jobs, open);
      const inserted = await creating(
        database,
        jobs,
        (begun) => insertSingles(database, begun, creations, open?.leaseSeconds ?? 0, lockMilliseconds),
        lockMilliseconds,
      );
      const made = inserted.map(({ row }) => row);
      const count = made.filter((row) => row !== undefined).length;
      if (count > 0) created(count, count - adoptLeased(jobs, made, open));
      return inserted.map(({ result }) => result);
    },
    weigh: ({ job }) => weightOf(job),
    maxItems: MAX_BATCH_JOBS,
    maxWeight: MAX_BATCH_BYTES,
    maxWaiting: MAX_WAITING,
    maxRunning: MAX_RUNNING,
    mostMilliseconds: REQUEST_BATCH_MILLISECONDS,
    isolates,
    accountOf: ({ job }) => job.account.accountId,
  });
  // Bulks run one at a time, separately from the batches, so that single creates never wait for several
  // bulks. A bulk belongs to one account, so it needs no short limit for locks.
  const bulks = createBatcher<JobBulk, BulkInsertResult>({
    run: (items) =>
      creating(database, items[0]!.jobs, async (begun) => {
        const result = await insertBulk(database, begun, items[0]!);
        const found = result.kind === 'inserted' ? [...result.found.values()] : [];
        const count = found.filter((one) => 'orderNumber' in one).length;
        if (count > 0) created(count, count);
        return [result];
      }),
    weigh: () => 1,
    maxItems: 1,
    maxWeight: 1,
    maxWaiting: MAX_WAITING_BULKS,
    maxRunning: 1,
    mostMilliseconds: REQUEST_BATCH_MILLISECONDS,
    isolates,
  });

  return {
    one: (creation) => singles.add(creation).catch(rejectFull),
    bulk: (bulk) => bulks.add(bulk).catch(rejectFull),
    async idle() {
      await Promise.all(
        [singles, bulks].map((batcher: Pick<Batcher<never, never>, 'idle'>) => batcher.idle()),
      );
    },
  };
}

/**
 * Assigns order numbers and ids to jobs, and runs the transaction that inserts them. The creation record (see
 * `order-numbers.ts`) is deleted whether the insert succeeds or fails. If a transaction is repeated after a
 * lost connection, it uses the same numbers and ids, which recognize the jobs that were committed.
 * @param lockMilliseconds how long to wait for the lock of a counter
 */
async function creating<T>(
  database: Database,
  jobs: readonly NewJob[],
  run: (begun: OpenCreation) => Promise<T>,
  lockMilliseconds?: number,
): Promise<T> {
  const begun = await beginCreation(database, jobs, lockMilliseconds);
  try {
    return await retryUnknownCommit(() => {
      begun.ended = false;
      return run(begun);
    });
  } catch (error) {
    begun.ended = false; // The rollback restored the creation record, so it must still be deleted.
    throw error;
  } finally {
    if (!begun.ended) await endCreation(database, begun);
  }
}

function rejectFull(error: unknown): never {
  if (!(error instanceof BatcherFull)) throw error;
  throw new ApiError('unavailable', 'Jobs cannot be created fast enough at present; try again.', {
    'retry-after': '1',
  });
}

/** Assigns lease tokens to as many jobs as the worker of this process has capacity for. */
function assignLeaseTokens(jobs: readonly NewJob[], worker: JobWorker | undefined): void {
  const pieces = jobs.map(({ account, text }) => ({ account, weight: text.length }));
  const tokens = worker === undefined ? [] : assignLeases(pieces, worker);
  for (const [index, job] of jobs.entries()) job.leaseToken = tokens[index];
}

/** Hands the leased jobs to the worker of this process. @returns their number */
function adoptLeased(
  jobs: readonly NewJob[],
  rows: readonly (InsertedJobRow | undefined)[],
  worker: JobWorker | undefined,
): number {
  let taken = 0;
  for (const [index, job] of jobs.entries()) {
    const row = rows[index];
    if (row === undefined || job.leaseToken === undefined) continue;
    worker!.adopt(newLease(job.account, job.jobId, job.leaseToken, job.text.length), leasedJobOf(job, row));
    taken++;
  }
  return taken;
}

/** Builds the leased job without reading it from the database. */
function leasedJobOf(job: NewJob, row: InsertedJobRow): LeasedJob {
  const texts = {
    source: job.text,
    ...(job.targetText === undefined ? {} : { supplied: job.targetText }),
    ...(job.instructions === undefined ? {} : { instructions: job.instructions }),
  };
  return { row: newJobRow(job, row), held: job.holdSeconds > 0, age: 0, texts };
}

/** The result for one create, with the row of the job if it is new. */
interface Single {
  result: InsertResult;
  row?: InsertedJobRow;
}

function insertSingles(
  database: Database,
  begun: OpenCreation,
  creations: readonly KeyedJob[],
  leaseSeconds: number,
  lockMilliseconds: number,
): Promise<Single[]> {
  const keyed = creations.flatMap(({ job, key }) => (key === undefined ? [] : [keyEntry([job], key)]));
  return database.transaction(async (transaction) => {
    // Idempotency keys are inserted by a separate statement, because most creates have no key.
    const fresh = keyed.length === 0 ? NONE : await insertIdempotencyKeys(transaction, keyed);
    const going = creations.filter(({ job, key }) => key === undefined || fresh.has(job.jobId));
    const rows = await insertSorted(
      transaction,
      begun,
      going.map(({ job }) => job),
      leaseSeconds,
    );
    // A distributed database has a creation record for each part, also if no job of the part is inserted.
    const parts = new Set(going.map(({ job }) => job.account.part));
    if (creations.some(({ job }) => !parts.has(job.account.part))) begun.ended = false;
    // Deletes the idempotency keys of requests whose uid existed already, because these requests created no
    // job.
    const idle = going.filter(({ job, key }) => key !== undefined && !rows.has(job.jobId));
    for (const { job, key } of idle)
      await deleteIdempotencyKey(transaction, {
        ...key!,
        account: job.account,
        environment: job.environment,
      });
    const balanceOf = await hold(
      transaction,
      going.map(({ job }) => job).filter(({ jobId }) => rows.has(jobId)),
    );
    return creations.map(({ job, key }): Single => {
      if (key !== undefined && !fresh.has(job.jobId)) return { result: { kind: 'key used' } };
      const row = rows.get(job.jobId);
      if (row === undefined) return { result: { kind: 'exists' } };
      const balance = balanceOf(job.account, job.environment);
      return { result: { kind: 'inserted', balance }, row };
    });
  }, lockMilliseconds);
}

const NONE: ReadonlySet<string> = new Set();

/** Thrown to roll back the transaction of a bulk. */
class UidsTaken extends Error {
  override name = 'UidsTaken';
  readonly uids: ReadonlySet<string>;
  constructor(uids: ReadonlySet<string>) {
    super('uids are taken');
    this.uids = uids;
  }
}

async function insertBulk(
  database: Database,
  begun: OpenCreation,
  { jobs, key, earlier }: JobBulk,
): Promise<BulkInsertResult> {
  const { account, environment } = jobs[0]!;
  const insert = async (transaction: Transaction): Promise<BulkInsertResult> => {
    if (key !== undefined) {
      const fresh = await insertIdempotencyKeys(transaction, [keyEntry(jobs, key, earlier)]);
      if (fresh.size === 0) return { kind: 'key used' };
    }
    const made = new Set<string>();
    for (const chunk of chunks(jobs.toSorted(byUniqueKey))) {
      for (const jobId of (await insertSorted(transaction, begun, chunk, 0)).keys()) made.add(jobId);
    }
    const found = new Map<string, { orderNumber: number } | store.JobRow>();
    const missing = jobs.filter(({ jobId, uid, orderNumber }) => {
      if (made.has(jobId)) found.set(uid, { orderNumber });
      return !made.has(jobId);
    });
    if (missing.length > 0) {
      const uids = missing.map(({ uid }) => uid);
      const rows = new Map(
        (await store.findJobsByUid(transaction, { account, environment, uids })).map((row) => [row.uid, row]),
      );
      const taken = missing.filter(
        ({ uid, requestHash }) => !rows.get(uid)?.request_hash.equals(requestHash),
      );
      if (taken.length > 0) throw new UidsTaken(new Set(taken.map(({ uid }) => uid)));
      for (const [uid, row] of rows) found.set(uid, row);
      if (key !== undefined) {
        const ids = jobs.map(({ jobId, uid }) => rows.get(uid)?.job_id ?? jobId);
        await correctIdempotencyKey(transaction, {
          ...key,
          account,
          environment,
          jobIds: inOrder(ids, earlier),
        });
      }
    }
    const balanceOf = await hold(
      transaction,
      jobs.filter(({ jobId }) => made.has(jobId)),
    );
    return { kind: 'inserted', found, balance: balanceOf(account, environment) };
  };
  try {
    return await database.transaction(insert);
  } catch (error) {
    if (!(error instanceof UidsTaken)) throw error;
    begun.ended = false; // The rollback restored the creation record, so it must still be deleted.
    return { kind: 'taken', uids: error.uids };
  }
}

/** Inserts jobs in the order of their unique key. @returns the rows of new jobs, by job id */
async function insertSorted(
  transaction: Transaction,
  begun: OpenCreation,
  jobs: readonly NewJob[],
  leaseSeconds: number,
): Promise<Map<string, InsertedJobRow>> {
  if (jobs.length === 0) return new Map();
  // Inserting in the order of the unique key prevents deadlocks between two batches with the same uids.
  const sorted = jobs.toSorted(byUniqueKey);
  const { rows, ended } = await insertJobs(transaction, sorted, leaseSeconds, begun.id);
  begun.ended ||= ended;
  if (rows.length > 0 && !begun.ended) {
    // The creation record was deleted as stale. Clients that page through the list may already be past these
    // ids and would never see the jobs, so the insert fails.
    throw new ApiError('unavailable', 'The job could not be created in time; try again.', {
      'retry-after': '1',
    });
  }
  return new Map(rows.map((row) => [row.job_id, row]));
}

function hold(
  transaction: Transaction,
  jobs: readonly NewJob[],
): Promise<(account: AccountRef, environment: Environment) => number | undefined> {
  const holds = jobs.map(({ account, environment, jobId, priceCents: cents, limitedKey }) => ({
    account,
    environment,
    jobId,
    charge: 1,
    cents,
    limitedKey,
  }));
  return holdPrices(transaction, holds);
}

function keyEntry(
  jobs: readonly NewJob[],
  key: IdempotencyKey,
  earlier: JobBulk['earlier'] = new Map(),
): IdempotencyEntry {
  const { account, environment } = jobs[0]!;
  const ids = jobs.map(({ jobId }) => jobId);
  return { account, environment, ...key, jobIds: inOrder(ids, earlier) };
}

/** Returns the ids of new and earlier jobs in the order of the request. */
function inOrder(ids: readonly string[], earlier: JobBulk['earlier']): string[] {
  const fresh = ids.values();
  const places = Array.from({ length: ids.length + earlier.size }, (_, place) => place);
  return places.map((place) => earlier.get(place) ?? (fresh.next().value as string));
}

/** Splits jobs into chunks within the limits of a batch. */
function* chunks(jobs: readonly NewJob[]): Generator<NewJob[]> {
  let chunk: NewJob[] = [];
  let weight = 0;
  for (const job of jobs) {
    weight += weightOf(job);
    if (chunk.length === MAX_BATCH_JOBS || (chunk.length > 0 && weight > MAX_BATCH_BYTES)) {
      yield chunk;
      chunk = [];
      weight = weightOf(job);
    }
    chunk.push(job);
  }
  yield chunk;
}

function weightOf(job: NewJob): number {
  return job.text.length + (job.targetText?.length ?? 0);
}

function byUniqueKey(a: NewJob, b: NewJob): number {
  const difference = a.account.part - b.account.part;
  if (difference !== 0) return difference;
  const [one, other] = [a, b].map((job) => `${job.account.accountId} ${job.environment} ${job.uid}`);
  return one! < other! ? -1 : one! > other! ? 1 : 0;
}

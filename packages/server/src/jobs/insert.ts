/**
 * New jobs on their way to the disk. What arrives while a commit is in flight shares the next one (group commit);
 * a bulk, which is made whole or not at all, has a commit of its own.
 */
import type { AccountRef, Environment } from '../account.ts';
import { type Batcher, BatcherFull, createBatcher } from '../database/batcher.ts';
import { CommitUnknown, type Database, isUnavailable, type Transaction } from '../database/database.ts';
import { ApiError } from '../errors.ts';
import { holdPrices } from '../ledger/ledger.ts';
import { leasesFor, type OpenLoop } from '../work/loop.ts';
import type { Lease } from '../work/queue.ts';
import type { LeasedJob } from './jobs.ts';
import { type Creation as Begun, beginCreation, endCreation } from './numbers.ts';
import * as store from './store.ts';

/** One job to be made, and the key that the caller gave its creation. */
export interface Creation {
  job: store.NewJob;
  key: store.CreationKey | undefined;
}

export type Inserted =
  /** `balance`: what the account can spend now, in cents; known where the job took something from it. */
  | { kind: 'inserted'; balance: number | undefined }
  /** Its uid is taken. */
  | { kind: 'exists' }
  /** Its key has been used: by its own retry, or for another request. */
  | { kind: 'key used' };

/** Jobs of one caller that are made together. */
export interface Bulk {
  jobs: readonly store.NewJob[];
  key: store.CreationKey | undefined;
}

export type BulkInserted =
  | {
      kind: 'inserted';
      /** A job of the bulk each, by its uid: the new one's order number, or the row that its retry found. */
      found: Map<string, { orderNumber: number } | store.JobRow>;
      balance: number | undefined;
    }
  /** These uids belong to other jobs. Nothing was made. */
  | { kind: 'taken'; uids: ReadonlySet<string> }
  | { kind: 'key used' };

export interface Inserter {
  /** @throws ApiError `unavailable` when too much waits; pg's check violation, see `isOverdrawn` */
  one(creation: Creation): Promise<Inserted>;
  /** All or nothing. @throws as `one` */
  bulk(bulk: Bulk): Promise<BulkInserted>;
  /** Resolves when nothing is under way. */
  idle(): Promise<void>;
}

const MAX_BATCH_JOBS = 500;
const MAX_BATCH_BYTES = 4 * 1024 * 1024;
/**
 * Two batches in flight: while one waits for the disk, the next is worked out. Measured at 64 connections on two
 * cores: 1.25 to 1.4 of what one in flight creates; a third adds nothing.
 */
const MAX_RUNNING = 2;
/** Several seconds of work; who comes later is better told to come back. */
const MAX_WAITING = 10_000;
/** A bulk may be forty megabytes in hand. */
const MAX_WAITING_BULKS = 32;

/** The worker of this process, as whoever makes jobs sees it. */
export interface OpenWorker extends Pick<OpenLoop<Lease>, 'roomFor'> {
  readonly leaseSeconds: number;
  /** Takes a job that was made and leased in one: it is neither claimed nor read again. */
  adopt(account: AccountRef, token: string, job: LeasedJob): void;
}

export interface InserterOptions {
  database: Database;
  /** The worker of this process, where it has one. */
  worker(): OpenWorker | undefined;
  /** Called after a commit that made jobs; `waiting` of them wait for any worker. */
  created(count: number, waiting: number): void;
}

export function createInserter({ database, worker, created }: InserterOptions): Inserter {
  // A database that is away is nobody's fault: trying five hundred jobs one by one would only keep it busy.
  const isolates = (error: unknown) => !isUnavailable(error);
  const singles = createBatcher<Creation, Inserted>({
    async run(creations) {
      const open = worker();
      const jobs = creations.map(({ job }) => job);
      leaseSome(jobs, open);
      const inserted = await creating(database, jobs, (begun) =>
        insertSingles(database, begun, creations, open?.leaseSeconds ?? 0),
      );
      const made = inserted.map(({ row }) => row);
      const count = made.filter((row) => row !== undefined).length;
      if (count > 0) created(count, count - handOver(jobs, made, open));
      return inserted.map(({ result }) => result);
    },
    weigh: ({ job }) => weightOf(job),
    maxItems: MAX_BATCH_JOBS,
    maxWeight: MAX_BATCH_BYTES,
    maxWaiting: MAX_WAITING,
    maxRunning: MAX_RUNNING,
    isolates,
  });
  // One at a time, beside the batches: a bulk is work for the disk already, and single creates should not wait for many.
  const bulks = createBatcher<Bulk, BulkInserted>({
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
    isolates,
  });

  return {
    one: (creation) => singles.add(creation).catch(sayFull),
    bulk: (bulk) => bulks.add(bulk).catch(sayFull),
    async idle() {
      await Promise.all(
        [singles, bulks].map((batcher: Pick<Batcher<never, never>, 'idle'>) => batcher.idle()),
      );
    },
  };
}

/**
 * Numbers jobs and runs the transaction that inserts them; whatever comes of it, the creation is not under way after.
 * What ran again after a lost connection has the same numbers and ids.
 */
async function creating<T>(
  database: Database,
  jobs: readonly store.NewJob[],
  run: (begun: Begun) => Promise<T>,
): Promise<T> {
  const begun = await beginCreation(database, jobs);
  try {
    return await surely(() => {
      begun.ended = false;
      return run(begun);
    });
  } catch (error) {
    begun.ended = false; // with what the transaction did
    throw error;
  } finally {
    if (!begun.ended) await endCreation(database, begun);
  }
}

/**
 * When the connection is lost while it commits, it is run again: what did get in then exists, and is recognised by
 * its id as our own.
 */
function surely<T>(run: () => Promise<T>): Promise<T> {
  return run().catch((error: unknown) => {
    if (error instanceof CommitUnknown) return run();
    throw error;
  });
}

function sayFull(error: unknown): never {
  if (!(error instanceof BatcherFull)) throw error;
  throw new ApiError('unavailable', 'Too many jobs are being created; try again.', { 'retry-after': '1' });
}

/** Leases for those that the worker of this process has room for: where others wait for it, places kept for small accounts. */
function leaseSome(jobs: readonly store.NewJob[], worker: OpenWorker | undefined): void {
  const pieces = jobs.map(({ account, text }) => ({ account, weight: text.length }));
  const tokens = worker === undefined ? [] : leasesFor(pieces, worker);
  for (const [index, job] of jobs.entries()) job.leaseToken = tokens[index];
}

/** @returns how many the worker has taken */
function handOver(
  jobs: readonly store.NewJob[],
  rows: readonly (store.InsertedRow | undefined)[],
  worker: OpenWorker | undefined,
): number {
  let taken = 0;
  for (const [index, job] of jobs.entries()) {
    const row = rows[index];
    if (row === undefined || job.leaseToken === undefined) continue;
    worker!.adopt(job.account, job.leaseToken, leasedJobOf(job, row));
    taken++;
  }
  return taken;
}

/** As the worker would read it. */
function leasedJobOf(job: store.NewJob, row: store.InsertedRow): LeasedJob {
  const texts = {
    source: job.text,
    ...(job.targetText === undefined ? {} : { supplied: job.targetText }),
    ...(job.instructions === undefined ? {} : { instructions: job.instructions }),
  };
  return { row: store.rowOf(job, row), held: job.holdSeconds > 0, age: 0, texts };
}

/** What became of a creation, and its job's row where it is new. */
interface Single {
  result: Inserted;
  row?: store.InsertedRow;
}

function insertSingles(
  database: Database,
  begun: Begun,
  creations: readonly Creation[],
  leaseSeconds: number,
): Promise<Single[]> {
  const keyed = creations.flatMap(({ job, key }) => (key === undefined ? [] : [keyEntry([job], key)]));
  return database.transaction(async (transaction) => {
    // A statement of its own, for the batches that need it: most creates carry no key.
    const fresh = keyed.length === 0 ? NONE : await store.insertKeys(transaction, keyed);
    const going = creations.filter(({ job, key }) => key === undefined || fresh.has(job.jobId));
    const rows = await insertJobs(
      transaction,
      begun,
      going.map(({ job }) => job),
      leaseSeconds,
    );
    // A key stands for a job that was made with it; these uids were taken.
    const idle = going.filter(({ job, key }) => key !== undefined && !rows.has(job.jobId));
    for (const { job, key } of idle) await store.deleteKey(transaction, job.account, job.environment, key!);
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
  });
}

const NONE: ReadonlySet<string> = new Set();

/** Thrown out of the transaction, so that nothing of it stays. */
class Taken extends Error {
  override name = 'Taken';
  readonly uids: ReadonlySet<string>;
  constructor(uids: ReadonlySet<string>) {
    super('uids are taken');
    this.uids = uids;
  }
}

async function insertBulk(database: Database, begun: Begun, { jobs, key }: Bulk): Promise<BulkInserted> {
  const { account, environment } = jobs[0]!;
  const insert = async (transaction: Transaction): Promise<BulkInserted> => {
    if (key !== undefined) {
      const fresh = await store.insertKeys(transaction, [keyEntry(jobs, key)]);
      if (fresh.size === 0) return { kind: 'key used' };
    }
    const made = new Set<string>();
    for (const chunk of chunks(jobs.toSorted(byUniqueKey))) {
      for (const jobId of (await insertJobs(transaction, begun, chunk, 0)).keys()) made.add(jobId);
    }
    const found = new Map<string, { orderNumber: number } | store.JobRow>();
    const missing = jobs.filter(({ jobId, uid, orderNumber }) => {
      if (made.has(jobId)) found.set(uid, { orderNumber });
      return !made.has(jobId);
    });
    if (missing.length > 0) {
      const uids = missing.map(({ uid }) => uid);
      const rows = new Map(
        (await store.findJobs(transaction, account, environment, uids)).map((row) => [row.uid, row]),
      );
      const taken = missing.filter(
        ({ uid, requestHash }) => !rows.get(uid)?.request_hash.equals(requestHash),
      );
      if (taken.length > 0) throw new Taken(new Set(taken.map(({ uid }) => uid)));
      for (const [uid, row] of rows) found.set(uid, row);
      if (key !== undefined) {
        const ids = jobs.map(({ jobId, uid }) => rows.get(uid)?.job_id ?? jobId);
        await store.correctKey(transaction, account, environment, key, ids);
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
    if (!(error instanceof Taken)) throw error;
    begun.ended = false; // with what the transaction did
    return { kind: 'taken', uids: error.uids };
  }
}

/** @returns the rows of those that are new, by job id */
async function insertJobs(
  transaction: Transaction,
  begun: Begun,
  jobs: readonly store.NewJob[],
  leaseSeconds: number,
): Promise<Map<string, store.InsertedRow>> {
  if (jobs.length === 0) return new Map();
  // In the order of their unique key: two batches that repeat each other's uids would otherwise wait in a circle.
  const sorted = jobs.toSorted(byUniqueKey);
  const { rows, ended } = await store.insertJobs(transaction, sorted, leaseSeconds, begun.id);
  begun.ended ||= ended;
  if (rows.length > 0 && !begun.ended) {
    // Its record was taken for one of a dead process: readers of lists may be past these ids.
    throw new ApiError('unavailable', 'The job could not be created in time; try again.', {
      'retry-after': '1',
    });
  }
  return new Map(rows.map((row) => [row.job_id, row]));
}

function hold(
  transaction: Transaction,
  jobs: readonly store.NewJob[],
): Promise<(account: AccountRef, environment: Environment) => number | undefined> {
  const holds = jobs.map(({ account, environment, jobId, priceCents: cents }) => ({
    account,
    environment,
    jobId,
    charge: 1,
    cents,
  }));
  return holdPrices(transaction, holds);
}

function keyEntry(jobs: readonly store.NewJob[], key: store.CreationKey): store.KeyEntry {
  const { account, environment } = jobs[0]!;
  return { account, environment, ...key, jobIds: jobs.map(({ jobId }) => jobId) };
}

/** Pieces that one statement carries well. */
function* chunks(jobs: readonly store.NewJob[]): Generator<store.NewJob[]> {
  let chunk: store.NewJob[] = [];
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

function weightOf(job: store.NewJob): number {
  return job.text.length + (job.targetText?.length ?? 0);
}

function byUniqueKey(a: store.NewJob, b: store.NewJob): number {
  const difference = a.account.part - b.account.part;
  if (difference !== 0) return difference;
  const [one, other] = [a, b].map((job) => `${job.account.accountId} ${job.environment} ${job.uid}`);
  return one! < other! ? -1 : one! > other! ? 1 : 0;
}

/**
 * Creating jobs. What arrives while a commit is in flight shares the next one (group commit), and an answer
 * is given only after its commit: what is acknowledged is on disk, paid for once, and in the queue.
 */
import type { Caller } from '../account.ts';
import { resolveBrand } from '../brands/brands.ts';
import { BatcherFull, createBatcher } from '../database/batcher.ts';
import { CommitUnknown, type Database, isConnectionLoss } from '../database/database.ts';
import type { AddressGuard } from '../deliveries/addresses.ts';
import { ApiError, fieldError } from '../errors.ts';
import { assignUid, uuidv7 } from '../ids.ts';
import type { Languages } from '../languages/languages.ts';
import { holdPrices, isOverdrawn } from '../ledger/ledger.ts';
import type { PriceList } from '../ledger/price-list.ts';
import type { Scanner } from '../scanning/scanner.ts';
import type { Settings } from '../settings.ts';
import { readPurse } from './jobs.ts';
import { type Purse, presentCreation, type Shown } from './present.ts';
import { type CreateRequest, fingerprint, readCreateRequest } from './request.ts';
import type { JobCreationBody } from './schemas.ts';
import { firstStatus } from './states.ts';
import * as store from './store.ts';

export interface CreatorOptions {
  database: Database;
  languages: Languages;
  prices: PriceList;
  scanner: Scanner;
  guard: AddressGuard;
  settings: Pick<Settings, 'maxTextBytes' | 'sandboxHoldSeconds' | 'machineHoldSeconds'>;
  /** Called after a commit that made jobs. */
  created(count: number): void;
}

export interface Created {
  /** 201 for a new job, 200 for one that a retry found. */
  status: 201 | 200;
  body: JobCreationBody;
}

export interface Creator {
  /**
   * Creates one job from a request's body, or finds the job that the same request made before.
   * @throws ApiError `invalid_request`, `too_large`, `insufficient_balance`
   */
  create(caller: Caller, tier: store.Tier, body: unknown): Promise<Created>;
  /** Resolves when no creation is under way: callers that went away are not waited for by their requests. */
  idle(): Promise<void>;
}

type Inserted =
  /** `balance`: what the account can spend now, in cents; known where the job took something from it. */
  { kind: 'inserted'; orderNumber: number; balance: number | undefined } | { kind: 'exists' };

const MAX_BATCH_JOBS = 500;
const MAX_BATCH_BYTES = 4 * 1024 * 1024;
/**
 * Two batches in flight: while one waits for the disk, the next is worked out. Measured at 64 connections on two
 * cores: 1.25 to 1.4 of what one in flight creates; a third adds nothing.
 */
const MAX_RUNNING = 2;
/** Several seconds of work; who comes later is better told to come back. */
const MAX_WAITING = 10_000;
/** 40 random bits clash once in a blue moon, not this often. */
const UID_TRIES = 5;

export function createCreator(options: CreatorOptions): Creator {
  const { database, settings } = options;

  const inserts = createBatcher<store.NewJob, Inserted>({
    run: (jobs) => insertBatch(database, jobs, options.created),
    weigh: (job) => job.text.length + (job.targetText?.length ?? 0),
    maxItems: MAX_BATCH_JOBS,
    maxWeight: MAX_BATCH_BYTES,
    maxWaiting: MAX_WAITING,
    maxRunning: MAX_RUNNING,
    // A database that is away is nobody's fault: trying five hundred jobs one by one would only keep it busy.
    isolates: (error) => !(error instanceof CommitUnknown) && !isConnectionLoss(error),
  });

  async function prepare(caller: Caller, tier: store.Tier, request: CreateRequest): Promise<store.NewJob> {
    if (request.callbackUrl !== undefined) {
      const checked = options.guard.checkUrl(request.callbackUrl);
      if (!checked.ok) throw fieldError('callback_url', checked.reason);
    }
    const brands = await resolveBrand(database, caller, request.brand);
    const { sourceLanguage, words, repeatedWords } = await examine(request, options);
    const pair = { sourceLanguage, targetLanguage: request.targetLanguage };
    const extent = { words, repeatedWords };
    return {
      account: caller.account,
      jobId: uuidv7(),
      environment: caller.environment,
      tier,
      uid: request.uid ?? assignUid(),
      requestHash: fingerprint(tier, request),
      dialect: caller.dialect,
      status: firstStatus(tier),
      sourceLanguage,
      targetLanguage: request.targetLanguage,
      textFormat: request.textFormat,
      tone: request.tone,
      topics: request.topics,
      ...brands,
      callbackUrl: request.callbackUrl,
      words,
      priceCents: await options.prices.priceOf(caller.account, tier, pair, extent),
      holdSeconds: Math.max(
        tier === 'machine' ? settings.machineHoldSeconds : 0,
        caller.environment === 'sandbox' && tier === 'human' ? settings.sandboxHoldSeconds : 0,
      ),
      text: request.text,
      targetText: request.targetText,
      instructions: request.instructions,
    };
  }

  async function insertOne(caller: Caller, job: store.NewJob, assigned: boolean): Promise<Created> {
    for (let tried = 1; tried <= UID_TRIES; tried++) {
      const inserted = await inserts.add(job).catch((error: unknown) => refuse(error, caller, job));
      if (inserted.kind === 'inserted')
        return acknowledge(caller, job, inserted.orderNumber, inserted.balance);
      const existing = await store.findJob(database, caller.account, caller.environment, job.uid);
      // Ours, by a commit whose answer was lost.
      if (existing?.job_id === job.jobId) return acknowledge(caller, job, existing.order_number, undefined);
      if (!assigned) return repeat(caller, job.requestHash, job.text, existing);
      job.uid = assignUid();
      job.jobId = uuidv7();
    }
    throw new Error('no free uid was found');
  }

  async function acknowledge(
    caller: Caller,
    job: store.NewJob,
    orderNumber: number,
    balance: number | undefined,
  ): Promise<Created> {
    const purse = await purseAfter(caller, job, balance);
    return { status: 201, body: presentCreation(shown(job, orderNumber), job.text, purse) };
  }

  /** A create that repeats a uid: the job itself for the same body, a refusal for another. */
  async function repeat(
    caller: Caller,
    requestHash: Buffer,
    text: string,
    existing: store.JobRow | undefined,
  ): Promise<Created> {
    if (existing === undefined || !existing.request_hash.equals(requestHash)) {
      throw fieldError('uid', 'already exists');
    }
    const purse = await readPurse(database, caller);
    return { status: 200, body: presentCreation(existing, text, purse) };
  }

  async function refuse(error: unknown, caller: Caller, job: store.NewJob): Promise<never> {
    if (error instanceof BatcherFull) {
      throw new ApiError('unavailable', 'Too many jobs are being created; try again.', {
        'retry-after': '1',
      });
    }
    if (!isOverdrawn(error)) throw error;
    const { balance } = await readPurse(database, caller);
    const sentence = `insufficient balance: needs ${job.priceCents} cents, has ${balance}`;
    throw new ApiError('insufficient_balance', sentence);
  }

  /**
   * A retry finds its job even where the request would be refused today: the pair may be closed for a while,
   * an address forbidden since.
   */
  async function prepareOrRepeat(
    caller: Caller,
    tier: store.Tier,
    request: CreateRequest,
  ): Promise<store.NewJob | Created> {
    try {
      return await prepare(caller, tier, request);
    } catch (error) {
      if (!(error instanceof ApiError) || request.uid === undefined) throw error;
      const existing = await store.findJob(database, caller.account, caller.environment, request.uid);
      const hash = fingerprint(tier, request);
      if (existing?.request_hash.equals(hash)) return repeat(caller, hash, request.text, existing);
      throw error;
    }
  }

  /** A machine job's answer shows no balance, so none is read for it. */
  async function purseAfter(caller: Caller, job: store.NewJob, balance: number | undefined): Promise<Purse> {
    if (balance === undefined && job.tier === 'human') return readPurse(database, caller);
    return { balance: balance ?? 0, client: caller.username };
  }

  return {
    async create(caller, tier, body) {
      const request = readCreateRequest(body, tier, settings.maxTextBytes);
      const job = await prepareOrRepeat(caller, tier, request);
      if ('body' in job) return job;
      return insertOne(caller, job, request.uid === undefined);
    },
    idle: () => inserts.idle(),
  };
}

/** Settles the languages and looks through the text; everything that can be wrong with a document is found here. */
async function examine(
  request: CreateRequest,
  { languages, prices, scanner }: Pick<CreatorOptions, 'languages' | 'prices' | 'scanner'>,
): Promise<{ sourceLanguage: string; words: number; repeatedWords: number }> {
  const { targetLanguage } = request;
  const targets = await languages.targets();
  if (!targets.includes(targetLanguage)) {
    throw fieldError('target_language', notOffered(targetLanguage, '', targets));
  }
  const offered = await languages.sources(targetLanguage);
  const examined = await scanner.examine({
    text: request.text,
    format: request.textFormat,
    sourceLanguage: request.sourceLanguage,
    targetLanguage,
    offered,
    suppliedText: request.targetText,
    countRepeats: prices.countsRepeats,
  });
  if (examined.kind === 'undecided') throw fieldError('source_language', examined.sentence);
  if (examined.kind === 'unsound') throw fieldError(examined.field, examined.sentence);
  if (!offered.includes(examined.sourceLanguage)) {
    const sentence = notOffered(examined.sourceLanguage, ` into ${targetLanguage}`, offered);
    throw fieldError('source_language', sentence);
  }
  return examined;
}

function notOffered(given: string, into: string, offered: readonly string[]): string {
  const name = given.length > 20 ? `${given.slice(0, 20)}…` : given;
  return offered.length === 0
    ? `"${name}"${into} is not offered; no language pair is offered at present.`
    : `"${name}"${into} is not offered; offered${into} are ${offered.join(', ')}.`;
}

/**
 * Inserts a batch in one transaction. When the connection is lost while it commits, it is run again: what did
 * get in then exists, and is recognised by its id as our own.
 */
async function insertBatch(
  database: Database,
  jobs: store.NewJob[],
  created: (count: number) => void,
): Promise<Inserted[]> {
  const results = await insertOnce(database, jobs).catch((error: unknown) => {
    if (error instanceof CommitUnknown) return insertOnce(database, jobs);
    throw error;
  });
  const count = results.filter(({ kind }) => kind === 'inserted').length;
  if (count > 0) created(count);
  return results;
}

function insertOnce(database: Database, jobs: store.NewJob[]): Promise<Inserted[]> {
  // In the order of their unique key: two batches that repeat each other's uids would otherwise wait in a circle.
  const ordered = jobs.toSorted(byKey);
  return database.transaction(async (transaction) => {
    const rows = await store.insertJobs(transaction, ordered);
    const orders = new Map(rows.map((row) => [row.job_id, row.order_number]));
    const balanceOf = await holdPrices(
      transaction,
      jobs
        .filter(({ jobId }) => orders.has(jobId))
        .map(({ account, environment, jobId, priceCents: cents }) => ({
          account,
          environment,
          jobId,
          cents,
        })),
    );
    return jobs.map(({ jobId, account, environment }): Inserted => {
      const orderNumber = orders.get(jobId);
      if (orderNumber === undefined) return { kind: 'exists' };
      return { kind: 'inserted', orderNumber, balance: balanceOf(account, environment) };
    });
  });
}

function byKey(a: store.NewJob, b: store.NewJob): number {
  const difference = a.account.part - b.account.part;
  if (difference !== 0) return difference;
  const [one, other] = [a, b].map((job) => `${job.account.accountId} ${job.environment} ${job.uid}`);
  return one! < other! ? -1 : one! > other! ? 1 : 0;
}

function shown(job: store.NewJob, orderNumber: number): Shown {
  return {
    uid: job.uid,
    order_number: orderNumber,
    tier: job.tier,
    status: job.status,
    source_language: job.sourceLanguage,
    target_language: job.targetLanguage,
    text_format: job.textFormat,
    tone: job.tone ?? null,
    topics: job.topics ?? null,
    brand: job.brand ?? null,
    callback_url: job.callbackUrl ?? null,
    price_cents: job.priceCents,
    failure: null,
  };
}

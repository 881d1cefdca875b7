/**
 * Creating jobs. What arrives while a commit is in flight shares the next one (group commit), and an answer
 * is given only after its commit: what is acknowledged is on disk, paid for once, and in the queue.
 */
import type { Caller } from '../account.ts';
import { createBatcher } from '../database/batcher.ts';
import { CommitUnknown, type Database } from '../database/database.ts';
import type { AddressGuard } from '../deliveries/addresses.ts';
import { ApiError, fieldError } from '../errors.ts';
import { assignUid, uuidv7 } from '../ids.ts';
import type { Languages } from '../languages/languages.ts';
import { holdPrices, isOverdrawn } from '../ledger/ledger.ts';
import { priceOf } from '../ledger/prices.ts';
import type { Scanner } from '../scanning/scanner.ts';
import type { Settings } from '../settings.ts';
import { readPurse } from './jobs.ts';
import { type Purse, presentCreation, type Shown } from './present.ts';
import { type CreateRequest, fingerprint, readCreateRequest } from './request.ts';
import { firstStatus } from './states.ts';
import * as store from './store.ts';

export interface CreatorOptions {
  database: Database;
  languages: Languages;
  scanner: Scanner;
  guard: AddressGuard;
  settings: Pick<
    Settings,
    'maxTextBytes' | 'humanCentsPerWord' | 'machineCentsPerWord' | 'sandboxHoldSeconds' | 'machineHoldSeconds'
  >;
  /** Called after a commit that made jobs. */
  created(count: number): void;
}

export interface Created {
  /** 201 for a new job, 200 for one that a retry found. */
  status: 201 | 200;
  body: Record<string, unknown>;
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
/** 40 random bits clash once in a blue moon, not this often. */
const UID_TRIES = 5;

export function createCreator(options: CreatorOptions): Creator {
  const { database, settings } = options;

  const inserts = createBatcher<store.NewJob, Inserted>({
    run: (jobs) => insertBatch(database, jobs, options.created),
    weigh: (job) => job.text.length + (job.targetText?.length ?? 0),
    maxItems: MAX_BATCH_JOBS,
    maxWeight: MAX_BATCH_BYTES,
  });

  async function prepare(caller: Caller, tier: store.Tier, request: CreateRequest): Promise<store.NewJob> {
    if (request.callbackUrl !== undefined) {
      const checked = options.guard.checkUrl(request.callbackUrl);
      if (!checked.ok) throw fieldError('callback_url', checked.reason);
    }
    const { sourceLanguage, words } = await examine(request, options);
    const perWord = tier === 'human' ? settings.humanCentsPerWord : settings.machineCentsPerWord;
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
      brand: request.brand,
      callbackUrl: request.callbackUrl,
      words,
      priceCents: priceOf(words, perWord),
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
    for (let tried = 1; ; tried++) {
      const inserted = await inserts.add(job).catch(async (error: unknown) => {
        throw isOverdrawn(error) ? await insufficientBalance(database, caller, job.priceCents) : error;
      });
      if (inserted.kind === 'inserted') {
        const row = shown(job, inserted.orderNumber);
        return {
          status: 201,
          body: presentCreation(row, job.text, await purseAfter(caller, job, inserted.balance)),
        };
      }
      if (!assigned) return findExisting(database, caller, job);
      if (tried === UID_TRIES) throw new Error('no free uid was found');
      job.uid = assignUid();
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
      const job = await prepare(caller, tier, request);
      return insertOne(caller, job, request.uid === undefined);
    },
    idle: () => inserts.idle(),
  };
}

/** Settles the languages and looks through the text; everything that can be wrong with a document is found here. */
async function examine(
  request: CreateRequest,
  { languages, scanner }: Pick<CreatorOptions, 'languages' | 'scanner'>,
): Promise<{ sourceLanguage: string; words: number }> {
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
 * Inserts a batch in one transaction. When the connection is lost while it commits, it is run again: the ids
 * were made here, so what did get in is recognised as our own.
 */
async function insertBatch(
  database: Database,
  jobs: store.NewJob[],
  created: (count: number) => void,
): Promise<Inserted[]> {
  let results: Inserted[];
  try {
    results = await insertOnce(database, jobs);
  } catch (error) {
    if (!(error instanceof CommitUnknown)) throw error;
    results = await recognise(database, jobs, await insertOnce(database, jobs));
  }
  const count = results.filter(({ kind }) => kind === 'inserted').length;
  if (count > 0) created(count);
  return results;
}

function insertOnce(database: Database, jobs: store.NewJob[]): Promise<Inserted[]> {
  return database.transaction(async (transaction) => {
    const rows = await store.insertJobs(transaction, jobs);
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

/** Of jobs that exist, those that an earlier try of the same batch made are inserted ones. */
async function recognise(
  database: Database,
  jobs: readonly store.NewJob[],
  results: readonly Inserted[],
): Promise<Inserted[]> {
  return Promise.all(
    results.map(async (result, index) => {
      const job = jobs[index]!;
      if (result.kind === 'inserted') return result;
      const existing = await store.findJob(database, job.account, job.environment, job.uid);
      if (existing?.job_id !== job.jobId) return result;
      return { kind: 'inserted', orderNumber: existing.order_number, balance: undefined };
    }),
  );
}

/** A create that repeats a uid: the job itself for the same body, a refusal for another. */
async function findExisting(database: Database, caller: Caller, job: store.NewJob): Promise<Created> {
  const existing = await store.findJob(database, caller.account, caller.environment, job.uid);
  if (existing === undefined || !existing.request_hash.equals(job.requestHash)) {
    throw fieldError('uid', 'already exists');
  }
  const purse = await readPurse(database, caller);
  return { status: 200, body: presentCreation(existing, job.text, purse) };
}

async function insufficientBalance(database: Database, caller: Caller, cents: number): Promise<ApiError> {
  const { balance } = await readPurse(database, caller);
  return new ApiError('insufficient_balance', `insufficient balance: needs ${cents} cents, has ${balance}`);
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

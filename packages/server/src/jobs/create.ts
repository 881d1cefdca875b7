/**
 * Creating jobs: one, many together, or a machine's job anew for a human. An answer is given only after its commit:
 * what is acknowledged is on disk, paid for once, and in the queue. What is asked for a second time, under the same
 * uid or the same idempotency key, is answered with what was made the first time.
 */
import type { Caller } from '../account.ts';
import { ApiError, fieldError, fieldErrors, MAX_LINES } from '../errors.ts';
import { assignUid } from '../ids.ts';
import { isOverdrawn } from '../ledger/ledger.ts';
import type { Settings } from '../settings.ts';
import { type BulkInserted, createInserter, type InserterOptions } from './insert.ts';
import { readPurse } from './jobs.ts';
import { createPreparer, type PreparerOptions } from './prepare.ts';
import { type Purse, presentCreation, type Shown } from './present.ts';
import {
  type CreateRequest,
  fingerprint,
  fingerprintRequests,
  readBulkRequest,
  readCreateRequest,
  readIdempotencyKey,
} from './request.ts';
import type { JobCreationBody } from './schemas.ts';
import * as store from './store.ts';
import { upgradeJob } from './upgrade.ts';

export interface CreatorOptions extends PreparerOptions, InserterOptions {
  settings: PreparerOptions['settings'] & Pick<Settings, 'maxTextBytes'>;
}

export interface Created {
  /** 201 for a new job, 200 for one that a retry found. */
  status: 201 | 200;
  body: JobCreationBody;
}

export interface Creator {
  /**
   * Creates one job from a request's body, or finds the job that the same request made before.
   * @param idempotencyKey the header of that name, as it came
   * @throws ApiError `invalid_request`, `too_large`, `insufficient_balance`, `unavailable`
   */
  create(caller: Caller, tier: store.Tier, body: unknown, idempotencyKey?: unknown): Promise<Created>;
  /**
   * Creates human jobs from a list of such bodies, all or none of them; those that retry an earlier create are found.
   * @returns their creation bodies, in order
   * @throws ApiError as `create`, each line with the object's index
   */
  createBulk(caller: Caller, body: unknown, idempotencyKey?: unknown): Promise<JobCreationBody[]>;
  /** A completed machine job goes on to a human; see `upgradeJob`. */
  upgrade(caller: Caller, uid: string, body: unknown): Promise<JobCreationBody>;
  /** Resolves when no creation is under way: callers that went away are not waited for by their requests. */
  idle(): Promise<void>;
}

/** 40 random bits clash once in a blue moon, not this often. */
const UID_TRIES = 5;
/** How long the texts of a bulk may be, together, to be looked through between other requests (UTF-16 units). */
const INLINE_BULK_LENGTH = 64 * 1024;

export function createCreator(options: CreatorOptions): Creator {
  const { database } = options;
  const { maxTextBytes } = options.settings;
  const prepare = createPreparer(options);
  const inserts = createInserter(options);

  async function insertOne(
    caller: Caller,
    job: store.NewJob,
    assigned: boolean,
    key: store.CreationKey | undefined,
  ): Promise<Created> {
    for (let tried = 1; tried <= UID_TRIES; tried++) {
      const inserted = await inserts
        .one({ job, key })
        .catch((error: unknown) => refuse(error, caller, job.priceCents));
      if (inserted.kind === 'inserted') return acknowledge(caller, job, job.orderNumber, inserted.balance);
      if (inserted.kind === 'key used') {
        const found = await findKeyed(caller, key!, [job.text]);
        if (found === undefined) continue; // forgotten in this moment
        if (found.rows[0]!.job_id === job.jobId)
          return acknowledge(caller, job, found.rows[0]!.order_number, undefined);
        return { status: 200, body: found.bodies[0]! };
      }
      const existing = await store.findJob(database, caller.account, caller.environment, job.uid);
      // Ours, by a commit whose answer was lost.
      if (existing?.job_id === job.jobId) return acknowledge(caller, job, existing.order_number, undefined);
      if (!assigned) return repeat(caller, job.requestHash, job.text, existing);
      job.uid = assignUid();
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

  /**
   * What was made under this key; undefined when nothing was.
   * @param texts of the request: those of the jobs, since a key stands for one request only
   */
  async function findKeyed(
    caller: Caller,
    key: store.CreationKey,
    texts: readonly string[],
  ): Promise<{ rows: store.JobRow[]; bodies: JobCreationBody[] } | undefined> {
    const used = await store.findKey(database, caller.account, caller.environment, key.key);
    if (used === undefined) return undefined;
    if (!used.request_hash.equals(key.requestHash)) {
      throw fieldError('idempotency_key', 'was used for another request.');
    }
    const [found, purse] = await Promise.all([
      store.findJobsById(database, caller.account, used.job_ids),
      readPurse(database, caller),
    ]);
    const byId = new Map(found.map((row) => [row.job_id, row]));
    const rows = used.job_ids.map((id) => byId.get(id)!);
    return { rows, bodies: rows.map((row, index) => presentCreation(row, texts[index]!, purse)) };
  }

  async function refuse(error: unknown, caller: Caller, cents: number): Promise<never> {
    if (!isOverdrawn(error)) throw error;
    const { balance } = await readPurse(database, caller);
    throw new ApiError('insufficient_balance', `insufficient balance: needs ${cents} cents, has ${balance}`);
  }

  /**
   * A retry finds its job even where the request would be refused today: the pair may be closed for a while,
   * an address forbidden since.
   */
  async function prepareOrRepeat(
    caller: Caller,
    tier: store.Tier,
    request: CreateRequest,
    key: store.CreationKey | undefined,
  ): Promise<store.NewJob | Created> {
    try {
      return await prepare(caller, tier, request);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      const keyed = key && (await findKeyed(caller, key, [request.text]));
      if (keyed !== undefined) return { status: 200, body: keyed.bodies[0]! };
      if (request.uid === undefined) throw error;
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

  /** Prepares all, or says what is wrong with them: of all, unless that is more than is shown. */
  async function prepareBulk(caller: Caller, requests: readonly CreateRequest[]): Promise<store.NewJob[]> {
    const length = requests.reduce(
      (sum, { text, targetText }) => sum + text.length + (targetText?.length ?? 0),
      0,
    );
    const jobs: store.NewJob[] = [];
    const complaints: string[] = [];
    for (const [index, request] of requests.entries()) {
      try {
        jobs.push(await prepare(caller, 'human', request, length > INLINE_BULK_LENGTH));
      } catch (error) {
        if (!(error instanceof ApiError) || error.code !== 'invalid_request') throw error;
        complaints.push(...error.message.split('\n').map((line) => `objects[${index}].${line}`));
      }
      if (complaints.length >= MAX_LINES && index < requests.length - 1) {
        // Each look may take questions to the database, or the time of a process.
        complaints.push(`objects: those after objects[${index}] were not looked through.`);
        throw new ApiError('invalid_request', complaints.join('\n'));
      }
    }
    if (complaints.length > 0) throw fieldErrors(complaints);
    return jobs;
  }

  async function insertBulk(
    caller: Caller,
    requests: readonly CreateRequest[],
    jobs: store.NewJob[],
    key: store.CreationKey | undefined,
  ): Promise<JobCreationBody[]> {
    const cents = jobs.reduce((sum, { priceCents }) => sum + priceCents, 0);
    for (let tried = 1; tried <= UID_TRIES; tried++) {
      assignApart(requests, jobs);
      const inserted = await inserts
        .bulk({ jobs, key })
        .catch((error: unknown) => refuse(error, caller, cents));
      if (inserted.kind === 'inserted') return presentBulk(caller, jobs, inserted);
      if (inserted.kind === 'key used') {
        const found = await findKeyed(
          caller,
          key!,
          requests.map(({ text }) => text),
        );
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

  async function presentBulk(
    caller: Caller,
    jobs: readonly store.NewJob[],
    { found, balance }: Extract<BulkInserted, { kind: 'inserted' }>,
  ): Promise<JobCreationBody[]> {
    const purse =
      balance === undefined ? await readPurse(database, caller) : { balance, client: caller.username };
    return jobs.map((job) => {
      const one = found.get(job.uid)!;
      return presentCreation('orderNumber' in one ? shown(job, one.orderNumber) : one, job.text, purse);
    });
  }

  return {
    async create(caller, tier, body, header) {
      const request = readCreateRequest(body, tier, maxTextBytes);
      const key = readIdempotencyKey(header, () => fingerprintRequests(tier, [request]));
      const job = await prepareOrRepeat(caller, tier, request, key);
      if ('body' in job) return job;
      return insertOne(caller, job, request.uid === undefined, key);
    },
    async createBulk(caller, body, header) {
      const requests = readBulkRequest(body, maxTextBytes);
      const key = readIdempotencyKey(header, () => fingerprintRequests('bulk', requests));
      const jobs = await prepareBulk(caller, requests).catch(async (error: unknown) => {
        const texts = requests.map(({ text }) => text);
        const keyed = key && error instanceof ApiError ? await findKeyed(caller, key, texts) : undefined;
        if (keyed === undefined) throw error;
        return keyed.bodies;
      });
      return isBodies(jobs) ? jobs : insertBulk(caller, requests, jobs, key);
    },
    async upgrade(caller, uid, body) {
      const upgraded = await upgradeJob({ database, prepare, maxTextBytes }, caller, uid, body);
      options.created(0, 1); // none is new, but one is due
      return upgraded;
    },
    idle: () => inserts.idle(),
  };
}

function isBodies(jobs: store.NewJob[] | JobCreationBody[]): jobs is JobCreationBody[] {
  return !('jobId' in jobs[0]!);
}

/** Assigned uids of one bulk differ from each other and from those that the caller gave. */
function assignApart(requests: readonly CreateRequest[], jobs: readonly store.NewJob[]): void {
  const uids = new Set(requests.flatMap(({ uid }) => uid ?? []));
  for (const [index, job] of jobs.entries()) {
    if (requests[index]!.uid !== undefined) continue;
    while (uids.has(job.uid)) job.uid = assignUid();
    uids.add(job.uid);
  }
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

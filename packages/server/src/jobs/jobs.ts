/** A translation job after its creation: reading it, and every move that is made on it. */
import type { AccountRef, Caller } from '../account.ts';
import type { Database, Transaction } from '../database/database.ts';
import { enqueueDelivery } from '../deliveries/deliveries.ts';
import { fieldError, notFound } from '../errors.ts';
import { availableCents, capturePrice, voidPrice } from '../ledger/ledger.ts';
import { type Purse, presentCallback, presentDetail, presentListItem, showsResult } from './present.ts';
import type { JobBody, JobListItemBody } from './schemas.ts';
import { type Actor, MOVES, type Trigger } from './states.ts';
import * as store from './store.ts';

export type { DraftedSegment, JobRow, TextFormat, Tier } from './store.ts';

/** What `Authorization` names, with what it may spend: two fields of several answers. */
export async function readPurse(database: Database, caller: Caller): Promise<Purse> {
  const balance = await availableCents(database, caller.account, caller.environment);
  return { balance, client: caller.username };
}

/**
 * One job, as its detail answer.
 * @throws ApiError `not_found` for an unknown uid and for another account's, alike
 */
export async function readJob(
  database: Database,
  caller: Caller,
  tier: store.Tier,
  uid: string,
): Promise<JobBody> {
  const job = await store.findJob(database, caller.account, caller.environment, uid);
  if (job === undefined || job.tier !== tier) throw notFound();
  const [texts, purse] = await Promise.all([
    store.readTexts(database, caller.account, job.job_id, [
      'source',
      ...(showsResult(job.status) ? (['result'] as const) : []),
    ]),
    readPurse(database, caller),
  ]);
  return presentDetail(job, { source: texts.source ?? '', result: texts.result }, purse, caller.dialect);
}

/** A page of jobs, oldest first, as list items, with the count of all that match. */
export async function listJobs(
  database: Database,
  caller: Caller,
  filter: Omit<store.ListFilter, 'environment'> & { uid: string | undefined },
  page: { limit: number; offset: number },
): Promise<{ objects: JobListItemBody[]; total: number }> {
  const { uid, ...others } = filter;
  const wanted = { ...others, environment: caller.environment };
  const { jobs, total } =
    uid === undefined
      ? await store.listJobs(database, caller.account, wanted, page)
      : await listOne(database, caller, uid, wanted, page);
  return { objects: jobs.map((job) => presentListItem(job, caller.dialect)), total };
}

/** A uid is one job or none; it is read by its key, whatever else is asked of it. */
async function listOne(
  database: Database,
  caller: Caller,
  uid: string,
  filter: store.ListFilter,
  page: { offset: number },
): Promise<{ jobs: store.JobRow[]; total: number }> {
  const job = await store.findJob(database, caller.account, caller.environment, uid);
  const matches =
    job !== undefined &&
    job.tier === filter.tier &&
    (filter.statuses?.includes(job.status) ?? true) &&
    (filter.sourceLanguage ?? job.source_language) === job.source_language &&
    (filter.targetLanguage ?? job.target_language) === job.target_language;
  if (!matches) return { jobs: [], total: 0 };
  return { jobs: page.offset === 0 ? [job] : [], total: 1 };
}

/** A lease on a job, as the queue gives it. */
export interface JobLease {
  account: AccountRef;
  id: string;
  token: string;
}

/** What a worker needs to know of the job that it leased. */
export interface LeasedJob {
  row: store.JobRow;
  /** A finished result may not be shown yet. */
  held: boolean;
  /** Seconds since its creation. */
  age: number;
  texts: Partial<Record<store.TextKind, string>>;
}

/** The job of a lease with its texts; undefined when the lease is lost. */
export async function openLeased(database: Database, lease: JobLease): Promise<LeasedJob | undefined> {
  const found = await store.findLeased(database, lease.account, lease);
  if (found === undefined) return undefined;
  const texts = await store.readTexts(database, lease.account, lease.id, ['source', 'supplied', 'result']);
  return { row: found, held: found.held, age: found.age, texts };
}

/** The end of a machine's work on a job, or of a stage of it. */
export type Outcome =
  | { kind: 'completed'; result: string }
  /** Finished, but not to be shown before its hold has passed. */
  | { kind: 'held'; result: string }
  /** The machine's draft waits for an editor. */
  | { kind: 'drafted'; segments: store.DraftedSegment[] }
  | { kind: 'failed'; reason: string };

const TRIGGERS = {
  completed: 'complete',
  held: 'begin',
  drafted: 'begin',
  failed: 'fail',
} as const satisfies Record<Outcome['kind'], Trigger>;

/**
 * Settles a leased job in one transaction: its status, its result, the end of its hold on the balance, its
 * callback. Nothing of it happens when the lease was lost or the job may not make this move any more.
 * @returns whether it happened
 */
export async function settle(
  database: Database,
  lease: JobLease,
  { row, texts }: LeasedJob,
  outcome: Outcome,
): Promise<boolean> {
  const trigger = TRIGGERS[outcome.kind];
  return database.transaction(async (transaction) => {
    const moved = await move(transaction, lease.account, lease, trigger, 'machine', {
      failure: outcome.kind === 'failed' ? outcome.reason : undefined,
      due: outcome.kind === 'held' ? 'hold' : 'never',
    });
    if (!moved) return false;
    if (outcome.kind === 'drafted') {
      await store.writeSegments(transaction, lease.account, lease.id, outcome.segments);
    }
    // A held result is there already when its job completes.
    if ((outcome.kind === 'completed' || outcome.kind === 'held') && outcome.result !== texts.result) {
      await store.writeResult(transaction, lease.account, lease.id, outcome.result);
    }
    const { effects } = MOVES[trigger];
    for (const effect of effects) {
      if (effect === 'capture') await capturePrice(transaction, lease.account, lease.id);
      if (effect === 'void') await voidPrice(transaction, lease.account, lease.id);
      if (effect === 'callback' && row.callback_url !== null) {
        const failure = outcome.kind === 'failed' ? outcome.reason : null;
        const shown = { ...row, status: MOVES[trigger].to, failure };
        const result = outcome.kind === 'completed' ? outcome.result : undefined;
        await enqueueDelivery(transaction, lease.account, {
          environment: row.environment,
          jobId: lease.id,
          event: outcome.kind === 'failed' ? 'job.failed' : 'job.completed',
          url: row.callback_url,
          ...presentCallback(shown, { source: texts.source ?? '', result }, row.dialect),
        });
      }
    }
    return true;
  });
}

async function move(
  transaction: Transaction,
  account: AccountRef,
  job: { id: string; token?: string },
  trigger: Trigger,
  actor: Actor,
  fields: { failure: string | undefined; due: 'hold' | 'never' },
): Promise<boolean> {
  const { from, to, by } = MOVES[trigger];
  if (!(by as readonly Actor[]).includes(actor)) throw new Error(`${actor} may not ${trigger} a job`);
  const moved = await store.moveJob(transaction, account, {
    jobId: job.id,
    leaseToken: job.token,
    from,
    to,
    actor,
    ...fields,
  });
  return moved !== undefined;
}

/**
 * Takes a job back for its customer: its status and the refund, in one transaction. A worker that has it meets
 * the end of its lease; where both come at once, the row's lock lets one of them be first, and the other finds
 * that its move is not allowed any more.
 * @throws ApiError `not_found` for an unknown uid and for another account's, alike; `invalid_request` for a job
 * that is finished or canceled already
 */
export async function cancelJob(
  database: Database,
  caller: Caller,
  tier: store.Tier,
  uid: string,
): Promise<void> {
  await database.transaction(async (transaction) => {
    const find = () => store.findJob(transaction, caller.account, caller.environment, uid);
    const job = await find();
    if (job === undefined || job.tier !== tier) throw notFound();
    const id = job.job_id;
    const fields = { failure: undefined, due: 'never' } as const;
    if (!(await move(transaction, caller.account, { id }, 'cancel', 'customer', fields))) {
      const { status } = (await find())!;
      throw fieldError('status', `the job is ${status}; only an unfinished job can be canceled.`);
    }
    await voidPrice(transaction, caller.account, id);
  });
}

/** Gives a leased job back, to be tried again after `seconds`. */
export async function postponeJob(database: Database, lease: JobLease, seconds: number): Promise<void> {
  await store.postpone(database, lease.account, lease, seconds);
}

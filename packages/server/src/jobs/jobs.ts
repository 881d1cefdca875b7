/** A translation job after its creation: reading it, and every move that is made on it. */
import type { AccountRef, Caller } from '../account.ts';
import { createBatcher } from '../database/batcher.ts';
import { type Database, isUnavailable, type Queryable, type Transaction } from '../database/database.ts';
import { type NewEvent, recordEvents } from '../deliveries/deliveries.ts';
import { fieldError, notFound } from '../errors.ts';
import { availableCents, capturePrices, voidPrice } from '../ledger/ledger.ts';
import { recordUses } from '../memory/memory.ts';
import { type Purse, presentCallback, presentDetail, showsResult } from './present.ts';
import type { JobBody } from './schemas.ts';
import { type Actor, allows, MOVES, type Trigger } from './states.ts';
import * as store from './store.ts';
import { cancelUpgrade } from './upgrade-store.ts';

export type { OpenWorker } from './insert.ts';
export {
  type DraftedSegment,
  findJob as findJobByUid,
  type JobRow,
  readTexts,
  type TextFormat,
  type Tier,
  type WorkRow,
} from './store.ts';

/** A job whose drafts are there for an editor. */
export interface DraftedJob {
  account: AccountRef;
  row: store.WorkRow;
  segments: readonly store.DraftedSegment[];
}

/** Who takes part in the transactions that move jobs: the room where people work on them. */
export interface JobFollower {
  drafted(transaction: Transaction, job: DraftedJob): Promise<void>;
  canceled(transaction: Transaction, account: AccountRef, jobId: string): Promise<void>;
  /** Puts drafts in the place of those that nobody has touched. @returns the positions of these */
  redrafted(transaction: Transaction, job: DraftedJob): Promise<ReadonlySet<number>>;
  /** How many segments that would be now. */
  untouched(on: Queryable, account: AccountRef, jobId: string): Promise<number>;
}

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

/** A lease on a job, as the queue gives it. */
export interface JobLease {
  account: AccountRef;
  id: string;
  token: string;
}

/** What a worker needs to know of the job that it leased. */
export interface LeasedJob {
  row: store.WorkRow;
  /** A finished result may not be shown yet. */
  held: boolean;
  /** Seconds since its creation. */
  age: number;
  texts: Partial<Record<store.TextKind, string>>;
}

/** The job of a lease with its texts; undefined when the lease is lost. */
export async function openLeased(database: Database, lease: JobLease): Promise<LeasedJob | undefined> {
  return (await openAllLeased(database, [lease]))[0];
}

async function openAllLeased(
  database: Database,
  leases: readonly JobLease[],
): Promise<(LeasedJob | undefined)[]> {
  const [rows, texts] = await Promise.all([
    store.findAllLeased(database, leases),
    store.readLeasedTexts(database, leases, ['source', 'supplied', 'instructions', 'result']),
  ]);
  const found = new Map(rows.map((row) => [row.job_id + row.lease_token, row]));
  const textsOf = Map.groupBy(texts, ({ job_id }) => job_id);
  return leases.map(({ id, token }) => {
    const row = found.get(id + token);
    if (row === undefined) return undefined;
    const own = (textsOf.get(id) ?? []).map(({ kind, body }) => [kind, body] as const);
    return { row, held: row.held, age: row.age, texts: Object.fromEntries(own) };
  });
}

/** The end of a machine's work on a job, or of a stage of it. */
export type Outcome =
  | { kind: 'completed'; result: string; remembered?: Remembered[] }
  /** Finished, but not to be shown before its hold has passed. */
  | { kind: 'held'; result: string; remembered?: Remembered[] }
  /** The machine's draft waits for an editor. */
  | { kind: 'drafted'; segments: store.DraftedSegment[]; remembered?: Remembered[] }
  /** The same, of a job that people have already. */
  | { kind: 'redrafted'; segments: store.DraftedSegment[]; remembered?: Remembered[] }
  | { kind: 'failed'; reason: string };

/** A segment that comes from the memory, and the entry that it is. */
export interface Remembered {
  position: number;
  memoryId: string;
}

const TRIGGERS = {
  completed: 'complete',
  held: 'begin',
  drafted: 'begin',
  redrafted: 'redrafted',
  failed: 'fail',
} as const satisfies Record<Outcome['kind'], Trigger>;

/** A leased job, and what became of it. */
export interface Settlement {
  lease: JobLease;
  job: LeasedJob;
  outcome: Outcome;
}

/**
 * Settles a leased job in one transaction: its status, its result, the end of its hold on the balance, its
 * callback. Nothing of it happens when the lease was lost or the job may not make this move any more.
 * @returns whether it happened
 */
export async function settle(
  database: Database,
  follower: JobFollower,
  settlement: Settlement,
): Promise<boolean> {
  return (await settleAll(database, follower, [settlement]))[0]!;
}

/** The same for several: those that can be settled are, the others are left as they are. */
function settleAll(
  database: Database,
  follower: JobFollower,
  settlements: readonly Settlement[],
): Promise<boolean[]> {
  return database.transaction(async (transaction) => {
    const settled = new Set<Settlement>();
    for (const [kind, trigger] of Object.entries(TRIGGERS) as [Outcome['kind'], Trigger][]) {
      const same = settlements.filter(({ outcome }) => outcome.kind === kind);
      if (same.length === 0) continue;
      const moves = same.map(({ lease, outcome }) => ({
        account: lease.account,
        jobId: lease.id,
        leaseToken: lease.token,
        failure: outcome.kind === 'failed' ? outcome.reason : undefined,
        due: outcome.kind === 'held' ? ('hold' as const) : ('never' as const),
      }));
      const made = await moveAll(transaction, moves, trigger, 'machine');
      const moved = same.filter((_, index) => made[index]);
      for (const one of moved) settled.add(one);
      await carryOut(transaction, moved, trigger);
      for (const { lease, job, outcome } of moved) {
        if (outcome.kind !== 'drafted' && outcome.kind !== 'redrafted') continue;
        const { segments, remembered = [] } = outcome;
        const drafted = { account: lease.account, row: job.row, segments };
        if (outcome.kind === 'drafted') await follower.drafted(transaction, drafted);
        else {
          const replaced = await follower.redrafted(transaction, drafted);
          const used = remembered.filter(({ position }) => replaced.has(position));
          await recordApplied(transaction, lease, used);
        }
      }
    }
    return settlements.map((one) => settled.has(one));
  });
}

/** What follows from a move that these have made. */
async function carryOut(
  transaction: Transaction,
  settlements: readonly Settlement[],
  trigger: Trigger,
): Promise<void> {
  const results = settlements.flatMap(({ lease, job, outcome }) =>
    // A held result is there already when its job completes.
    (outcome.kind === 'completed' || outcome.kind === 'held') && outcome.result !== job.texts.result
      ? [{ account: lease.account, jobId: lease.id, result: outcome.result }]
      : [],
  );
  if (results.length > 0) await store.writeResults(transaction, results);
  for (const { lease, outcome } of settlements) {
    if (outcome.kind !== 'drafted') continue;
    await store.writeSegments(transaction, lease.account, lease.id, outcome.segments);
  }
  for (const { lease, outcome } of settlements) {
    // Which of those are in a job that people have, its follower says.
    if (outcome.kind === 'failed' || outcome.kind === 'redrafted') continue;
    await recordApplied(transaction, lease, outcome.remembered ?? []);
  }
  for (const effect of MOVES[trigger].effects) {
    if (effect === 'capture') {
      const priced = settlements.filter(({ job }) => job.row.price_cents > 0);
      await capturePrices(
        transaction,
        priced.map(({ lease, job }) => ({ account: lease.account, jobId: lease.id, charge: job.row.charge })),
      );
    }
    if (effect === 'void') {
      // In the order of the balances, which are locked: batches that share two accounts must not wait for each other.
      const inOrder = [...settlements].sort((a, b) => compareAccounts(a.lease.account, b.lease.account));
      for (const { lease, job } of inOrder) {
        await voidPrice(transaction, lease.account, { jobId: lease.id, charge: job.row.charge });
      }
    }
    if (effect === 'callback')
      await recordEvents(
        transaction,
        // A correction is told as its message's.
        settlements.filter(({ job }) => job.row.tier !== 'chat').map((one) => eventOf(one, trigger)),
      );
  }
}

function recordApplied(
  transaction: Transaction,
  { account, id }: JobLease,
  remembered: readonly Remembered[],
): Promise<void> {
  const uses = remembered.map((one) => ({ ...one, how: 'applied' as const }));
  return recordUses(transaction, account, id, uses);
}

function eventOf({ lease, job, outcome }: Settlement, trigger: Trigger): NewEvent {
  const { row, texts } = job;
  const failure = outcome.kind === 'failed' ? outcome.reason : null;
  if (row.tier === 'chat') throw new Error('a correction is told as its message’s');
  const shown = { ...row, tier: row.tier, status: MOVES[trigger].to, failure };
  const result = outcome.kind === 'completed' ? outcome.result : undefined;
  const callback = () => presentCallback(shown, { source: texts.source ?? '', result }, row.dialect);
  return {
    account: lease.account,
    environment: row.environment,
    type: outcome.kind === 'failed' ? 'job.failed' : 'job.completed',
    subject: { kind: 'job', jobId: lease.id },
    delivery: row.callback_url === null ? undefined : { url: row.callback_url, ...callback() },
  };
}

/** @returns for each whether it was made: its lease holds, where it names one, and its job is where it may begin */
export async function moveAll(
  transaction: Transaction,
  moves: readonly store.JobMove[],
  trigger: Trigger,
  actor: Actor,
): Promise<boolean[]> {
  const { from, to, by } = MOVES[trigger];
  if (!(by as readonly Actor[]).includes(actor)) throw new Error(`${actor} may not ${trigger} a job`);
  return store.moveJobs(transaction, moves, { from, to, actor });
}

function compareAccounts(a: AccountRef, b: AccountRef): number {
  return a.part - b.part || (a.accountId < b.accountId ? -1 : a.accountId > b.accountId ? 1 : 0);
}

/** What a worker does with the jobs that it leased, many at a time: one round trip and one commit for all that wait. */
export interface Desk {
  open(lease: JobLease & { weight: number }): Promise<LeasedJob | undefined>;
  /** @param hurry it waits for nobody's; others' may wait a moment for each other, so that a load has fewer commits */
  settle(settlement: Settlement, hurry: boolean): Promise<boolean>;
}

/** Of one batch: rows, and UTF-16 units of their texts. */
const MAX_BATCH = 256;
const MAX_BATCH_LENGTH = 4 * 1024 * 1024;
/** More than a worker ever has in hand. */
const MAX_WAITING = 100_000;
/** Jobs of a load end one by one, some hundred a second: each with its own commit, they stand before everybody's. */
const SETTLING_REST_MILLISECONDS = 50;

export function createDesk(database: Database, follower: JobFollower): Desk {
  const limits = {
    maxItems: MAX_BATCH,
    maxWeight: MAX_BATCH_LENGTH,
    maxWaiting: MAX_WAITING,
    maxRunning: 2,
  };
  const opening = createBatcher<JobLease & { weight: number }, LeasedJob | undefined>({
    ...limits,
    run: (leases) => openAllLeased(database, leases),
    weigh: ({ weight }) => weight,
    isolates: () => false,
  });
  const settling = (restMilliseconds: number) =>
    createBatcher<Settlement, boolean>({
      ...limits,
      restMilliseconds,
      run: (settlements) => settleAll(database, follower, settlements),
      weigh: ({ job }) => (job.texts.source?.length ?? 0) * 2,
      // Whether a commit on its way was made is not known: the leases run out, and what was settled stays settled.
      isolates: (error) => !isUnavailable(error),
    });
  const atOnce = settling(0);
  const together = settling(SETTLING_REST_MILLISECONDS);
  return {
    open: opening.add,
    settle: (settlement, hurry) => (hurry ? atOnce : together).add(settlement),
  };
}

/**
 * Takes a job back for its customer: its status and the refund, in one transaction. A worker that has it meets
 * the end of its lease; where both come at once, the row's lock lets one of them be first, and the other finds
 * that its move is not allowed any more. A machine's job that was upgraded is the machine's finished job again: what was
 * paid for stays readable.
 * @throws ApiError `not_found` for an unknown uid and for another account's, alike; `invalid_request` for a job
 * that is finished or canceled already
 */
export async function cancelJob(
  database: Database,
  follower: Pick<JobFollower, 'canceled'>,
  caller: Pick<Caller, 'account' | 'environment'>,
  tier: store.Tier,
  uid: string,
  actor: 'customer' | 'operator' = 'customer',
): Promise<void> {
  await database.transaction(async (transaction) => {
    const { account, environment } = caller;
    const found = await store.findJob(transaction, account, environment, uid);
    const job = found && (await store.lockWork(transaction, account, found.job_id));
    if (job?.tier !== tier) throw notFound();
    const { job_id: jobId, status, charge } = job;
    if (!allows('cancel', status)) {
      throw fieldError('status', `the job is ${status}; only an unfinished job can be canceled.`);
    }
    const { from, to } = MOVES.cancelUpgrade;
    const restored = await cancelUpgrade(transaction, account, jobId, { from, to, actor });
    if (!restored) {
      const move = { account, jobId, leaseToken: undefined, failure: undefined, due: 'never' } as const;
      await moveAll(transaction, [move], 'cancel', actor);
    }
    await voidPrice(transaction, account, { jobId, charge });
    await follower.canceled(transaction, account, jobId);
    // For the feed alone: who asked for it is not called back.
    const type = restored ? 'job.completed' : 'job.canceled';
    await recordEvents(transaction, [{ account, environment, type, subject: { kind: 'job', jobId } }]);
  });
}

/**
 * Completes a job that people have worked on, with what follows: result, money, callback. The same as a machine's.
 * @param trigger `fallBack`: no editor came in time, the result is a machine's; `revise`: after a rejection
 * @returns false when the job may not make the move any more, and then nothing has happened
 */
export async function completeEdited(
  transaction: Transaction,
  account: AccountRef,
  jobId: string,
  result: string,
  trigger: 'complete' | 'revise' | 'fallBack',
  actor: Actor = trigger === 'fallBack' ? 'machine' : 'editor',
): Promise<boolean> {
  const move = { account, jobId, leaseToken: undefined, failure: undefined, due: 'never' } as const;
  const [moved] = await moveAll(transaction, [move], trigger, actor);
  if (!moved) return false;
  if (trigger === 'fallBack') await store.markFellBack(transaction, account, jobId);
  const row = await store.findWork(transaction, account, jobId);
  const texts = await store.readTexts(transaction, account, jobId, ['source', 'result']);
  const lease = { account, id: jobId, token: '' };
  const job = { row: row!, held: false, age: 0, texts };
  await carryOut(transaction, [{ lease, job, outcome: { kind: 'completed', result } }], trigger);
  return true;
}

/** Gives a leased job back, to be tried again after `seconds`. */
export async function postponeJob(database: Database, lease: JobLease, seconds: number): Promise<void> {
  await store.postpone(database, lease.account, lease, seconds);
}

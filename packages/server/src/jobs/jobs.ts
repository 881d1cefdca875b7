/** Jobs after their creation: reading them and changing their status. */
import { type Actor, recordAudit } from '../audit/audit.ts';
import type { AccountRef, Caller } from '../base/account.ts';
import { fieldError, notFound } from '../base/errors.ts';
import { createBatcher } from '../database/batcher.ts';
import { type Database, isUnavailable, type Queryable, type Transaction } from '../database/database.ts';
import {
  deliveryByTrigger,
  type NewEvent,
  type Outbox,
  type OutboxSender,
  recordEvents,
} from '../deliveries/deliveries.ts';
import { availableCents, capturePrices, releasePrice, voidPrice } from '../ledger/ledger.ts';
import { recordUses } from '../memory/memory.ts';
import type { JobHooks } from './hooks.ts';
import { type JobMove, markFellBack, moveJobs, updatePrice } from './move-store.ts';
import { hasEffect, type JobOutcome, OUTCOME_TRIGGERS, type SegmentMatch, settledRow } from './outcomes.ts';
import { type AccountBalance, presentCallback, presentDetail, showsResult } from './present.ts';
import { keepEditedWords } from './progress.ts';
import type { JobBody } from './schemas.ts';
import { writeSegments } from './segment-store.ts';
import { allowsJobMove, JOB_MOVES, type JobActor, type JobTrigger } from './states.ts';
import * as store from './store.ts';
import { readLeasedTexts, readTexts, type TextKind, writeResults } from './text-store.ts';
import type { Untranslated } from './untranslated.ts';
import { cancelUpgrade } from './upgrade-store.ts';

export type { DraftedJob, JobHooks } from './hooks.ts';
export { JOB_OUTCOMES, type JobOutcome, type SegmentMatch } from './outcomes.ts';
export { WITH_RESULT } from './present.ts';
export type { DraftedSegment } from './segment-store.ts';
export {
  type AnyJobRow,
  findJob as findJobByUid,
  type JobRow,
  type JobTier,
  lockJob as lockWork,
} from './store.ts';
export { fileNameOf, readTexts } from './text-store.ts';
export { countUntranslated, type Untranslated } from './untranslated.ts';

/** Returns the caller's user name and available cents, which several responses contain. */
export async function readAccountBalance(on: Queryable, caller: Caller): Promise<AccountBalance> {
  const balance = await availableCents(on, caller.account, caller.environment);
  return { balance, client: caller.username };
}

/**
 * Returns the detail body of a job.
 * @throws ApiError `not_found` if the uid is unknown or belongs to another account
 */
export async function readJob(
  on: Queryable,
  caller: Caller,
  tier: store.JobTier,
  uid: string,
): Promise<JobBody> {
  const job = await store.findJob(on, { account: caller.account, environment: caller.environment, uid });
  if (job === undefined || job.tier !== tier) throw notFound();
  const [texts, balance] = await Promise.all([
    readTexts(on, caller.account, job.job_id, [
      'source',
      ...(showsResult(job.status) ? (['result'] as const) : []),
    ]),
    readAccountBalance(on, caller),
  ]);
  return presentDetail(job, { source: texts.source ?? '', result: texts.result }, balance, caller.dialect);
}

export interface JobLease {
  account: AccountRef;
  id: string;
  token: string;
}

export interface LeasedJob {
  row: store.AnyJobRow;
  /** True during the delivery delay. A finished result is not shown before the delay ends. */
  held: boolean;
  /** The number of seconds since the job's creation. */
  age: number;
  texts: Partial<Record<TextKind, string>>;
}

/** Returns leased jobs with their texts; undefined for a lost lease. */
async function openAllLeased(
  database: Database,
  leases: readonly JobLease[],
): Promise<(LeasedJob | undefined)[]> {
  const [rows, texts] = await Promise.all([
    store.findLeasedJobs(database, leases),
    readLeasedTexts(database, leases, ['source', 'supplied', 'instructions', 'result']),
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

export interface JobSettlement {
  /** The token is undefined if editors, not a worker, finish the job. */
  lease: Omit<JobLease, 'token'> & { token: string | undefined };
  job: LeasedJob;
  outcome: JobOutcome;
}

/**
 * Stores the outcomes of jobs in one transaction: status, result, capture or void of the hold, and callback.
 * @returns false for each job that did not change, because its lease was lost or its status does not allow it
 */
function settleAll(
  database: Database,
  hooks: JobHooks,
  settlements: readonly JobSettlement[],
  outbox?: Outbox,
): Promise<boolean[]> {
  return database.transaction(async (transaction) => {
    outbox?.clear();
    const settled = new Map<JobSettlement, JobTrigger>();
    for (const [kind, trigger] of Object.entries(OUTCOME_TRIGGERS) as [JobOutcome['kind'], JobTrigger][]) {
      const all = settlements.filter(({ outcome }) => outcome.kind === kind);
      if (all.length === 0) continue;
      const moved = await makeMoves(transaction, all, trigger);
      for (const one of moved) settled.set(one, trigger);
      if (kind === 'fell_back') {
        for (const { lease } of moved)
          await markFellBack(transaction, { account: lease.account, jobId: lease.id });
      }
      await carryOut(transaction, moved, trigger, outbox);
      for (const { lease, job, outcome } of moved) {
        if (outcome.kind !== 'drafted' && outcome.kind !== 'redrafted') continue;
        const { segments, matches = [] } = outcome;
        const drafted = { account: lease.account, row: job.row, segments };
        if (outcome.kind === 'drafted') await hooks.onDrafted(transaction, drafted);
        else {
          const replaced = await hooks.onRedrafted(transaction, drafted);
          const used = matches.filter(({ position }) => replaced.has(position));
          await recordApplied(transaction, lease, used);
        }
      }
    }
    await endHolds(transaction, [...settled]);
    return settlements.map((one) => settled.has(one));
  });
}

/**
 * Changes the status of the jobs whose outcomes are stored.
 * @returns the settlements of the changed jobs. A job is not changed if its status does not allow the
 * transition, or if its settlement names a lease that was lost
 */
async function makeMoves(
  transaction: Transaction,
  settlements: readonly JobSettlement[],
  trigger: JobTrigger,
): Promise<JobSettlement[]> {
  const restored = await failUpgrades(transaction, settlements);
  const others = settlements.filter((one) => !restored.includes(one));
  const moves = others.map(({ lease, outcome }) => ({
    account: lease.account,
    jobId: lease.id,
    leaseToken: lease.token,
    failure: outcome.kind === 'failed' ? outcome.reason : undefined,
    due: outcome.kind === 'held' ? ('hold' as const) : ('never' as const),
  }));
  const made = await moveAll(transaction, moves, trigger, 'machine');
  return [...restored, ...others.filter((_, index) => made[index])];
}

/**
 * Cancels the upgrades of failed jobs. Each becomes the completed machine job again, so that the result that
 * the customer paid for stays readable.
 * @returns the settlements of the jobs whose upgrades were canceled
 */
async function failUpgrades(
  transaction: Transaction,
  settlements: readonly JobSettlement[],
): Promise<JobSettlement[]> {
  const { from, to, by } = JOB_MOVES.failUpgrade;
  const ended: JobSettlement[] = [];
  for (const one of settlements) {
    const { account, id, token } = one.lease;
    if (one.job.row.upgrade_hash === null || one.outcome.kind !== 'failed') continue;
    const detail = `upgrade failed: ${one.outcome.reason}`;
    const move = { from, to, actor: by[0], detail, leaseToken: token };
    if (await cancelUpgrade(transaction, account, id, move)) ended.push(one);
  }
  return ended;
}

/** Applies the effects of a status change, except those on money: results, segments, prices and events. */
async function carryOut(
  transaction: Transaction,
  settlements: readonly JobSettlement[],
  trigger: JobTrigger,
  outbox?: Outbox,
): Promise<void> {
  const results = settlements.flatMap(({ lease, job, outcome }) =>
    // If a job completes after the delivery delay, its result is already stored.
    (outcome.kind === 'completed' || outcome.kind === 'held') && outcome.result !== job.texts.result
      ? [{ account: lease.account, jobId: lease.id, result: outcome.result }]
      : [],
  );
  if (results.length > 0) await writeResults(transaction, results);
  for (const { lease, outcome } of settlements) {
    if (outcome.kind !== 'drafted') continue;
    await writeSegments(transaction, lease.account, lease.id, outcome.segments);
  }
  for (const { lease, outcome } of settlements) {
    // For a redraft, the hooks record which matches of the translation memory became drafts.
    if (outcome.kind === 'failed' || outcome.kind === 'redrafted' || outcome.kind === 'fell_back') continue;
    await recordApplied(transaction, lease, outcome.matches ?? []);
  }
  for (const settlement of settlements) {
    const row = settledRow(settlement.job.row, settlement.outcome, trigger);
    if (row !== settlement.job.row) await updatePrice(transaction, settlement.lease.account, row);
  }
  if (!hasEffect(trigger, 'callback')) return;
  await recordEvents(
    transaction,
    // A correction job adds no event to the feed; the chat message that it corrects adds one.
    settlements.filter(({ job }) => job.row.tier !== 'chat').map((one) => eventOf(one, trigger)),
    outbox,
  );
}

/**
 * Ends the holds of jobs whose status has changed. It runs after all these changes and locks balances in a fixed
 * order, so that two batches with the same accounts cannot deadlock.
 */
async function endHolds(
  transaction: Transaction,
  settled: readonly (readonly [JobSettlement, JobTrigger])[],
): Promise<void> {
  const captured: { account: AccountRef; jobId: string; charge: number }[] = [];
  for (const [one, trigger] of settled.toSorted(([a], [b]) => compareBalances(a, b))) {
    const { account, id: jobId } = one.lease;
    const { charge, price_cents: price } = one.job.row;
    if (hasEffect(trigger, 'void')) await voidPrice(transaction, account, { jobId, charge });
    if (!hasEffect(trigger, 'capture') || price === 0) continue;
    const cents = price - settledRow(one.job.row, one.outcome, trigger).price_cents;
    if (cents > 0) await releasePrice(transaction, account, { jobId, charge, cents });
    captured.push({ account, jobId, charge });
  }
  await capturePrices(transaction, captured);
}

function recordApplied(
  transaction: Transaction,
  { account, id }: Pick<JobLease, 'account' | 'id'>,
  matches: readonly SegmentMatch[],
): Promise<void> {
  const uses = matches.map((one) => ({ ...one, how: 'applied' as const }));
  return recordUses(transaction, account, id, uses);
}

function eventOf({ lease, job, outcome }: JobSettlement, trigger: JobTrigger): NewEvent {
  const { texts } = job;
  const row = settledRow(job.row, outcome, trigger);
  const failure = outcome.kind === 'failed' ? outcome.reason : null;
  if (row.tier === 'chat') throw new Error('a correction has no event of its own');
  const fell_back = row.fell_back || outcome.kind === 'fell_back';
  const shown = { ...row, tier: row.tier, status: JOB_MOVES[trigger].to, failure, fell_back };
  const result = outcome.kind === 'completed' || outcome.kind === 'fell_back' ? outcome.result : undefined;
  const callback = () => presentCallback(shown, { source: texts.source ?? '', result }, row.dialect);
  return {
    account: lease.account,
    environment: row.environment,
    type: outcome.kind === 'failed' ? 'job.failed' : 'job.completed',
    subject: { kind: 'job', jobId: lease.id },
    delivery:
      row.callback_url === null
        ? undefined
        : { url: row.callback_url, ...callback(), ...deliveryByTrigger(row.environment, texts.source) },
  };
}

/**
 * Changes the status of jobs.
 * @returns for each job, true if its status was changed. It is not changed if its status does not allow the
 * transition, or if the change names a lease that was lost
 * @throws Error if the actor may not make this transition
 */
export async function moveAll(
  transaction: Transaction,
  moves: readonly JobMove[],
  trigger: JobTrigger,
  actor: JobActor,
): Promise<boolean[]> {
  const { from, to, by } = JOB_MOVES[trigger];
  if (!(by as readonly JobActor[]).includes(actor)) throw new Error(`${actor} may not ${trigger} a job`);
  return moveJobs(transaction, moves, { from, to, actor });
}

function compareBalances(a: JobSettlement, b: JobSettlement): number {
  const key = ({ lease, job }: JobSettlement) => `${lease.account.accountId} ${job.row.environment}`;
  const [first, second] = [key(a), key(b)];
  return a.lease.account.part - b.lease.account.part || (first < second ? -1 : first > second ? 1 : 0);
}

/**
 * Reads leased jobs and stores their outcomes in batches: all pending calls share one round trip or one
 * commit.
 */
export interface JobSettler {
  open(lease: JobLease & { weight: number }): Promise<LeasedJob | undefined>;
  /**
   * Stores the outcome of a job.
   * @param immediate if false, the call may wait up to 50 ms to share a commit with others
   */
  settle(settlement: JobSettlement, immediate: boolean): Promise<boolean>;
}

/** Limits of one batch: rows, and the total length of their texts in UTF-16 code units. */
const MAX_BATCH = 256;
const MAX_BATCH_LENGTH = 4 * 1024 * 1024;
/** The maximum number of pending calls, higher than the number of jobs that a worker can hold. */
const MAX_WAITING = 100_000;
/**
 * The pause in ms before each shared commit. Under load some hundred jobs finish each second; one commit each
 * would delay all others.
 */
const SETTLING_REST_MILLISECONDS = 50;

/** Creates the settler of a worker. @param sender sends the callbacks that a commit has leased for it */
export function createJobSettler(database: Database, hooks: JobHooks, sender: OutboxSender): JobSettler {
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
    createBatcher<JobSettlement, boolean>({
      ...limits,
      restMilliseconds,
      run: (settlements) => sender.withOutbox((outbox) => settleAll(database, hooks, settlements, outbox)),
      weigh: ({ job }) => (job.texts.source?.length ?? 0) * 2,
      // If the connection is lost during a commit, its outcome is unknown. Nothing is retried: the leases of
      // jobs without a stored outcome expire.
      isolates: (error) => !isUnavailable(error),
    });
  const immediately = settling(0);
  const together = settling(SETTLING_REST_MILLISECONDS);
  return {
    open: opening.add,
    settle: (settlement, immediate) => (immediate ? immediately : together).add(settlement),
  };
}

/**
 * Cancels a job and releases its hold in one transaction. A worker that has the job loses its lease. If the
 * worker stores its outcome at the same time, the row lock decides, and the later change is refused. An
 * upgraded job becomes the completed machine job again, so that the result that the customer paid for stays
 * readable.
 * @param note a message of the operator, which the customer sees in the job's history
 * @throws ApiError `not_found` if the uid is unknown or belongs to another account; `invalid_request` if the
 * job is finished or already canceled
 */
export async function cancelJob(
  database: Database,
  hooks: Pick<JobHooks, 'onCanceled'>,
  caller: Pick<Caller, 'account' | 'environment'>,
  tier: store.JobTier,
  uid: string,
  by: 'customer' | Actor = 'customer',
  note?: string,
): Promise<void> {
  const actor = by === 'customer' ? by : 'operator';
  await database.transaction(async (transaction) => {
    const { account, environment } = caller;
    const found = await store.findJob(transaction, { account, environment, uid });
    const job = found && (await store.lockJob(transaction, { account, jobId: found.job_id }));
    if (job?.tier !== tier) throw notFound();
    const { job_id: jobId, status, charge } = job;
    if (!allowsJobMove('cancel', status)) {
      throw fieldError('status', `the job is ${status}; only an unfinished job can be canceled.`);
    }
    const { from, to } = JOB_MOVES.cancelUpgrade;
    const detail = note ?? 'upgrade canceled';
    const upgrade = { from, to, actor, detail, leaseToken: undefined };
    const restored = await cancelUpgrade(transaction, account, jobId, upgrade);
    if (!restored) {
      const move = { account, jobId, leaseToken: undefined, failure: note, due: 'never' } as const;
      await moveAll(transaction, [move], 'cancel', actor);
    }
    await voidPrice(transaction, account, { jobId, charge });
    await hooks.onCanceled(transaction, account, jobId);
    // The event appears in the event feed only. Callers know that they canceled, so there is no callback.
    const type = restored ? 'job.completed' : 'job.canceled';
    await recordEvents(transaction, [{ account, environment, type, subject: { kind: 'job', jobId } }]);
    // Only operators get an audit entry: job events record what customers do, and an erasure has one audit
    // entry.
    if (by === 'customer' || by === 'program') return;
    await recordAudit(transaction, by, {
      action: 'job.canceled',
      account,
      subject: uid,
      detail: { order_number: found!.order_number },
    });
  });
}

/**
 * Completes an edited job as a worker does: stores the result, captures the hold and queues the callback.
 * @param trigger `fallBack`: the deadline passed and the result is machine translation; `revise`: after a
 * rejection
 * @returns false without any change if the status does not allow the transition
 */
export async function completeEdited(
  transaction: Transaction,
  account: AccountRef,
  jobId: string,
  { result, untranslated }: { result: string; untranslated?: Untranslated | undefined },
  trigger: 'complete' | 'revise' | 'fallBack',
  actor: JobActor = trigger === 'fallBack' ? 'machine' : 'editor',
): Promise<boolean> {
  const move = { account, jobId, leaseToken: undefined, failure: undefined, due: 'never' } as const;
  const [moved] = await moveAll(transaction, [move], trigger, actor);
  if (!moved) return false;
  if (trigger === 'fallBack') await markFellBack(transaction, { account, jobId });
  await keepEditedWords(transaction, account, jobId);
  const outcome = { kind: 'completed', result, ...(untranslated && { untranslated }) } as const;
  const ended = await endEdited(transaction, account, jobId, outcome);
  await carryOut(transaction, [ended], trigger);
  await endHolds(transaction, [[ended, trigger]]);
  return true;
}

/**
 * Fails an edited job whose result cannot be assembled, as a worker does: releases the hold and queues the
 * callback. An upgraded job becomes the completed machine job again.
 * @returns false without any change if the job was delivered before and therefore may not fail
 */
export async function failEdited(
  transaction: Transaction,
  account: AccountRef,
  jobId: string,
  reason: string,
): Promise<boolean> {
  const failed = await endEdited(transaction, account, jobId, { kind: 'failed', reason });
  const moved = await makeMoves(transaction, [failed], 'fail');
  await carryOut(transaction, moved, 'fail');
  await endHolds(
    transaction,
    moved.map((one) => [one, 'fail'] as const),
  );
  return moved.length > 0;
}

async function endEdited(
  transaction: Transaction,
  account: AccountRef,
  jobId: string,
  outcome: JobOutcome,
): Promise<JobSettlement> {
  const row = await store.findAnyJob(transaction, { account, jobId });
  const texts = await readTexts(transaction, account, jobId, ['source', 'result']);
  const lease = { account, id: jobId, token: undefined };
  return { lease, job: { row: row!, held: false, age: 0, texts }, outcome };
}

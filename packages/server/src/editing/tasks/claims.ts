/** The queue of an editor, claims on tasks, and how claims end. */
import { type Piece, plainText } from '@dragoman/documents';
import { ApiError, notFound } from '../../base/errors.ts';
import { isId } from '../../base/ids.ts';
import type { Transaction } from '../../database/database.ts';
import { findTask } from '../model/access-store.ts';
import type { EditingContext, EditingUser } from '../model/context.ts';
import { makeDueNow } from '../model/due-store.ts';
import type { ClaimEnd, TaskStatus } from '../model/states.ts';
import type { LeaseBody, ListedBody, QueueBody, QueueTaskBody } from '../schemas/schemas.ts';
import { queueWaitingJobs } from '../votes/votes-store.ts';
import { canceled } from './access.ts';
import * as claims from './claims-store.ts';
import * as queue from './queue-store.ts';
import * as store from './store.ts';

const MAX_SHOWN = 100;
/**
 * The queue shows at most this many tasks of one account, so that one customer's tasks do not fill the page.
 */
const MAX_SHOWN_PER_ACCOUNT = 10;
/** The maximum number of expired claims that one transaction ends. */
export const EXPIRED_AT_ONCE = 500;
/**
 * The maximum number of attempts to claim a task. A claim skips tasks that other transactions have locked, so
 * it waits for one of them and is repeated while open tasks exist.
 */
const CLAIM_TRIES = 5;

/** Ends expired claims. Runs before every claim and periodically. @returns the number of ended claims */
export async function endExpiredClaims(context: EditingContext): Promise<number> {
  const ended = await context.database.transaction(async (transaction) => {
    const expired = await claims.expireClaims(transaction, EXPIRED_AT_ONCE);
    await queueWaitingJobs(transaction, expired);
    return expired;
  });
  if (ended.length > 0) context.observer.expired(ended.length);
  await makeDueNow(context.database, ended);
  return ended.length;
}

/** Returns the key of a task. @throws ApiError `not_found` */
export async function locate(context: EditingContext, taskId: string): Promise<store.TaskKey> {
  if (!isId(taskId)) throw notFound();
  const key = await store.locateTask(context.database, taskId);
  if (key === undefined) throw notFound();
  return key;
}

/** Returns the queue of an editor: of a language pair and in an order if the editor chose one. */
export async function readQueue(
  context: EditingContext,
  { userId }: EditingUser,
  chosen: {
    source_language?: string;
    target_language?: string;
    sort?: Parameters<typeof queue.listChosen>[1]['sort'];
  },
): Promise<QueueBody> {
  const { database, rules } = context;
  await endExpiredClaims(context);
  const { source_language: source = null, target_language: target = null, sort = null } = chosen;
  const { editPay = 0, reviewPay = 0 } = rules;
  const isChosen = source !== null || target !== null || sort !== null;
  const [open, pairs, held, paused] = await Promise.all([
    isChosen
      ? queue.listChosen(database, { userId, source, target, sort, editPay, reviewPay, limit: MAX_SHOWN })
      : queue.listQueue(database, userId, MAX_SHOWN_PER_ACCOUNT, MAX_SHOWN),
    queue.countWaiting(database, { userId }),
    claims.listHeld(database, { userId }),
    claims.pausedUntil(database, { ...rules, userId }),
  ]);
  return {
    open: open.map((row) => presentQueued(context, row)),
    pairs,
    held: held.map((row) => ({ ...presentQueued(context, row), lease: presentLease(row) })),
    paused_until: paused ?? null,
  };
}

const TASK_TAKEN = 'Another editor holds the task, or it is finished.';
const URGENCIES = ['late', 'soon', 'normal'] as const;

/** The maximum length of the first words of a task, in UTF-16 code units. */
const EXCERPT_LENGTH = 120;

function presentQueued(context: EditingContext, row: queue.QueueRow): QueueTaskBody {
  const { wordsPerMinute, editPay, reviewPay } = context.rules;
  const cents = row.kind === 'edit' ? editPay : reviewPay;
  return {
    ...presentListed(row),
    excerpt: excerptOf(row.beginning ?? []),
    expected_minutes: Math.max(1, Math.ceil(row.words / wordsPerMinute)),
    ...(cents === undefined ? {} : { pay: Math.round(row.words * cents) }),
  };
}

/** Returns the first words of some segments as one line. A cut text ends with an ellipsis. */
function excerptOf(segments: readonly (readonly Piece[])[]): string {
  const text = segments
    .map((pieces) => plainText(pieces))
    .join(' ')
    .replace(/\s+/g, ' ')
    .trim();
  if (text.length <= EXCERPT_LENGTH) return text;
  const words = text.slice(0, EXCERPT_LENGTH).split(' ');
  // A text without spaces is cut at any character; an unpaired surrogate is not a character.
  const kept =
    words.length > 1 ? words.slice(0, -1).join(' ') : words[0]!.toWellFormed().replace(/\ufffd$/, '');
  return `${kept}…`;
}

export function presentListed(row: Omit<queue.ListedRow, 'status'> & { status: TaskStatus }): ListedBody {
  return {
    ...row,
    task: row.task_id,
    format: row.text_format,
    topics: row.topics ?? [],
    brand: row.brand_name,
    segments: row.last_position - row.first_position + 1 - row.joined,
    urgency: URGENCIES[row.urgency],
    reserved: row.mine,
    deadline: row.deadline_at,
  };
}

export const presentLease = ({ claim_id: token, lease_until, now }: claims.HeldRow): LeaseBody => ({
  token,
  lease_until,
  now,
});

/**
 * Claims one task: the task that the editor chose, otherwise the next task of the queue. If the editor
 * already holds the task, returns the same claim with a renewed lease, because the response to the first
 * request may have been lost.
 * @throws ApiError `nothing_waits`, `task_taken`, `too_many_claims`, `claims_paused`, `not_found`
 */
export async function claim(
  context: EditingContext,
  user: EditingUser,
  named: string | undefined,
): Promise<store.TaskKey> {
  const { database, rules, observer } = context;
  const { userId } = user;
  const key = named === undefined ? undefined : await locate(context, named);
  await endExpiredClaims(context);
  if (key !== undefined) {
    const held = await claims.findHeld(database, key);
    if (held?.user_id === userId) {
      // Extends the lease of the editor's existing claim. If the claim has just ended, the code below claims
      // the task again.
      const kept = await claims.keepClaim(
        database,
        key,
        { userId, token: held.claim_id },
        rules.leaseSeconds,
      );
      if (kept !== undefined) return key;
    }
  }
  for (let tried = 1; ; tried++) {
    const claimed = await database.transaction((transaction) =>
      claims.claimTask(transaction, userId, rules, key),
    );
    if (claimed !== undefined) {
      observer.claimed(claimed.held.kind);
      return claimed.key;
    }
    const refusal = await claimRefusal(context, user, key);
    if (tried === CLAIM_TRIES) throw refusal;
    if (refusal.code !== 'task_taken' && refusal.code !== 'nothing_waits') throw refusal;
    const open = await findOpen(context, user, key);
    if (open === undefined) throw refusal;
    // The task was locked by another transaction, such as one that replaces its drafts.
    await waitForTask(context, open);
  }
}

/** The waits for locked tasks, by task id. */
const waits = new Map<string, Promise<void>>();

/**
 * Waits for the end of the transaction that has locked a task. All claims share one wait for a task, because a wait
 * occupies a connection: many editors who take the next task would otherwise occupy all of them.
 */
function waitForTask({ database }: EditingContext, { account, jobId, taskId }: store.TaskKey): Promise<void> {
  const shared = waits.get(taskId);
  if (shared !== undefined) return shared;
  const wait = database
    .transaction((transaction) => store.lockTasks(transaction, { account, jobId, tasks: [taskId] }))
    .finally(() => waits.delete(taskId));
  waits.set(taskId, wait);
  return wait;
}

/** Returns an open task that the user may claim: the task that the user chose, otherwise any. */
async function findOpen(
  { database }: EditingContext,
  { userId }: EditingUser,
  named: store.TaskKey | undefined,
): Promise<store.TaskKey | undefined> {
  if (named === undefined) return queue.findWaiting(database, userId);
  return (await findTask(database, { ...named, userId }))?.may_claim ? named : undefined;
}

async function claimRefusal(
  context: EditingContext,
  { userId }: EditingUser,
  key: store.TaskKey | undefined,
): Promise<ApiError> {
  const { database, rules } = context;
  const until = await claims.pausedUntil(database, { ...rules, userId });
  if (until !== undefined) {
    const message = 'Too many of your claims expired in the last 24 hours.';
    return new ApiError('claims_paused', message, {}, { until: until.toISOString() });
  }
  const held = await claims.listHeld(database, { userId });
  const task = key && (await findTask(database, { ...key, userId }));
  const kinds = task === undefined ? (['edit', 'review'] as const) : [task.kind];
  const full = kinds.filter(
    (kind) =>
      held.filter((one) => one.kind === kind).length >= (kind === 'edit' ? rules.editCap : rules.reviewCap),
  );
  if (full.length === kinds.length || (task === undefined && full.includes('edit') && held.length > 0)) {
    return new ApiError('too_many_claims', 'You hold as many tasks as you may. Submit or release one first.');
  }
  if (task === undefined) return new ApiError('nothing_waits', 'No task is available for you now.');
  if (!task.has_pair) return notFound();
  return new ApiError('task_taken', TASK_TAKEN);
}

/** Returns the error for a claim that has ended. @param kept where the text of a late save was stored */
export function staleLease(ended: ClaimEnd | null | undefined, kept?: 'draft' | 'history'): ApiError {
  if (ended === 'canceled') return canceled();
  const more = kept === undefined ? {} : { kept };
  return new ApiError('stale_lease', 'Your claim on the task has ended.', {}, more);
}

/**
 * Returns the error for a change without a valid claim: `not_found` if the user never had access to the task.
 */
export async function lostClaim(
  { database }: EditingContext,
  key: store.TaskKey,
  holder: claims.Holder & Pick<EditingUser, 'role'>,
): Promise<ApiError> {
  const task = await findTask(database, { ...key, userId: holder.userId });
  const isKnown = task?.has_pair || task?.has_claimed || holder.role === 'operator';
  return isKnown ? staleLease(await claims.findPastClaim(database, { ...key, ...holder })) : notFound();
}

export async function heartbeat(
  context: EditingContext,
  user: EditingUser,
  key: store.TaskKey,
  token: string,
): Promise<LeaseBody> {
  const holder = { ...user, token };
  const held = await claims.keepClaim(context.database, key, holder, context.rules.leaseSeconds);
  if (held === undefined) throw await lostClaim(context, key, holder);
  return presentLease(held);
}

/** Ends a claim and returns the task to the queue. The edits of the task are not deleted. */
export async function release(
  context: EditingContext,
  user: EditingUser,
  key: store.TaskKey,
  token: string,
): Promise<TaskStatus> {
  const holder = { ...user, token };
  const done = await context.database.transaction(async (transaction) => {
    await store.lockTasks(transaction, { account: key.account, jobId: key.jobId, tasks: [key.taskId] });
    const held = await claims.keepClaim(transaction, key, holder, context.rules.leaseSeconds);
    if (held === undefined) return false;
    const { account, jobId, taskId } = key;
    const move = {
      account,
      jobId,
      tasks: [taskId],
      trigger: 'release',
      actor: 'editor',
      ends: 'released',
    } as const;
    await store.moveTasks(transaction, move);
    return true;
  });
  if (!done) throw await lostClaim(context, key, holder);
  context.observer.ended('released');
  await makeDueNow(context.database, [key]);
  return 'open';
}

/**
 * Hides a task permanently from an editor, whether or not the editor holds it. After as many skips as
 * `rules.skips` the task is reported to the operators.
 * @throws ApiError `stale_lease`, `not_found`
 */
export async function skip(
  context: EditingContext,
  user: EditingUser,
  key: store.TaskKey,
  token: string | undefined,
  reason: string,
): Promise<TaskStatus> {
  return skipOrReport(context, user, key, token, 'skipped', async (transaction) => {
    const skips = await store.insertSkip(transaction, key, user.userId, reason);
    if (skips < context.rules.skips) return 'skip';
    await store.insertReport(transaction, key, user.userId, 'skipped', undefined);
    return 'report';
  });
}

/** Reports a task to the operators. The editor must hold the task or be able to claim it. */
export async function report(
  context: EditingContext,
  user: EditingUser,
  key: store.TaskKey,
  token: string | undefined,
  { reason, note }: { reason: string; note?: string | undefined },
): Promise<TaskStatus> {
  return skipOrReport(context, user, key, token, 'reported', async (transaction) => {
    await store.insertReport(transaction, key, user.userId, reason, note);
    return 'report';
  });
}

async function skipOrReport(
  context: EditingContext,
  user: EditingUser,
  key: store.TaskKey,
  token: string | undefined,
  ends: 'skipped' | 'reported',
  decide: (transaction: Transaction) => Promise<'skip' | 'report'>,
): Promise<TaskStatus> {
  const { account, jobId, taskId } = key;
  const { userId } = user;
  const status = await context.database.transaction(async (transaction): Promise<TaskStatus | undefined> => {
    await store.lockTasks(transaction, { account, jobId, tasks: [taskId] });
    const task = await findTask(transaction, { ...key, userId });
    if (task === undefined || !(task.has_pair || (token !== undefined && task.has_claimed))) throw notFound();
    if (token === undefined) {
      // Without a claim, an editor can skip or report only an open task. To report it, the editor must also be
      // able to claim it. A skip does not require that, because a repeated skip is harmless.
      if (task.status !== 'open') return undefined;
      if (ends === 'reported' && !task.may_claim) return undefined;
    } else {
      const held = await claims.keepClaim(transaction, key, { userId, token }, context.rules.leaseSeconds);
      if (held === undefined) return undefined;
    }
    const trigger = await decide(transaction);
    // Keeps the reservation of a task that is reserved for another editor.
    const isOthers = task.reserved_for !== null && task.reserved_for !== userId;
    if (trigger === 'skip' && token === undefined && isOthers) return 'open';
    const move = { account, jobId, tasks: [taskId], trigger, actor: 'editor', ends } as const;
    await store.moveTasks(transaction, move);
    return trigger === 'skip' ? 'open' : 'reported';
  });
  if (status === undefined) {
    if (token === undefined) throw new ApiError('task_taken', TASK_TAKEN);
    throw await lostClaim(context, key, { ...user, token });
  }
  if (token !== undefined) {
    context.observer.ended(ends);
    await makeDueNow(context.database, [key]);
  }
  return status;
}

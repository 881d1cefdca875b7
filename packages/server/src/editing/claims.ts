/** Who may have which task, who has it, and how that ends. */
import { ApiError, fieldError, notFound } from '../errors.ts';
import { canceled } from './access.ts';
import { findTask } from './access-store.ts';
import * as claims from './claims-store.ts';
import type { Asker, EditingRoom } from './room.ts';
import type { LeaseBody, QueueBody, QueueTaskBody } from './schemas.ts';
import type { ClaimEnd, TaskStatus } from './states.ts';
import * as store from './store.ts';

const MOST_SHOWN = 100;
/** Claims ended at a time. */
export const EXPIRED_AT_ONCE = 500;
/** Rows that others have locked are passed by; while tasks wait, it is worth looking again. */
const CLAIM_TRIES = 5;

/** Ends what has run out. Asked before every claim, and by the upkeep. */
export async function expire(room: EditingRoom): Promise<number> {
  const ended = await room.database.transaction((transaction) =>
    claims.expireClaims(transaction, EXPIRED_AT_ONCE),
  );
  if (ended.length > 0) room.observer.expired(ended.length);
  await store.lookNow(room.database, ended);
  return ended.length;
}

/** @throws ApiError `not_found` */
export async function locate(room: EditingRoom, taskId: string): Promise<store.TaskKey> {
  if (!/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(taskId)) throw notFound();
  const key = await store.locateTask(room.database, taskId);
  if (key === undefined) throw notFound();
  return key;
}

export async function readQueue(room: EditingRoom, { userId }: Asker): Promise<QueueBody> {
  const { database, rules } = room;
  await expire(room);
  const [open, waiting, held, paused] = await Promise.all([
    claims.listQueue(database, userId, rules.shown, MOST_SHOWN),
    claims.countWaiting(database, userId),
    claims.listHeld(database, userId),
    claims.pausedUntil(database, userId, rules),
  ]);
  return {
    open: open.map((row) => presentListed(room, row)),
    waiting,
    held: held.map((row) => ({ ...presentListed(room, row), lease: presentLease(row) })),
    paused_until: paused?.toISOString() ?? null,
  };
}

const URGENCIES = ['late', 'soon', 'normal'] as const;

export function presentListed(
  room: EditingRoom,
  row: Omit<claims.QueueRow, 'status'> & { status: TaskStatus },
): QueueTaskBody {
  return {
    task: row.task_id,
    kind: row.kind,
    status: row.status,
    order_number: row.order_number,
    format: row.text_format,
    source_language: row.source_language,
    target_language: row.target_language,
    tone: row.tone,
    topics: row.topics ?? [],
    brand: row.brand_name,
    words: row.words,
    segments: row.last_position - row.first_position + 1,
    confirmed: row.confirmed,
    priority: row.priority,
    urgency: URGENCIES[row.urgency],
    reserved: row.mine,
    minutes: Math.ceil(room.rules.limitSeconds / 60 + row.words / room.rules.wordsPerMinute),
    created_at: row.created_at.toISOString(),
    deadline: row.deadline_at.toISOString(),
  };
}

export function presentLease(held: claims.HeldRow): LeaseBody {
  const [from, to] = [held.claimed_at.getTime(), held.limit_until.getTime()];
  return {
    token: held.claim_id,
    lease_until: held.lease_until.toISOString(),
    limit_until: held.limit_until.toISOString(),
    warn_at: new Date(from + (to - from) * 0.8).toISOString(),
    extended: held.extended,
    now: held.now.toISOString(),
  };
}

/**
 * Claims the named task, or the next one. Naming one that the editor has already gives it again, with the same token and a
 * lease from now: the answer to the first claim may have been lost.
 * @throws ApiError `nothing_waits`, `task_taken`, `too_many_claims`, `claims_paused`, `not_found`
 */
export async function claim(
  room: EditingRoom,
  asker: Asker,
  named: string | undefined,
): Promise<store.TaskKey> {
  const { database, rules, observer } = room;
  const { userId } = asker;
  const key = named === undefined ? undefined : await locate(room, named);
  await expire(room);
  if (key !== undefined) {
    const held = await claims.findHeld(database, key);
    if (held?.user_id === userId) {
      // A sign of its editor, like a heartbeat: what is given again is there for a whole lease. Over meanwhile: claimed.
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
    const refusal = await whyNone(room, asker, key);
    if (refusal.code !== 'nothing_waits' || tried === CLAIM_TRIES) throw refusal;
    if ((await claims.countWaiting(database, userId)) === 0) throw refusal;
  }
}

async function whyNone(
  room: EditingRoom,
  { userId }: Asker,
  key: store.TaskKey | undefined,
): Promise<ApiError> {
  const { database, rules } = room;
  const until = await claims.pausedUntil(database, userId, rules);
  if (until !== undefined) {
    const sentence = 'Too many of your claims have run out today.';
    return new ApiError('claims_paused', sentence, {}, { until: until.toISOString() });
  }
  const held = await claims.listHeld(database, userId);
  const task = key && (await findTask(database, key, userId));
  const kinds = task === undefined ? (['edit', 'review'] as const) : [task.kind];
  const full = kinds.filter(
    (kind) =>
      held.filter((one) => one.kind === kind).length >= (kind === 'edit' ? rules.editCap : rules.reviewCap),
  );
  if (full.length === kinds.length || (task === undefined && full.includes('edit') && held.length > 0)) {
    return new ApiError('too_many_claims', 'Finish what you have, or give it back.');
  }
  if (task === undefined) return new ApiError('nothing_waits', 'No task waits for you now.');
  if (!task.has_pair) return notFound();
  return new ApiError('task_taken', 'Somebody else has the task, or it is over.');
}

/** What a change needs of its task: the claim holds, and is locked. For use inside a transaction. */
export function staleLease(ended: ClaimEnd | null | undefined, kept?: 'draft' | 'history'): ApiError {
  if (ended === 'canceled') return canceled();
  const more = kept === undefined ? {} : { kept };
  return new ApiError('stale_lease', 'Your claim on the task is over.', {}, more);
}

/** Why a change is refused whose claim does not hold: `not_found` for a task that was never theirs nor in their languages. */
export async function lostClaim(
  { database }: EditingRoom,
  key: store.TaskKey,
  holder: claims.Holder & Pick<Asker, 'role'>,
): Promise<ApiError> {
  const task = await findTask(database, key, holder.userId);
  const isTheirs = task?.has_pair || task?.has_claimed || holder.role === 'operator';
  return isTheirs ? staleLease(await claims.findPastClaim(database, key, holder)) : notFound();
}

export async function heartbeat(
  room: EditingRoom,
  asker: Asker,
  key: store.TaskKey,
  token: string,
): Promise<LeaseBody> {
  const holder = { ...asker, token };
  const held = await claims.keepClaim(room.database, key, holder, room.rules.leaseSeconds);
  if (held === undefined) throw await lostClaim(room, key, holder);
  return presentLease(held);
}

/** @throws ApiError `stale_lease`; `invalid_request` where it was extended before */
export async function extend(
  room: EditingRoom,
  asker: Asker,
  key: store.TaskKey,
  token: string,
): Promise<LeaseBody> {
  const holder = { ...asker, token };
  const held = await claims.extendClaim(room.database, key, holder, room.rules.leaseSeconds);
  if (held !== undefined) return presentLease(held);
  const still = await claims.keepClaim(room.database, key, holder, room.rules.leaseSeconds);
  if (still !== undefined) throw fieldError('token', 'the task has been extended already.');
  throw await lostClaim(room, key, holder);
}

/** Gives a task back. Its drafts stay. */
export async function release(
  room: EditingRoom,
  asker: Asker,
  key: store.TaskKey,
  token: string,
): Promise<TaskStatus> {
  const holder = { ...asker, token };
  const done = await room.database.transaction(async (transaction) => {
    await store.lockTasks(transaction, key.account, key.jobId, [key.taskId]);
    const held = await claims.keepClaim(transaction, key, holder, room.rules.leaseSeconds);
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
  if (!done) throw await lostClaim(room, key, holder);
  room.observer.ended('released');
  await store.lookNow(room.database, [key]);
  return 'open';
}

/**
 * Never to be offered a task again. Free, also without having it; so many who skip one put it before an operator.
 * @throws ApiError `stale_lease`, `not_found`
 */
export async function skip(
  room: EditingRoom,
  asker: Asker,
  key: store.TaskKey,
  token: string | undefined,
  reason: string,
): Promise<TaskStatus> {
  return putAside(room, asker, key, token, 'skipped', async (transaction) => {
    const skips = await store.insertSkip(transaction, key, asker.userId, reason);
    if (skips < room.rules.skips) return 'skip';
    await store.insertReport(transaction, key, asker.userId, 'skipped', undefined);
    return 'report';
  });
}

/** Puts a task before an operator. Without holding it, only one that they may claim. */
export async function report(
  room: EditingRoom,
  asker: Asker,
  key: store.TaskKey,
  token: string | undefined,
  { reason, note }: { reason: string; note: string | undefined },
): Promise<TaskStatus> {
  return putAside(room, asker, key, token, 'reported', async (transaction) => {
    await store.insertReport(transaction, key, asker.userId, reason, note);
    return 'report';
  });
}

async function putAside(
  room: EditingRoom,
  asker: Asker,
  key: store.TaskKey,
  token: string | undefined,
  ends: 'skipped' | 'reported',
  decide: (
    transaction: Parameters<Parameters<EditingRoom['database']['transaction']>[0]>[0],
  ) => Promise<'skip' | 'report'>,
): Promise<TaskStatus> {
  const { account, jobId, taskId } = key;
  const { userId } = asker;
  const status = await room.database.transaction(async (transaction): Promise<TaskStatus | undefined> => {
    await store.lockTasks(transaction, account, jobId, [taskId]);
    const task = await findTask(transaction, key, userId);
    if (task === undefined || !(task.has_pair || (token !== undefined && task.has_claimed))) throw notFound();
    if (token === undefined) {
      // One that somebody has is not put aside by another. A skip may come again, and shows nothing.
      if (task.status !== 'open') return undefined;
      if (ends === 'reported' && !task.may_claim) return undefined;
    } else {
      const held = await claims.keepClaim(transaction, key, { userId, token }, room.rules.leaseSeconds);
      if (held === undefined) return undefined;
    }
    const trigger = await decide(transaction);
    // It stays kept for whom it waits for.
    const isOthers = task.reserved_for !== null && task.reserved_for !== userId;
    if (trigger === 'skip' && token === undefined && isOthers) return 'open';
    const move = { account, jobId, tasks: [taskId], trigger, actor: 'editor', ends } as const;
    await store.moveTasks(transaction, move);
    return trigger === 'skip' ? 'open' : 'reported';
  });
  if (status === undefined) {
    if (token === undefined) throw new ApiError('task_taken', 'Somebody else has the task, or it is over.');
    throw await lostClaim(room, key, { ...asker, token });
  }
  if (token !== undefined) {
    room.observer.ended(ends);
    await store.lookNow(room.database, [key]);
  }
  return status;
}

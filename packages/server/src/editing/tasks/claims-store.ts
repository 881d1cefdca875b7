/**
 * SQL statements about claims.
 *
 * A claim tries the tasks of the editor's queue in order. `for update skip locked` on the task keeps two editors from
 * claiming it at the same time. The unique key of an editor's slots limits concurrent claims of one editor.
 */
import type { AccountRef } from '../../base/account.ts';
import { uuidv7 } from '../../base/ids.ts';
import type { Queryable, Transaction } from '../../database/database.ts';
import { AS_TEXT, statement } from '../../database/statements.ts';
import { claimable, holds, type TaskKey } from '../model/access-store.ts';
import type { ClaimRules } from '../model/context.ts';
import { type ClaimEnd, TASK_MOVES, type TaskKind } from '../model/states.ts';
import { LISTED, listNext, type QueueRow, SLOTS, URGENCY } from './queue-store.ts';

/** A valid claim, with the columns of its task that a holder needs. */
export interface HeldRow {
  claim_id: string;
  task_id: string;
  job_id: string;
  kind: TaskKind;
  user_id: string;
  claimed_at: Date;
  lease_until: Date;
  now: Date;
}

const HELD = `c.claim_id, c.task_id, c.job_id, c.kind, c.user_id, c.claimed_at, c.lease_until, now() as now`;

/** SQL query: claims the task that `picked` selects. */
const TAKE = `
   slotted as (
     insert into editor_slots (user_id, kind, slot, part, account_id, task_id)
     select :user_id, kind, slot, part, account_id, task_id from picked
     on conflict do nothing returning part, account_id, task_id),
   taken as (
     update tasks t set status = :to, editor_id = :user_id, changed_at = now(), reserved_for = null, reserved_until = null
       from slotted s
      where t.part = :part and t.account_id = :account_id and t.task_id = s.task_id and t.status = any(:from)
     returning t.part, t.account_id, t.task_id, t.job_id, t.kind, t.words),
   leased as (
     insert into claims (part, account_id, claim_id, task_id, job_id, kind, user_id, claimed_at, lease_until)
     select part, account_id, :claim_id, task_id, job_id, kind, :user_id, clock_timestamp(),
            now() + make_interval(secs => :lease_seconds)
       from taken
     returning *)
   select ${HELD}, c.part, c.account_id from leased c`;

type ClaimedRow = HeldRow & { part: number; account_id: string };

const CLAIM = statement<ClaimedRow>(
  'editing.claim',
  `with ${SLOTS},
   picked as (
     select t.part, t.account_id, t.task_id, t.kind, s.slot, ${AS_TEXT}
       from tasks t
       join slots s on s.kind = t.kind
       join user_languages l on l.user_id = :user_id and l.source_language = t.source_language
        and l.target_language = t.target_language and (t.kind = 'edit' or l.review)
      where t.part = :part and t.account_id = :account_id and t.task_id = :task_id and t.status = 'open'
        and ${claimable(':user_id', ':part')}
      for update of t skip locked),
   ${TAKE}`,
);

/**
 * Claims one task: the task that the user chose, otherwise the next task of the queue. @returns undefined if
 * there is no task that the user can claim
 */
export async function claimTask(
  on: Queryable,
  userId: string,
  rules: ClaimRules,
  named?: TaskKey,
): Promise<{ key: TaskKey; held: HeldRow } | undefined> {
  const { from, to } = TASK_MOVES.claim;
  const values = {
    user_id: userId,
    edit_cap: rules.editCap,
    review_cap: rules.reviewCap,
    claim_id: uuidv7(),
    lease_seconds: rules.leaseSeconds,
    to,
    from,
  };
  if ((await pausedUntil(on, { ...rules, userId })) !== undefined) return undefined;
  for (const { account, taskId } of named === undefined ? await listNext(on, values) : [named]) {
    const [row] = await on.query(CLAIM, {
      ...values,
      part: account.part,
      account_id: account.accountId,
      task_id: taskId,
    });
    if (row === undefined) continue;
    on.changed('tasks', account, row.job_id);
    return { key: { account, taskId, jobId: row.job_id }, held: row };
  }
  return undefined;
}

/**
 * Returns the end of the user's pause. An editor may not claim for 30 minutes when too many of their claims expired
 * within 24 hours.
 */
export const pausedUntil = statement<{ until: Date }, { userId: string } & ClaimRules>(
  'editing.paused_until',
  `select max(ended_at) + interval '30 minutes' as until from claims
    where user_id = :userId and ended in ('lease_expired', 'limit_expired') and ended_at > now() - interval '1 day'
   having count(*) >= :expiries and max(ended_at) + interval '30 minutes' > now()`,
).firstValue;

export const listHeld = statement<QueueRow & HeldRow, { userId: string }>(
  'editing.held_by',
  `select ${LISTED}, ${URGENCY} as urgency, false as mine, ${HELD}
     from editor_slots s
     join tasks t on t.part = s.part and t.account_id = s.account_id and t.task_id = s.task_id
     join claims c on c.part = t.part and c.account_id = t.account_id and c.task_id = t.task_id
      and ${holds('c.part')}
     join jobs j on j.part = t.part and j.account_id = t.account_id and j.job_id = t.job_id
    where s.user_id = :userId order by c.claimed_at`,
).rows;

/** Returns the valid claim on a task, of any user. */
export const findHeld = statement<HeldRow, TaskKey>(
  'editing.find_held',
  `select ${HELD} from claims c
    where c.part = :part and c.account_id = :account_id and c.task_id = :taskId and ${holds(':part')}`,
).first;

/**
 * Returns the active time of a user on a task, in milliseconds, summed over all of the user's claims on it.
 */
export const readActiveTime = statement<{ active_ms: number }, { userId: string } & TaskKey>(
  'editing.active_time',
  `select coalesce(sum(active_ms), 0)::float8 as active_ms from claims
    where part = :part and account_id = :account_id and job_id = :jobId and task_id = :taskId and user_id = :userId`,
).value;

// The update also locks the claim's row, so that a transaction that ends the claim waits until the edit is
// saved.
const KEEP = statement<HeldRow>(
  'editing.keep',
  `with c as (
     update claims c set lease_until = now() + make_interval(secs => $6), saves = saves + $7, active_ms = active_ms + $8
      where c.part = $1 and c.account_id = $2 and c.task_id = $3 and c.claim_id = $4 and c.user_id = $5
        and ${holds('$1')}
     returning *)
   select ${HELD} from c`,
);

export interface Holder {
  userId: string;
  token: string;
}

/** Locks a valid claim and extends its lease. @returns undefined if the claim is not valid */
export async function keepClaim(
  on: Queryable,
  { account, taskId }: TaskKey,
  { userId, token }: Holder,
  leaseSeconds: number,
  saved: { saves: number; activeMs: number } = { saves: 0, activeMs: 0 },
): Promise<HeldRow | undefined> {
  const key = [account.part, account.accountId, taskId, token, userId];
  return (await on.query(KEEP, [...key, leaseSeconds, saved.saves, saved.activeMs]))[0];
}

/** Returns how a claim ended: null if its end is not recorded; undefined if there was no such claim. */
export const findPastClaim = statement<{ ended: ClaimEnd | null }, TaskKey & Holder>(
  'editing.past_claim',
  `select ended from claims
    where part = :part and account_id = :account_id and task_id = :taskId and claim_id = :token and user_id = :userId`,
).firstValue;

const EXPIRED = statement<{ part: number; account_id: string; claim_id: string }>(
  'editing.expired_claims',
  `select c.part, c.account_id, c.claim_id
     from claims c join tasks t on t.part = c.part and t.account_id = c.account_id and t.task_id = c.task_id
    where c.ended_at is null and c.lease_until <= now() and t.status = any($2)
    order by c.lease_until limit $1`,
);

// Locks tasks before claims, like all statements. The times are checked again after locking, because a
// concurrent heartbeat may have extended a lease.
const EXPIRE = statement<{ part: number; account_id: string; job_id: string }>(
  'editing.expire',
  `with over as (
     select t.part, t.account_id, t.task_id, c.claim_id, ${AS_TEXT}
       from unnest($1::smallint[], $2::uuid[], $3::uuid[]) as g (part, account_id, claim_id)
       join claims c on c.part = g.part and c.account_id = g.account_id and c.claim_id = g.claim_id
       join tasks t on t.part = c.part and t.account_id = c.account_id and t.task_id = c.task_id
      where t.status = any($5) for update of t skip locked),
   ended as (
     update claims c
        set ended_at = statement_timestamp(), ended = 'lease_expired'
       from over o
      where c.part = o.part and c.account_id = o.account_id and c.claim_id = o.claim_id
        and c.ended_at is null and c.lease_until <= now()
     returning c.part, c.account_id, c.task_id),
   freed as (
     delete from editor_slots s using ended e
      where s.part = e.part and s.account_id = e.account_id and s.task_id = e.task_id)
   update tasks t set status = $4, changed_at = now()
     from ended e
    where t.part = e.part and t.account_id = e.account_id and t.task_id = e.task_id
   returning t.part, t.account_id, t.job_id`,
);

/**
 * Ends expired claims and reopens their tasks, without deleting edits. Leaves out tasks that other transactions have
 * locked. @returns the job of each ended claim
 */
export async function expireClaims(
  on: Queryable,
  most: number,
): Promise<{ account: AccountRef; jobId: string }[]> {
  const { from, to } = TASK_MOVES.expire;
  const expired = await on.query(EXPIRED, [most, from]);
  if (expired.length === 0) return [];
  const rows = await on.query(EXPIRE, [
    expired.map(({ part }) => part),
    expired.map(({ account_id }) => account_id),
    expired.map(({ claim_id }) => claim_id),
    to,
    from,
  ]);
  return rows.map(({ part, account_id: accountId, job_id: jobId }) => {
    const account = { part, accountId } as AccountRef;
    on.changed('tasks', account, jobId);
    return { account, jobId };
  });
}

/** Returns true if a job has a claim that has not ended. */
export const isInWork = statement<{ claimed: boolean }, { account: AccountRef; jobId: string }, Transaction>(
  'editing.has_claims',
  `select exists (select from claims where part = :part and account_id = :account_id and job_id = :jobId
    and ended_at is null) as claimed`,
).value;

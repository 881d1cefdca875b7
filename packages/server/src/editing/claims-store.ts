/**
 * SQL statements about claims.
 *
 * One statement claims a task. It reads across accounts, because an editor works for all accounts, and it
 * returns no text. `for update skip locked` on the task keeps two editors from claiming it at the same time.
 * The unique key of an editor's slots limits concurrent claims of one editor.
 */
import type { Format, Piece } from '@dragoman/documents';
import type { AccountRef } from '../base/account.ts';
import { uuidv7 } from '../base/ids.ts';
import type { Queryable, Transaction } from '../database/database.ts';
import { statement } from '../database/statements.ts';
import { claimable, holds } from './access-store.ts';
import { type ClaimEnd, TASK_MOVES, type TaskKind } from './states.ts';
import type { TaskKey } from './store.ts';

/** A valid claim, with the columns of its task that a holder needs. */
export interface HeldRow {
  claim_id: string;
  task_id: string;
  job_id: string;
  kind: TaskKind;
  user_id: string;
  claimed_at: Date;
  lease_until: Date;
  limit_until: Date;
  extended: boolean;
  now: Date;
}

const HELD = `c.claim_id, c.task_id, c.job_id, c.kind, c.user_id, c.claimed_at, c.lease_until, c.limit_until, c.extended,
  now() as now`;

export interface ClaimRules {
  editCap: number;
  reviewCap: number;
  leaseSeconds: number;
  limitSeconds: number;
  wordsPerMinute: number;
  expiries: number;
}

/**
 * SQL query: the end of the user's pause. An editor may not claim for 30 minutes when too many of their claims
 * expired within 24 hours.
 */
const PAUSED = (user: string, expiries: string) => `
  select max(ended_at) + interval '30 minutes' as until from claims
   where user_id = ${user} and ended in ('lease_expired', 'limit_expired') and ended_at > now() - interval '1 day'
  having count(*) >= ${expiries} and max(ended_at) + interval '30 minutes' > now()`;

/**
 * SQL expression for urgency: 0 past the deadline, 1 when less than half of the time to the deadline is left,
 * otherwise 2.
 */
const URGENCY = `case when t.deadline_at <= now() then 0
       when now() > t.created_at + (t.deadline_at - t.created_at) / 2 then 1 else 2 end`;

/**
 * SQL query for the tasks that a user may claim: the first open tasks of each account in the user's language
 * pairs, with the number of the account's claimed tasks. The query needs one index search for each account.
 */
const candidates = (user: string, mine: string, each: string) => `
   mine as (${mine}),
   accounts_of as (
     select m.*, a.part, a.account_id
       from mine m cross join lateral (
         select t.part, t.account_id from tasks t
          where t.status = 'open' and t.source_language = m.source_language
            and t.target_language = m.target_language and t.kind = m.kind
          order by t.part, t.account_id limit 1) a
     union all
     select m.source_language, m.target_language, m.kind, m.slot, a.part, a.account_id
       from accounts_of m cross join lateral (
         select t.part, t.account_id from tasks t
          where t.status = 'open' and t.source_language = m.source_language
            and t.target_language = m.target_language and t.kind = m.kind
            and (t.part, t.account_id) > (m.part, m.account_id)
          order by t.part, t.account_id limit 1) a),
   candidates as (
     select t.*, m.slot, ${URGENCY} as urgency,
            t.reserved_for is not null and t.reserved_for = ${user} and t.reserved_until > now() as mine,
            (select count(*) from editor_slots s where s.part = m.part and s.account_id = m.account_id) as in_work
       from accounts_of m cross join lateral (
         select t.* from tasks t
          where t.status = 'open' and t.source_language = m.source_language
            and t.target_language = m.target_language and t.kind = m.kind
            and t.part = m.part and t.account_id = m.account_id and ${claimable(user, 't.part')}
          order by t.priority desc, t.deadline_at, t.task_id limit ${each}) t)`;

/**
 * The order of the queue: urgency, then the account with the fewest claimed tasks, then age. Priority and
 * reservations come before.
 */
const ORDER = 'priority desc, mine desc, urgency, in_work, created_at, task_id';

/** SQL query: the lowest free claim slot of the user for each kind of task. */
const SLOTS = `
   slots as (
     select k.kind, min(n.slot) as slot
       from (values ('edit', :edit_cap::integer), ('review', :review_cap::integer)) k (kind, cap), generate_series(0, k.cap - 1) n (slot)
      where not exists (
        select from editor_slots s where s.user_id = :user_id and s.kind = k.kind and s.slot = n.slot)
      group by k.kind),
   paused as (${PAUSED(':user_id', ':expiries')})`;

/** SQL query: claims the task that `picked` selects. */
const TAKE = `
   slotted as (
     insert into editor_slots (user_id, kind, slot, part, account_id, task_id)
     select :user_id, kind, slot, part, account_id, task_id from picked
     on conflict do nothing returning part, account_id, task_id),
   taken as (
     update tasks t set status = :to, editor_id = :user_id, changed_at = now(), reserved_for = null, reserved_until = null
       from slotted s
      where t.part = s.part and t.account_id = s.account_id and t.task_id = s.task_id and t.status = any(:from)
     returning t.part, t.account_id, t.task_id, t.job_id, t.kind, t.words),
   leased as (
     insert into claims (part, account_id, claim_id, task_id, job_id, kind, user_id, claimed_at, lease_until, limit_until)
     select part, account_id, :claim_id, task_id, job_id, kind, :user_id, clock_timestamp(),
            now() + make_interval(secs => :lease_seconds),
            now() + make_interval(secs => :limit_seconds + words * 60.0 / :words_per_minute)
       from taken
     returning *)
   select ${HELD}, c.part, c.account_id from leased c`;

type ClaimedRow = HeldRow & { part: number; account_id: string };

/** Several candidates of each account are read, because other claims may have locked some of them. */
const CANDIDATES_PER_ACCOUNT = 8;

// The lateral subquery tries the candidates in order until it can lock one. A plain join would read all open
// tasks of all accounts (20 ms instead of 0.5 ms with 12,000 tasks).
const CLAIM_NEXT = statement<ClaimedRow>(
  'editing.claim_next',
  `with recursive ${SLOTS},
   ${candidates(
     ':user_id',
     `select l.source_language, l.target_language, s.kind, s.slot from user_languages l, slots s
       where l.user_id = :user_id and (s.kind = 'edit' or l.review) and not exists (select from paused)`,
     String(CANDIDATES_PER_ACCOUNT),
   )},
   ordered as (select c.*, row_number() over (order by ${ORDER}) as place from candidates c),
   picked as (
     select t.part, t.account_id, t.task_id, t.kind, o.slot
       from (select * from ordered order by place offset 0) o cross join lateral (
         select t.* from tasks t
          where t.part = o.part and t.account_id = o.account_id and t.task_id = o.task_id and t.status = 'open'
          for update skip locked) t
      limit 1),
   ${TAKE}`,
);

const CLAIM_NAMED = statement<ClaimedRow>(
  'editing.claim_named',
  `with ${SLOTS},
   picked as (
     select t.part, t.account_id, t.task_id, t.kind, s.slot
       from tasks t
       join slots s on s.kind = t.kind
       join user_languages l on l.user_id = :user_id and l.source_language = t.source_language
        and l.target_language = t.target_language and (t.kind = 'edit' or l.review)
      where t.part = :part and t.account_id = :account_id and t.task_id = :task_id and t.status = 'open'
        and not exists (select from paused) and ${claimable(':user_id', ':part')}
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
    limit_seconds: rules.limitSeconds,
    words_per_minute: rules.wordsPerMinute,
    expiries: rules.expiries,
    to,
    from,
  };
  const [row] =
    named === undefined
      ? await on.query(CLAIM_NEXT, values)
      : await on.query(CLAIM_NAMED, {
          ...values,
          part: named.account.part,
          account_id: named.account.accountId,
          task_id: named.taskId,
        });
  if (row === undefined) return undefined;
  const account = { part: row.part, accountId: row.account_id } as AccountRef;
  on.changed('tasks', account, row.job_id);
  return { key: { account, taskId: row.task_id, jobId: row.job_id }, held: row };
}

const PAUSED_UNTIL = statement<{ until: Date }>('editing.paused_until', PAUSED('$1', '$2'));

export async function pausedUntil(
  on: Queryable,
  userId: string,
  { expiries }: ClaimRules,
): Promise<Date | undefined> {
  return (await on.query(PAUSED_UNTIL, [userId, expiries]))[0]?.until;
}

/** A task in a list of an editor or an operator. */
export interface ListedRow {
  part: number;
  account_id: string;
  task_id: string;
  kind: TaskKind;
  status: 'open' | 'claimed';
  source_language: string;
  target_language: string;
  words: number;
  first_position: number;
  last_position: number;
  priority: number;
  urgency: 0 | 1 | 2;
  mine: boolean;
  returned: boolean;
  created_at: Date;
  deadline_at: Date;
  uid: string;
  order_number: number;
  text_format: Format;
  tone: string | null;
  topics: string[] | null;
  brand_name: string | null;
  confirmed: number;
  /** The number of segments that are joined with an earlier one. */
  joined: number;
}

/** A task of an editor's queue, with the sources of its first segments. */
export interface QueueRow extends ListedRow {
  beginning: Piece[][] | null;
}

/** The number of segments whose sources the queue reads for the first words of a task. */
const BEGINNING = 3;

/** The columns of task `t` that an editor's queue shows. */
const LISTED = `t.part, t.account_id, t.task_id, t.kind, t.status, t.source_language, t.target_language, t.words,
  t.first_position, t.last_position, t.priority, t.returned, t.created_at, t.deadline_at, j.uid, j.order_number, j.text_format,
  j.tone, j.topics,
  (select b.name from brands b
    where b.part = t.part and b.account_id = t.account_id and b.external_id = coalesce(j.brand, j.default_brand))
    as brand_name,
  (select count(*) from edits e
    where e.part = t.part and e.account_id = t.account_id and e.job_id = t.job_id and e.status = 'confirmed'
      and e.position between t.first_position and t.last_position) as confirmed,
  (select count(*) from segments s
    where s.part = t.part and s.account_id = t.account_id and s.job_id = t.job_id and s.joined_to is not null
      and s.position between t.first_position and t.last_position) as joined,
  (select jsonb_agg(s.source order by s.position) from segments s
    where s.part = t.part and s.account_id = t.account_id and s.job_id = t.job_id and s.joined_to is null
      and s.position between t.first_position and least(t.last_position, t.first_position + ${BEGINNING - 1}))
    as beginning`;

const QUEUE = statement<QueueRow>(
  'editing.queue',
  `with recursive ${candidates(
    '$1',
    `select l.source_language, l.target_language, k.kind, 0 as slot
       from user_languages l, (values ('edit'), ('review')) k (kind)
      where l.user_id = $1 and (k.kind = 'edit' or l.review)`,
    '$2',
  )},
   ordered as (
     select c.*, row_number() over (partition by account_id order by priority desc, deadline_at, task_id) as turn
       from candidates c),
   shown as (
     select *, row_number() over (order by priority desc, mine desc, urgency, in_work + turn, created_at, task_id) as place
       from ordered where turn <= $2)
   select ${LISTED}, t.urgency, t.mine
     from shown t join jobs j on j.part = t.part and j.account_id = t.account_id and j.job_id = t.job_id
    where t.place <= $3 order by t.place`,
);

/** Lists the open tasks that a user may claim. @param each maximum number of tasks of one account */
export function listQueue(on: Queryable, userId: string, each: number, all: number): Promise<QueueRow[]> {
  return on.query(QUEUE, [userId, each, all]);
}

/** SQL clause: the open tasks `t` that the user `$1` may claim. */
const WAITING = `
  from user_languages l join tasks t using (source_language, target_language)
 where l.user_id = $1 and t.status = 'open' and (t.kind = 'edit' or l.review) and ${claimable('$1', 't.part')}`;

const COUNT_WAITING = statement<{ waiting: number }>(
  'editing.count_waiting',
  `select count(*) as waiting from (select 1 ${WAITING} limit $2) one`,
);

const FIND_WAITING = statement<{ part: number; account_id: string; job_id: string; task_id: string }>(
  'editing.find_waiting',
  `select t.part, t.account_id, t.job_id, t.task_id ${WAITING} limit 1`,
);

/** Returns any open task that the user may claim. Other transactions may have locked it. */
export async function findWaiting(on: Queryable, userId: string): Promise<TaskKey | undefined> {
  const [row] = await on.query(FIND_WAITING, [userId]);
  if (row === undefined) return undefined;
  const account = { part: row.part, accountId: row.account_id } as AccountRef;
  return { account, taskId: row.task_id, jobId: row.job_id };
}

/** The maximum number of open tasks that are counted. */
const MAX_COUNTED = 1000;

export async function countWaiting(on: Queryable, userId: string): Promise<number> {
  return (await on.query(COUNT_WAITING, [userId, MAX_COUNTED]))[0]!.waiting;
}

const HELD_BY = statement<QueueRow & HeldRow>(
  'editing.held_by',
  `select ${LISTED}, ${URGENCY} as urgency, false as mine, ${HELD}
     from editor_slots s
     join tasks t on t.part = s.part and t.account_id = s.account_id and t.task_id = s.task_id
     join claims c on c.part = t.part and c.account_id = t.account_id and c.task_id = t.task_id
      and ${holds('c.part')}
     join jobs j on j.part = t.part and j.account_id = t.account_id and j.job_id = t.job_id
    where s.user_id = $1 order by c.claimed_at`,
);

export function listHeld(on: Queryable, userId: string): Promise<(QueueRow & HeldRow)[]> {
  return on.query(HELD_BY, [userId]);
}

const FIND_HELD = statement<HeldRow>(
  'editing.find_held',
  `select ${HELD} from claims c
    where c.part = $1 and c.account_id = $2 and c.task_id = $3 and ${holds('$1')}`,
);

/** Returns the valid claim on a task, of any user. */
export async function findHeld(on: Queryable, { account, taskId }: TaskKey): Promise<HeldRow | undefined> {
  return (await on.query(FIND_HELD, [account.part, account.accountId, taskId]))[0];
}

const ACTIVE = statement<{ active_ms: number }>(
  'editing.active_time',
  `select coalesce(sum(active_ms), 0)::float8 as active_ms from claims
    where part = $1 and account_id = $2 and job_id = $3 and task_id = $4 and user_id = $5`,
);

/**
 * Returns the active time of a user on a task, in milliseconds, summed over all of the user's claims on it.
 */
export async function readActiveTime(
  on: Queryable,
  { account, jobId, taskId }: TaskKey,
  userId: string,
): Promise<number> {
  const [row] = await on.query(ACTIVE, [account.part, account.accountId, jobId, taskId, userId]);
  return row!.active_ms;
}

// The update also locks the claim's row, so that a transaction that ends the claim waits until the edit is
// saved.
const KEEP = statement<HeldRow>(
  'editing.keep',
  `update claims c set lease_until = now() + make_interval(secs => $6), saves = saves + $7, active_ms = active_ms + $8
    where c.part = $1 and c.account_id = $2 and c.task_id = $3 and c.claim_id = $4 and c.user_id = $5
      and ${holds('$1')}
   returning ${HELD}`,
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

const EXTEND = statement<HeldRow>(
  'editing.extend',
  `update claims c set extended = true, limit_until = limit_until + (limit_until - claimed_at) / 2,
          lease_until = now() + make_interval(secs => $6)
    where c.part = $1 and c.account_id = $2 and c.task_id = $3 and c.claim_id = $4 and c.user_id = $5
      and ${holds('$1')} and not extended
   returning ${HELD}`,
);

/**
 * Extends the time limit of a claim by half, once. @returns undefined if the claim is invalid or was extended
 * before
 */
export async function extendClaim(
  on: Queryable,
  { account, taskId }: TaskKey,
  { userId, token }: Holder,
  leaseSeconds: number,
): Promise<HeldRow | undefined> {
  const values = [account.part, account.accountId, taskId, token, userId, leaseSeconds];
  const [row] = await on.query(EXTEND, values);
  if (row !== undefined) on.changed('tasks', account, row.job_id);
  return row;
}

const PAST = statement<{ ended: ClaimEnd | null }>(
  'editing.past_claim',
  `select ended from claims
    where part = $1 and account_id = $2 and task_id = $3 and claim_id = $4 and user_id = $5`,
);

/** Returns how a claim ended: null if its end is not recorded; undefined if there was no such claim. */
export async function findPastClaim(
  on: Queryable,
  { account, taskId }: TaskKey,
  { userId, token }: Holder,
): Promise<ClaimEnd | null | undefined> {
  return (await on.query(PAST, [account.part, account.accountId, taskId, token, userId]))[0]?.ended;
}

// Locks tasks before claims, like all statements. The times are checked again after locking, because a
// concurrent heartbeat may have extended a lease.
const EXPIRE = statement<{ part: number; account_id: string; job_id: string }>(
  'editing.expire',
  `with over as (
     select t.part, t.account_id, t.task_id, c.claim_id
       from claims c join tasks t on t.part = c.part and t.account_id = c.account_id and t.task_id = c.task_id
      where c.ended_at is null and least(c.lease_until, c.limit_until) <= now() and t.status = any($3)
      order by least(c.lease_until, c.limit_until) limit $1 for update of t skip locked),
   ended as (
     update claims c
        set ended_at = clock_timestamp(), ended = case when c.lease_until <= c.limit_until then 'lease_expired' else 'limit_expired' end
       from over o
      where c.part = o.part and c.account_id = o.account_id and c.claim_id = o.claim_id
        and c.ended_at is null and least(c.lease_until, c.limit_until) <= now()
     returning c.part, c.account_id, c.task_id),
   freed as (
     delete from editor_slots s using ended e
      where s.part = e.part and s.account_id = e.account_id and s.task_id = e.task_id)
   update tasks t set status = $2, changed_at = now()
     from ended e
    where t.part = e.part and t.account_id = e.account_id and t.task_id = e.task_id
   returning t.part, t.account_id, t.job_id`,
);

/**
 * Ends expired claims and reopens their tasks, without deleting edits. @returns the job of each ended claim
 */
export async function expireClaims(
  on: Queryable,
  most: number,
): Promise<{ account: AccountRef; jobId: string }[]> {
  const { from, to } = TASK_MOVES.expire;
  const rows = await on.query(EXPIRE, [most, to, from]);
  return rows.map(({ part, account_id: accountId, job_id: jobId }) => {
    const account = { part, accountId } as AccountRef;
    on.changed('tasks', account, jobId);
    return { account, jobId };
  });
}

const HAS_CLAIMS = statement<{ claimed: boolean }>(
  'editing.has_claims',
  `select exists (select from claims where part = $1 and account_id = $2 and job_id = $3 and ended_at is null) as claimed`,
);

/** Returns true if a job has a claim that has not ended. */
export async function isInWork(
  transaction: Transaction,
  account: AccountRef,
  jobId: string,
): Promise<boolean> {
  return (await transaction.query(HAS_CLAIMS, [account.part, account.accountId, jobId]))[0]!.claimed;
}

/**
 * SQL statements about the queue of an editor: the open tasks that the editor may claim. They read across accounts,
 * because an editor works for all accounts. The texts that they return are the beginnings of tasks.
 */
import type { Piece } from '@dragoman/documents';
import type { AccountRef } from '../../base/account.ts';
import type { Queryable } from '../../database/database.ts';
import { statement } from '../../database/statements.ts';
import { fileNameOf } from '../../jobs/jobs.ts';
import { claimable, type TaskKey } from '../model/access-store.ts';
import type { TaskJobRow } from '../model/edited-jobs-store.ts';
import type { TaskKind } from '../model/states.ts';
import type { QUEUE_ORDERS } from '../schemas/schemas.ts';

/**
 * SQL expression for urgency: 0 past the deadline, 1 when less than half of the time to the deadline is left,
 * otherwise 2.
 */
export const URGENCY = `case when t.deadline_at <= now() then 0
       when now() > t.created_at + (t.deadline_at - t.created_at) / 2 then 1 else 2 end`;

/** SQL columns of the open task `t` in the list of candidates. */
const candidate = (user: string) => `t.*, m.slot, ${URGENCY} as urgency,
            t.reserved_for is not null and t.reserved_for = ${user} and t.reserved_until > now() as mine,
            (select count(*) from editor_slots s where s.part = t.part and s.account_id = t.account_id) as in_work`;

/** SQL condition: the open task `t` is of the pair and kind `m`. */
const OF_PAIR = `t.status = 'open' and t.source_language = m.source_language
            and t.target_language = m.target_language and t.kind = m.kind`;

const CANDIDATE_ORDER = 't.priority desc, t.deadline_at, t.task_id';

/**
 * SQL query for the tasks that a user may claim: the first open tasks of each account in the user's language
 * pairs, with the number of the account's claimed tasks. The query needs one index search for each account.
 */
const candidates = (user: string, mine: string, each: string) => `
   mine as (${mine}),
   accounts_of as (
     select m.*, a.part, a.account_id
       from mine m cross join lateral (
         select t.part, t.account_id from tasks t where ${OF_PAIR}
          order by t.part, t.account_id limit 1) a
     union all
     select m.source_language, m.target_language, m.kind, m.slot, a.part, a.account_id
       from accounts_of m cross join lateral (
         select t.part, t.account_id from tasks t
          where ${OF_PAIR} and (t.part, t.account_id) > (m.part, m.account_id)
          order by t.part, t.account_id limit 1) a),
   candidates as (
     select ${candidate(user)}
       from accounts_of m cross join lateral (
         select t.* from tasks t
          where ${OF_PAIR} and t.part = m.part and t.account_id = m.account_id and ${claimable(user, 't.part')}
          order by ${CANDIDATE_ORDER} limit ${each}) t)`;

/** Like `candidates`, in one search of all open tasks, because a distributed database refuses the recursion. */
const candidatesOfAll = (user: string, mine: string, each: string) => `
   mine as (${mine}),
   ranked as (
     select ${candidate(user)},
            row_number() over (partition by t.part, t.account_id, t.source_language, t.target_language, t.kind
                                   order by ${CANDIDATE_ORDER}) as rank
       from tasks t join mine m on ${OF_PAIR} where ${claimable(user, 't.part')}),
   candidates as (select * from ranked where rank <= ${each})`;

/**
 * The order of the queue: urgency, then the account with the fewest claimed tasks, then age. Priority and
 * reservations come before.
 */
const ORDER = 'priority desc, mine desc, urgency, in_work, created_at, task_id';

/** SQL query: the lowest free claim slot of the user for each kind of task. */
export const SLOTS = `
   slots as (
     select k.kind, min(n.slot) as slot
       from (values ('edit', :edit_cap::integer), ('review', :review_cap::integer)) k (kind, cap), generate_series(0, k.cap - 1) n (slot)
      where not exists (
        select from editor_slots s where s.user_id = :user_id and s.kind = k.kind and s.slot = n.slot)
      group by k.kind)`;

/** Several candidates of each account are read, because other claims may have locked some of them. */
const CANDIDATES_PER_ACCOUNT = 8;

/** The number of candidates that a claim tries before it gives up. */
const CANDIDATES = 32;

const next = (query: typeof candidates, start = 'with') => `${start} ${SLOTS},
   ${query(
     ':user_id',
     `select l.source_language, l.target_language, s.kind, s.slot from user_languages l, slots s
       where l.user_id = :user_id and (s.kind = 'edit' or l.review)`,
     String(CANDIDATES_PER_ACCOUNT),
   )}
   select part, account_id, task_id, job_id from candidates order by ${ORDER} limit ${CANDIDATES}`;

const NEXT = statement<{ part: number; account_id: string; task_id: string; job_id: string }>(
  'editing.next_tasks',
  next(candidates, 'with recursive'),
  next(candidatesOfAll),
);

/** Lists the tasks that a user may claim, in the order of the queue. Other transactions may have locked some of them. */
export async function listNext(on: Queryable, values: Record<string, unknown>): Promise<TaskKey[]> {
  const rows = await on.query(NEXT, values);
  return rows.map(({ part, account_id: accountId, task_id: taskId, job_id: jobId }) => ({
    account: { part, accountId } as AccountRef,
    taskId,
    jobId,
  }));
}

/** A task in a list of an editor or an operator. */
export interface ListedRow
  extends Omit<TaskJobRow, 'brand' | 'brand_tone' | 'document_settings' | 'username'> {
  part: number;
  account_id: string;
  task_id: string;
  kind: TaskKind;
  status: 'open' | 'claimed';
  first_position: number;
  last_position: number;
  priority: number;
  urgency: 0 | 1 | 2;
  mine: boolean;
  returned: boolean;
  deadline_at: Date;
  number: number;
  parts: number;
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

/** SQL columns: the number of task `t` among those of its job and kind, and how many there are. */
export const PARTS = ['o.first_position <= t.first_position', 'true']
  .map(
    (condition, index) => `(select count(*) from tasks o
    where o.part = t.part and o.account_id = t.account_id and o.job_id = t.job_id and o.kind = t.kind
      and o.status <> 'canceled' and ${condition}) as ${index === 0 ? 'number' : 'parts'}`,
  )
  .join(',\n  ');

/** The columns of task `t` that an editor's queue shows. */
export const LISTED = `t.part, t.account_id, t.task_id, t.kind, t.status, t.source_language, t.target_language, t.words,
  t.first_position, t.last_position, t.priority, t.returned, t.created_at, t.deadline_at, j.uid, j.order_number, j.text_format,
  j.tone, j.topics, ${fileNameOf('j.part')} as name, ${PARTS},
  (select b.name from brands b
    where b.part = j.part and b.account_id = j.account_id and b.external_id = coalesce(j.brand, j.default_brand))
    as brand_name,
  (select count(*) from edits e
    where e.part = j.part and e.account_id = j.account_id and e.job_id = j.job_id and e.status = 'confirmed'
      and e.position between t.first_position and t.last_position) as confirmed,
  (select count(*) from segments s
    where s.part = j.part and s.account_id = j.account_id and s.job_id = j.job_id and s.joined_to is not null
      and s.position between t.first_position and t.last_position) as joined,
  (select jsonb_agg(s.source order by s.position) from segments s
    where s.part = j.part and s.account_id = j.account_id and s.job_id = j.job_id and s.joined_to is null
      and s.position between t.first_position and least(t.last_position, t.first_position + ${BEGINNING - 1}))
    as beginning`;

const queue = (query: typeof candidates, start = 'with') => `${start} ${query(
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
    where t.place <= $3 order by t.place`;
const QUEUE = statement<QueueRow>(
  'editing.queue',
  queue(candidates, 'with recursive'),
  queue(candidatesOfAll),
);

/** Lists the open tasks that a user may claim. @param each maximum number of tasks of one account */
export function listQueue(on: Queryable, userId: string, each: number, all: number): Promise<QueueRow[]> {
  return on.query(QUEUE, [userId, each, all]);
}

/** SQL clause: the open tasks `t` that a user may claim. */
const WAITING = (user: string) => `
  from user_languages l join tasks t using (source_language, target_language)
 where l.user_id = ${user} and t.status = 'open' and (t.kind = 'edit' or l.review) and ${claimable(user, 't.part')}`;

const CHOSEN_ORDER = `case :sort::text when 'shortest' then t.words when 'longest' then -t.words
            when 'pay' then -t.words * case t.kind when 'edit' then :editPay::float8 else :reviewPay::float8 end end,
          case when :sort::text = 'deadline' then t.deadline_at end, t.priority desc, mine desc, urgency, t.created_at, t.task_id`;

/** Lists the first open tasks of a pair, or of all pairs, in the order that the editor chose. */
export const listChosen = statement<
  QueueRow,
  {
    userId: string;
    limit: number;
    source: string | null;
    target: string | null;
    sort: (typeof QUEUE_ORDERS)[number] | null;
    /** The pay for a source word of each kind, 0 if none is set. */
    editPay: number;
    reviewPay: number;
  }
>(
  'editing.chosen_tasks',
  `with chosen as (
     select t.*, ${URGENCY} as urgency,
            t.reserved_for is not null and t.reserved_for = :userId and t.reserved_until > now() as mine
       from user_languages l
       join tasks t on t.source_language = l.source_language and t.target_language = l.target_language
      where l.user_id = :userId and t.status = 'open' and (t.kind = 'edit' or l.review) and ${claimable(':userId', 't.part')}
        and t.source_language = coalesce(:source::text, t.source_language)
        and t.target_language = coalesce(:target::text, t.target_language)
      order by ${CHOSEN_ORDER} limit :limit)
   select ${LISTED}, t.urgency, t.mine
     from chosen t join jobs j on j.part = t.part and j.account_id = t.account_id and j.job_id = t.job_id
    order by ${CHOSEN_ORDER}`,
).rows;

/** The maximum number of open tasks that are counted. */
const MAX_COUNTED = 1000;

/** Counts the open tasks that a user may claim by language pair. */
export const countWaiting = statement<
  { source_language: string; target_language: string; waiting: number },
  { userId: string }
>(
  'editing.count_waiting',
  `select source_language, target_language, count(*)::integer as waiting
     from (select source_language, target_language ${WAITING(':userId')} limit ${MAX_COUNTED}) one
    group by source_language, target_language order by source_language, target_language`,
).rows;

const FIND_WAITING = statement<{ part: number; account_id: string; job_id: string; task_id: string }>(
  'editing.find_waiting',
  `select t.part, t.account_id, t.job_id, t.task_id ${WAITING('$1')} limit 1`,
);

/** Returns any open task that the user may claim. Other transactions may have locked it. */
export async function findWaiting(on: Queryable, userId: string): Promise<TaskKey | undefined> {
  const [row] = await on.query(FIND_WAITING, [userId]);
  if (row === undefined) return undefined;
  const account = { part: row.part, accountId: row.account_id } as AccountRef;
  return { account, taskId: row.task_id, jobId: row.job_id };
}

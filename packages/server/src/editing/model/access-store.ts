/**
 * SQL statements about one user and one task: the user's current rights and the segments that they edited.
 */
import type { AccountRef } from '../../base/account.ts';
import { statement } from '../../database/statements.ts';
import { ofActiveAccount } from '../../work/queue.ts';
import type { TaskKind, TaskStatus } from './states.ts';

export interface TaskKey {
  account: AccountRef;
  taskId: string;
  jobId: string;
}

/**
 * SQL condition: the user has the language pair of task `t` now, and for a review also the right to review
 * it.
 */
const hasPair = (user: string) => `exists (
  select from user_languages l
   where l.user_id = ${user} and l.source_language = t.source_language and l.target_language = t.target_language
     and (t.kind = 'edit' or l.review))`;

/**
 * SQL condition: `user` may claim the open task `t`, whose language pair they have. The task is not reserved
 * for another user, the user has not skipped it, it is not a review of their own work, and its account is not
 * suspended.
 * @param part the SQL of the account's part
 */
export const claimable = (user: string, part: string) => `
  ${ofActiveAccount('t')} and (t.reserved_for is null or t.reserved_for = ${user} or t.reserved_until <= now())
  and not exists (
    select from task_skips k
     where k.part = ${part} and k.account_id = t.account_id and k.task_id = t.task_id and k.user_id = ${user})
  and (t.kind = 'edit' or not exists (
    select from claims o
     where o.part = ${part} and o.account_id = t.account_id and o.job_id = t.job_id and o.kind = 'edit'
       and o.user_id = ${user} and o.saves > 0))`;

/**
 * SQL condition: claim `c` is valid. It has not ended or expired, and its editor still has the language pair.
 * @param part the SQL of the account's part
 */
export const holds = (part: string) => `c.ended_at is null and c.lease_until > now() and exists (
  select from tasks t
   where t.part = ${part} and t.account_id = c.account_id and t.task_id = c.task_id and ${hasPair('c.user_id')})`;

export interface TaskRow {
  task_id: string;
  job_id: string;
  kind: TaskKind;
  status: TaskStatus;
  first_position: number;
  last_position: number;
  words: number;
  editor_id: string | null;
  reserved_for: string | null;
  returned: boolean;
}

export const TASK_COLUMNS =
  'task_id, job_id, kind, status, first_position, last_position, words, editor_id, reserved_for, returned';

export interface TaskRights {
  /** True if the user has the task's language pair now. */
  has_pair: boolean;
  /** True if the task is open and the user may claim it. */
  may_claim: boolean;
  /** True if the user has ever claimed this task. Claims on other tasks of its job do not count. */
  has_claimed: boolean;
  holds: boolean;
  /** True if the user saved an edit in the task, submitted it or returned it. */
  has_worked: boolean;
}

export const findTask = statement<TaskRow & TaskRights, { userId: string } & TaskKey>(
  'editing.find_task',
  `select ${TASK_COLUMNS}, ${hasPair(':userId')} as has_pair,
          t.status = 'open' and ${hasPair(':userId')} and ${claimable(':userId', ':part')} as may_claim,
          c.claims > 0 as has_claimed, c.held > 0 as holds, c.worked > 0 as has_worked
     from tasks t, lateral (
       select count(*) as claims, count(*) filter (where ${holds(':part')}) as held,
              count(*) filter (where c.saves > 0 or c.ended in ('submitted', 'returned')) as worked
         from claims c
        where c.part = :part and c.account_id = :account_id and c.job_id = t.job_id and c.task_id = t.task_id
          and c.user_id = :userId) c
    where t.part = :part and t.account_id = :account_id and t.task_id = :taskId`,
).first;

/** Returns the positions of the segments of a task that the user edited. */
export const listOwnPositions = statement<
  { position: number },
  { userId: string } & TaskKey & Pick<TaskRow, 'first_position' | 'last_position'>
>(
  'editing.own_positions',
  `select position from edits
    where part = :part and account_id = :account_id and job_id = :jobId
      and position between :first_position and :last_position and editor_id = :userId
   union
   select position from edit_history
    where part = :part and account_id = :account_id and job_id = :jobId
      and position between :first_position and :last_position and editor_id = :userId
   order by position`,
).values;

/** SQL statements of the console: tasks and effort of all accounts, and an editor's own work. */
import type { Queryable } from '../../database/database.ts';
import { statement } from '../../database/statements.ts';
import { fileNameOf } from '../../jobs/jobs.ts';
import { ofActiveAccount } from '../../work/queue.ts';
import { SHOWN_ROUTE } from '../model/edits-store.ts';
import type { TaskKind, TaskStatus } from '../model/states.ts';
import type { ConsoleTasksBody, EffortBody } from '../schemas/console-schemas.ts';
import type { WorkBody } from '../schemas/work-schemas.ts';
import { type ListedRow, PARTS } from './queue-store.ts';

export interface ConsoleQuery {
  status?: TaskStatus | undefined;
  kind?: TaskKind | undefined;
  source_language?: string | undefined;
  target_language?: string | undefined;
  account?: string | undefined;
  /** The id of a job, to list all its tasks in every status. */
  job?: string | undefined;
  limit: number;
  offset: number;
}

export interface ConsoleRow extends Omit<ListedRow, 'status' | 'mine'> {
  job_id: string;
  status: TaskStatus;
  username: string;
  editor_id: string | null;
  editor: string | null;
  lease_until: Date | null;
  reserved: boolean;
  skips: number;
  reports: { reason: string; note: string | null; by: string; created_at: string }[];
}

// Reads tasks across accounts for operators, without any text except the names of files.
const tasks = (
  from: string,
  end: string,
) => `select t.part, t.account_id, t.task_id, t.job_id, t.kind, t.status, t.source_language, t.target_language, t.words, t.first_position,
          t.last_position, t.priority, t.returned, t.created_at, t.deadline_at, t.editor_id, u.name as editor, a.username,
          j.uid, j.order_number, j.text_format, j.tone, j.topics, ${fileNameOf('j.part')} as name, ${PARTS}, b.name as brand_name,
          case when t.deadline_at <= now() then 0
               when now() > t.created_at + (t.deadline_at - t.created_at) / 2 then 1 else 2 end as urgency,
          t.reserved_until > now() is true as reserved,
          (select c.lease_until from claims c
            where c.part = t.part and c.account_id = t.account_id and c.task_id = t.task_id and c.ended_at is null)
            as lease_until,
          (select count(*) from edits e
            where e.part = t.part and e.account_id = t.account_id and e.job_id = t.job_id and e.status = 'confirmed'
              and e.position between t.first_position and t.last_position) as confirmed,
          (select count(*) from segments s
            where s.part = t.part and s.account_id = t.account_id and s.job_id = t.job_id and s.joined_to is not null
              and s.position between t.first_position and t.last_position) as joined,
          (select count(*) from task_skips k
            where k.part = t.part and k.account_id = t.account_id and k.task_id = t.task_id) as skips,
          coalesce((select jsonb_agg(jsonb_build_object('reason', r.reason, 'note', r.note, 'by', coalesce(p.name, ''),
              'created_at', r.created_at) order by r.report_id)
             from task_reports r left join users p on p.user_id = r.user_id
            where r.part = t.part and r.account_id = t.account_id and r.task_id = t.task_id), '[]') as reports
     from ${from}
     join jobs j on j.part = t.part and j.account_id = t.account_id and j.job_id = t.job_id
     left join brands b on b.part = j.part and b.account_id = j.account_id
      and b.external_id = coalesce(j.brand, j.default_brand)
     left join users u on u.user_id = t.editor_id
     ${end}`;

const SHOWN = `case when $1::text is not null then t.status = $1
                   else $8::uuid is not null or t.status in ('open', 'claimed', 'submitted', 'reported') end
          and ($2::text is null or t.kind = $2) and ($3::text is null or t.source_language = $3)
          and ($4::text is null or t.target_language = $4) and ($5::text is null or a.username = $5)
          and ($8::uuid is null or t.job_id = $8)`;

const OF_ACCOUNT = 'accounts a on a.part = t.part and a.account_id = t.account_id';

const SHOWN_ORDER = "order by t.status = 'reported' desc, t.deadline_at, t.task_id";

// The plain form reads the other tables only for the tasks of the page. A distributed database refuses that.
const TASKS = statement<ConsoleRow>(
  'editing.console_tasks',
  tasks(
    `(select t.* from tasks t join ${OF_ACCOUNT} where ${SHOWN} ${SHOWN_ORDER} limit $6 offset $7) t
     join ${OF_ACCOUNT}`,
    SHOWN_ORDER,
  ),
  tasks(`tasks t join ${OF_ACCOUNT}`, `where ${SHOWN} ${SHOWN_ORDER} limit $6 offset $7`),
);

export function findTasks(on: Queryable, query: ConsoleQuery): Promise<ConsoleRow[]> {
  const { status, kind, source_language, target_language, account, job, limit, offset } = query;
  return on.query(TASKS, [
    status ?? null,
    kind ?? null,
    source_language ?? null,
    target_language ?? null,
    account ?? null,
    limit,
    offset,
    job ?? null,
  ]);
}

/** Counts unfinished tasks by language pair, kind and status. */
export const countTasks = statement<ConsoleTasksBody['counts'][number]>(
  'editing.task_counts',
  `select source_language, target_language, kind, status, count(*) as tasks, sum(words)::float8 as words,
          min(created_at) as oldest_at
     from tasks where status in ('open', 'claimed', 'submitted', 'reported') group by 1, 2, 3, 4 order by 1, 2, 3, 4`,
).rows;

/** The numbers of open, claimed and reported tasks of a language pair. */
export interface TaskQueue {
  source_language: string;
  target_language: string;
  /** The number of tasks that wait for an editor. */
  waiting: number;
  /** The number of claimed tasks. */
  claimed: number;
  /** The number of reported tasks, which wait for an operator. */
  reported: number;
  /** The number of open, claimed and reported tasks whose deadline has passed. */
  late: number;
  /** The number of waiting tasks that no editor has the right to claim. */
  unserved: number;
  /** The age of the oldest waiting task in seconds; 0 without one. */
  oldest: number;
}

/** Counts the tasks of all accounts that are not suspended, by language pair. The pair with the most late tasks comes first. */
export const listTaskQueues = statement<TaskQueue>(
  'editing.task_queues',
  `with queues as (
     select source_language, target_language, kind, count(*) filter (where status = 'open') as waiting,
            count(*) filter (where status = 'claimed') as claimed,
            count(*) filter (where status = 'reported') as reported,
            count(*) filter (where deadline_at <= now()) as late,
            min(created_at) filter (where status = 'open') as oldest_at
       from tasks t where status in ('open', 'claimed', 'reported') and ${ofActiveAccount('t')} group by 1, 2, 3)
   select source_language, target_language, sum(waiting)::bigint as waiting, sum(claimed)::bigint as claimed,
          sum(reported)::bigint as reported, sum(late)::bigint as late,
          coalesce(sum(waiting) filter (where not exists (
            select from user_languages l join users u on u.user_id = l.user_id
             where u.disabled_at is null and l.source_language = p.source_language
               and l.target_language = p.target_language and (p.kind = 'edit' or l.review))), 0)::bigint as unserved,
          coalesce(extract(epoch from now() - min(oldest_at)), 0)::float8 as oldest
     from queues p group by 1, 2 order by late desc, oldest desc limit 200`,
).rows;

type EffortRow = EffortBody['rows'][number];

const SUMS = `count(*) as segments, coalesce(sum(e.words), 0)::float8 as words,
          coalesce(sum(e.active_ms), 0)::float8 as active_ms, coalesce(sum(e.distance), 0)::float8 as distance,
          count(*) filter (where e.distance = 0 and s.draft is not null) as untouched
     from edits e
     join segments s on s.part = e.part and s.account_id = e.account_id and s.job_id = e.job_id and s.position = e.position`;

const EFFORT = {
  job: statement<EffortRow>(
    'editing.effort_by_job',
    `select j.uid as key, ${SUMS}
       join jobs j on j.part = e.part and j.account_id = e.account_id and j.job_id = e.job_id
      where e.confirmed_at >= $1 group by j.part, j.account_id, j.job_id order by active_ms desc limit 1000`,
  ),
  route: statement<EffortRow>(
    'editing.effort_by_route',
    `select coalesce(${SHOWN_ROUTE}, '') as key, ${SUMS} where e.confirmed_at >= $1 group by 1 order by segments desc limit 1000`,
  ),
  editor: statement<EffortRow>(
    'editing.effort_by_editor',
    `select coalesce(u.name, '') as key, ${SUMS} left join users u on u.user_id = e.editor_id
      where e.confirmed_at >= $1 group by e.editor_id, u.name order by words desc limit 1000`,
  ),
};

/** Sums words, working time and edit distances of the segments that were confirmed since `since`. */
export function sumEffort(on: Queryable, by: keyof typeof EFFORT, since: Date): Promise<EffortRow[]> {
  return on.query(EFFORT[by], [since]);
}

/** Returns the segments that an editor confirmed in the last 30 days, by day. */
export const listWorkDays = statement<WorkBody['days'][number], { userId: string }>(
  'editing.work_days',
  `select to_char(confirmed_at at time zone 'UTC', 'YYYY-MM-DD') as day, count(*) as segments,
          sum(words)::float8 as words, sum(active_ms)::float8 as active_ms, sum(distance)::float8 as distance
     from edits where editor_id = :userId and confirmed_at > now() - interval '30 days' group by 1 order by 1 desc`,
).rows;

/** Returns the errors that reviewers marked in an editor’s work of the last 30 days. */
export const listWorkIssues = statement<WorkBody['issues'][number], { userId: string }>(
  'editing.work_issues',
  `select category, severity, count(*) as count from issues
    where editor_id = :userId and created_at > now() - interval '30 days' group by 1, 2 order by 1, 2`,
).rows;

/** Returns the last 100 claims of an editor that ended, latest first. */
export const listWorkTasks = statement<WorkBody['tasks'][number], { userId: string }>(
  'editing.work_claims',
  `select c.task_id as task, c.kind, j.order_number, t.source_language, t.target_language, t.words, c.ended, c.claimed_at, c.ended_at
     from claims c
     join tasks t on t.part = c.part and t.account_id = c.account_id and t.task_id = c.task_id
     join jobs j on j.part = c.part and j.account_id = c.account_id and j.job_id = c.job_id
    where c.user_id = :userId and c.ended_at is not null order by c.ended_at desc limit 100`,
).rows;

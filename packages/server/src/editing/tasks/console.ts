/** Console operations on tasks, and statistics of an editor's own work. */
import { type Actor, recordAudit } from '../../audit/audit.ts';
import { ApiError, fieldError, reason } from '../../base/errors.ts';
import type { EditingContext } from '../model/context.ts';
import { makeDueNow } from '../model/due-store.ts';
import type { TaskStatus } from '../model/states.ts';
import type { ConsoleTaskBody, EffortBody } from '../schemas/console-schemas.ts';
import type { WorkBody } from '../schemas/work-schemas.ts';
import { presentListed } from './claims.ts';
import * as queries from './console-store.ts';
import * as store from './store.ts';

export async function listTasks(context: EditingContext, query: queries.ConsoleQuery) {
  const [rows, counts] = await Promise.all([
    queries.findTasks(context.database, { ...query, limit: query.limit + 1 }),
    queries.countTasks(context.database),
  ]);
  const tasks = rows.slice(0, query.limit).map(
    (row): ConsoleTaskBody => ({
      ...presentListed({ ...row, mine: row.reserved }),
      account: row.username,
      job: row.job_id,
      editor: row.editor_id === null ? null : { user: row.editor_id, name: row.editor ?? '' },
      lease_until: row.lease_until,
      skips: row.skips,
      reports: row.reports.map((one) => ({ ...one, created_at: new Date(one.created_at) })),
    }),
  );
  return {
    tasks,
    counts,
    more: rows.length > query.limit,
  };
}

/** Returns a task to the queue, ends its claim and resolves its reports. */
export function freeTask(context: EditingContext, by: Actor, key: store.TaskKey): Promise<TaskStatus> {
  return returnToQueue(context, by, key, 'task.released', {});
}

/**
 * Reserves a task for an editor and ends its claim. @throws ApiError `invalid_request` if the editor could
 * not claim it
 */
export async function reassignTask(
  context: EditingContext,
  by: Actor,
  key: store.TaskKey,
  userId: string,
): Promise<TaskStatus> {
  if (!(await store.mayHaveTask(context.database, { ...key, userId }))) {
    throw fieldError('user', reason('task_not_for_editor'));
  }
  const reserved = { reservedFor: userId, reservedHours: Math.max(1, context.rules.reservedHours) };
  return returnToQueue(context, by, key, 'task.reassigned', reserved);
}

async function returnToQueue(
  context: EditingContext,
  by: Actor,
  { account, jobId, taskId }: store.TaskKey,
  action: string,
  reserved: Pick<store.TaskMove, 'reservedFor' | 'reservedHours'>,
): Promise<TaskStatus> {
  const moved = await context.database.transaction(async (transaction) => {
    const tasks = await store.moveTasks(transaction, {
      account,
      jobId,
      tasks: [taskId],
      trigger: 'free',
      actor: 'operator',
      ends: 'reassigned',
      ...reserved,
    });
    const detail = reserved.reservedFor === undefined ? {} : { user: reserved.reservedFor };
    if (tasks.length > 0) await recordAudit(transaction, by, { action, account, subject: taskId, detail });
    return tasks;
  });
  if (moved.length === 0) throw finished();
  await makeDueNow(context.database, [{ account, jobId }]);
  return 'open';
}

const finished = () => new ApiError('task_taken', 'The task was submitted or is finished.');

export async function prioritiseTask(
  context: EditingContext,
  by: Actor,
  key: store.TaskKey,
  priority: number,
): Promise<TaskStatus> {
  return context.database.transaction(async (transaction) => {
    const status = await store.setPriority(transaction, key, priority);
    if (status === undefined) throw finished();
    const { account, taskId } = key;
    const entry = { action: 'task.prioritised', account, subject: taskId, detail: { priority } };
    await recordAudit(transaction, by, entry);
    return status;
  });
}

const DAYS = 30;

export async function readEffort(
  context: EditingContext,
  by: 'job' | 'route' | 'editor',
  since: Date | undefined,
): Promise<EffortBody> {
  const from = since ?? new Date(Date.now() - DAYS * 86_400_000);
  return { rows: await queries.sumEffort(context.database, by, from) };
}

export async function readWork({ database }: EditingContext, userId: string): Promise<WorkBody> {
  const [days, issues, tasks] = await Promise.all([
    queries.listWorkDays(database, { userId }),
    queries.listWorkIssues(database, { userId }),
    queries.listWorkTasks(database, { userId }),
  ]);
  return { days, issues, tasks };
}

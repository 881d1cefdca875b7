/** What operators see of tasks and do with them, whoever has them; and what an editor sees of their own work. */
import { ApiError, fieldError } from '../errors.ts';
import { type Actor, recordAudit } from '../operations/audit.ts';
import { presentListed } from './claims.ts';
import * as queries from './console-store.ts';
import type { EditingRoom } from './room.ts';
import type { ConsoleTaskBody, EffortBody, WorkBody } from './schemas.ts';
import type { TaskStatus } from './states.ts';
import * as store from './store.ts';

export async function listTasks(room: EditingRoom, query: queries.ConsoleQuery) {
  const [rows, counts] = await Promise.all([
    queries.listTasks(room.database, { ...query, limit: query.limit + 1 }),
    queries.countTasks(room.database),
  ]);
  const tasks = rows.slice(0, query.limit).map(
    (row): ConsoleTaskBody => ({
      ...presentListed(room, { ...row, mine: row.reserved }),
      uid: row.uid,
      account: row.username,
      editor: row.editor_id === null ? null : { user: row.editor_id, name: row.editor ?? '' },
      lease_until: row.lease_until?.toISOString() ?? null,
      skips: row.skips,
      reports: row.reports.map((one) => ({ ...one, created_at: new Date(one.created_at).toISOString() })),
    }),
  );
  return {
    tasks,
    counts: counts.map((one) => ({
      ...one,
      words: Number(one.words),
      oldest_at: one.oldest_at.toISOString(),
    })),
    more: rows.length > query.limit,
  };
}

/** Gives a task back to the queue, from whoever has it; a report on it is settled by that. */
export function freeTask(room: EditingRoom, by: Actor, key: store.TaskKey): Promise<TaskStatus> {
  return takeBack(room, by, key, 'task.released', {});
}

/** Keeps a task for an editor, from whoever has it. @throws ApiError `invalid_request` where they could not claim it */
export async function reassignTask(
  room: EditingRoom,
  by: Actor,
  key: store.TaskKey,
  userId: string,
): Promise<TaskStatus> {
  if (!(await store.isAble(room.database, key, userId))) {
    throw fieldError(
      'user',
      'is no editor of the task’s languages, has skipped it, or edited what it reviews.',
    );
  }
  const reserved = { reservedFor: userId, reservedHours: Math.max(1, room.rules.reservedHours) };
  return takeBack(room, by, key, 'task.reassigned', reserved);
}

async function takeBack(
  room: EditingRoom,
  by: Actor,
  { account, jobId, taskId }: store.TaskKey,
  action: string,
  reserved: Pick<store.TaskMove, 'reservedFor' | 'reservedHours'>,
): Promise<TaskStatus> {
  const moved = await room.database.transaction(async (transaction) => {
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
  if (moved.length === 0) throw new ApiError('task_taken', 'The task is handed in, or over.');
  await store.lookNow(room.database, [{ account, jobId }]);
  return 'open';
}

export async function setPriority(
  room: EditingRoom,
  by: Actor,
  key: store.TaskKey,
  priority: number,
): Promise<TaskStatus> {
  return room.database.transaction(async (transaction) => {
    const status = await store.setPriority(transaction, key, priority);
    const { account, taskId } = key;
    const entry = { action: 'task.prioritised', account, subject: taskId, detail: { priority } };
    await recordAudit(transaction, by, entry);
    return status!;
  });
}

const DAYS = 30;

export async function readEffort(
  room: EditingRoom,
  by: 'job' | 'route' | 'editor',
  since: Date | undefined,
): Promise<EffortBody> {
  const from = since ?? new Date(Date.now() - DAYS * 86_400_000);
  return { rows: await queries.sumEffort(room.database, by, from) };
}

export async function readWork(room: EditingRoom, userId: string): Promise<WorkBody> {
  const { days, issues, tasks } = await queries.readWork(room.database, userId);
  return {
    days,
    issues: issues as WorkBody['issues'],
    tasks: tasks.map(({ task_id, claimed_at, ended_at, ...task }) => ({
      task: task_id,
      ...task,
      claimed_at: claimed_at.toISOString(),
      ended_at: ended_at.toISOString(),
    })),
  };
}

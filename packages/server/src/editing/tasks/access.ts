/**
 * Decides which parts of a task a user may see, for every route of a task. The access depends on the language
 * pairs that the user has now and the tasks that the user holds now. A disabled user has no session, and
 * therefore no access.
 *
 * | access | who                               | sees                                                             |
 * | ------ | --------------------------------- | ---------------------------------------------------------------- |
 * | none   | everybody else                    | nothing: 404, as for an unknown task                             |
 * | record | users who worked on it before     | the segments that they edited, with their history                |
 * | offer  | users who may claim it now        | the segments of the task; the history of segments that they edited |
 * | held   | the user who holds it             | also segments around it, memory, glossary, comments, preview     |
 * | all    | operators                         | the same for every segment of the job                            |
 */
import { ApiError, notFound } from '../../base/errors.ts';
import type { TaskKey } from '../model/access-store.ts';
import * as store from '../model/access-store.ts';
import type { EditingContext, EditingUser } from '../model/context.ts';

/** The kinds of access, in ascending order. */
export const ACCESS = ['none', 'record', 'offer', 'held', 'all'] as const;
export type Access = (typeof ACCESS)[number];

/** The number of segments before and after a task that its holder sees. */
const CONTEXT_SEGMENTS = 5;

/** A task with the access that a user has to it. */
export type OpenedTask = store.TaskRow & store.TaskRights & { access: Exclude<Access, 'none'> };

export function accessOf({ role }: Pick<EditingUser, 'role'>, task: store.TaskRights): Access {
  if (role === 'operator') return 'all';
  if (task.holds) return 'held';
  if (task.may_claim) return 'offer';
  return task.has_worked ? 'record' : 'none';
}

export function includesAccess(access: Access, least: Access): boolean {
  return ACCESS.indexOf(access) >= ACCESS.indexOf(least);
}

/**
 * Reads a task and checks the user's access to it.
 * @param least the required access
 * @throws ApiError `not_found` if the user has less; `job_canceled` for a canceled task that they once
 * claimed
 */
export async function openTask(
  context: EditingContext,
  user: EditingUser,
  key: TaskKey,
  least: Exclude<Access, 'none'>,
): Promise<OpenedTask> {
  const task = await store.findTask(context.database, { ...key, userId: user.userId });
  if (task === undefined) throw notFound();
  const access = accessOf(user, task);
  if (task.status === 'canceled' && access !== 'all') throw task.has_claimed ? canceled() : notFound();
  if (access === 'none' || !includesAccess(access, least)) throw notFound();
  return { ...task, access };
}

/** Returns the segments of a task that the user sees: a range, or single positions. */
export async function visibleSegments(
  context: EditingContext,
  user: EditingUser,
  key: TaskKey,
  task: OpenedTask,
): Promise<{ first: number; last: number } | { only: number[] }> {
  if (task.access === 'record') {
    return { only: await store.listOwnPositions(context.database, { ...task, ...key, userId: user.userId }) };
  }
  const around = task.access === 'offer' ? 0 : CONTEXT_SEGMENTS;
  return { first: task.first_position - around, last: task.last_position + around };
}

/**
 * Checks access to the history, matches or comments of one segment.
 * @throws ApiError `not_found` unless the segment is near a task that the user holds, or the user edited it
 */
export async function requireSegmentAccess(
  context: EditingContext,
  user: EditingUser,
  key: TaskKey,
  task: OpenedTask,
  position: number,
): Promise<void> {
  if (task.access === 'all') return;
  const reached =
    task.access === 'held'
      ? position >= task.first_position - CONTEXT_SEGMENTS &&
        position <= task.last_position + CONTEXT_SEGMENTS
      : (await store.listOwnPositions(context.database, { ...task, ...key, userId: user.userId })).includes(
          position,
        );
  if (!reached) throw notFound();
}

export function canceled(): ApiError {
  return new ApiError('job_canceled', 'The job was canceled, or delivered without this task.');
}

/**
 * What a person may see and do of a task: one rule, asked by every route of a task. It follows the languages that the
 * person has now and the tasks that they hold now. A disabled person has no session, and gets to none of these routes.
 *
 * | access | who                                                  | sees                                                    |
 * | ------ | ---------------------------------------------------- | ------------------------------------------------------- |
 * | none   | everybody else                                       | nothing: 404, as for a task that does not exist         |
 * | record | who worked in it before                              | the segments that they wrote in, with their history     |
 * | offer  | who may claim it now                                 | the task's own segments; their own segments' history    |
 * | held   | who holds it                                         | segments around it, memory, glossary, comments, preview |
 * | all    | operators                                            | the same, of every segment of the job                   |
 */
import { ApiError, notFound } from '../errors.ts';
import * as store from './access-store.ts';
import type { Asker, EditingRoom } from './room.ts';
import type { TaskKey } from './store.ts';

/** From the least to the most. */
export const ACCESS = ['none', 'record', 'offer', 'held', 'all'] as const;
export type Access = (typeof ACCESS)[number];

/** Segments before and after the task's own that its holder sees. */
const AROUND = 5;

/** A task that somebody may see, as far as `access` says. */
export type OpenedTask = store.TaskRow & store.Standing & { access: Exclude<Access, 'none'> };

/** Pure. */
export function accessOf({ role }: Pick<Asker, 'role'>, task: store.Standing): Access {
  if (role === 'operator') return 'all';
  if (task.holds) return 'held';
  if (task.may_claim) return 'offer';
  return task.has_worked ? 'record' : 'none';
}

export function reaches(access: Access, least: Access): boolean {
  return ACCESS.indexOf(access) >= ACCESS.indexOf(least);
}

/**
 * Finds a task for somebody who wants to see something of it.
 * @param least the access that this needs
 * @throws ApiError `not_found` where they have less; `job_canceled` for a canceled task that they had
 */
export async function openTask(
  room: EditingRoom,
  asker: Asker,
  key: TaskKey,
  least: Exclude<Access, 'none'>,
): Promise<OpenedTask> {
  const task = await store.findTask(room.database, key, asker.userId);
  if (task === undefined) throw notFound();
  const access = accessOf(asker, task);
  if (task.status === 'canceled' && access !== 'all') throw task.has_claimed ? canceled() : notFound();
  if (access === 'none' || !reaches(access, least)) throw notFound();
  return { ...task, access };
}

/** The segments that come with a task: a range, or these alone. */
export async function shownOf(
  room: EditingRoom,
  asker: Asker,
  key: TaskKey,
  task: OpenedTask,
): Promise<{ first: number; last: number } | { only: number[] }> {
  if (task.access === 'record') {
    return { only: await store.listOwnPositions(room.database, key, task, asker.userId) };
  }
  const around = task.access === 'offer' ? 0 : AROUND;
  return { first: task.first_position - around, last: task.last_position + around };
}

/**
 * For what belongs to one segment beside its text: its history, its matches, comments on it.
 * @throws ApiError `not_found` for a segment that is neither near the task they hold nor one that they wrote in
 */
export async function mustReach(
  room: EditingRoom,
  asker: Asker,
  key: TaskKey,
  task: OpenedTask,
  position: number,
): Promise<void> {
  if (task.access === 'all') return;
  const reached =
    task.access === 'held'
      ? position >= task.first_position - AROUND && position <= task.last_position + AROUND
      : (await store.listOwnPositions(room.database, key, task, asker.userId)).includes(position);
  if (!reached) throw notFound();
}

export function canceled(): ApiError {
  return new ApiError('job_canceled', 'The job was taken back, or delivered without this task.');
}

/**
 * Where people work on what a machine has drafted: the main file of the room.
 *
 * A job's drafts are cut into tasks; editors claim them, correct and confirm their segments, and hand them in; somebody
 * else reviews the whole, where that is wanted; the result is put together and delivered as a machine's is. The rules
 * are docs/editing.md; the states of a task are states.ts.
 */
import type { AccountRef } from '../account.ts';
import type { Database, Transaction } from '../database/database.ts';
import type { JobFollower } from '../jobs/jobs.ts';
import type { Scanner } from '../scanning/scanner.ts';
import { openTask } from './access.ts';
import { locate } from './claims.ts';
import { countTasks } from './console-store.ts';
import * as edits from './edits-store.ts';
import { openTasks, replaceDrafts } from './open.ts';
import { cancelEditing, reopenEditing } from './review.ts';
import { type Asker, type EditingObserver, type EditingRoom, type EditingSettings, rulesOf } from './room.ts';

export { locate } from './claims.ts';
export { freeTask, listTasks } from './console.ts';
export { type EditingUpkeep, startEditingUpkeep } from './finish.ts';
export { type EditingObserver, type EditingRoom, type EditingSettings, rulesOf } from './room.ts';
export { TASK_STATUSES, type TaskStatus } from './states.ts';

export interface EditingOptions {
  database: Database;
  scanner: Scanner;
  settings: EditingSettings;
  observer: EditingObserver;
  wake(): void;
  /** Nothing, where it is not said. */
  corrected?: EditingRoom['corrected'];
}

export interface Editing {
  room: EditingRoom;
  /** Takes part in the transactions that move jobs. */
  follower: JobFollower;
  /**
   * Opens a delivered job again, in the transaction that rejects it.
   * @param by the person who rejects it; undefined by the interface for programs
   * @returns false where nobody has edited it: there is nothing to be edited again
   */
  reopen(
    transaction: Transaction,
    account: AccountRef,
    jobId: string,
    by: { reason: string | undefined; userId: string | undefined },
  ): Promise<boolean>;
}

export function createEditing({ settings, ...options }: EditingOptions): Editing {
  const corrected = options.corrected ?? (async () => {});
  const room: EditingRoom = { ...options, corrected, rules: rulesOf(settings), descriptions: new Map() };
  return {
    room,
    follower: {
      drafted: (transaction, job) => openTasks(room, transaction, job),
      canceled: (transaction, account, jobId) => cancelEditing(room, transaction, account, jobId),
      redrafted: replaceDrafts,
      untouched: edits.countUntouched,
    },
    reopen: (transaction, account, jobId, by) => reopenEditing(room, transaction, account, jobId, by),
  };
}

/** The job of a task that a person may look at. @throws ApiError `not_found`, `job_canceled` */
export async function jobOfTask(
  room: EditingRoom,
  asker: Asker,
  taskId: string,
): Promise<{ account: AccountRef; jobId: string }> {
  const key = await locate(room, taskId);
  await openTask(room, asker, key, 'record');
  return key;
}

/** Tasks that are not over, by pair, for figures. */
export function queueFigures(database: Database) {
  return countTasks(database);
}

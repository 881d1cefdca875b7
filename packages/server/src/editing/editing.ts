/**
 * Editing of drafted jobs; the main file of the module.
 *
 * A drafted job is divided into tasks. Editors claim tasks, correct and confirm their segments and submit
 * them. If a review is due, another editor reviews the whole job. Then the result is assembled and delivered.
 * The rules are in docs/editing.md, the states of a task in model/states.ts.
 */
import type { AccountRef } from '../base/account.ts';
import type { Database, Transaction } from '../database/database.ts';
import type { JobHooks } from '../jobs/jobs.ts';
import type { Scanner } from '../scanning/scanner.ts';
import {
  type EditingContext,
  type EditingObserver,
  type EditingSettings,
  type EditingUser,
  rulesOf,
} from './model/context.ts';
import * as edits from './model/edits-store.ts';
import { openTasks, replaceDrafts } from './review/open.ts';
import { cancelEditing, reopenEditing } from './review/review.ts';
import { openTask } from './tasks/access.ts';
import { locate } from './tasks/claims.ts';
import { countTasks } from './tasks/console-store.ts';

export { type EditingContext, type EditingObserver, type EditingSettings, rulesOf } from './model/context.ts';
export { TASK_STATUSES, type TaskStatus } from './model/states.ts';
export { type EditingUpkeep, startEditingUpkeep } from './review/finish.ts';
export { locate } from './tasks/claims.ts';
export { freeTask, listTasks } from './tasks/console.ts';
export { listTaskQueues, type TaskQueue } from './tasks/console-store.ts';
export { startPropagation } from './votes/propagation.ts';

export interface EditingOptions {
  database: Database;
  scanner: Scanner;
  settings: EditingSettings;
  observer: EditingObserver;
  wake(): void;
  wakePropagation(): void;
  /** Called with the result of each finished job. Corrections of chat messages use it. */
  corrected?: EditingContext['corrected'];
}

export interface Editing {
  context: EditingContext;
  /** Hooks that run in the transactions that change jobs. */
  jobHooks: JobHooks;
  /**
   * Reopens a delivered job in the transaction that rejects it.
   * @param by `userId` is undefined if an API key rejects the job
   * @returns false if no editor finished the job
   */
  reopen(
    transaction: Transaction,
    account: AccountRef,
    jobId: string,
    by: { reason: string | undefined; userId: string | undefined },
  ): Promise<boolean>;
}

/** Creates the context of all editing operations, and their hooks into the changes of jobs. */
export function createEditing({ settings, ...options }: EditingOptions): Editing {
  const corrected = options.corrected ?? (async () => {});
  const context: EditingContext = {
    ...options,
    corrected,
    rules: rulesOf(settings),
    descriptions: new Map(),
  };
  return {
    context,
    jobHooks: {
      onDrafted: (transaction, job) => openTasks(context, transaction, job),
      onCanceled: (transaction, account, jobId) => cancelEditing(transaction, account, jobId),
      onRedrafted: replaceDrafts,
      countUntouched: edits.countUntouched,
    },
    reopen: (transaction, account, jobId, by) => reopenEditing(context, transaction, account, jobId, by),
  };
}

/** Returns the job of a task that the user may see. @throws ApiError `not_found`, `job_canceled` */
export async function jobOfTask(
  context: EditingContext,
  user: EditingUser,
  taskId: string,
): Promise<{ account: AccountRef; jobId: string }> {
  const key = await locate(context, taskId);
  await openTask(context, user, key, 'record');
  return key;
}

/** Counts unfinished tasks by language pair, for the metrics. */
export function queueFigures(database: Database) {
  return countTasks(database);
}

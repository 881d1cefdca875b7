/** The editing context: database, rules and observers that all files of this module use. */
import type { Description } from '@dragoman/documents';
import type { AccountRef } from '../../base/account.ts';
import type { Database, Transaction } from '../../database/database.ts';
import type { Untranslated } from '../../jobs/jobs.ts';
import type { WhoseEfforts } from '../../memory/efforts.ts';
import type { Scanner } from '../../scanning/scanner.ts';
import type { Settings } from '../../settings/settings.ts';
import type { ClaimEnd, TaskKind } from './states.ts';

export interface ClaimRules {
  editCap: number;
  reviewCap: number;
  leaseSeconds: number;
  expiries: number;
}

/** The rules of editing, all from settings. */
export interface EditingRules extends ClaimRules {
  draftFigures: WhoseEfforts;
  deadlineHours: number;
  /** The largest share of a job's words that may be untranslated in a result without an editor. */
  maxUntranslated: number;
  taskWords: number;
  wordsPerMinute: number;
  reservedHours: number;
  skips: number;
  /** What an editor earns for a source word, in cents; undefined where the operator has set no pay. */
  editPay: number | undefined;
  reviewPay: number | undefined;
}

export type EditingSettings = Pick<
  Settings,
  | 'draftFigures'
  | 'editDeadlineHours'
  | 'maxUntranslated'
  | 'taskWords'
  | 'taskLeaseSeconds'
  | 'taskWordsPerMinute'
  | 'editorTasks'
  | 'editorReviews'
  | 'claimExpiries'
  | 'taskReservedHours'
  | 'taskSkips'
  | 'editPay'
  | 'reviewPay'
>;

export function rulesOf(settings: EditingSettings): EditingRules {
  return {
    draftFigures: settings.draftFigures,
    deadlineHours: settings.editDeadlineHours,
    maxUntranslated: settings.maxUntranslated,
    taskWords: settings.taskWords,
    leaseSeconds: settings.taskLeaseSeconds,
    wordsPerMinute: settings.taskWordsPerMinute,
    editCap: settings.editorTasks,
    reviewCap: settings.editorReviews,
    expiries: settings.claimExpiries,
    reservedHours: settings.taskReservedHours,
    skips: settings.taskSkips,
    editPay: settings.editPay,
    reviewPay: settings.reviewPay,
  };
}

/** Receives editing events for the metrics. */
export interface EditingObserver {
  opened(tasks: number): void;
  claimed(kind: TaskKind): void;
  ended(how: ClaimEnd): void;
  expired(claims: number): void;
  /**
   * Called when a job is finished. @param how `failed`: the assembly of the result took too long
   * @param untranslated the segments that keep their source text in the result
   */
  delivered(how: 'edited' | 'fallback' | 'failed', untranslated?: Untranslated): void;
  /** Called when waiting segments got the text of a vote, or their former draft again. */
  filled(how: 'draft' | 'confirmed' | 'restored', segments: number): void;
  /**
   * Called when waiting segments could not get the text of a vote. `codes`: the codes do not fit; `checks`: a
   * check reports an error or a term of the glossary; `held`: the task is claimed, submitted or reviewed
   */
  notFilled(why: 'codes' | 'checks' | 'held', segments: number): void;
}

export interface EditingContext {
  database: Database;
  scanner: Scanner;
  rules: EditingRules;
  observer: EditingObserver;
  /** Starts the assembly of finished jobs at once, because a job is ready for it. */
  wake(): void;
  /** Makes the worker fill segments at once, because votes have changed. */
  wakePropagation(): void;
  /** Called in the transaction that finishes a job, with its result. Corrections of chat messages use it. */
  corrected(transaction: Transaction, account: AccountRef, jobId: string, result: string): Promise<void>;
  /** A cache of document descriptions by job id, the least recently used first. */
  descriptions: Map<string, { ofId: Map<string, Description>; length: number }>;
}

export interface EditingUser {
  userId: string;
  role: 'customer' | 'editor' | 'operator';
  name: string;
}

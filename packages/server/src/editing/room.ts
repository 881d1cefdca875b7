/** What the files of this room share: where they look, the numbers they go by, and whom they tell. */
import type { Description } from '@dragoman/documents';
import type { AccountRef } from '../account.ts';
import type { Database, Transaction } from '../database/database.ts';
import type { Scanner } from '../scanning/scanner.ts';
import type { Settings } from '../settings.ts';
import type { ClaimRules } from './claims-store.ts';
import type { ClaimEnd, TaskKind } from './states.ts';

/** The numbers of editing; every one is a setting. */
export interface EditingRules extends ClaimRules {
  deadlineHours: number;
  taskWords: number;
  reservedHours: number;
  skips: number;
  shown: number;
}

export type EditingSettings = Pick<
  Settings,
  | 'editDeadlineHours'
  | 'taskWords'
  | 'taskLeaseSeconds'
  | 'taskMinutes'
  | 'taskWordsPerMinute'
  | 'editorTasks'
  | 'editorReviews'
  | 'claimExpiries'
  | 'claimPauseMinutes'
  | 'taskReservedHours'
  | 'taskSkips'
  | 'queueShown'
>;

export function rulesOf(settings: EditingSettings): EditingRules {
  return {
    deadlineHours: settings.editDeadlineHours,
    taskWords: settings.taskWords,
    leaseSeconds: settings.taskLeaseSeconds,
    limitSeconds: settings.taskMinutes * 60,
    wordsPerMinute: settings.taskWordsPerMinute,
    editCap: settings.editorTasks,
    reviewCap: settings.editorReviews,
    expiries: settings.claimExpiries,
    pauseSeconds: settings.claimPauseMinutes * 60,
    reservedHours: settings.taskReservedHours,
    skips: settings.taskSkips,
    shown: settings.queueShown,
  };
}

/** Who is told of what happens, for figures. */
export interface EditingObserver {
  opened(tasks: number): void;
  claimed(kind: TaskKind): void;
  ended(how: ClaimEnd): void;
  expired(claims: number): void;
  delivered(how: 'edited' | 'fallback'): void;
}

export interface EditingRoom {
  database: Database;
  scanner: Scanner;
  rules: EditingRules;
  observer: EditingObserver;
  /** Something is to be put together or delivered: whoever looks after that looks at once. */
  wake(): void;
  /** What else a finished job does: one that corrects a message gives it its text. */
  corrected(transaction: Transaction, account: AccountRef, jobId: string, result: string): Promise<void>;
  descriptions: Map<string, { ofId: Map<string, Description>; length: number }>;
}

/** Who asks, as far as this room minds. */
export interface Asker {
  userId: string;
  role: 'customer' | 'editor' | 'operator';
  name: string;
}

/** The hooks of the editing module, which run in the transactions that change the status of jobs. */
import type { AccountRef } from '../base/account.ts';
import type { Queryable, Transaction } from '../database/database.ts';
import type { DraftedSegment } from './segment-store.ts';
import type { AnyJobRow } from './store.ts';

/** A drafted job, as the editing module receives it. */
export interface DraftedJob {
  account: AccountRef;
  row: AnyJobRow;
  segments: readonly DraftedSegment[];
}

/** Functions of the editing module that run in the transactions that change the status of jobs. */
export interface JobHooks {
  onDrafted(transaction: Transaction, job: DraftedJob): Promise<void>;
  onCanceled(transaction: Transaction, account: AccountRef, jobId: string): Promise<void>;
  /**
   * Replaces the drafts of segments that no editor has touched. @returns the positions of the replaced
   * segments
   */
  onRedrafted(transaction: Transaction, job: DraftedJob): Promise<ReadonlySet<number>>;
  /** Counts the segments whose drafts `onRedrafted` would replace now. */
  countUntouched(on: Queryable, account: AccountRef, jobId: string): Promise<number>;
}

/** From a job's drafts to its tasks. */
import { countSegmentWords, type Piece } from '@dragoman/documents';
import type { Transaction } from '../database/database.ts';
import type { DraftedJob } from '../jobs/jobs.ts';
import { keptOf } from '../kept.ts';
import * as edits from './edits-store.ts';
import { findRepeats } from './repeats.ts';
import type { EditingRoom } from './room.ts';
import * as store from './store.ts';

/** Consecutive segments, so many words together at most; one that is longer is a task alone. Pure. */
export function cutIntoTasks(words: readonly number[], most: number): store.NewTask[] {
  const tasks: store.NewTask[] = [];
  for (const [position, count] of words.entries()) {
    const last = tasks.at(-1);
    if (last !== undefined && last.words + count <= most) {
      last.last = position;
      last.words += count;
    } else tasks.push({ kind: 'edit', first: position, last: position, words: count });
  }
  return tasks;
}

/** Opens a job's tasks in the transaction that stores its drafts. One without a sentence is put together at once. */
export async function openTasks(
  room: Pick<EditingRoom, 'rules' | 'observer'>,
  transaction: Transaction,
  { account, row, segments }: DraftedJob,
): Promise<void> {
  const { rules } = room;
  const sources = segments.map(({ source }) => source as Piece[]);
  const words = segments.map(({ source, route }) =>
    keptOf(route) === undefined ? countSegmentWords(source as Piece[], row.source_language) : 0,
  );
  const tasks = cutIntoTasks(words, rules.taskWords);
  await store.insertEditedJob(transaction, {
    account,
    jobId: row.job_id,
    stage: tasks.length === 0 ? 'assembling' : 'editing',
    words: words.reduce((sum, count) => sum + count, 0),
    brand: row.brand ?? row.default_brand ?? undefined,
    deadlineHours: rules.deadlineHours,
  });
  if (tasks.length === 0) return;
  await store.insertTasks(transaction, account, row.job_id, tasks);
  const repeats = findRepeats(sources).flatMap((first, position) =>
    first === undefined ? [] : [{ position, first }],
  );
  if (repeats.length > 0) await store.markRepeats(transaction, account, row.job_id, repeats);
  room.observer.opened(tasks.length);
}

/**
 * Puts the drafts of a job that is drafted anew in the place of those that nobody has touched, in parts that nobody has:
 * what an editor has before them does not change under their hands, and what they have written stays theirs.
 * @returns the positions that have another draft
 */
export async function replaceDrafts(
  transaction: Transaction,
  { account, row, segments }: DraftedJob,
): Promise<ReadonlySet<number>> {
  const edited = await store.lockEditedJob(transaction, account, row.job_id);
  if (edited?.stage !== 'editing') return new Set();
  await store.lockTasks(transaction, account, row.job_id);
  const translated = segments.flatMap((segment, position) =>
    segment.draft === undefined ? [] : [{ ...segment, position }],
  );
  const replaced = await edits.replaceUntouched(transaction, account, row.job_id, translated);
  await store.lookNow(transaction, [{ account, jobId: row.job_id }]);
  return new Set(replaced);
}

/** Creates the tasks of a drafted job, and replaces drafts when a job is drafted again. */
import { countSegmentWords, type Piece } from '@dragoman/documents';
import type { AccountRef } from '../../base/account.ts';
import { keptOf } from '../../base/kept.ts';
import { createTurns, inBatches } from '../../base/turns.ts';
import { findBrandTone } from '../../brands/brands.ts';
import type { Transaction } from '../../database/database.ts';
import type { DraftedJob } from '../../jobs/jobs.ts';
import type { EditingContext } from '../model/context.ts';
import { makeDueNow } from '../model/due-store.ts';
import * as editedJobs from '../model/edited-jobs-store.ts';
import * as edits from '../model/edits-store.ts';
import * as store from '../tasks/store.ts';
import { forgetFills } from '../votes/fills-store.ts';
import { contextOf, hashReading } from '../votes/readings.ts';
import { insertReadings, type ReadingJob } from '../votes/readings-store.ts';
import { createRepeats } from '../votes/repeats.ts';
import { queueWaitingJobs } from '../votes/votes-store.ts';

/** Groups consecutive segments into tasks of at most `most` words. A longer segment is a task of its own. */
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

/**
 * Opens the tasks of a job in the transaction that stores its drafts. A job without segments is assembled at
 * once.
 */
export async function openTasks(
  context: Pick<EditingContext, 'rules' | 'observer'>,
  transaction: Transaction,
  drafted: DraftedJob,
): Promise<void> {
  const { account, row, segments } = drafted;
  const { rules } = context;
  const turn = createTurns();
  const firstOf = createRepeats();
  const words: number[] = [];
  const repeats: { position: number; first: number }[] = [];
  for (const [position, { source, route }] of segments.entries()) {
    const pieces = source as Piece[];
    words.push(keptOf(route) === undefined ? countSegmentWords(pieces, row.source_language) : 0);
    const first = firstOf(pieces);
    if (first !== undefined) repeats.push({ position, first });
    await turn(pieces.length + 1);
  }
  const tasks = cutIntoTasks(words, rules.taskWords);
  const brand = row.brand ?? row.default_brand;
  const brandTone = await findBrandTone(transaction, account, brand, row.target_language);
  await editedJobs.insertEditedJob(transaction, {
    account,
    jobId: row.job_id,
    stage: tasks.length === 0 ? 'assembling' : 'editing',
    words: words.reduce((sum, count) => sum + count, 0),
    brand: brand ?? undefined,
    brandTone,
    deadlineHours: rules.deadlineHours,
  });
  if (tasks.length === 0) return;
  await store.insertTasks(transaction, account, row.job_id, tasks);
  // A canceled upgrade that is repeated has fills of its former drafts.
  await forgetFills(transaction, { account, jobId: row.job_id, positions: null });
  if (repeats.length > 0) await store.markRepeats(transaction, account, row.job_id, repeats);
  await indexReadings(transaction, account, row, row.tone ?? brandTone, segments);
  context.observer.opened(tasks.length);
}

/**
 * Stores the readings of the translated segments, and queues the segments, because votes for them may exist.
 * @param tone the tone of the job
 * @param segments all segments of the job, in order
 */
export async function indexReadings(
  transaction: Transaction,
  account: AccountRef,
  job: ReadingJob,
  tone: string | undefined,
  segments: readonly { source: unknown; route?: string | null | undefined }[],
): Promise<void> {
  const { job_id: jobId, environment, source_language: from, target_language: to } = job;
  const brand = job.brand ?? job.default_brand;
  const scope = { environment, from, to, brand, tone: tone ?? null };
  const translated = segments.flatMap(({ source, route }, position) =>
    keptOf(route) === undefined ? [{ position, source: source as Piece[] }] : [],
  );
  if (translated.length === 0) return;
  for (const batch of inBatches(translated, ({ source }) => source.length + 1)) {
    const readings = batch.map(({ position, source }) => ({
      position,
      reading: hashReading(scope, source),
      context: contextOf(position, segments.length),
    }));
    await insertReadings(transaction, account, jobId, readings);
  }
  await queueWaitingJobs(transaction, [{ account, jobId }]);
}

/**
 * Replaces the drafts of a job after a redraft. Segments that an editor has edited, and tasks that an editor
 * holds, keep their drafts, so that no text changes while an editor is working on it.
 * @returns the positions whose draft was replaced
 */
export async function replaceDrafts(
  transaction: Transaction,
  { account, row, segments }: DraftedJob,
): Promise<ReadonlySet<number>> {
  const edited = await editedJobs.lockEditedJob(transaction, account, row.job_id);
  if (edited?.stage !== 'editing') return new Set();
  await store.lockTasks(transaction, { account, jobId: row.job_id, tasks: null });
  const translated = segments.flatMap((segment, position) =>
    segment.draft === undefined ? [] : [{ ...segment, position }],
  );
  const replaced = await edits.replaceUntouched(transaction, account, row.job_id, translated);
  await forgetFills(transaction, { account, jobId: row.job_id, positions: replaced });
  await queueWaitingJobs(transaction, [{ account, jobId: row.job_id }]);
  await makeDueNow(transaction, [{ account, jobId: row.job_id }]);
  return new Set(replaced);
}

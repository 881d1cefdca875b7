/**
 * What a confirmed segment teaches: a vote for its reading, and an entry of the translation memory. Both are taken back
 * when the segment is not confirmed any more, or its job is canceled.
 */
import type { AccountRef } from '../../base/account.ts';
import { findBrandTone } from '../../brands/brands.ts';
import type { Queryable, Transaction } from '../../database/database.ts';
import { forgetSegments, learnFromSegment } from '../../memory/memory.ts';
import type { TaskKey, TaskRow } from '../model/access-store.ts';
import { translatedParts } from '../model/cuts.ts';
import type { TaskJobRow } from '../model/edited-jobs-store.ts';
import type { Edit, SegmentRow } from '../model/edits-store.ts';
import { hashTarget } from './readings.ts';
import * as votes from './votes-store.ts';

/** Stores what a segment teaches with its confirmed target, in place of what it taught before. */
export async function teach(
  transaction: Transaction,
  { account, jobId }: TaskKey,
  { task, job }: { task: TaskRow; job: TaskJobRow },
  row: SegmentRow,
  { target, editorId, acknowledged, cuts = row.cuts ?? undefined }: Edit,
): Promise<void> {
  const { position, source } = row;
  const vote = { position, editorId, reviewed: task.kind === 'review', target: [...target], acknowledged };
  await votes.castVote(transaction, account, jobId, { ...vote, targetHash: hashTarget(source, target) });
  const purpose = {
    jobId,
    from: job.source_language,
    to: job.target_language,
    brand: job.brand ?? undefined,
    tone: await readTone(transaction, account, job),
  };
  const parts = translatedParts({ ...row, target: [...target], cuts: cuts ?? null });
  await learnFromSegment(transaction, account, purpose, {
    position,
    source,
    target,
    editor: editorId,
    parts,
  });
}

/** Takes back what segments of a job taught since its last delivery. */
export async function takeBack(
  transaction: Transaction,
  account: AccountRef,
  jobId: string,
  ranges: readonly { first: number; last: number }[],
): Promise<void> {
  await votes.withdrawVotes(transaction, account, jobId, ranges);
  await forgetSegments(
    transaction,
    account,
    ranges.map((range) => ({ jobId, ...range })),
  );
}

/**
 * Returns the tone in which a job is edited and learned: that of the request, otherwise that of its brand when its tasks
 * were opened. Its texts keep that tone when the brand gets another.
 */
export async function readTone(
  on: Queryable,
  account: AccountRef,
  job: Pick<TaskJobRow, 'tone' | 'brand' | 'brand_tone' | 'target_language'>,
): Promise<string | undefined> {
  if (job.tone !== null) return job.tone;
  if (job.brand_tone === null) return findBrandTone(on, account, job.brand, job.target_language);
  return job.brand_tone === '' ? undefined : job.brand_tone;
}

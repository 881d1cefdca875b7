/** Lists the votes of an account, and withdraws votes and restores the drafts that they replaced. */
import { type Piece, plainText } from '@dragoman/documents';
import { type Actor, recordAudit } from '../../audit/audit.ts';
import type { AccountRef } from '../../base/account.ts';
import type { Database, Transaction } from '../../database/database.ts';
import { forgetSegments } from '../../memory/memory.ts';
import * as fills from './fills-store.ts';
import { hashTarget } from './readings.ts';
import * as votes from './votes-store.ts';

/** A vote as operators see it; source and target have no codes. */
export interface ListedVote {
  vote: string;
  uid: string;
  source_language: string;
  target_language: string;
  source: string;
  target: string;
  editor: string;
  voted_at: Date;
  withdrawn_at: Date | null;
  /** The number of segments of other jobs that hold the text because of this vote. */
  segments: number;
}

/** Returns the votes of an account, latest first. */
export async function findVotes(
  database: Database,
  account: AccountRef,
  search: votes.VoteSearch,
): Promise<ListedVote[]> {
  const rows = await votes.findVoteRows(database, account, search);
  return rows.map(({ source, target, ...row }) => ({
    ...row,
    source: plainText(source),
    target: plainText(target),
  }));
}

/**
 * Reasons why an undo does not change a segment. `edited`: an editor has worked on it; `held`: its task is
 * claimed, submitted or reviewed; `delivered`: its job is delivered.
 */
export const KEPT_REASONS = ['edited', 'held', 'delivered'] as const;

export interface UndoneVote {
  /** The number of segments whose former draft was restored. */
  restored: number;
  /** The segments that still hold the text of the vote. */
  kept: fills.KeptFill[];
}

/**
 * Withdraws the votes of segments for the target of `entry`, and all votes for the same text on the same
 * readings. The former drafts of segments that nobody has touched are restored in the background. Votes of
 * these segments for other texts stay.
 */
export async function withdrawTextsOf(
  transaction: Transaction,
  account: AccountRef,
  segments: readonly fills.SegmentPlace[],
  entry: { source: readonly Piece[]; target: readonly Piece[] },
): Promise<void> {
  const targetHash = hashTarget(entry.source, entry.target);
  const ids = await votes.listVotesOf(transaction, account, segments, targetHash);
  await votes.withdrawText(transaction, { account, voteIds: ids });
}

/** The number of segments that one transaction restores. */
const SLICE = 100;

/**
 * Withdraws a vote and all votes for the same text on its reading, and restores the former drafts of segments
 * that nobody has touched. In a claimed task, the drafts are restored when the claim ends. A repeated undo
 * changes nothing and returns the segments that still keep the text.
 * @returns undefined if the account has no such vote
 */
export async function undoVote(
  database: Database,
  by: Actor,
  account: AccountRef,
  voteId: string,
): Promise<UndoneVote | undefined> {
  const same = await database.transaction(async (transaction) => {
    const withdrawn = await votes.withdrawText(transaction, { account, voteIds: [voteId] });
    if (withdrawn.length === 0) return [];
    const ranges = withdrawn.map(({ job_id: jobId, position }) => ({
      jobId,
      first: position,
      last: position,
    }));
    await forgetSegments(transaction, account, ranges);
    const detail = { votes: withdrawn.length };
    await recordAudit(transaction, by, { action: 'vote.undone', account, subject: voteId, detail });
    return withdrawn.map(({ vote_id }) => vote_id);
  });
  if (same.length === 0) return undefined;
  let restored = 0;
  for (let after: fills.SegmentPlace | undefined; ; ) {
    const places = await fills.listFilled(database, account, same, after, SLICE);
    restored += await restore(database, account, places);
    if (places.length < SLICE) break;
    after = places.at(-1);
  }
  return { restored, kept: await fills.findKept(database, { account, voteIds: same }) };
}

/**
 * Restores the former drafts of those segments that nobody has touched. The texts of rules stay. @returns the
 * number of restored segments
 */
async function restore(
  database: Database,
  account: AccountRef,
  places: readonly fills.SegmentPlace[],
): Promise<number> {
  const before = (await fills.readFillable(database, account, places)).filter(fills.isWaiting);
  if (before.length === 0) return 0;
  return database.transaction(async (transaction) => {
    await fills.lockTasksOf(transaction, {
      account,
      taskIds: [...new Set(before.map(({ task_id }) => task_id))],
    });
    const rows = (await fills.readFillable(transaction, account, before)).filter(
      (row) => fills.isWaiting(row) && row.filled_hash !== null && !row.by_rule,
    );
    await fills.restoreSegments(transaction, account, rows);
    for (const jobId of new Set(rows.map(({ job_id }) => job_id))) transaction.changed('job', account, jobId);
    return rows.length;
  });
}

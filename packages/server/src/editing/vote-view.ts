/** Shows the votes for the segments of a task: which text editors agree on, how many they are, and who. */
import { isCorrect } from '@dragoman/documents';
import type { AccountRef } from '../base/account.ts';
import type { Queryable } from '../database/database.ts';
import type { SegmentRow } from './edits-store.ts';
import * as fills from './fills-store.ts';
import { carry } from './repeats.ts';
import type { SegmentVote } from './schemas.ts';
import { elect } from './vote-rules.ts';
import { listVotes } from './votes-store.ts';

/**
 * Returns the elected text by position, for segments that hold it and for unedited segments that could have it.
 * A segment of a held task keeps its draft, so its editor is offered the text.
 */
export async function readSegmentVotes(
  on: Queryable,
  account: AccountRef,
  jobId: string,
  rows: readonly Pick<SegmentRow, 'position'>[],
): Promise<Map<number, SegmentVote>> {
  const found = new Map<number, SegmentVote>();
  const places = rows.map(({ position }) => ({ job_id: jobId, position }));
  const segments = (await fills.readFillable(on, account, places)).filter(
    (row) => row.rule !== 'off' && fills.isUntouched(row),
  );
  if (segments.length === 0) return found;
  const cast = await listVotes(
    on,
    account,
    segments.map(({ reading }) => reading),
  );
  const votesFor = Map.groupBy(cast, ({ reading }) => reading.toString('base64'));
  for (const row of segments) {
    const elected = elect(votesFor.get(row.reading.toString('base64')) ?? [], row.context);
    if (elected === undefined) continue;
    const { vote, editors } = elected;
    const target = carry(vote.source, row.source, vote.target);
    if (!isCorrect(row.source, target)) continue;
    const isFilled = row.filled_hash?.equals(vote.target_hash) === true;
    const names = new Map(cast.map((one) => [one.editor_id, one.name]));
    found.set(row.position, {
      vote: vote.vote_id,
      state: isFilled ? 'filled' : 'offered',
      target,
      agree: editors.length,
      by: editors.map((editor) => names.get(editor) ?? ''),
    });
  }
  return found;
}

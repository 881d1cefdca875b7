/** Shows the votes for the segments of a task: which text editors agree on, how many they are, and who. */
import type { AccountRef } from '../../base/account.ts';
import { checkInputs } from '../model/check-inputs.ts';
import type { EditingContext } from '../model/context.ts';
import type { SegmentRow } from '../model/edits-store.ts';
import type { SegmentVote } from '../schemas/schemas.ts';
import * as fills from './fills-store.ts';
import { fitText } from './propagation.ts';
import { listRules, type Rule } from './rules-store.ts';
import { electFor } from './vote-rules.ts';
import { listVotes, type VoteRow } from './votes-store.ts';

/**
 * Returns the elected text for each segment that no editor has edited, by position. A segment may hold the
 * text already, or get it when the claim on its task ends. In a review, or if the customer supplied the
 * draft, the text is only an offer.
 */
export async function readSegmentVotes(
  context: EditingContext,
  account: AccountRef,
  jobId: string,
  rows: readonly Pick<SegmentRow, 'position'>[],
): Promise<Map<number, SegmentVote>> {
  const { database } = context;
  const found = new Map<number, SegmentVote>();
  const places = rows.map(({ position }) => ({ job_id: jobId, position }));
  const segments = (await fills.readFillable(database, account, places)).filter(
    (row) => row.setting !== 'off' && fills.isUntouched(row),
  );
  if (segments.length === 0) return found;
  const readings = segments.map(({ reading }) => reading);
  const [cast, rules] = await Promise.all([
    listVotes(database, account, readings),
    listRules(database, account, readings),
  ]);
  if (cast.length === 0 && rules.count === 0) return found;
  const votesFor = Map.groupBy(cast, ({ reading }) => reading.toString('base64'));
  const names = new Map(cast.map((one) => [one.editor_id, one.name]));
  const inputOf = await checkInputs(context, { account, jobId }, segments[0]!, 'limits');
  for (const row of segments) {
    const own = votesFor.get(row.reading.toString('base64')) ?? [];
    const rule = rules.ruleFor(row);
    const elected = rule === undefined ? electFor(own, row) : { vote: rule, editors: editorsFor(own, rule) };
    if (elected === undefined) continue;
    const fitted = fitText(row, elected.vote, inputOf);
    if (typeof fitted === 'string') continue;
    found.set(row.position, {
      vote: elected.vote.vote_id,
      ...stateOf(row, elected.vote.target_hash),
      target: fitted.target,
      agree: elected.editors.length,
      by: elected.editors.map((editor) => names.get(editor) ?? ''),
      rule: rule !== undefined,
    });
  }
  return found;
}

function editorsFor(cast: readonly VoteRow[], { target_hash: hash }: Rule): string[] {
  const same = cast.filter(({ target_hash }) => target_hash.equals(hash));
  return [...new Set(same.map(({ editor_id }) => editor_id))];
}

function stateOf(row: fills.FillableRow, elected: Buffer): Pick<SegmentVote, 'state' | 'former'> {
  if (row.filled_hash?.equals(elected)) return { state: 'filled', former: row.former_draft };
  const isNext = row.stage === 'editing' && row.revision === null && !row.is_own;
  return { state: isNext ? 'next' : 'offered' };
}

/**
 * Splits a segment, and puts its parts together again. An editor splits a segment if it has several sentences, so that
 * the memory suggests and learns each of them.
 *
 * The segment stays one segment with one target, which is confirmed and delivered as one. Its row only stores the places
 * of the cuts (`cuts.ts`), so neither a split nor its end changes a text.
 */
import { divide, hasWords, isWhole, lengthOf, likelyPlace, placeAt, repair } from '@dragoman/documents';
import { ApiError, notFound } from '../../base/errors.ts';
import { keptOf } from '../../base/kept.ts';
import type { EditingContext, EditingUser } from '../model/context.ts';
import { textBefore } from '../model/cuts.ts';
import * as edits from '../model/edits-store.ts';
import type { SplitRequest, UnsplitRequest } from '../schemas/route-schemas.ts';
import type { SegmentBody } from '../schemas/schemas.ts';
import type * as store from '../tasks/store.ts';
import { takeBack } from '../votes/lessons.ts';
import { change, openEdit, SegmentChanged, saveDraft, show, shownTarget } from './changes.ts';

/** Each part has its own matches, so their number is limited. */
const MAX_CUTS = 9;

/** Why a segment cannot be split. The web app has a sentence for each. */
const REFUSALS = {
  joined: 'Joined segments cannot be split.',
  kept: 'A segment that is not translated cannot be split.',
  empty: 'Each part must have a word.',
  tags: 'Both tags of a pair must be in the same part.',
  many: `A segment has at most ${MAX_CUTS + 1} parts.`,
} as const;

function refuse(reason: keyof typeof REFUSALS): never {
  throw new ApiError('not_splittable', REFUSALS[reason], {}, { reason });
}

/**
 * Splits a segment before the character `at` of its source. The target is divided in the likely place, which the editor
 * can change.
 * @throws ApiError `not_splittable`, `conflict`, `stale_lease`, `job_canceled`, `not_found`
 */
export async function splitSegment(
  context: EditingContext,
  user: EditingUser,
  key: store.TaskKey,
  position: number,
  { token, revision, at }: SplitRequest,
): Promise<{ segments: SegmentBody[] }> {
  const { rows, job } = await openEdit(context, user, key, token, position, position);
  const [row] = rows;
  if (row?.position !== position) throw notFound();
  if (row.joined !== null) refuse('joined');
  if (keptOf(row.route) !== undefined) refuse('kept');
  const place = placeAt(row.source, at) ?? refuse('tags');
  const before = row.cuts?.source ?? [];
  if (before.length >= MAX_CUTS) refuse('many');
  const source = [...before, place].sort((a, b) => a - b);
  const parts = divide(row.source, source);
  if (!parts.every(hasWords)) refuse('empty');
  if (!parts.every(isWhole)) refuse('tags');

  const target = shownTarget(row) ?? repair(row.source, []).pieces;
  const index = source.indexOf(place);
  const places = [...(row.cuts?.target ?? [])];
  const start = Math.min(places[index - 1] ?? 0, lengthOf(target));
  const end = Math.max(start, places[index] ?? lengthOf(target));
  const [share] = textBefore([...parts[index]!, ...parts[index + 1]!], [lengthOf(parts[index]!)]);
  const part = divide(target, [start, end])[1]!;
  places.splice(index, 0, start + likelyPlace(part, share!, job.target_language));
  await save(context, user, key, { row, token, revision, target, cuts: { source, target: places } });
  return { segments: await show(context, user, key, position, position) };
}

/**
 * Puts the parts of a split segment together again. Its target does not change.
 * @throws ApiError `conflict`, also if the segment is not split; `stale_lease`, `job_canceled`, `not_found`
 */
export async function unsplitSegment(
  context: EditingContext,
  user: EditingUser,
  key: store.TaskKey,
  position: number,
  { token, revision }: UnsplitRequest,
): Promise<{ segments: SegmentBody[] }> {
  const { rows } = await openEdit(context, user, key, token, position, position);
  const [row] = rows;
  if (row?.position !== position) throw notFound();
  const target = shownTarget(row) ?? repair(row.source, []).pieces;
  await save(context, user, key, { row, token, revision, target, cuts: undefined });
  return { segments: await show(context, user, key, position, position) };
}

interface Split {
  row: edits.SegmentRow;
  token: string;
  revision: number;
  target: NonNullable<edits.SegmentRow['target']>;
  cuts: edits.Cuts | undefined;
}

/** Saves the target as a draft with its cuts, so that a confirmed segment must be confirmed again. */
async function save(
  context: EditingContext,
  user: EditingUser,
  key: store.TaskKey,
  { row, token, revision, target, cuts }: Split,
): Promise<void> {
  const { account, jobId } = key;
  const { position } = row;
  const isConfirmed = row.status === 'confirmed';
  await change(context, user, key, token, position, async (transaction) => {
    if (row.revision !== revision || (cuts === undefined && row.cuts === null)) throw new SegmentChanged();
    await saveDraft(transaction, user, key, row, target);
    await edits.setCuts(transaction, account, jobId, position, cuts);
    const range = { first: position, last: position };
    if (isConfirmed) await takeBack(transaction, account, jobId, [range]);
  });
  if (isConfirmed) context.wakePropagation();
}

/**
 * Joins segments, and separates them again. An editor joins two neighbouring segments of a paragraph when a sentence was
 * cut in two, or when the words of two sentences have to change places.
 *
 * Positions never change. The first segment gets the source of all, and one target; the others are hidden until they are
 * separated. A joined segment casts no vote and fills no repeats, because its source is no segment of other texts. The
 * memory learns it as one translation. The counted words of the job and the tasks stay.
 */
import { isDeepStrictEqual } from 'node:util';
import { type Piece, repair, TRAITS } from '@dragoman/documents';
import { ApiError, notFound } from '../../base/errors.ts';
import { keptOf } from '../../base/kept.ts';
import { readDocumentSettings } from '../../brands/document-settings.ts';
import type { Transaction } from '../../database/database.ts';
import { readTexts } from '../../jobs/jobs.ts';
import type { EditingContext, EditingUser } from '../model/context.ts';
import { unprepared } from '../model/descriptions.ts';
import * as edits from '../model/edits-store.ts';
import type { JoinRequest, SeparateRequest } from '../schemas/route-schemas.ts';
import type { SegmentBody } from '../schemas/schemas.ts';
import type * as store from '../tasks/store.ts';
import { takeBack } from '../votes/lessons.ts';
import { change, openEdit, SegmentChanged, saveDraft, show, shownTarget } from './changes.ts';
import { insertHistory } from './history-store.ts';
import { moveNotes, setJoinedTo, setSegment } from './joins-store.ts';

/** Why segments cannot be joined. The web app has a sentence for each. */
const REFUSALS = {
  subtitles: 'Each subtitle has its own time, so subtitles cannot be joined.',
  customer: 'The customer has cut the text into segments, so they cannot be joined.',
  paragraph: 'The next segment is not in the same line or paragraph and task.',
  kept: 'A segment that is not translated cannot be joined.',
  asked: 'A segment that waits for the customer cannot be joined.',
  split: 'A split segment cannot be joined with another one.',
  length: 'The joined segment would be too long.',
} as const;

function refuse(reason: keyof typeof REFUSALS): never {
  throw new ApiError('not_joinable', REFUSALS[reason], {}, { reason });
}

/**
 * Joins a segment with the next one. Their targets are put together; the result is a draft.
 * @throws ApiError `not_joinable`, `conflict`, `stale_lease`, `job_canceled`, `not_found`
 */
export async function joinWithNext(
  context: EditingContext,
  user: EditingUser,
  key: store.TaskKey,
  position: number,
  { token, revision, next_revision }: JoinRequest,
): Promise<{ segments: SegmentBody[] }> {
  const { database } = context;
  const { account, jobId } = key;
  const { rows, job } = await openEdit(context, user, key, token, position);
  const [first, next] = rows;
  if (first?.position !== position) throw notFound();
  if (TRAITS[job.text_format].isSubtitles) refuse('subtitles');
  if (next === undefined || unitOf(first) !== unitOf(next)) refuse('paragraph');
  if ([first, next].some(({ route }) => keptOf(route) !== undefined)) refuse('kept');
  if (first.asked || next.asked) refuse('asked');
  if (first.cuts || next.cuts) refuse('split');
  const [texts, targets] = await Promise.all([
    readTexts(database, account, jobId, ['source']),
    edits.readTargets(database, { account, jobId, unconfirmed: false }),
  ]);
  // What would be delivered now, so that the draft of a late job has the texts that editors confirmed before.
  const delivered = [first, next].map((row) => targets.find((one) => one.position === row.position)!);
  const parts = [first, next].map((row, index) => ({
    count: delivered[index]!.segments,
    texts: [shownTarget(row) ?? [], delivered[index]!.target ?? []],
  }));
  const task = {
    text: texts.source ?? '',
    format: job.text_format,
    sourceLanguage: job.source_language,
    targetLanguage: job.target_language,
    settings: await readDocumentSettings(database, account, job.document_settings),
    first: first.segment_id,
    parts,
  };
  const joined = await context.scanner.join(account, task).catch(unprepared);
  if (typeof joined === 'string') refuse(joined);
  const [target, draft] = joined.texts as [Piece[], Piece[]];
  const last = next.joined?.last ?? next.position;
  const isIntact = isUnchanged(first) && next.joined === null;
  const column = {
    last,
    codes: joined.codes,
    target: isIntact ? target : null,
    own: first.joined?.own ?? { ...first, target: shownTarget(first), confirmed: confirmedOf(delivered[0]!) },
  };
  const hasDraft = delivered.some((one) => one.target !== null);
  const text = {
    position,
    source: joined.source,
    draft: hasDraft ? draft : null,
    route: routeOf(first, next),
    notes: [...new Set([...first.notes, ...next.notes])],
    failure: hasDraft ? null : (first.failure ?? next.failure),
  };

  await change(context, user, key, token, position, async (transaction) => {
    const save = (row: edits.SegmentRow, text: readonly Piece[]) =>
      saveDraft(transaction, user, key, row, text);
    if (first.revision !== revision || next.revision !== next_revision) throw new SegmentChanged();
    await save(first, target);
    await save(next, next.joined?.own.target ?? shownTarget(next) ?? []);
    await setSegment(transaction, account, jobId, text, first.revision, pick(column));
    if (next.joined) await restore(transaction, key, next, next.joined.own);
    const range = { first: position, last };
    await setJoinedTo(transaction, account, jobId, range, position);
    await moveNotes(transaction, account, jobId, range);
    await takeBack(transaction, account, jobId, [range]);
    if (delivered.some((one) => one.confirmed_by === null)) return;
    await insertHistory(transaction, account, jobId, {
      position,
      kind: 'confirmed',
      target: draft,
      revision: first.revision + 1,
      editorId: user.userId,
    });
  });
  context.wakePropagation();
  return { segments: await show(context, user, key, position, last) };
}

/**
 * Separates joined segments. They get the targets from before the join, as drafts. If the joined target was changed since
 * then, the first segment gets the whole text, and the others get only their codes. A target that was confirmed before the
 * join stays the last confirmed one of its segment.
 * @throws ApiError `conflict`, also if nothing is joined; `stale_lease`, `job_canceled`, `not_found`
 */
export async function separateSegments(
  context: EditingContext,
  user: EditingUser,
  key: store.TaskKey,
  position: number,
  { token, revision }: SeparateRequest,
): Promise<{ segments: SegmentBody[] }> {
  const { account, jobId } = key;
  const { rows } = await openEdit(context, user, key, token, position);
  const [row] = rows;
  if (row?.position !== position) throw notFound();
  const { joined } = row;
  await change(context, user, key, token, position, async (transaction) => {
    if (joined === null || row.revision !== revision) throw new SegmentChanged();
    const { own } = joined;
    const isIntact = isUnchanged(row);
    const target = isIntact ? (own.target ?? own.draft ?? []) : repair(own.source, row.target ?? []).pieces;
    await saveDraft(transaction, user, key, row, target);
    await restore(transaction, key, row, own);
    const range = { first: position, last: joined.last };
    await setJoinedTo(transaction, account, jobId, range, undefined);
    if (isIntact) return;
    for (const part of await edits.readSegments(transaction, account, jobId, position + 1, joined.last)) {
      await saveDraft(transaction, user, key, part, repair(part.source, []).pieces);
    }
  });
  return { segments: await show(context, user, key, position, joined!.last) };
}

/**
 * Writes the text of a segment from before its join. The confirmed target gets a new entry of the history, because
 * earlier revisions count as targets of the joined source.
 */
async function restore(
  transaction: Transaction,
  { account, jobId }: store.TaskKey,
  { position, revision }: edits.SegmentRow,
  { confirmed, ...own }: edits.JoinedSegment,
): Promise<void> {
  await setSegment(transaction, account, jobId, { ...own, position }, revision, undefined);
  if (confirmed === undefined) return;
  const past = { position, kind: 'confirmed', revision: revision + 1, ...confirmed } as const;
  await insertHistory(transaction, account, jobId, past);
}

const confirmedOf = ({ confirmed_by: editorId, target }: edits.SegmentTargetRow) =>
  editorId === null || target === null ? undefined : { target, editorId };

const unitOf = ({ segment_id }: edits.SegmentRow): number => Number.parseInt(segment_id, 10);

/** Returns true if a segment is not joined, or its target is still the one of the join. */
const isUnchanged = ({ joined, target }: edits.SegmentRow): boolean =>
  joined === null || (joined.target !== null && isDeepStrictEqual(joined.target, target));

/** Returns the route of a joined draft: the memory only if the whole draft comes from there. */
function routeOf(...rows: readonly edits.SegmentRow[]): string | null {
  const routes = rows.flatMap(({ route }) => route ?? []);
  return routes.find((route) => !route.startsWith('memory')) ?? routes[0] ?? null;
}

function pick({ last, codes, target, own }: edits.JoinedColumn): edits.JoinedColumn {
  const { source, draft, route, notes, failure, target: before, confirmed } = own;
  return { last, codes, target, own: { source, draft, route, notes, failure, target: before, confirmed } };
}

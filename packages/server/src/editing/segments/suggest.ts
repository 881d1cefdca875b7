/**
 * Memory matches and glossary terms for a segment, the concordance search in the memory, and what a document translates
 * inconsistently.
 */
import { createHash } from 'node:crypto';
import { glossary, rendered } from '@dragoman/checks';
import { hasWords, type Piece, plainText } from '@dragoman/documents';
import { limitAttempts } from '../../access/sessions.ts';
import { notFound } from '../../base/errors.ts';
import { createTurns } from '../../base/turns.ts';
import { readJobTerms } from '../../brands/proposals.ts';
import { compareForEditor, type DraftPurpose } from '../../memory/efforts.ts';
import { concordance } from '../../memory/entries.ts';
import { findMatches, recordUses } from '../../memory/memory.ts';
import { proposalJob } from '../model/check-inputs.ts';
import type { EditingContext, EditingUser } from '../model/context.ts';
import { sourceParts } from '../model/cuts.ts';
import * as editedJobs from '../model/edited-jobs-store.ts';
import * as edits from '../model/edits-store.ts';
import type { ConcordanceBody, InconsistenciesBody, MatchesBody } from '../schemas/suggestion-schemas.ts';
import { type OpenedTask, openTask, requireSegmentAccess } from '../tasks/access.ts';
import type * as store from '../tasks/store.ts';
import { readTone } from '../votes/lessons.ts';
import { hashTarget } from '../votes/readings.ts';
import { readingOf } from '../votes/repeats.ts';
import { draftOriginOf, presentSegments, presentTaskTerm } from './view.ts';

export async function suggest(
  context: EditingContext,
  user: EditingUser,
  key: store.TaskKey,
  position: number,
): Promise<MatchesBody> {
  const task = await openTask(context, user, key, 'held');
  await requireSegmentAccess(context, user, key, task, position);
  const { account, jobId } = key;
  const { database } = context;
  const [job, rows] = await Promise.all([
    editedJobs.readTaskJob(database, account, jobId),
    edits.readSegments(database, account, jobId, position - 1, position + 1),
  ]);
  const sourceAt = (place: number) => rows.find((row) => row.position === place)?.source;
  const row = rows.find((one) => one.position === position);
  if (row === undefined) throw notFound();
  const { source } = row;
  const pair = { from: job.source_language, to: job.target_language, brand: job.brand ?? undefined };
  const terms = await readJobTerms(database, account, proposalJob(jobId, job));
  const purpose = { ...pair, tone: await readTone(database, account, job) };
  const [previous, next] = [sourceAt(position - 1), sourceAt(position + 1)];
  const parts = sourceParts(row);
  const at = { jobId, position };
  const drafting = { ...purpose, format: job.text_format, terms };
  const [drafted, whole, ...ofParts] = await Promise.all([
    takeBetterDraft(context, key, task, row, drafting),
    findMatches(database, account, purpose, source, { previous, next, at }),
    ...parts.map((part, index) => {
      const context = { previous: parts[index - 1] ?? previous, next: parts[index + 1] ?? next, at };
      return findMatches(database, account, purpose, part, context);
    }),
  ]);
  const matches = [
    ...whole,
    ...ofParts.flatMap((found, index) => found.map((match) => ({ ...match, part: index + 1 }))),
  ];
  const found = glossary(terms, job.source_language, job.target_language).find(plainText(source));
  const matched = new Set(found.map(({ term }) => term));
  const [segment] = drafted ? await presentSegments(context, user, key, task, job, [drafted]) : [];
  return {
    ...(segment && { segment }),
    matches: matches.map(({ memoryId, createdAt, brand, tone: confirmedUnder, confirmed, ...match }) => ({
      memory: memoryId,
      ...match,
      ...(brand === undefined ? {} : { brand }),
      ...(confirmedUnder === undefined ? {} : { tone: confirmedUnder }),
      ...(confirmed === undefined ? {} : { origin: confirmed.in, editor: confirmed.by }),
      created_at: createdAt,
    })),
    terms: terms.filter((term) => matched.has(term)).map((term) => presentTaskTerm(user, term)),
  };
}

/**
 * Makes a similar text of the memory the draft of a segment that nobody has edited, if it is a better one than that of
 * the engine: since the job was drafted, editors may have confirmed one. Without an editor, the engine's is delivered.
 * @returns the segment; undefined if it keeps its draft
 */
async function takeBetterDraft(
  { database, rules }: EditingContext,
  { account, jobId }: store.TaskKey,
  task: OpenedTask,
  row: edits.SegmentRow,
  purpose: DraftPurpose,
): Promise<edits.SegmentRow | undefined> {
  const { position, source, route } = row;
  const isOwn = task.kind === 'edit' && position >= task.first_position && position <= task.last_position;
  const isWhole = row.joined === null && row.cuts === null;
  const isUntouched = row.status === 'open' && row.target === null && isWhole;
  // An operator who looks at a task, and the editor of a task next to the segment, change nothing.
  if (!task.holds || !isOwn || !isUntouched || route === null || draftOriginOf(row) !== 'machine')
    return undefined;
  const asked = { source, route, at: { jobId, position } };
  const better = await compareForEditor(database, account, purpose, asked, rules.draftFigures);
  if (!better?.better || better.score <= (row.similar?.score ?? 0)) return undefined;
  const { memoryId, ...similar } = better;
  const isShown = await database.transaction(async (transaction) => {
    const shown = { account, jobId, position, similar: JSON.stringify(similar) };
    if (!(await edits.showSimilar(transaction, shown))) return false;
    await recordUses(transaction, account, jobId, [{ memoryId, position, how: 'applied' }]);
    return true;
  });
  return isShown ? { ...row, similar } : undefined;
}

/**
 * Searches the memory for an editor.
 * @throws ApiError `not_found` if the user does not hold the task; `too_many_attempts` after 120 searches in
 * an hour. The searches while a word is typed count as one
 */
export async function searchTaskMemory(
  context: EditingContext,
  user: EditingUser,
  key: store.TaskKey,
  query: string,
): Promise<ConcordanceBody> {
  await openTask(context, user, key, 'held');
  await countSearch(context, user, query.trim());
  const job = await editedJobs.readTaskJob(context.database, key.account, key.jobId);
  const pair = { from: job.source_language, to: job.target_language, brand: job.brand ?? undefined };
  const place = { jobId: key.jobId, position: -1 }; // Also what the open segment taught.
  const found = await concordance(context.database, key.account, pair, query, place);
  return {
    entries: found.map((entry) => ({
      memory: entry.memoryId,
      source: entry.sourceText,
      target: entry.targetText,
      created_at: entry.createdAt,
      ...(entry.confirmed && { origin: entry.confirmed.in, editor: entry.confirmed.by }),
    })),
  };
}

/**
 * The maximum number of searches of an editor in an hour. An editor needs fewer, and copying a memory would
 * take far more.
 */
const SEARCHES_PER_HOUR = 120;
const HOUR_MS = 3_600_000;

/** The maximum pause between two searches of one word that is being typed. */
const WORD_PAUSE_MS = 10_000;
/** The maximum number of editors whose last search this process remembers. */
const MAX_REMEMBERED = 1_000;

/**
 * The last search of each editor, the latest one last. Each process has its own, so with several processes, a word may
 * count once in each of them.
 */
const lastSearches = new Map<string, { words: string; at: number }>();

/**
 * Counts a search in the table that also counts sign-in attempts, unless the editor only adds letters to the last
 * word of the search before. Each hour has its own key, so that a refused editor waits until the next hour at most.
 */
async function countSearch(
  { database }: EditingContext,
  { userId }: EditingUser,
  words: string,
): Promise<void> {
  if (!isTypedOn(lastSearches.get(userId), words)) {
    const hour = Math.floor(Date.now() / HOUR_MS);
    const mark = createHash('sha256').update(`concordance ${userId} ${hour}`).digest();
    const mostSeconds = Math.ceil(((hour + 1) * HOUR_MS - Date.now()) / 1000);
    await limitAttempts(database, mark, { free: SEARCHES_PER_HOUR, mostSeconds });
  }
  // A refused search is not remembered, because a longer form of it must be counted.
  lastSearches.delete(userId);
  lastSearches.set(userId, { words, at: Date.now() });
  if (lastSearches.size > MAX_REMEMBERED) lastSearches.delete(lastSearches.keys().next().value!);
}

/** Returns true if the words are those of the last search with more letters in the last word. */
function isTypedOn(last: { words: string; at: number } | undefined, words: string): boolean {
  if (last === undefined || Date.now() - last.at > WORD_PAUSE_MS) return false;
  return words.startsWith(last.words) && /^\S+$/.test(words.slice(last.words.length));
}

/** The maximum number of sources, and of texts, that are listed. */
const MAX_LISTED = 100;

/**
 * Returns the sources that have different confirmed texts in the document of a task, and the confirmed texts that have
 * sources with different terms, in the order of the document. Sources without such terms may well share a text.
 * @throws ApiError `not_found` if the user does not hold the task
 */
export async function findInconsistencies(
  context: EditingContext,
  user: EditingUser,
  key: store.TaskKey,
): Promise<InconsistenciesBody> {
  await openTask(context, user, key, 'held');
  const { database } = context;
  const { account, jobId } = key;
  const [rows, job] = await Promise.all([
    edits.readSegments(database, account, jobId, 0, edits.MAX_POSITION),
    editedJobs.readTaskJob(database, account, jobId),
  ]);
  const terms = await readJobTerms(database, account, proposalJob(jobId, job));
  const matcher = glossary(terms, job.source_language, job.target_language);
  const turn = createTurns();
  const confirmed: ConfirmedText[] = [];
  for (const { position, source, target, status } of rows) {
    if (status !== 'confirmed' || target === null || !hasWords(source)) continue;
    const text = hashTarget(source, target).toString('base64');
    confirmed.push({ position, source, target, reading: readingOf(source), text, terms: '' });
    await turn(source.length + target.length);
  }
  const several = differing(confirmed, 'reading', 'text');
  const shared = matcher.empty ? [] : differing(confirmed, 'text', 'reading').flat(2);
  for (const one of shared) {
    const targets = matcher.compare(one.source, one.target).wanted.map(({ term }) => rendered(term));
    one.terms = [...new Set(targets)].sort().join('\n');
    await turn(one.source.length);
  }
  const withTerms = shared.filter(({ terms: wanted }) => wanted !== '');
  const texts = differing(withTerms, 'text', 'terms');
  return {
    count: several.length,
    sources: several.slice(0, MAX_LISTED).map((groups) => ({
      source: groups[0]![0]!.source,
      texts: groups.map((same) => ({ target: same[0]!.target, positions: same.map(positionOf) })),
    })),
    text_count: texts.length,
    texts: texts.slice(0, MAX_LISTED).map((groups) => ({
      target: groups[0]![0]!.target,
      sources: groups.map((same) => ({ source: same[0]!.source, positions: same.map(positionOf) })),
    })),
  };
}

interface ConfirmedText {
  position: number;
  source: Piece[];
  target: Piece[];
  /** The same for equal sources. */
  reading: string;
  /** The same for equal targets. */
  text: string;
  /** The targets of the glossary terms in the source. */
  terms: string;
}

const positionOf = ({ position }: ConfirmedText): number => position;

/** Groups segments that are equal in `same`, and each group by `by`. @returns the groups with several values of `by` */
function differing(
  segments: readonly ConfirmedText[],
  same: 'reading' | 'text',
  by: 'reading' | 'text' | 'terms',
): ConfirmedText[][][] {
  return [...Map.groupBy(segments, (one) => one[same]).values()]
    .map((group) => [...Map.groupBy(group, (one) => one[by]).values()])
    .filter((groups) => groups.length > 1);
}

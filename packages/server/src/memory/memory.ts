/**
 * The translation memory: an account's confirmed translations, by brand and language pair.
 *
 * An entry is one translation of one segment. It comes from an import or from an edited job. A lesson is the
 * record that a job's segment added or confirmed an entry, with the editor, the neighbouring segments and the
 * outcome of the job. The weight of an entry is that of its best lesson:
 *
 *   withdrawn, or only rejected lessons              0: not used
 *   import                                           1
 *   delivered, reviewed, accepted by the customer    2, 3, 4
 *
 * Translations of a source are ranked. Translations of the brand come before translations for every brand.
 * The next criteria are the requested tone, the weight, and the time: the latest translation comes first. A
 * translation of another tone is shown to editors as a match, but is never a draft. Machine translations and
 * jobs of the sandbox add no entries.
 */
import { similarity } from '@dragoman/checks';
import { Limits, type Piece, plainText } from '@dragoman/documents';
import type { AccountRef, Environment } from '../base/account.ts';
import { uuidv7 } from '../base/ids.ts';
import { createTurns } from '../base/turns.ts';
import type { Queryable, Transaction } from '../database/database.ts';
import {
  contextHashOf,
  type EntryKeys,
  entryKeysOf,
  exactFirst,
  fit,
  hashOf,
  isKept,
  keysOf,
  type StoredPair,
  searchable,
  toStoredForm,
} from './form.ts';
import * as lessonsStore from './lessons-store.ts';
import { withNumbersOf } from './numbers.ts';
import { sketchOf } from './sketch.ts';
import * as store from './store.ts';
import { MAX_SEGMENT } from './tmx.ts';

export { deleteLessonsOf as forgetSegments } from './lessons-store.ts';
export type { MemoryPair, MemoryPurpose } from './store.ts';

/** The maximum number of source hashes in one SQL statement. */
const CHUNK = 5_000;
/**
 * How long the program caches, in milliseconds, whether an account has entries. Most accounts have none, and
 * their jobs skip the memory.
 */
const CACHE_MILLISECONDS = 5_000;
const CACHED_ACCOUNTS = 10_000;
const cache = new Map<string, { has: boolean; until: number }>();

/** Returns whether an account has memory entries. The answer may be five seconds old. */
export async function hasMemory(on: Queryable, account: AccountRef): Promise<boolean> {
  const cached = cache.get(account.accountId);
  if (cached !== undefined && performance.now() < cached.until) return cached.has;
  const has = await store.hasEntries(on, account);
  if (cache.size >= CACHED_ACCOUNTS) cache.clear();
  cache.set(account.accountId, { has, until: performance.now() + CACHE_MILLISECONDS });
  return has;
}

/** A segment to look up. The neighbour before the first segment and after the last one is undefined. */
export interface SegmentInContext {
  source: readonly Piece[];
  previous: readonly Piece[] | undefined;
  next: readonly Piece[] | undefined;
}

/** Adds the previous and the next segment to each segment of a text. */
export function withNeighbours(sources: readonly (readonly Piece[])[]): SegmentInContext[] {
  return sources.map((source, index) => ({
    source,
    previous: sources[index - 1],
    next: sources[index + 1],
  }));
}

/** A translation that can be used unchanged. Its codes have the numbers of the codes in the looked-up source. */
export interface RecalledTarget {
  memoryId: string;
  kind: 'context' | 'exact';
  pieces: Piece[];
  /** Whether an editor confirmed the translation in a delivered job; false if it was only imported. */
  confirmed: boolean;
}

/** Returns the stored translation of each segment; undefined for segments without one. */
export async function recall(
  on: Queryable,
  account: AccountRef,
  purpose: store.MemoryPurpose,
  segments: readonly SegmentInContext[],
): Promise<(RecalledTarget | undefined)[]> {
  if (!(await hasMemory(on, account))) return segments.map(() => undefined);
  const keys = await keysOfAll(segments.map(({ source }) => source));
  const hashed = new Map(segments.map(({ source }, index) => [source, keys[index]![0]]));
  const exact: store.TargetRow[] = [];
  const unique = [...new Map(keys.flat().map((key) => [key.toString('base64'), key])).values()];
  for (const chunk of chunksOf(unique)) {
    exact.push(...(await store.findTargets(on, account, purpose, chunk)));
  }
  const known = Map.groupBy(exact, (row) => row.source_hash.toString('base64'));
  const asked = segments.flatMap(({ previous, next }, index) => {
    const hash = (one: readonly Piece[]) => hashed.get(one) ?? hashOf(one);
    const found = keys[index]!.filter((key) => known.has(key.toString('base64')));
    const context = found.length === 0 ? undefined : contextHashOf(previous, next, hash);
    return context === undefined ? [] : found.map((key) => ({ index, hash: key, context }));
  });
  const contexts = new Map<number, string[]>();
  const inContext: (store.TargetRow & { context_hash: Buffer })[] = [];
  const nameOf = (hash: Buffer, context: Buffer) =>
    `${hash.toString('base64')} ${context.toString('base64')}`;
  for (const { index, hash, context } of asked) {
    contexts.set(index, [...(contexts.get(index) ?? []), nameOf(hash, context)]);
  }
  for (const chunk of chunksOf(asked)) {
    inContext.push(...(await store.findTargetsInContext(on, account, purpose, chunk)));
  }
  const targetsInContext = Map.groupBy(inContext, (row) => nameOf(row.source_hash, row.context_hash));
  const turn = createTurns();
  const recalled: (RecalledTarget | undefined)[] = [];
  for (const [index, { source }] of segments.entries()) {
    const inPlace = (contexts.get(index) ?? []).flatMap((name) => targetsInContext.get(name) ?? []);
    const anywhere = keys[index]!.flatMap((key) => known.get(key.toString('base64')) ?? []);
    recalled.push(firstFitting(source, inPlace, 'context') ?? firstFitting(source, anywhere, 'exact'));
    await turn(source.length);
  }
  return recalled;
}

async function keysOfAll(sources: readonly (readonly Piece[])[]): Promise<[Buffer, ...Buffer[]][]> {
  const turn = createTurns();
  const keys: [Buffer, ...Buffer[]][] = [];
  for (const source of sources) {
    keys.push(keysOf(source));
    await turn(source.length);
  }
  return keys;
}

/** Returns the first target that fits the codes of the source. Entries with exactly its text come first. */
function firstFitting(
  source: readonly Piece[],
  rows: readonly store.TargetRow[],
  kind: RecalledTarget['kind'],
): RecalledTarget | undefined {
  for (const row of exactFirst(source, rows)) {
    const { pieces, complete } = fit(source, row);
    if (complete) return { memoryId: row.memory_id, kind, pieces, confirmed: row.weight > IMPORT_WEIGHT };
  }
  return undefined;
}

function* chunksOf<T>(all: readonly T[]): Generator<T[]> {
  for (let start = 0; start < all.length; start += CHUNK) yield all.slice(start, start + CHUNK);
}

/** A match that is offered to an editor. */
export interface Match {
  memoryId: string;
  /** The source of the matching memory entry. */
  source: Piece[];
  /** The target. Its codes have the numbers of the codes in the segment; codes that do not fit are removed. */
  target: Piece[];
  /** The similarity in percent, which is 100 only if the texts look the same and the codes are identical. */
  score: number;
  kind: 'context' | 'exact' | 'fuzzy';
  origin: store.Origin;
  createdAt: Date;
  brand: string | undefined;
  /** The tone of the job in which the translation was confirmed. */
  tone: string | undefined;
  /** The name of the editor who confirmed it in a job that was not delivered since: in this job, or in another one. */
  confirmed: { in: 'document' | 'open_job'; by: string } | undefined;
}

/** Where the segment is for which an editor gets matches. */
export interface MatchPlace extends Partial<Pick<SegmentInContext, 'previous' | 'next'>> {
  /** Undefined if the matches are for no editor: only what was delivered is found then. */
  at?: store.OpenSegment | undefined;
}

const MAX_MATCHES = 5;
/** Each translation may have an entry for both usual spellings of the source, and is shown once. */
const MAX_SAME = 2 * MAX_MATCHES;
/** The lowest score of a match that editors see. Less similar matches do not help them. */
export const LEAST_SCORE = 60;
const MAX_CANDIDATES = 40;
/** Points deducted if codes or protected words of the segment are missing in the match. */
export const CODE_PENALTY = 3;
/** Points deducted if the same source was confirmed with another tone. */
const TONE_PENALTY = 1;

/**
 * Returns exact and fuzzy matches for a segment, best first. An editor also gets what was confirmed in this document and
 * in jobs that are open, and translations that differ only in numbers with the numbers of the segment.
 */
export async function findMatches(
  on: Queryable,
  account: AccountRef,
  purpose: store.MemoryPurpose,
  source: readonly Piece[],
  { previous, next, at }: MatchPlace = {},
): Promise<Match[]> {
  const asked = { hashes: keysOf(source), context: contextHashOf(previous, next), limit: MAX_SAME };
  const text = plainText(source);
  const sketch = sketchOf(text, saltOf(account, purpose));
  const [same, alike] = await Promise.all([
    store.findSame(on, account, purpose, asked, at),
    sketch.length === 0
      ? []
      : store.findAlike(on, account, purpose, sketch, { limit: MAX_CANDIDATES, among: 'all', at }),
  ]);
  const identical = new Set(same.map(({ memory_id }) => memory_id));
  const matches = [
    ...exactFirst(source, same).map((row) =>
      row.in_tone
        ? matchOf(source, row, 100, row.in_context ? 'context' : 'exact')
        : matchOf(source, row, 100 - TONE_PENALTY, 'fuzzy'),
    ),
    ...alike.flatMap((row) => {
      if (identical.has(row.memory_id)) return [];
      const filled = at && withNumbersOf(source, row, [purpose.from, purpose.to]);
      const score = scoreOf(text, plainText((filled ?? row).source));
      return score < LEAST_SCORE ? [] : [matchOf(source, row, score, 'fuzzy', filled)];
    }),
  ].filter(({ score }) => score >= LEAST_SCORE);
  const order = { context: 0, exact: 1, fuzzy: 2 };
  const isHere = ({ confirmed }: Match) => Number(confirmed?.in === 'document');
  // The sort is stable, so other matches with the same score keep the order of the database.
  matches.sort((a, b) => order[a.kind] - order[b.kind] || b.score - a.score || isHere(b) - isHere(a));
  const shown = new Set<string>();
  return matches
    .filter(({ target }) => {
      const words = JSON.stringify(target);
      return !shown.has(words) && shown.add(words);
    })
    .slice(0, MAX_MATCHES);
}

function matchOf(
  source: readonly Piece[],
  row: store.EntryRow & store.Support,
  closeness: number,
  kind: Match['kind'],
  pair: StoredPair = row,
): Match {
  const { pieces, complete } = fit(source, pair);
  return {
    memoryId: row.memory_id,
    source: row.source,
    target: pieces,
    score: closeness - (complete ? 0 : CODE_PENALTY),
    kind: complete ? kind : 'fuzzy',
    origin: row.origin,
    createdAt: row.created_at,
    brand: row.brand === '' ? undefined : row.brand,
    tone: row.tone ?? undefined,
    confirmed: confirmationOf(row),
  };
}

/** Returns who confirmed an entry, and whether it was in the document of the editor. */
export function confirmationOf({ in_job, confirmed_by }: store.Support): Match['confirmed'] {
  return in_job === null ? undefined : { in: in_job ? 'document' : 'open_job', by: confirmed_by ?? '' };
}

/**
 * Returns the mean of the similarities by characters and by words. Similarity by characters gives short words
 * too much weight; similarity by words gives a changed inflection too much weight.
 * @param least a lower score may be returned as 0, which saves time
 */
export function scoreOf(one: string, other: string, least = LEAST_SCORE): number {
  // If one similarity is at most 1, the other must be at least this for their mean to be `least`.
  const lowest = Math.max(LEAST_SCORE / 200, least / 50 - 1);
  const byWord = similarity(one, other, 'word', lowest);
  if (byWord === 0) return 0;
  const score = Math.floor(50 * (byWord + similarity(one, other, 'grapheme', lowest)));
  // Only identical texts score 100. Texts that differ in codes or white space score less.
  return Math.min(score, 99);
}

/** Returns the best matches as text, best first, as examples for a language model. */
export async function findExamples(
  on: Queryable,
  account: AccountRef,
  purpose: store.MemoryPurpose,
  source: readonly Piece[],
  limit: number,
): Promise<{ source: string; target: string; score: number }[]> {
  if (!(await hasMemory(on, account))) return [];
  const matches = await findMatches(on, account, purpose, source);
  return matches.slice(0, limit).map((match) => ({
    source: plainText(match.source),
    target: plainText(match.target),
    score: match.score,
  }));
}

export const IMPORT_WEIGHT = 1;
const WEIGHTS = { delivered: 2, reviewed: 3 } as const;
/** The maximum number of entries in one SQL statement. */
const BATCH = 1_000;

export interface MemoryEntry {
  /** The tone of the entry; undefined if none or unknown. */
  tone?: string | undefined;
  source: readonly Piece[];
  target: readonly Piece[];
}

/** Imports entries, except those that are empty, too long or have too many codes. @returns the number of different entries */
export async function importEntries(
  on: Queryable,
  account: AccountRef,
  pair: store.MemoryPair,
  entries: readonly MemoryEntry[],
): Promise<number> {
  const stored = entries.filter(({ source, target }) => isStored(source) && isStored(target));
  const written = await write(on, account, pair, { origin: 'import', weight: IMPORT_WEIGHT }, stored);
  return new Set(written).size;
}

/** Writes entries. @returns the id of each entry */
async function write(
  on: Queryable,
  account: AccountRef,
  pair: store.MemoryPair,
  as: { origin: store.Origin; weight: number },
  entries: readonly MemoryEntry[],
): Promise<string[]> {
  const ids = new Map<string, string>();
  const names: string[] = [];
  const current = new Map<string, string>();
  const nameOf = ({ sourceHash, targetHash }: EntryKeys) =>
    `${sourceHash.toString('base64')} ${targetHash.toString('base64')}`;
  const turn = createTurns();
  for (let start = 0; start < entries.length; start += BATCH) {
    // Removes duplicates, because `on conflict` cannot update the same row twice in one statement.
    const batch = new Map<string, store.NewMemory>();
    for (const given of entries.slice(start, start + BATCH)) {
      await turn(given.source.length + given.target.length);
      const entry = entryOf(account, pair, given);
      const name = nameOf(entry.keys);
      names.push(name);
      if (entry.former !== undefined) current.set(nameOf(entry.former), name);
      if (!ids.has(name)) batch.set(name, entry);
    }
    const rows = await store.writeMemory(on, account, pair, as, [...batch.values()]);
    for (const { memory_id, source_hash, target_hash } of rows) {
      const name = nameOf({ sourceHash: source_hash, targetHash: target_hash });
      ids.set(current.get(name) ?? name, memory_id);
    }
  }
  cache.delete(account.accountId);
  return names.map((name) => ids.get(name)!);
}

function entryOf(account: AccountRef, pair: store.MemoryPair, given: MemoryEntry): store.NewMemory {
  const { source, target } = toStoredForm(given.source, given.target);
  const { tone } = given;
  const text = plainText(source);
  return {
    memoryId: uuidv7(),
    ...entryKeysOf(given.source, { source, target }, tone),
    tone,
    source,
    target,
    sketch: sketchOf(text, saltOf(account, pair)),
    searched: `${searchable(text)} | ${searchable(plainText(target))}`,
  };
}

/** Returns the salt of the sketches of an account and language pair. */
export function saltOf(account: AccountRef, { from, to }: store.MemoryPair): string {
  return `${account.accountId} ${from} ${to}`;
}

/** A job whose segments are learned. */
export interface LearnedJob extends store.MemoryPurpose {
  jobId: string;
}

export interface LearnedSegment {
  position: number;
  source: readonly Piece[];
  /** Undefined if the segment is not confirmed. */
  target: readonly Piece[] | undefined;
  /** The user who confirmed the segment last. */
  editor: string | undefined;
  /** The parts of a split segment, in order; undefined in the place of a part that is not learned. */
  parts?: readonly ({ source: readonly Piece[]; target: readonly Piece[] } | undefined)[];
}

export interface FinishedJob extends LearnedJob {
  environment: Environment;
  outcome: 'delivered' | 'reviewed';
  /** All segments in order, because entries store their neighbouring segments. */
  segments: readonly LearnedSegment[];
}

/**
 * Replaces line breaks in a target whose source has none. Such line breaks, as in subtitles, fit only one
 * cue.
 */
function withBreaksOf(source: readonly Piece[], target: readonly Piece[]): readonly Piece[] {
  if (plainText(source).includes('\n')) return target;
  return target.map((piece) =>
    'text' in piece && !('keep' in piece) ? { text: piece.text.replaceAll('\n', ' ') } : piece,
  );
}

/**
 * Adds the confirmed segments of a finished job to the memory, in the transaction that completes the job. They replace
 * all lessons that the job added before. Jobs of the sandbox add nothing. @returns the number of segments and parts that
 * were added
 */
export async function learnFromJob(
  transaction: Transaction,
  account: AccountRef,
  job: FinishedJob,
): Promise<number> {
  if (job.environment === 'sandbox') return 0;
  const { jobId, outcome } = job;
  const before = await lessonsStore.deleteLessons(transaction, { account, jobId });
  const lessons = await writeLessons(transaction, account, job, WEIGHTS[outcome], job.segments);
  const ids = lessons.map(({ memoryId }) => memoryId);
  // An editor who confirmed an entry unchanged has used it.
  const known = await lessonsStore.findTaughtBefore(transaction, account, jobId, ids);
  const taken = lessons.filter(({ memoryId }) => known.has(memoryId));
  if (lessons.length > 0) await lessonsStore.insertLessons(transaction, account, { jobId, outcome }, lessons);
  const uses = taken.map(({ memoryId, position }) => ({ memoryId, position, how: 'taken' as const }));
  await recordUses(transaction, account, jobId, uses);
  const touched = [...new Set([...before, ...ids])].sort();
  if (touched.length > 0)
    await lessonsStore.updateWeights(transaction, {
      account,
      memoryIds: touched,
      importWeight: IMPORT_WEIGHT,
    });
  return lessons.length;
}

/**
 * Adds a segment to the memory in the transaction in which its editor confirms it. Until the job is delivered, only
 * editors find the text, and no price depends on it. It replaces what the segment taught before.
 */
export async function learnFromSegment(
  transaction: Transaction,
  account: AccountRef,
  job: LearnedJob,
  segment: LearnedSegment,
): Promise<void> {
  const lessons = await writeLessons(transaction, account, job, 0, [segment]);
  const { jobId } = job;
  const range = { jobId, first: segment.position, last: segment.position };
  const taught = lessons.map(({ memoryId }) => memoryId);
  await lessonsStore.deleteLessonsOf(transaction, account, [range], taught);
  // Without neighbours, because a price may depend on them.
  const stored = lessons.map((lesson) => ({ ...lesson, context: undefined }));
  await lessonsStore.insertLessons(transaction, account, { jobId, outcome: 'confirmed' }, stored);
}

/** The maximum number of accounts in a round, and of entries in one statement. */
const MAX_STALE = 500;

/** Deletes what is left of segments that were confirmed in jobs that were not delivered. */
export async function cleanLessons(on: Queryable, ended = () => false): Promise<void> {
  const limit = MAX_STALE;
  for (const account of await lessonsStore.findUndelivered(on, { limit })) {
    while (!ended() && (await lessonsStore.deleteStaleLessons(on, { account, limit })).length === limit);
  }
}

/** Writes the entries of confirmed segments. @returns their lessons, which are not stored yet */
async function writeLessons(
  transaction: Transaction,
  account: AccountRef,
  job: LearnedJob,
  weight: number,
  segments: readonly LearnedSegment[],
): Promise<lessonsStore.NewLesson[]> {
  const taught = withParts(segments).flatMap(({ source, target, previous, next, ...segment }) => {
    if (target === undefined || !isStored(source) || !isStored(target)) return [];
    const context = contextHashOf(previous, next);
    return [{ ...segment, source, target: withBreaksOf(source, target), tone: job.tone, context }];
  });
  const ids = await write(transaction, account, job, { origin: 'job', weight }, taught);
  return taught.map(({ position, editor, context }, index) => ({
    position,
    editor,
    context,
    memoryId: ids[index]!,
  }));
}

/** Returns the segments of a job with their neighbours, each followed by its parts. */
function withParts(segments: readonly LearnedSegment[]) {
  return segments.flatMap(({ parts = [], ...segment }, index) => {
    const [previous, next] = [segments[index - 1]?.source, segments[index + 1]?.source];
    const learned = parts.flatMap((part, at) => {
      if (part === undefined) return [];
      const context = { previous: parts[at - 1]?.source, next: parts[at + 1]?.source };
      if (at === 0) context.previous = previous;
      if (at === parts.length - 1) context.next = next;
      return [{ ...segment, ...part, ...context }];
    });
    return [{ ...segment, previous, next }, ...learned];
  });
}

/**
 * Returns false for a text that is not added to the memory: it is empty, too long for an export, or has more codes than
 * a unit of a document may have. Each request that finds an entry reads all of its codes.
 */
function isStored(pieces: readonly Piece[]): boolean {
  const text = plainText(pieces);
  const codes = pieces.filter((piece) => !('text' in piece) || isKept(piece)).length;
  return text.trim() !== '' && text.length <= MAX_SEGMENT && codes <= Limits.codes;
}

/**
 * Stores the customer's acceptance or rejection of a job in the job's lessons, and updates the weights of
 * their entries.
 */
export async function rateLessons(
  transaction: Transaction,
  account: AccountRef,
  jobId: string,
  outcome: 'accepted' | 'rejected',
): Promise<void> {
  const touched = [
    ...new Set(await lessonsStore.setOutcome(transaction, { account, jobId, outcome })),
  ].sort();
  if (touched.length > 0)
    await lessonsStore.updateWeights(transaction, {
      account,
      memoryIds: touched,
      importWeight: IMPORT_WEIGHT,
    });
}

/** Records where entries were used, so that a withdrawal can list the jobs. Ignores unknown entries. */
export async function recordUses(
  on: Queryable,
  account: AccountRef,
  jobId: string,
  uses: readonly { memoryId: string; position: number; how: lessonsStore.Use }[],
): Promise<void> {
  if (uses.length > 0) await lessonsStore.insertUses(on, account, jobId, uses);
}

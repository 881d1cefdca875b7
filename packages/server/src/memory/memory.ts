/**
 * Translation memory: what an account has translated before, by brand and pair.
 *
 * An entry is one translation of one segment. It comes from a file (`import`), or from people's work on a job, each
 * segment of which is a lesson: of whom, in which place, and how it was received. An entry weighs as much as its best
 * lesson:
 *
 *   retracted, or only lessons that were rejected    nothing: it is not used any more
 *   import                                           1
 *   delivered, reviewed, accepted by the customer    2, 3, 4
 *
 * Of several translations of a source a brand's own goes before one for every brand, then one of the tone that is asked
 * for, then the heavier, then the later. One that was confirmed under another tone is a match, never a draft.
 * What a machine made is never learned from, nor is anything in the sandbox.
 */
import { createHash } from 'node:crypto';
import { similarity } from '@dragoman/checks';
import type { Piece } from '@dragoman/documents';
import type { AccountRef, Environment } from '../account.ts';
import type { Queryable, Transaction } from '../database/database.ts';
import { uuidv7 } from '../ids.ts';
import { contextOf, fit, hashOf, isKept, remember, searchable, textOf } from './form.ts';
import { sketchOf } from './sketch.ts';
import * as store from './store.ts';
import { MAX_SEGMENT } from './tmx.ts';

export type { MemoryPair, Origin, Purpose, Use } from './store.ts';

/** Hashes of one question to the database. */
const CHUNK = 5_000;
/** Whether an account has a memory at all is remembered so long: most have none, and their jobs need not ask. */
const REMEMBER_MILLISECONDS = 5_000;
const REMEMBER_ACCOUNTS = 10_000;
const known = new Map<string, { has: boolean; until: number }>();

export async function hasMemory(on: Queryable, account: AccountRef): Promise<boolean> {
  const remembered = known.get(account.accountId);
  if (remembered !== undefined && performance.now() < remembered.until) return remembered.has;
  const has = await store.hasMemory(on, account);
  if (known.size >= REMEMBER_ACCOUNTS) known.clear();
  known.set(account.accountId, { has, until: performance.now() + REMEMBER_MILLISECONDS });
  return has;
}

/** A segment to be looked up, with its neighbours in the text; undefined at its edges. */
export interface Place {
  source: readonly Piece[];
  previous: readonly Piece[] | undefined;
  next: readonly Piece[] | undefined;
}

/** The segments of a text, in its order. */
export function inTheirPlaces(sources: readonly (readonly Piece[])[]): Place[] {
  return sources.map((source, index) => ({
    source,
    previous: sources[index - 1],
    next: sources[index + 1],
  }));
}

/** A translation that can be used as it is, in the numbers of the source that asked. */
export interface Recalled {
  memoryId: string;
  kind: 'context' | 'exact';
  pieces: Piece[];
}

/** The translations of segments that the account has translated before; undefined for the others. */
export async function recall(
  on: Queryable,
  account: AccountRef,
  purpose: store.Purpose,
  places: readonly Place[],
): Promise<(Recalled | undefined)[]> {
  if (!(await hasMemory(on, account))) return places.map(() => undefined);
  const hashes = await hashesOf(places.map(({ source }) => source));
  const hashed = new Map(places.map(({ source }, index) => [source, hashes[index]!]));
  const names = hashes.map((hash) => hash.toString('base64'));
  const exact: store.TargetRow[] = [];
  const unique = [...new Map(names.map((name, index) => [name, hashes[index]!])).values()];
  for (const chunk of chunksOf(unique)) {
    exact.push(...(await store.findTargets(on, account, purpose, chunk)));
  }
  const known = Map.groupBy(exact, (row) => row.source_hash.toString('base64'));
  const asked = places.flatMap(({ previous, next }, index) => {
    const hash = (one: readonly Piece[]) => hashed.get(one) ?? hashOf(one);
    const context = known.has(names[index]!) ? contextOf(previous, next, hash) : undefined;
    return context === undefined ? [] : [{ index, hash: hashes[index]!, context }];
  });
  const contexts = new Map<number, string>();
  const inContext: (store.TargetRow & { context_hash: Buffer })[] = [];
  const nameOf = (hash: Buffer, context: Buffer) =>
    `${hash.toString('base64')} ${context.toString('base64')}`;
  for (const { index, hash, context } of asked) contexts.set(index, nameOf(hash, context));
  for (const chunk of chunksOf(asked)) {
    inContext.push(...(await store.findTargetsInContext(on, account, purpose, chunk)));
  }
  const there = Map.groupBy(inContext, (row) => nameOf(row.source_hash, row.context_hash));
  return places.map(
    ({ source }, index) =>
      use(source, there.get(contexts.get(index) ?? ''), 'context') ??
      use(source, known.get(names[index]!), 'exact'),
  );
}

/** Hashes between two breaths of the event loop. */
const BREATH = 500;

async function hashesOf(sources: readonly (readonly Piece[])[]): Promise<Buffer[]> {
  const hashes: Buffer[] = [];
  for (const source of sources) {
    hashes.push(hashOf(source));
    if (hashes.length % BREATH === 0) await new Promise((resolve) => setImmediate(resolve));
  }
  return hashes;
}

/** The first that fits. */
function use(
  source: readonly Piece[],
  rows: readonly store.TargetRow[] = [],
  kind: Recalled['kind'],
): Recalled | undefined {
  for (const row of rows) {
    const { pieces, complete } = fit(source, row);
    if (complete) return { memoryId: row.memory_id, kind, pieces };
  }
  return undefined;
}

function* chunksOf<T>(all: readonly T[]): Generator<T[]> {
  for (let start = 0; start < all.length; start += CHUNK) yield all.slice(start, start + CHUNK);
}

/** What was translated before and is like a segment, as an editor is offered it. */
export interface Match {
  memoryId: string;
  /** As it was remembered. */
  source: Piece[];
  /** In the numbers of the segment that asked; without codes where those of the match do not fit. */
  target: Piece[];
  /** 100: the same, to the letter and the codes; below: how much of it is the same. */
  score: number;
  kind: 'context' | 'exact' | 'fuzzy';
  origin: store.Origin;
  createdAt: Date;
  brand: string | undefined;
  /** The tone that it was confirmed under. */
  tone: string | undefined;
}

const MAX_MATCHES = 5;
/** Less alike than this, a match is no help to anybody. */
export const LEAST_SCORE = 60;
const MAX_CANDIDATES = 40;
/** Taken off where codes or protected words of the segment are not in the match. */
const CODE_PENALTY = 3;
/** Taken off where the same source was confirmed under another tone. */
const TONE_PENALTY = 1;

/** What was translated before and is the same or alike, the best first. */
export async function findMatches(
  on: Queryable,
  account: AccountRef,
  purpose: store.Purpose,
  source: readonly Piece[],
  { previous, next }: Partial<Pick<Place, 'previous' | 'next'>> = {},
): Promise<Match[]> {
  if (!(await hasMemory(on, account))) return [];
  const asked = { hash: hashOf(source), context: contextOf(previous, next), limit: MAX_MATCHES };
  const text = textOf(source);
  const sketch = sketchOf(text, saltOf(account, purpose));
  const [same, alike] = await Promise.all([
    store.findSame(on, account, purpose, asked),
    sketch.length === 0 ? [] : store.findAlike(on, account, purpose, sketch, MAX_CANDIDATES),
  ]);
  const identical = new Set(same.map(({ memory_id }) => memory_id));
  const matches = [
    ...same.map((row) =>
      row.in_tone
        ? matchOf(source, row, 100, row.in_context ? 'context' : 'exact')
        : matchOf(source, row, 100 - TONE_PENALTY, 'fuzzy'),
    ),
    ...alike.flatMap((row) => {
      if (identical.has(row.memory_id)) return [];
      const score = scoreOf(text, textOf(row.source));
      return score < LEAST_SCORE ? [] : [matchOf(source, row, score, 'fuzzy')];
    }),
  ].filter(({ score }) => score >= LEAST_SCORE);
  const order = { context: 0, exact: 1, fuzzy: 2 };
  // Sorting keeps the order of equals: that of the database.
  matches.sort((a, b) => order[a.kind] - order[b.kind] || b.score - a.score);
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
  row: store.EntryRow,
  closeness: number,
  kind: Match['kind'],
): Match {
  const { pieces, complete } = fit(source, row);
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
  };
}

/** By character and by word: by characters alone two short words are always alike, by words alone an ending is all. */
function scoreOf(one: string, other: string): number {
  const least = LEAST_SCORE / 100 / 2;
  const byWord = similarity(one, other, 'word', least);
  if (byWord === 0) return 0;
  const score = Math.floor(50 * (byWord + similarity(one, other, 'grapheme', least)));
  // Other codes, or other white space: alike, but not the same.
  return Math.min(score, 99);
}

/** Nearest translations for a language model to go by: as text, the nearest first. */
export async function findExamples(
  on: Queryable,
  account: AccountRef,
  purpose: store.Purpose,
  source: readonly Piece[],
  limit: number,
): Promise<{ source: string; target: string; score: number }[]> {
  const matches = await findMatches(on, account, purpose, source);
  return matches.slice(0, limit).map((match) => ({
    source: textOf(match.source),
    target: textOf(match.target),
    score: match.score,
  }));
}

const IMPORT_WEIGHT = 1;
const WEIGHTS = { delivered: 2, reviewed: 3 } as const;
/** Rows of one statement: what they bring along is of some size. */
const BATCH = 1_000;

export interface MemoryEntry {
  /** Undefined: not known, or none was asked for. */
  tone?: string | undefined;
  source: readonly Piece[];
  target: readonly Piece[];
}

/** Brings entries in from elsewhere. @returns how many different ones there were */
export async function importEntries(
  on: Queryable,
  account: AccountRef,
  pair: store.MemoryPair,
  entries: readonly MemoryEntry[],
): Promise<number> {
  const written = await write(on, account, pair, { origin: 'import', weight: IMPORT_WEIGHT }, entries);
  return new Set(written.map(({ id }) => id)).size;
}

/** @returns for each that was given its entry, and whether that was there before */
async function write(
  on: Queryable,
  account: AccountRef,
  pair: store.MemoryPair,
  as: { origin: store.Origin; weight: number },
  entries: readonly MemoryEntry[],
): Promise<{ id: string; confirmed: boolean }[]> {
  const ids = new Map<string, { id: string; confirmed: boolean }>();
  const names: string[] = [];
  for (let start = 0; start < entries.length; start += BATCH) {
    // One statement cannot write the same row twice.
    const batch = new Map<string, store.NewMemory>();
    for (const given of entries.slice(start, start + BATCH)) {
      const entry = entryOf(account, pair, given);
      const name = `${entry.sourceHash.toString('base64')} ${entry.targetHash.toString('base64')}`;
      names.push(name);
      if (!ids.has(name)) batch.set(name, entry);
    }
    const rows = await store.writeMemory(on, account, pair, as, [...batch.values()]);
    for (const { memory_id: id, source_hash, target_hash, confirmed } of rows) {
      ids.set(`${source_hash.toString('base64')} ${target_hash.toString('base64')}`, { id, confirmed });
    }
  }
  known.delete(account.accountId);
  return names.map((name) => ids.get(name)!);
}

function entryOf(account: AccountRef, pair: store.MemoryPair, given: MemoryEntry): store.NewMemory {
  const { source, target } = remember(given.source, given.target);
  const { tone } = given;
  const text = textOf(source);
  // Sources of other kept words have the same hash, and a translation of each tone is an entry of its own.
  const isTextAlone = tone === undefined && !source.some(isKept) && !target.some(isKept);
  const translation = isTextAlone ? target : { source, target, tone };
  return {
    memoryId: uuidv7(),
    sourceHash: hashOf(given.source),
    targetHash: createHash('sha256').update(JSON.stringify(translation).normalize('NFC')).digest(),
    tone,
    source,
    target,
    sketch: sketchOf(text, saltOf(account, pair)),
    searched: `${searchable(text)} | ${searchable(textOf(target))}`,
  };
}

function saltOf(account: AccountRef, { from, to }: store.MemoryPair): string {
  return `${account.accountId} ${from} ${to}`;
}

/** A finished job, as people leave it. */
export interface Teaching {
  environment: Environment;
  jobId: string;
  from: string;
  to: string;
  brand: string | undefined;
  /** The tone that it or its brand asked for. */
  tone: string | undefined;
  outcome: 'delivered' | 'reviewed';
  /** All of the job in its order, for the neighbours; what no person confirmed has no target. */
  segments: readonly {
    position: number;
    source: readonly Piece[];
    target: readonly Piece[] | undefined;
    /** The user who confirmed it last. */
    editor: string | undefined;
  }[];
}

/**
 * Learns from a job that people finished, in the transaction that completes it. What the job taught before (it was
 * rejected, and done again) is forgotten. The sandbox teaches nothing.
 * @returns how many segments were learned from
 */
export async function learn(transaction: Transaction, account: AccountRef, job: Teaching): Promise<number> {
  if (job.environment === 'sandbox') return 0;
  const { jobId, outcome, segments } = job;
  const before = await store.forgetLessons(transaction, account, jobId);
  const taught = segments.flatMap(({ source, target, ...segment }, index) =>
    target === undefined || !isLesson(textOf(source)) || !isLesson(textOf(target))
      ? []
      : [
          {
            ...segment,
            source,
            target,
            tone: job.tone,
            context: contextOf(segments[index - 1]?.source, segments[index + 1]?.source),
          },
        ],
  );
  const as = { origin: 'job', weight: WEIGHTS[outcome] } as const;
  const entries = await write(transaction, account, job, as, taught);
  const lessons = taught.map(({ position, editor, context }, index) => ({
    position,
    editor,
    context,
    memoryId: entries[index]!.id,
  }));
  if (lessons.length > 0) await store.writeLessons(transaction, account, { jobId, outcome }, lessons);
  // What the editor left or took as it had been remembered went into this job as well.
  const taken = lessons.flatMap(({ memoryId, position }, index) =>
    entries[index]!.confirmed && !before.includes(memoryId)
      ? [{ memoryId, position, how: 'taken' as const }]
      : [],
  );
  await recordUses(transaction, account, jobId, taken);
  const touched = [...new Set([...before, ...entries.map(({ id }) => id)])].sort();
  if (touched.length > 0) await store.weigh(transaction, account, touched, IMPORT_WEIGHT);
  return lessons.length;
}

/** What is no sentence is not worth keeping, and could not be exchanged. */
function isLesson(text: string): boolean {
  return text.trim() !== '' && text.length <= MAX_SEGMENT;
}

/** The customer's word on a job counts for all that it taught. */
export async function judge(
  transaction: Transaction,
  account: AccountRef,
  jobId: string,
  outcome: 'accepted' | 'rejected',
): Promise<void> {
  const touched = [...new Set(await store.judgeLessons(transaction, account, jobId, outcome))].sort();
  if (touched.length > 0) await store.weigh(transaction, account, touched, IMPORT_WEIGHT);
}

/** Keeps where entries were used, so that it can be told when one is taken back. Unknown entries are passed over. */
export async function recordUses(
  on: Queryable,
  account: AccountRef,
  jobId: string,
  uses: readonly { memoryId: string; position: number; how: store.Use }[],
): Promise<void> {
  if (uses.length > 0) await store.writeUses(on, account, jobId, uses);
}

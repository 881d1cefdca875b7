/**
 * Decides whether the draft of an engine or that of a similar memory entry is the better one.
 *
 * A segment with both keeps both. When its job is delivered, both are compared with the delivered text. The sums are kept
 * by account, language pair, tone, engine with its model, band of scores, and draft from which the editor started.
 *
 * The draft of the memory is the better one if editors change a smaller share of its words than of the engine's. Each
 * share counts {@link PRIOR_WORDS} words of public texts in addition to those of the account, so that there is a choice
 * from the first segment on, and the account's own edits decide as they become more.
 *
 * An editor who starts from a draft stays near it. So the share of the engine is that of the segments that started from
 * its draft, if there are any, and the share of the memory that of those that started from the memory's, as soon as there
 * are 30 of them.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { distance } from '@dragoman/checks';
import { countSegmentWords, type Piece, plainText } from '@dragoman/documents';
import type { AccountRef } from '../base/account.ts';
import type { Queryable } from '../database/database.ts';
import { type DraftPurpose, findDraftEntry, LEAST_DRAFT_SCORE, type SimilarTarget } from './draft-entries.ts';
import { type EffortSums, listEfforts, listPooledEfforts } from './efforts-store.ts';
import { hasMemory } from './memory.ts';
import type { OpenSegment } from './store.ts';

export type { DraftPurpose } from './draft-entries.ts';
export { addEfforts, type EffortSums } from './efforts-store.ts';

/** The lowest scores of the bands, in percent. */
const BANDS = [95, 85, LEAST_DRAFT_SCORE];
/** The number of segments that started from the memory, without which those that started from the engine decide. */
const LEAST_SEGMENTS = 30;
/** The number of words for which the shares of public texts count: some thirty sentences. */
const PRIOR_WORDS = 400;
/**
 * The share of words that differ from the final text, before an account has edits of its own. Memory: the highest of
 * 2,037 similar pairs in the Spanish message catalogs of 60 programs (0.32, 0.20, 0.08) and of recorded post-edits of
 * support chats (0.31 from 85 %, 0.04 from 95 %); from 75 % with a margin, because catalogs repeat themselves. Engines:
 * Apertium 0.75 to 0.81 on the same pairs; neural engines 0.30 to 0.44 in MLQE-PE, of which the lowest is taken.
 */
const PRIOR_MEMORY: Readonly<Record<number, number>> = { 95: 0.08, 85: 0.31, 75: 0.4 };
const priorOfEngine = (route: string): number => (route.startsWith('apertium:') ? 0.75 : 0.3);
/** The maximum number of different segments of a text that are looked up. */
const MAX_LOOKED_UP = 500;

/** Whose figures decide: those of the account, or those of all accounts together. */
export type WhoseEfforts = 'account' | 'all';

/** A similar translation next to the engine's draft of a segment. Stored with the segment. */
export interface ComparedTarget extends Omit<SimilarTarget, 'memoryId'> {
  /** The route of the engine's draft with which it is compared. */
  than: string;
  /** True if editors see it as the draft in place of the engine's. */
  better: boolean;
}

/**
 * Returns for each draft of an engine the best translation of a similar text; undefined without one.
 */
export async function compareWithMemory(
  on: Queryable,
  account: AccountRef,
  purpose: DraftPurpose,
  drafts: readonly { source: readonly Piece[]; route: string }[],
  whose: WhoseEfforts,
  signal: AbortSignal,
): Promise<((ComparedTarget & SimilarTarget) | undefined)[]> {
  if (drafts.length === 0 || !(await hasMemory(on, account))) return drafts.map(() => undefined);
  const efforts = await readEfforts(on, account, purpose, whose);
  const found = new Map<string, SimilarTarget | undefined>();
  const compared: ((ComparedTarget & SimilarTarget) | undefined)[] = [];
  for (const { source, route } of drafts) {
    const key = JSON.stringify(source);
    if (!found.has(key) && found.size < MAX_LOOKED_UP) {
      signal.throwIfAborted();
      found.set(key, await inTurn(() => findDraftEntry(on, account, purpose, source)));
    }
    const similar = found.get(key);
    compared.push(similar && compare(similar, route, efforts));
  }
  return compared;
}

/**
 * Returns the best translation of a similar text for the editor of a segment, also one that was confirmed in this document
 * or in an open job; undefined without one.
 */
export async function compareForEditor(
  on: Queryable,
  account: AccountRef,
  purpose: DraftPurpose,
  { source, route, at }: { source: readonly Piece[]; route: string; at: OpenSegment },
  whose: WhoseEfforts,
): Promise<(ComparedTarget & SimilarTarget) | undefined> {
  const [similar, efforts] = await Promise.all([
    inTurn(() => findDraftEntry(on, account, purpose, source, at)),
    readEfforts(on, account, purpose, whose),
  ]);
  return similar && compare(similar, route, efforts);
}

function readEfforts(on: Queryable, account: AccountRef, purpose: DraftPurpose, whose: WhoseEfforts) {
  return whose === 'all' ? listPooledEfforts(on, purpose) : listEfforts(on, account, purpose);
}

function compare(similar: SimilarTarget, route: string, efforts: readonly EffortSums[]) {
  const band = bandOf(similar.score);
  const measured = efforts.filter((row) => row.route === route && row.band === band);
  return { ...similar, than: route, better: isMemoryBetter(measured, route, band) };
}

let lastLookup: Promise<unknown> = Promise.resolve();

/**
 * Runs the lookups of all jobs of this process one after another. Between two of them, the event loop serves other work, so
 * that long texts do not delay the lease of their job or the answers of an API in the same process.
 */
function inTurn<T>(lookup: () => Promise<T>): Promise<T> {
  const own = lastLookup.then(() => nextTurn()).then(lookup);
  lastLookup = own.catch(() => undefined);
  return own;
}

/** @param measured the sums of this route and band */
export function isMemoryBetter(measured: readonly EffortSums[], route: string, band: number): boolean {
  const [engine, ofMemory] = (['engine', 'memory'] as const).map((one) =>
    measured.find(({ started }) => started === one),
  );
  const memory = (ofMemory?.segments ?? 0) >= LEAST_SEGMENTS ? ofMemory : undefined;
  // Editors who started from the memory stayed near its text, so the engine's share is at most that of their segments.
  const atMost = engine ?? ofMemory;
  const share = (edits = 0, words = 0, prior: number) =>
    (edits + prior * PRIOR_WORDS) / (words + PRIOR_WORDS);
  const shown = memory ?? engine;
  return (
    share(shown?.memory_edits, shown?.words, PRIOR_MEMORY[band]!) <
    share(atMost?.engine_edits, atMost?.words, priorOfEngine(route))
  );
}

/** A delivered segment with the drafts of the engine and of the memory. */
export interface DeliveredSegment {
  draft: Piece[];
  route: string;
  similar: ComparedTarget;
  target: Piece[];
}

/** Compares both drafts of each segment with the delivered text. @param language the target language */
export async function measureEfforts(
  delivered: readonly DeliveredSegment[],
  language: string,
): Promise<EffortSums[]> {
  const sums = new Map<string, EffortSums>();
  for (const { draft, route, similar, target } of delivered) {
    await nextTurn();
    const words = countSegmentWords(target, language);
    if (words === 0) continue;
    const band = bandOf(similar.score);
    const started = similar.better ? 'memory' : 'engine';
    const key = `${route} ${band} ${started}`;
    const none = { segments: 0, words: 0, engine_edits: 0, memory_edits: 0 };
    const sum = sums.get(key) ?? { route, band, started, ...none };
    sum.segments += 1;
    sum.words += words;
    sum.engine_edits += distance(plainText(draft), plainText(target), 'word');
    sum.memory_edits += distance(plainText(similar.target), plainText(target), 'word');
    sums.set(key, sum);
  }
  return [...sums.values()];
}

const bandOf = (score: number): number => BANDS.find((least) => score >= least) ?? 0;

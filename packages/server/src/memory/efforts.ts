/**
 * Decides whether the draft of an engine or that of a similar memory entry is the better one.
 *
 * A segment with both keeps both. When its job is delivered, both are compared with the delivered text. The sums are kept
 * by account, language pair, tone, engine with its model, band of scores, and draft from which the editor started:
 *
 *   fewer than 30 segments measured              the engine's draft
 *   fewer than 30 started from the memory        the memory's draft, if it was nearer to the delivered texts, although
 *                                                the editors started from the engine's draft
 *   30 or more started from the memory           the memory's draft, if editors changed fewer words in it than in the
 *                                                drafts of the engine
 *
 * An editor who starts from a draft stays near it. So figures of both starts are compared as soon as there are enough.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { distance } from '@dragoman/checks';
import { countSegmentWords, type Piece, plainText } from '@dragoman/documents';
import type { AccountRef } from '../base/account.ts';
import type { Queryable } from '../database/database.ts';
import { type DraftPurpose, findDraftEntry, LEAST_DRAFT_SCORE, type SimilarTarget } from './draft-entries.ts';
import { type EffortSums, listEfforts, listPooledEfforts } from './efforts-store.ts';
import { hasMemory } from './memory.ts';

export { addEfforts, type EffortSums } from './efforts-store.ts';

/** The lowest scores of the bands, in percent. */
const BANDS = [95, 85, LEAST_DRAFT_SCORE];
/** The number of segments that a decision needs. */
const LEAST_SEGMENTS = 30;
/** The maximum number of different segments of a text that are looked up. */
const MAX_LOOKED_UP = 500;

/** A similar translation next to the engine's draft of a segment. Stored with the segment. */
export interface ComparedTarget extends Omit<SimilarTarget, 'memoryId'> {
  /** The route of the engine's draft with which it is compared. */
  than: string;
  /** True if editors see it as the draft in place of the engine's. */
  better: boolean;
}

/**
 * Returns for each draft of an engine the best translation of a similar text; undefined without one.
 * @param whose whose figures decide: those of the account, or those of all accounts together
 */
export async function compareWithMemory(
  on: Queryable,
  account: AccountRef,
  purpose: DraftPurpose,
  drafts: readonly { source: readonly Piece[]; route: string }[],
  whose: 'account' | 'all',
  signal: AbortSignal,
): Promise<((ComparedTarget & SimilarTarget) | undefined)[]> {
  if (drafts.length === 0 || !(await hasMemory(on, account))) return drafts.map(() => undefined);
  const efforts =
    whose === 'all' ? await listPooledEfforts(on, purpose) : await listEfforts(on, account, purpose);
  const found = new Map<string, SimilarTarget | undefined>();
  const compared: ((ComparedTarget & SimilarTarget) | undefined)[] = [];
  for (const { source, route } of drafts) {
    const key = JSON.stringify(source);
    if (!found.has(key) && found.size < MAX_LOOKED_UP) {
      signal.throwIfAborted();
      found.set(key, await inTurn(() => findDraftEntry(on, account, purpose, source)));
    }
    const similar = found.get(key);
    const measured = efforts.filter((row) => row.route === route && row.band === bandOf(similar?.score ?? 0));
    compared.push(similar && { ...similar, than: route, better: isMemoryBetter(measured) });
  }
  return compared;
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

/** @param measured the sums of one route and band */
export function isMemoryBetter(measured: readonly EffortSums[]): boolean {
  const [engine, memory] = (['engine', 'memory'] as const).map((started) =>
    measured.find((row) => row.started === started && row.segments >= LEAST_SEGMENTS),
  );
  if (engine === undefined) return false;
  const shown = memory ?? engine;
  return shown.memory_edits / shown.words < engine.engine_edits / engine.words;
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

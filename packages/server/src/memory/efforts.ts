/**
 * Decides whether the text of an engine or that of a similar memory entry becomes the draft of a segment.
 *
 * A segment with both texts keeps the one that was not chosen. At the delivery both are compared with the delivered text.
 * The sums are kept for each account, language pair, engine with its model, band of scores, and text that was the draft.
 *
 *   fewer than 30 segments measured                  the engine's text
 *   the memory's text was rarely the draft           the memory's text, if it was nearer to the delivered texts, although
 *                                                    editors started from the engine's text
 *   it was the draft of 30 segments                  the memory's text, if editors changed fewer words in it than in the
 *                                                    drafts of the engine
 *
 * An editor who starts from a text stays near it. So a text that was the draft is compared only with drafts.
 */
import { distance } from '@dragoman/checks';
import { countSegmentWords, type Piece, plainText } from '@dragoman/documents';
import type { AccountRef } from '../base/account.ts';
import type { Queryable, Transaction } from '../database/database.ts';
import { addEfforts, type EffortSums, listEfforts } from './efforts-store.ts';
import { findSimilar, hasMemory, LEAST_DRAFT_SCORE, type SimilarTarget } from './memory.ts';
import type { MemoryPurpose } from './store.ts';

/** The lowest scores of the bands, in percent. */
const BANDS = [95, 85, LEAST_DRAFT_SCORE];
/** The number of segments that a decision needs. */
const LEAST_SEGMENTS = 30;
/** The maximum number of different segments of a text that are looked up, each with a query of some 10 ms. */
const MAX_LOOKED_UP = 500;
const CONCURRENT_LOOKUPS = 4;
const MEMORY_ROUTE = /^memory:(\d\d)$/;

/** A translation of a similar text, for a segment that an engine has translated. */
export interface ComparedTarget extends SimilarTarget {
  /** True if it becomes the draft in place of the engine's text. */
  isBetter: boolean;
}

/** Returns for each text of an engine the best translation of a similar text; undefined without one. */
export async function compareWithMemory(
  on: Queryable,
  account: AccountRef,
  purpose: MemoryPurpose,
  texts: readonly { source: readonly Piece[]; route: string }[],
  signal: AbortSignal,
): Promise<(ComparedTarget | undefined)[]> {
  if (!(await hasMemory(on, account))) return texts.map(() => undefined);
  const efforts = await listEfforts(on, account, purpose);
  const sources = [...new Map(texts.map(({ source }) => [JSON.stringify(source), source]))];
  const found = new Map<string, SimilarTarget | undefined>();
  for (let start = 0; start < Math.min(sources.length, MAX_LOOKED_UP); start += CONCURRENT_LOOKUPS) {
    signal.throwIfAborted();
    const lookups = sources.slice(start, start + CONCURRENT_LOOKUPS).map(async ([key, source]) => {
      found.set(key, await findSimilar(on, account, purpose, source));
    });
    await Promise.all(lookups);
  }
  return texts.map(({ source, route }) => {
    const similar = found.get(JSON.stringify(source));
    if (similar === undefined) return undefined;
    const band = bandOf(similar.score);
    const measured = efforts.filter((row) => row.route === route && row.band === band);
    return { ...similar, isBetter: isMemoryBetter(measured) };
  });
}

/** @param measured the sums of one route and band */
export function isMemoryBetter(measured: readonly EffortSums[]): boolean {
  const [engine, memory] = (['engine', 'memory'] as const).map((drafted) =>
    measured.find((row) => row.drafted === drafted && row.segments >= LEAST_SEGMENTS),
  );
  if (engine === undefined) return false;
  const shown = memory ?? engine;
  return shown.memory_edits / shown.words < engine.engine_edits / engine.words;
}

/** A delivered segment with its draft and the text that was not chosen as the draft. */
export interface DeliveredSegment {
  draft: Piece[];
  route: string;
  other_draft: Piece[];
  other_route: string;
  target: Piece[];
}

/** Compares both texts of each segment with the delivered text. @param language the target language */
export function measureEfforts(delivered: readonly DeliveredSegment[], language: string): EffortSums[] {
  const sums = new Map<string, EffortSums>();
  for (const { target, ...one } of delivered) {
    const texts = [
      { pieces: one.draft, route: one.route },
      { pieces: one.other_draft, route: one.other_route },
    ];
    const memory = texts.find(({ route }) => MEMORY_ROUTE.test(route));
    const machine = texts.find((text) => text !== memory);
    const words = countSegmentWords(target, language);
    if (memory === undefined || machine === undefined || words === 0) continue;
    const drafted = texts[0] === memory ? 'memory' : 'engine';
    const { route } = machine;
    const band = bandOf(Number(MEMORY_ROUTE.exec(memory.route)![1]));
    const key = `${route} ${band} ${drafted}`;
    const none = { segments: 0, words: 0, engine_edits: 0, memory_edits: 0 };
    const sum = sums.get(key) ?? { route, band, drafted, ...none };
    sum.segments += 1;
    sum.words += words;
    sum.engine_edits += distance(plainText(machine.pieces), plainText(target), 'word');
    sum.memory_edits += distance(plainText(memory.pieces), plainText(target), 'word');
    sums.set(key, sum);
  }
  return [...sums.values()];
}

/** Stores what a delivered job has shown, in the transaction that delivers it. */
export async function recordEfforts(
  transaction: Transaction,
  account: AccountRef,
  pair: { from: string; to: string },
  efforts: readonly EffortSums[],
): Promise<void> {
  if (efforts.length > 0) await addEfforts(transaction, account, pair, efforts);
}

const bandOf = (score: number): number => BANDS.find((least) => score >= least)!;

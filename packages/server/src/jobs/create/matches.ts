/**
 * Counts the words of a text by match: segments that an editor confirmed in an earlier job of the account, segments that
 * are similar to one, and segments that repeat an earlier one. A new job pays only a share of the price for these words.
 */
import { plainText } from '@dragoman/documents';
import type { AccountRef } from '../../base/account.ts';
import { createTurns } from '../../base/turns.ts';
import type { Database } from '../../database/database.ts';
import {
  FUZZY_KINDS,
  type MatchKind,
  type MatchShares,
  MEMORY_KINDS,
  type WordCounts,
} from '../../ledger/price-list.ts';
import { type MemoryPurpose, type RecalledTarget, recall, withNeighbours } from '../../memory/memory.ts';
import { findScores } from '../../memory/similar.ts';
import type { ExaminedSegment } from '../../scanning/scanner.ts';

/**
 * The number of segments that are looked up at a time. It limits the memory for their translations, and the
 * event loop gets a turn between the lookups of a long text.
 */
const SEGMENTS_AT_A_TIME = 1_000;

/**
 * The number of different segments that one request may compare with similar entries, and the sum of their lengths in
 * UTF-16 code units. Each segment needs a search of its own, and a creation is answered at once
 * (docs/decisions/0022-prices-by-match.md has the times).
 */
export const MAX_COMPARED_SEGMENTS = 200;
const MAX_COMPARED_LENGTH = 20_000;
/** The maximum length of a segment that is compared. */
const MAX_LENGTH = 1_000;

/** What a request may still compare. */
export interface ComparisonBudget {
  segments: number;
  length: number;
}

export function createComparisonBudget(): ComparisonBudget {
  return { segments: MAX_COMPARED_SEGMENTS, length: MAX_COMPARED_LENGTH };
}

/** The lowest score of each fuzzy match, from the closest match on. */
const LEAST_SCORES = FUZZY_KINDS.map((kind) => ({ kind, score: Number(kind.slice('fuzzy'.length)) }));
const LEAST_SCORE = LEAST_SCORES.at(-1)!.score;

/** The closest match of a segment in the memory; undefined if it has none. */
type MemoryMatch = (typeof MEMORY_KINDS)[number] | undefined;

/** Returns whether any match of the memory costs less than the full price. */
export function usesMemory(shares: MatchShares): boolean {
  return MEMORY_KINDS.some((kind) => shares[kind] < 100);
}

/** Returns whether any fuzzy match costs less than the full price. */
export function usesFuzzyMatches(shares: MatchShares): boolean {
  return FUZZY_KINDS.some((kind) => shares[kind] < 100);
}

/**
 * Counts the words of a text by the match of their segment. A segment with several matches counts for the one
 * with the lowest share, so that the memory never makes a text more expensive.
 *
 * The lookup is that of the job's drafts: a segment is matched if the memory has a translation that can be
 * used unchanged and that an editor confirmed. If fuzzy matches have a share, the first different segments without
 * such a translation are compared with similar entries, within the budget.
 * @param words the number of words of the text
 * @param segments all segments of the text, in order
 */
export async function countMatches(
  database: Database,
  account: AccountRef,
  purpose: MemoryPurpose,
  { words, segments }: { words: number; segments: readonly ExaminedSegment[] },
  shares: MatchShares,
  budget: ComparisonBudget,
): Promise<WordCounts> {
  const matches = await findTranslated(database, account, purpose, segments);
  const counted = usesFuzzyMatches(shares)
    ? await addSimilar(database, account, purpose, { segments, matches }, budget)
    : undefined;
  const matched: Partial<Record<MatchKind, number>> = {};
  let full = 0;
  for (const [index, segment] of segments.entries()) {
    const kinds = kindsOf(matches[index], segment.isRepeat);
    const kind = kinds.toSorted((one, other) => shares[one] - shares[other])[0];
    if (kind === undefined) full += segment.words;
    else matched[kind] = (matched[kind] ?? 0) + segment.words;
  }
  return { words, matched: limitWords(matched, Math.max(0, words - full), shares), counted };
}

/**
 * Finds the segments that the memory has a confirmed translation for. A translation that was only imported is no match:
 * nobody has checked it, so an editor has the whole work.
 */
async function findTranslated(
  database: Database,
  account: AccountRef,
  purpose: MemoryPurpose,
  segments: readonly ExaminedSegment[],
): Promise<MemoryMatch[]> {
  const asked = withNeighbours(segments.map(({ pieces }) => pieces));
  const recalled: (RecalledTarget | undefined)[] = [];
  for (let start = 0; start < asked.length; start += SEGMENTS_AT_A_TIME) {
    const chunk = asked.slice(start, start + SEGMENTS_AT_A_TIME);
    recalled.push(...(await recall(database, account, purpose, chunk)));
  }
  return recalled.map((target) => (target?.confirmed ? target.kind : undefined));
}

/**
 * Compares segments without a match with similar entries of the memory, and adds their fuzzy matches. Takes the
 * compared segments from the budget.
 * @returns the number of segments, from the beginning of the text, that have all their matches; undefined if all have
 */
async function addSimilar(
  database: Database,
  account: AccountRef,
  purpose: MemoryPurpose,
  { segments, matches }: { segments: readonly ExaminedSegment[]; matches: MemoryMatch[] },
  budget: ComparisonBudget,
): Promise<number | undefined> {
  /** The places of each different source. */
  const places = new Map<string, number[]>();
  let counted: number | undefined;
  const turn = createTurns();
  for (const [index, { pieces, words }] of segments.entries()) {
    await turn(pieces.length);
    const { length } = plainText(pieces);
    if (matches[index] !== undefined || words === 0 || length > MAX_LENGTH) continue;
    const source = JSON.stringify(pieces);
    const same = places.get(source);
    if (same !== undefined) {
      same.push(index);
      continue;
    }
    if (budget.segments === 0 || budget.length < length) {
      counted = index;
      break;
    }
    budget.segments--;
    budget.length -= length;
    places.set(source, [index]);
  }
  const sources = [...places.values()].map(([first]) => segments[first!]!.pieces);
  const scores = await findScores(database, account, purpose, sources, LEAST_SCORE);
  for (const [index, same] of [...places.values()].entries()) {
    const kind = LEAST_SCORES.find(({ score }) => scores[index]! >= score)?.kind;
    for (const place of same) matches[place] = kind;
  }
  return counted;
}

/**
 * Limits the matched words to the words of the text that are in no other segment. The words of all segments may be more
 * than those of the text (see `countRepeatedWords`). The words with the highest share are kept.
 */
function limitWords(
  matched: Partial<Record<MatchKind, number>>,
  most: number,
  shares: MatchShares,
): Partial<Record<MatchKind, number>> {
  const kinds = (Object.keys(matched) as MatchKind[]).sort((one, other) => shares[other] - shares[one]);
  const limited: Partial<Record<MatchKind, number>> = {};
  let left = most;
  for (const kind of kinds) {
    const counted = Math.min(matched[kind]!, left);
    left -= counted;
    if (counted > 0) limited[kind] = counted;
  }
  return limited;
}

/** Returns all matches of a segment, the closest first. A match also counts for every less close one. */
function kindsOf(match: MemoryMatch, isRepeat: boolean): MatchKind[] {
  return [
    ...(match === undefined ? [] : MEMORY_KINDS.slice(MEMORY_KINDS.indexOf(match))),
    ...(isRepeat ? ['repeat' as const] : []),
  ];
}

/**
 * Counts the words of a text by match: segments that the translation memory of the account has, and segments
 * that repeat an earlier one. A new job pays only a share of the price for these words.
 */
import type { AccountRef } from '../base/account.ts';
import type { Database } from '../database/database.ts';
import type { MatchKind, MatchShares, WordCounts } from '../ledger/price-list.ts';
import { type MemoryPurpose, recall, withNeighbours } from '../memory/memory.ts';
import type { ExaminedSegment } from '../scanning/scanner.ts';

/**
 * The number of segments that are looked up at a time. It limits the memory for their translations, and the
 * event loop gets a turn between the lookups of a long text.
 */
const SEGMENTS_AT_A_TIME = 1_000;

/**
 * Counts the words of a text by the match of their segment. A segment with several matches counts for the one
 * with the lowest share, so that the memory never makes a text more expensive.
 *
 * The lookup is that of the job's drafts: a segment is matched if the memory has a translation that can be
 * used unchanged. Fuzzy matches are not looked up, because each needs an index search of its own.
 * @param words the number of words of the text
 * @param segments all segments of the text, in order
 */
export async function countMatches(
  database: Database,
  account: AccountRef,
  purpose: MemoryPurpose,
  { words, segments }: { words: number; segments: readonly ExaminedSegment[] },
  shares: MatchShares,
): Promise<WordCounts> {
  const asked = withNeighbours(segments.map(({ pieces }) => pieces));
  const matched: Partial<Record<MatchKind, number>> = {};
  // The words of segments may differ slightly from those of the text; see `countRepeatedWords`.
  let left = words;
  for (let start = 0; start < segments.length; start += SEGMENTS_AT_A_TIME) {
    const end = start + SEGMENTS_AT_A_TIME;
    const recalled = await recall(database, account, purpose, asked.slice(start, end));
    for (const [index, segment] of segments.slice(start, end).entries()) {
      const kinds = matchesOf(recalled[index]?.kind, segment.isRepeat);
      const kind = kinds.toSorted((one, other) => shares[one] - shares[other])[0];
      const counted = Math.min(segment.words, left);
      if (kind === undefined || counted === 0) continue;
      matched[kind] = (matched[kind] ?? 0) + counted;
      left -= counted;
    }
  }
  return { words, matched };
}

/** Returns all matches of a segment, the closest first. An in-context match is also an exact one. */
function matchesOf(recalled: 'context' | 'exact' | undefined, isRepeat: boolean): MatchKind[] {
  return [
    ...(recalled === 'context' ? ['context' as const] : []),
    ...(recalled === undefined ? [] : ['exact' as const]),
    ...(isRepeat ? ['repeat' as const] : []),
  ];
}

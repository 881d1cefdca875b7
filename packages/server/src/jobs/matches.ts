/**
 * Counts the words of a text by match: segments that an editor confirmed in an earlier job of the account, and segments
 * that repeat an earlier one. A new job pays only a share of the price for these words.
 */
import type { AccountRef } from '../base/account.ts';
import type { Database } from '../database/database.ts';
import type { MatchKind, MatchShares, WordCounts } from '../ledger/price-list.ts';
import { type MemoryPurpose, type RecalledTarget, recall, withNeighbours } from '../memory/memory.ts';
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
 * used unchanged and that an editor confirmed. Fuzzy matches are not looked up, because each needs an index search of its own.
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
  let full = 0;
  for (let start = 0; start < segments.length; start += SEGMENTS_AT_A_TIME) {
    const end = start + SEGMENTS_AT_A_TIME;
    const recalled = await recall(database, account, purpose, asked.slice(start, end));
    for (const [index, segment] of segments.slice(start, end).entries()) {
      const kinds = matchesOf(recalled[index], segment.isRepeat);
      const kind = kinds.toSorted((one, other) => shares[one] - shares[other])[0];
      if (kind === undefined) full += segment.words;
      else matched[kind] = (matched[kind] ?? 0) + segment.words;
    }
  }
  return { words, matched: limitWords(matched, Math.max(0, words - full), shares) };
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

/**
 * Returns all matches of a segment, the closest first. An in-context match is also an exact one. A translation that was
 * only imported is no match: nobody has checked it, so an editor has the whole work.
 */
function matchesOf(recalled: RecalledTarget | undefined, isRepeat: boolean): MatchKind[] {
  const isConfirmed = recalled?.confirmed === true;
  return [
    ...(isConfirmed && recalled.kind === 'context' ? ['context' as const] : []),
    ...(isConfirmed ? ['exact' as const] : []),
    ...(isRepeat ? ['repeat' as const] : []),
  ];
}

/** Segments of a job that no engine could translate. They keep their source text in the result and are not charged. */
import { countSegmentWords, findRepeated } from '@dragoman/documents';
import { type Discount, priceOf, withoutUntranslated } from '../ledger/price-list.ts';
import { type Drafted, hasTranslation } from '../translation/drafts.ts';

/** The untranslated segments of a job, as the column `untranslated` stores them. */
export interface Untranslated {
  segments: number;
  words: number;
  /** How many of the words are in segments that repeat an earlier one. */
  repeated: number;
  /** The number of segments by the reason of their failure. */
  reasons: Record<string, number>;
}

/** The columns of a job from which its price is calculated. */
interface Priced {
  words: number;
  discounts: Discount[] | null;
  cents_per_word: number;
}

/**
 * Counts the segments of a drafted job that have no translation.
 * @param share the largest share of the job's words that may be untranslated
 * @returns undefined if the share is exceeded, or if no segment was translated. The job fails then
 */
export function countUntranslated(
  drafted: readonly Drafted[],
  job: { words: number; source_language: string; discounts?: Discount[] | null },
  share: number,
): Untranslated | undefined {
  if (!hasTranslation(drafted)) return undefined;
  const hasRepeats = job.discounts?.some(({ kind }) => kind === 'repeat') ?? false;
  const isRepeat = hasRepeats ? findRepeated(drafted.map(({ segment }) => segment)) : [];
  const untranslated: Untranslated = { segments: 0, words: 0, repeated: 0, reasons: {} };
  for (const [index, one] of drafted.entries()) {
    if (one.status !== 'failed') continue;
    const words = countSegmentWords(one.segment.pieces, job.source_language);
    untranslated.segments++;
    untranslated.words += words;
    if (isRepeat[index]) untranslated.repeated += words;
    untranslated.reasons[one.reason] = (untranslated.reasons[one.reason] ?? 0) + 1;
    if (untranslated.words / job.words > share) return undefined;
  }
  return untranslated;
}

/** Returns the words, discounts and price of a job without its untranslated segments. */
export function priceTranslated(
  { words, discounts, cents_per_word }: Priced,
  untranslated: Untranslated,
): { words: number; discounts: Discount[] | null; price_cents: number } {
  const left = withoutUntranslated({ words, discounts: discounts ?? [] }, untranslated);
  return {
    words: left.words,
    discounts: left.discounts.length === 0 ? null : left.discounts,
    price_cents: priceOf(left.words, left.discounts, cents_per_word),
  };
}

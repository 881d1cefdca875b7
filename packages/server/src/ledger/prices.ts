/**
 * The calculation of prices in whole cents, with pure functions.
 *
 * A price per word has a scope: a tier, one account or all accounts, one language pair or all pairs. The
 * valid price with the most specific scope applies, in this order:
 *
 *   account and pair  >  account  >  pair  >  all  >  the setting
 */
import type { AccountRef } from '../base/account.ts';

export type Tier = 'human' | 'machine';

/** The jobs to which a price applies. */
export interface Scope {
  tier: Tier;
  /** The account of the jobs; undefined for all accounts. */
  account: AccountRef | undefined;
  /** The language pair of the jobs; undefined for all pairs. */
  pair: Pair | undefined;
}

export interface Pair {
  sourceLanguage: string;
  targetLanguage: string;
}

/** The time during which a price is valid: `[from, until)`. */
export interface PriceTerm {
  from: Date;
  /** The end; undefined if the price is valid until a later price begins. */
  until: Date | undefined;
}

export interface Price extends Scope, PriceTerm {
  centsPerWord: number;
}

/** The prices by scope, for {@link choosePrice}. */
export type PriceIndex = ReadonlyMap<string, readonly Price[]>;

export function toPriceIndex(prices: readonly Price[]): PriceIndex {
  return Map.groupBy(prices, (price) => scopeKey(price.tier, price.account?.accountId, price.pair));
}

/**
 * Returns the price per word that is valid for an account and a pair at a moment, or undefined if no price
 * was set.
 */
export function choosePrice(
  index: PriceIndex,
  wanted: { tier: Tier; account: AccountRef; pair: Pair },
  at: Date,
): number | undefined {
  const { tier, pair } = wanted;
  const { accountId } = wanted.account;
  for (const key of [
    scopeKey(tier, accountId, pair),
    scopeKey(tier, accountId, undefined),
    scopeKey(tier, undefined, pair),
    scopeKey(tier, undefined, undefined),
  ]) {
    const found = index.get(key)?.find((price) => isValidAt(price, at));
    if (found !== undefined) return found.centsPerWord;
  }
  return undefined;
}

/** Joins the parts of the key with spaces, which language codes and ids never contain. */
function scopeKey(tier: Tier, accountId: string | undefined, pair: Pair | undefined): string {
  return `${tier} ${accountId ?? '*'} ${pair?.sourceLanguage ?? '*'} ${pair?.targetLanguage ?? '*'}`;
}

export function isValidAt({ from, until }: PriceTerm, at: Date): boolean {
  return from <= at && (until === undefined || at < until);
}

/**
 * Inserts a new price among the prices of its scope. The price that is valid at the start of the new price
 * ends at that moment. A price with the same start is replaced. The new price ends where the next price
 * begins.
 * @param existing the periods of the prices of one scope, without overlaps
 * @returns `end`: the period to end at the new start; `replace`: the period to replace; `until`: the end of
 * the new price
 */
export function insertTerm<T extends PriceTerm>(
  existing: readonly T[],
  wanted: PriceTerm,
): { end: T | undefined; replace: T | undefined; until: Date | undefined } {
  const { from } = wanted;
  const next = existing
    .filter((term) => term.from > from)
    .reduce<Date | undefined>((first, term) => earlier(first, term.from), undefined);
  return {
    end: existing.find((term) => term.from < from && isValidAt(term, from)),
    replace: existing.find((term) => term.from.getTime() === from.getTime()),
    until: earlier(wanted.until, next),
  };
}

function earlier(one: Date | undefined, other: Date | undefined): Date | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  return one < other ? one : other;
}

/** The kinds of fuzzy matches, named by their lowest score in percent, from the closest match on. */
export const FUZZY_KINDS = ['fuzzy95', 'fuzzy85', 'fuzzy75'] as const;
/** The kinds of matches of the translation memory, from the closest match on. */
export const MEMORY_KINDS = ['context', 'exact', ...FUZZY_KINDS] as const;
/** The kinds of matches whose words have a share of the price, from the closest match on. */
export const MATCH_KINDS = [...MEMORY_KINDS, 'repeat'] as const;
export type MatchKind = (typeof MATCH_KINDS)[number];

/** The price of a word by the kind of its match, in percent of the full price: whole numbers from 0 to 100. */
export type MatchShares = Readonly<Record<MatchKind, number>>;

/** The number of words of a text by match. */
export interface WordCounts {
  words: number;
  /** The number of the text's charged words in matched segments; each word counts for one kind at most. */
  matched: Readonly<Partial<Record<MatchKind, number>>>;
  /**
   * The number of segments, from the beginning of the text, that were compared with similar entries of the memory;
   * undefined if all were, or if fuzzy matches cost the full price.
   */
  counted?: number | undefined;
}

/** The matched words of one kind with their share of the price in percent, which is below 100. */
export interface Discount {
  kind: MatchKind;
  words: number;
  share: number;
}

/** Returns the discounts of a text. Kinds without words, and kinds that cost the full price, have none. */
export function discountsOf({ matched }: WordCounts, shares: MatchShares): Discount[] {
  return MATCH_KINDS.flatMap((kind) => {
    const [words, share] = [matched[kind] ?? 0, shares[kind]];
    return words === 0 || share === 100 ? [] : [{ kind, words, share }];
  });
}

/**
 * Returns the price in cents. The sum is computed in hundredths of a cent for the whole text and rounded down
 * once. A sum above 0 costs at least one cent.
 * @param centsPerWord a whole number
 * @throws RangeError when the product is not a safe integer, or when more words are matched than there are
 */
export function priceOf(words: number, discounts: readonly Discount[], centsPerWord: number): number {
  const matched = discounts.reduce((sum, one) => sum + one.words, 0);
  const rebate = discounts.reduce((sum, one) => sum + one.words * (100 - one.share), 0);
  const full = words * 100 * centsPerWord;
  const hundredths = full - rebate * centsPerWord;
  if (![words, matched, full, hundredths].every(Number.isSafeInteger) || matched > words || hundredths < 0) {
    throw new RangeError('a price that is not a safe integer');
  }
  return Math.max(Math.floor(hundredths / 100), Math.min(hundredths, 1));
}

/**
 * Returns the words and discounts of a text without the words that were not translated. Repeated words are taken from
 * the discount for repeats. The other words are taken from those with the highest share first, so a customer never
 * pays for an untranslated word.
 * @param left `repeated`: how many of the untranslated `words` are in repeated segments
 */
export function withoutUntranslated(
  { words, discounts }: { words: number; discounts: readonly Discount[] },
  left: { words: number; repeated: number },
): { words: number; discounts: Discount[] } {
  const all = Math.min(left.words, words);
  const full = words - discounts.reduce((sum, one) => sum + one.words, 0);
  const repeats = discounts.find(({ kind }) => kind === 'repeat')?.words ?? 0;
  const repeated = Math.min(left.repeated, repeats, all);
  let rest = Math.max(0, all - repeated - full);
  const dearestFirst = discounts.toSorted((one, other) => other.share - one.share);
  const taken = new Map<MatchKind, number>();
  for (const { kind, words: matched } of dearestFirst) {
    const own = kind === 'repeat' ? repeated : 0;
    const more = Math.min(rest, matched - own);
    rest -= more;
    taken.set(kind, own + more);
  }
  return {
    words: words - all,
    discounts: discounts.flatMap((one) => {
      const still = one.words - taken.get(one.kind)!;
      return still === 0 ? [] : [{ ...one, words: still }];
    }),
  };
}

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

/** The number of words for which a text is charged. */
export interface WordCounts {
  words: number;
  /** The number of the text's charged words that are in repeated segments. */
  repeatedWords: number;
}

/**
 * Returns the price in cents. Fractions of a cent are not charged.
 * @param centsPerWord a whole number
 * @param repeatShare the percentage of the price for a repeated word, a whole number from 0 to 100
 * @throws RangeError when the product is not a safe integer
 */
export function priceOf(
  { words, repeatedWords }: WordCounts,
  centsPerWord: number,
  repeatShare: number,
): number {
  const full = words * 100 * centsPerWord;
  const hundredths = full - repeatedWords * (100 - repeatShare) * centsPerWord;
  if (![words, repeatedWords, full, hundredths].every(Number.isSafeInteger) || hundredths < 0) {
    throw new RangeError('a price that is not a safe integer');
  }
  return Math.floor(hundredths / 100);
}

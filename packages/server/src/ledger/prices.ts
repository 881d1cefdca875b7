/**
 * Prices of jobs. Pure; integer cents.
 *
 * A price per word has a scope: a tier, one account or all, one language pair or all. The most specific scope with a
 * valid price wins:
 *
 *   account and pair  >  account  >  pair  >  all  >  the setting
 */
import type { AccountRef } from '../base/account.ts';

export type Tier = 'human' | 'machine';

/** What a price applies to. */
export interface Scope {
  tier: Tier;
  /** Undefined for all accounts. */
  account: AccountRef | undefined;
  /** Undefined for all pairs. */
  pair: Pair | undefined;
}

export interface Pair {
  sourceLanguage: string;
  targetLanguage: string;
}

/** When a price is valid: from `from` to before `until`. */
export interface PriceTerm {
  from: Date;
  /** Undefined: until a later price begins. */
  until: Date | undefined;
}

export interface Price extends Scope, PriceTerm {
  centsPerWord: number;
}

/** Prices by scope, for {@link choosePrice}. */
export type PriceIndex = ReadonlyMap<string, readonly Price[]>;

export function toPriceIndex(prices: readonly Price[]): PriceIndex {
  return Map.groupBy(prices, (price) => scopeKey(price.tier, price.account?.accountId, price.pair));
}

/** Returns the price per word that is valid for an account and a pair at a moment; undefined where none was set. */
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

/** Shortnames and ids contain no spaces. */
function scopeKey(tier: Tier, accountId: string | undefined, pair: Pair | undefined): string {
  return `${tier} ${accountId ?? '*'} ${pair?.sourceLanguage ?? '*'} ${pair?.targetLanguage ?? '*'}`;
}

export function isValidAt({ from, until }: PriceTerm, at: Date): boolean {
  return from <= at && (until === undefined || at < until);
}

/**
 * Fits a new price among those of its scope. The price that is valid at its start ends there, one with the same start
 * is replaced, and the new price ends where the next one begins.
 * @param existing terms of one scope, without overlaps
 * @returns the term to end at the new start, the one to replace, and the new end
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

/** The words that a text is charged for. */
export interface WordCounts {
  words: number;
  /** How many of them are in repeats. */
  repeatedWords: number;
}

/**
 * Returns the price in cents; fractions of a cent are not charged.
 * @param centsPerWord a whole number
 * @param repeatShare percent of the price for a repeated word, a whole number from 0 to 100
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

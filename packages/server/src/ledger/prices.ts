/**
 * What a job costs. Pure; integer cents.
 *
 * A price of a word is set for a scope: a tier, for one account or all, for one pair or all. The most specific
 * scope that has a price at the moment wins:
 *
 *   account and pair  >  account  >  pair  >  all  >  the setting
 */
import type { AccountRef } from '../account.ts';

export type Tier = 'human' | 'machine';

/** What a price is set for. */
export interface Scope {
  tier: Tier;
  /** Undefined: every account. */
  account: AccountRef | undefined;
  /** Undefined: every pair. */
  pair: Pair | undefined;
}

export interface Pair {
  sourceLanguage: string;
  targetLanguage: string;
}

/** When a price holds: from its first millisecond to before its last. */
export interface Term {
  from: Date;
  /** Undefined: until another is set. */
  until: Date | undefined;
}

export interface Price extends Scope, Term {
  centsPerWord: number;
}

/** The prices by their scopes, as {@link choosePrice} looks for them. */
export type PriceBook = ReadonlyMap<string, readonly Price[]>;

export function bookOf(prices: readonly Price[]): PriceBook {
  return Map.groupBy(prices, (price) => keyOf(price.tier, price.account?.accountId, price.pair));
}

/** The price of a word that holds for an account and a pair at a moment; undefined where none was set. */
export function choosePrice(
  book: PriceBook,
  wanted: { tier: Tier; account: AccountRef; pair: Pair },
  at: Date,
): number | undefined {
  const { tier, pair } = wanted;
  const { accountId } = wanted.account;
  for (const key of [
    keyOf(tier, accountId, pair),
    keyOf(tier, accountId, undefined),
    keyOf(tier, undefined, pair),
    keyOf(tier, undefined, undefined),
  ]) {
    const found = book.get(key)?.find((price) => holds(price, at));
    if (found !== undefined) return found.centsPerWord;
  }
  return undefined;
}

/** No shortname holds a space, and no id either. */
function keyOf(tier: Tier, accountId: string | undefined, pair: Pair | undefined): string {
  return `${tier} ${accountId ?? '*'} ${pair?.sourceLanguage ?? '*'} ${pair?.targetLanguage ?? '*'}`;
}

export function holds({ from, until }: Term, at: Date): boolean {
  return from <= at && (until === undefined || at < until);
}

/**
 * How a new price fits among those of its scope: the one that holds at its start ends there, one with the same
 * start is replaced, and it ends itself where the next one begins.
 * @param existing terms of one scope, no two of which overlap
 * @returns the ones to end at the new one's start, the one to replace, and the new one's end
 */
export function fitIn<T extends Term>(
  existing: readonly T[],
  wanted: Term,
): { end: T | undefined; replace: T | undefined; until: Date | undefined } {
  const { from } = wanted;
  const next = existing
    .filter((term) => term.from > from)
    .reduce<Date | undefined>((first, term) => earlier(first, term.from), undefined);
  return {
    end: existing.find((term) => term.from < from && holds(term, from)),
    replace: existing.find((term) => term.from.getTime() === from.getTime()),
    until: earlier(wanted.until, next),
  };
}

function earlier(one: Date | undefined, other: Date | undefined): Date | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  return one < other ? one : other;
}

/** What a text is paid by. */
export interface Extent {
  words: number;
  /** Those of them in segments that stood in the same text before. */
  repeatedWords: number;
}

/**
 * @param centsPerWord a whole number
 * @param repeatShare percent of the price that a repeated word costs, a whole number from 0 to 100
 * @returns cents; a share of a cent is not charged
 * @throws RangeError when the product is not a safe integer
 */
export function priceOf({ words, repeatedWords }: Extent, centsPerWord: number, repeatShare: number): number {
  const full = words * 100 * centsPerWord;
  const hundredths = full - repeatedWords * (100 - repeatShare) * centsPerWord;
  if (![words, repeatedWords, full, hundredths].every(Number.isSafeInteger) || hundredths < 0) {
    throw new RangeError('a price that is not a safe integer');
  }
  return Math.floor(hundredths / 100);
}

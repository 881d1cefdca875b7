/** Tests the rules of prices by comparison with direct implementations of their definitions. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { AccountRef } from '../base/account.ts';
import {
  choosePrice,
  insertTerm,
  isValidAt,
  type Pair,
  type Price,
  type PriceTerm,
  priceOf,
  toPriceIndex,
} from './prices.ts';

const ACCOUNTS = ['a', 'b'].map((accountId) => ({ part: 0, accountId }) as AccountRef);
const PAIRS: Pair[] = [
  { sourceLanguage: 'en', targetLanguage: 'es' },
  { sourceLanguage: 'es', targetLanguage: 'en' },
];
const NOBODY = { part: 0, accountId: 'nobody' } as AccountRef;

const moment = fc.integer({ min: 0, max: 20 }).map((day) => new Date(day * 86_400_000));
const scope = fc.record({
  tier: fc.constantFrom('human' as const, 'machine' as const),
  account: fc.constantFrom(undefined, ...ACCOUNTS),
  pair: fc.constantFrom(undefined, ...PAIRS),
});
const term = fc
  .tuple(moment, fc.option(fc.integer({ min: 1, max: 20 }), { nil: undefined }))
  .map(([from, days]) => ({
    from,
    until: days === undefined ? undefined : new Date(from.getTime() + days * 86_400_000),
  }));
const cents = fc.integer({ min: 0, max: 100_000 });

type Kept = Price & { id: number };

/** Changes a list in memory as `setPrice` changes the table. */
function set(prices: Kept[], wanted: Price, id: number): Kept[] {
  const same = (one: Price) =>
    one.tier === wanted.tier && one.account === wanted.account && one.pair === wanted.pair;
  const { end, replace, until } = insertTerm(prices.filter(same), wanted);
  return [
    ...prices
      .filter((price) => price !== replace)
      .map((price) => (price === end ? { ...price, until: wanted.from } : price)),
    { ...wanted, until, id },
  ];
}

const days = Array.from({ length: 42 }, (_, day) => new Date(day * 86_400_000));
const table = fc
  .array(fc.tuple(scope, term, cents), { maxLength: 30 })
  .map((wishes) =>
    wishes.reduce<Kept[]>(
      (kept, [where, when, centsPerWord], id) => set(kept, { ...where, ...when, centsPerWord }, id),
      [],
    ),
  );

describe('choosePrice', () => {
  /**
   * The definition with which `choosePrice` is compared: the most specific of the valid prices, where the
   * account counts more than the pair.
   */
  function reading(prices: readonly Price[], tier: string, account: AccountRef, pair: Pair, at: Date) {
    const specificity = (price: Price) => (price.account ? 2 : 0) + (price.pair ? 1 : 0);
    return prices
      .filter((price) => price.tier === tier && isValidAt(price, at))
      .filter((price) => price.account === undefined || price.account === account)
      .filter((price) => price.pair === undefined || price.pair === pair)
      .sort((one, other) => specificity(other) - specificity(one))[0]?.centsPerWord;
  }

  it('returns the most specific valid price', () => {
    fc.assert(
      fc.property(table, (prices) => {
        const index = toPriceIndex(prices);
        // Compares all results at once. Fifty thousand separate comparisons took longer than calculating the
        // prices.
        const read: unknown[] = [];
        const chosen: unknown[] = [];
        for (const tier of ['human', 'machine'] as const)
          for (const account of [...ACCOUNTS, NOBODY])
            for (const pair of PAIRS)
              for (const at of days) {
                read.push(reading(prices, tier, account, pair, at));
                chosen.push(choosePrice(index, { tier, account, pair }, at));
              }
        expect(chosen).toEqual(read);
      }),
      { numRuns: 100 },
    );
  });

  it('returns the price of the pair even when another pair shares a language with it', () => {
    const pairs = ['en es', 'en de', 'de es'].map((words) => {
      const [sourceLanguage, targetLanguage] = words.split(' ');
      return { sourceLanguage: sourceLanguage!, targetLanguage: targetLanguage! };
    });
    const from = new Date(0);
    const common = { tier: 'human' as const, account: undefined, from, until: undefined };
    const index = toPriceIndex(pairs.map((pair, index) => ({ ...common, pair, centsPerWord: index })));
    const chosen = pairs.map((pair) => choosePrice(index, { tier: 'human', account: NOBODY, pair }, from));
    expect(chosen).toEqual([0, 1, 2]);
  });

  it('returns a price from its start until just before its end', () => {
    const [from, until] = [new Date(1000), new Date(2000)];
    const price = {
      tier: 'human' as const,
      account: undefined,
      pair: undefined,
      centsPerWord: 7,
      from,
      until,
    };
    const at = (milliseconds: number) =>
      choosePrice(
        toPriceIndex([price]),
        { tier: 'human', account: NOBODY, pair: PAIRS[0]! },
        new Date(milliseconds),
      );
    expect([999, 1000, 1999, 2000].map(at)).toEqual([undefined, 7, 7, undefined]);
  });
});

describe('insertTerm', () => {
  it('leaves no overlapping prices in a scope', () => {
    fc.assert(
      fc.property(table, (prices) => {
        for (const ofScope of Map.groupBy(prices, ({ tier, account, pair }) =>
          JSON.stringify([tier, account, pair]),
        ).values()) {
          for (const at of days) {
            expect(ofScope.filter((price) => isValidAt(price, at)).length).toBeLessThanOrEqual(1);
          }
        }
      }),
    );
  });

  it('makes a price valid from its start until its end or the next price, and leaves earlier times unchanged', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(term, cents), { maxLength: 12 }), term, (wishes, wanted) => {
        const one = { tier: 'human', account: undefined, pair: undefined } as const;
        const before = wishes.reduce<Kept[]>(
          (kept, [when, centsPerWord], id) => set(kept, { ...one, ...when, centsPerWord }, id),
          [],
        );
        const after = set(before, { ...one, ...wanted, centsPerWord: 1 }, -1);
        const next = before.filter(({ from }) => from > wanted.from).sort((a, b) => +a.from - +b.from)[0];
        for (const at of days) {
          const found = after.find((price) => isValidAt(price, at));
          if (at < wanted.from || (next !== undefined && at >= next.from)) {
            expect(found?.id).toBe(before.find((price) => isValidAt(price, at))?.id);
          } else {
            expect(found?.id).toBe(isValidAt(wanted, at) ? -1 : undefined);
          }
        }
      }),
    );
  });

  it('replaces a price with the same start', () => {
    const from = new Date(1000);
    const existing: PriceTerm = { from, until: undefined };
    expect(insertTerm([existing], { from, until: undefined })).toEqual({
      end: undefined,
      replace: existing,
      until: undefined,
    });
  });
});

describe('the price of a job', () => {
  const all = { words: 7, repeatedWords: 0 };

  it('is the number of words times the price per word, in whole cents', () => {
    expect(priceOf(all, 3, 100)).toBe(21);
    expect(priceOf(all, 0, 100)).toBe(0);
    expect(priceOf({ words: 0, repeatedWords: 0 }, 3, 100)).toBe(0);
  });

  it('includes only the configured share for repeated words, and drops fractions of a cent', () => {
    expect(priceOf({ words: 7, repeatedWords: 3 }, 3, 100)).toBe(21);
    expect(priceOf({ words: 7, repeatedWords: 3 }, 3, 0)).toBe(12);
    // Four words cost 12 cents. Three repeated words cost 30 % of 9 cents, which is 2.7 cents.
    expect(priceOf({ words: 7, repeatedWords: 3 }, 3, 30)).toBe(14);
    expect(priceOf({ words: 1, repeatedWords: 1 }, 1, 99)).toBe(0);
  });

  it('is less than a cent below the exact price, and never above the price of a text without repeated segments', () => {
    const amount = fc.integer({ min: 0, max: 2_000_000 });
    fc.assert(
      fc.property(amount, amount, cents, fc.integer({ min: 0, max: 100 }), (some, more, perWord, share) => {
        const extent = { words: some + more, repeatedWords: some };
        const price = priceOf(extent, perWord, share);
        const hundredths = BigInt(perWord) * (BigInt(more) * 100n + BigInt(some) * BigInt(share));
        expect(BigInt(price)).toBe(hundredths / 100n);
        expect(price).toBeLessThanOrEqual(priceOf(extent, perWord, 100));
      }),
    );
  });

  it('cannot be calculated when the result would not be an exact integer', () => {
    expect(() => priceOf({ words: Number.MAX_SAFE_INTEGER, repeatedWords: 0 }, 2, 100)).toThrow(RangeError);
    expect(() => priceOf({ words: -1, repeatedWords: 0 }, 2, 100)).toThrow(RangeError);
    expect(() => priceOf({ words: 1.5, repeatedWords: 0 }, 1, 100)).toThrow(RangeError);
  });
});

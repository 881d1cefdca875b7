/** Prices: the rules, against plain readings of what they promise. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { AccountRef } from '../account.ts';
import { bookOf, choosePrice, fitIn, holds, type Pair, type Price, priceOf, type Term } from './prices.ts';

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

/** What `setPrice` does with the table, in memory. */
function set(prices: Kept[], wanted: Price, id: number): Kept[] {
  const same = (one: Price) =>
    one.tier === wanted.tier && one.account === wanted.account && one.pair === wanted.pair;
  const { end, replace, until } = fitIn(prices.filter(same), wanted);
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

describe('the price that is chosen', () => {
  /** As the sentence has it: of those that hold, the most specific; the account weighs more than the pair. */
  function reading(prices: readonly Price[], tier: string, account: AccountRef, pair: Pair, at: Date) {
    const specificity = (price: Price) => (price.account ? 2 : 0) + (price.pair ? 1 : 0);
    return prices
      .filter((price) => price.tier === tier && holds(price, at))
      .filter((price) => price.account === undefined || price.account === account)
      .filter((price) => price.pair === undefined || price.pair === pair)
      .sort((one, other) => specificity(other) - specificity(one))[0]?.centsPerWord;
  }

  it('is the most specific one that holds', () => {
    fc.assert(
      fc.property(table, (prices) => {
        const book = bookOf(prices);
        // Looked at as a whole: fifty thousand expectations took longer than all the prices.
        const read: unknown[] = [];
        const chosen: unknown[] = [];
        for (const tier of ['human', 'machine'] as const)
          for (const account of [...ACCOUNTS, NOBODY])
            for (const pair of PAIRS)
              for (const at of days) {
                read.push(reading(prices, tier, account, pair, at));
                chosen.push(choosePrice(book, { tier, account, pair }, at));
              }
        expect(chosen).toEqual(read);
      }),
      { numRuns: 100 },
    );
  });

  it('is a pair’s own, though it shares a language with another', () => {
    const pairs = ['en es', 'en de', 'de es'].map((words) => {
      const [sourceLanguage, targetLanguage] = words.split(' ');
      return { sourceLanguage: sourceLanguage!, targetLanguage: targetLanguage! };
    });
    const from = new Date(0);
    const common = { tier: 'human' as const, account: undefined, from, until: undefined };
    const book = bookOf(pairs.map((pair, index) => ({ ...common, pair, centsPerWord: index })));
    const chosen = pairs.map((pair) => choosePrice(book, { tier: 'human', account: NOBODY, pair }, from));
    expect(chosen).toEqual([0, 1, 2]);
  });

  it('holds from its first moment to before its last', () => {
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
        bookOf([price]),
        { tier: 'human', account: NOBODY, pair: PAIRS[0]! },
        new Date(milliseconds),
      );
    expect([999, 1000, 1999, 2000].map(at)).toEqual([undefined, 7, 7, undefined]);
  });
});

describe('a price that is set', () => {
  it('leaves no two of one scope that hold at once', () => {
    fc.assert(
      fc.property(table, (prices) => {
        for (const ofScope of Map.groupBy(prices, ({ tier, account, pair }) =>
          JSON.stringify([tier, account, pair]),
        ).values()) {
          for (const at of days) {
            expect(ofScope.filter((price) => holds(price, at)).length).toBeLessThanOrEqual(1);
          }
        }
      }),
    );
  });

  it('holds from its start, to its end or the next one’s start, and changes nothing before', () => {
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
          const found = after.find((price) => holds(price, at));
          if (at < wanted.from || (next !== undefined && at >= next.from)) {
            expect(found?.id).toBe(before.find((price) => holds(price, at))?.id);
          } else {
            expect(found?.id).toBe(holds(wanted, at) ? -1 : undefined);
          }
        }
      }),
    );
  });

  it('replaces one with the same start', () => {
    const from = new Date(1000);
    const existing: Term = { from, until: undefined };
    expect(fitIn([existing], { from, until: undefined })).toEqual({
      end: undefined,
      replace: existing,
      until: undefined,
    });
  });
});

describe('the price of a job', () => {
  const all = { words: 7, repeatedWords: 0 };

  it('is the words times the price of a word, in whole cents', () => {
    expect(priceOf(all, 3, 100)).toBe(21);
    expect(priceOf(all, 0, 100)).toBe(0);
    expect(priceOf({ words: 0, repeatedWords: 0 }, 3, 100)).toBe(0);
  });

  it('takes the share for repeated words, and leaves off what is less than a cent', () => {
    expect(priceOf({ words: 7, repeatedWords: 3 }, 3, 100)).toBe(21);
    expect(priceOf({ words: 7, repeatedWords: 3 }, 3, 0)).toBe(12);
    expect(priceOf({ words: 7, repeatedWords: 3 }, 3, 30)).toBe(14); // 12 + 2.7
    expect(priceOf({ words: 1, repeatedWords: 1 }, 1, 99)).toBe(0);
  });

  it('is within a cent of the exact one, never above it, and never above the price without repeats', () => {
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

  it('is refused where it would not be exact', () => {
    expect(() => priceOf({ words: Number.MAX_SAFE_INTEGER, repeatedWords: 0 }, 2, 100)).toThrow(RangeError);
    expect(() => priceOf({ words: -1, repeatedWords: 0 }, 2, 100)).toThrow(RangeError);
    expect(() => priceOf({ words: 1.5, repeatedWords: 0 }, 1, 100)).toThrow(RangeError);
  });
});

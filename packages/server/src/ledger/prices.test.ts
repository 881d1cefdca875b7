/** Tests the rules of prices by comparison with direct implementations of their definitions. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { AccountRef } from '../base/account.ts';
import {
  choosePrice,
  discountsOf,
  insertTerm,
  isValidAt,
  MATCH_KINDS,
  type Pair,
  type Price,
  type PriceTerm,
  priceOf,
  toPriceIndex,
  withoutUntranslated,
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
  const repeats = (words: number, share: number) => [{ kind: 'repeat', words, share }] as const;

  it('is the number of words times the price per word, in whole cents', () => {
    expect(priceOf(7, [], 3)).toBe(21);
    expect(priceOf(7, [], 0)).toBe(0);
    expect(priceOf(0, [], 3)).toBe(0);
  });

  it('includes only the share of matched words, and drops fractions of a cent above the first cent', () => {
    expect(priceOf(7, repeats(3, 0), 3)).toBe(12);
    // Four words cost 12 cents. Three repeated words cost 30 % of 9 cents, which is 2.7 cents.
    expect(priceOf(7, repeats(3, 30), 3)).toBe(14);
    expect(priceOf(1, repeats(1, 1), 1)).toBe(1);
    expect(priceOf(1, repeats(1, 0), 1)).toBe(0);
  });

  it('has a discount for each kind with words and a share below 100 %, from the closest match on', () => {
    const shares = { context: 30, exact: 100, fuzzy95: 60, fuzzy85: 70, fuzzy75: 100, repeat: 50 };
    expect(
      discountsOf({ words: 9, matched: { repeat: 2, exact: 1, fuzzy85: 1, fuzzy75: 1, context: 4 } }, shares),
    ).toEqual([
      { kind: 'context', words: 4, share: 30 },
      { kind: 'fuzzy85', words: 1, share: 70 },
      { kind: 'repeat', words: 2, share: 50 },
    ]);
    expect(discountsOf({ words: 9, matched: { repeat: 0 } }, shares)).toEqual([]);
  });

  it('is the sum of its parts, rounded down once to a cent, and never above the full price', () => {
    const amount = fc.integer({ min: 0, max: 1_000_000 });
    const share = fc.integer({ min: 0, max: 100 });
    const kinds = <T>(one: fc.Arbitrary<T>) =>
      fc.record({ context: one, exact: one, fuzzy95: one, fuzzy85: one, fuzzy75: one, repeat: one });
    fc.assert(
      fc.property(amount, kinds(amount), kinds(share), cents, (unmatched, matched, shares, perWord) => {
        const words = MATCH_KINDS.reduce((sum, kind) => sum + matched[kind], unmatched);
        const price = priceOf(words, discountsOf({ words, matched }, shares), perWord);
        const parts = MATCH_KINDS.map((kind) => BigInt(matched[kind]) * BigInt(shares[kind]));
        const hundredths =
          parts.reduce((sum, part) => sum + part, BigInt(unmatched) * 100n) * BigInt(perWord);
        expect(BigInt(price)).toBe(hundredths > 0n && hundredths < 100n ? 1n : hundredths / 100n);
        expect(price).toBeLessThanOrEqual(priceOf(words, [], perWord));
      }),
    );
  });

  it('throws if it is negative or not a safe integer, or if more words are matched than the job has', () => {
    expect(() => priceOf(Number.MAX_SAFE_INTEGER, [], 2)).toThrow(RangeError);
    expect(() => priceOf(-1, [], 2)).toThrow(RangeError);
    expect(() => priceOf(1.5, [], 1)).toThrow(RangeError);
    expect(() => priceOf(2, repeats(3, 50), 1)).toThrow(RangeError);
  });
});

describe('withoutUntranslated', () => {
  const shares = fc.uniqueArray(fc.constantFrom(...MATCH_KINDS), { maxLength: 4 }).chain((kinds) =>
    fc.tuple(
      ...kinds.map((kind) =>
        fc.record({
          kind: fc.constant(kind),
          words: fc.integer({ min: 1, max: 50 }),
          share: fc.integer({ min: 0, max: 99 }),
        }),
      ),
    ),
  );

  it('takes repeats from the discount for repeats, and other words from the full price first', () => {
    const discounts = [
      { kind: 'fuzzy85', words: 10, share: 60 },
      { kind: 'repeat', words: 8, share: 25 },
    ] as const;
    const left = withoutUntranslated({ words: 100, discounts }, { words: 12, repeated: 8 });
    expect(left).toEqual({ words: 88, discounts: [discounts[0]] });
    expect(withoutUntranslated({ words: 20, discounts }, { words: 12, repeated: 0 })).toEqual({
      words: 8,
      discounts: [{ kind: 'repeat', words: 8, share: 25 }],
    });
  });

  it('never costs more than before, nor more than the translated words alone', () => {
    fc.assert(
      fc.property(
        shares,
        fc.nat(200),
        fc.nat(200),
        fc.nat(200),
        cents,
        (discounts, full, words, repeated, price) => {
          const all = full + discounts.reduce((sum, one) => sum + one.words, 0);
          const left = withoutUntranslated(
            { words: all, discounts },
            { words, repeated: Math.min(words, repeated) },
          );
          expect(left.words).toBe(Math.max(0, all - words));
          const now = priceOf(left.words, left.discounts, price);
          expect(now).toBeLessThanOrEqual(priceOf(all, discounts, price));
          expect(now).toBeLessThanOrEqual(left.words * price);
          for (const one of left.discounts) expect(one.words).toBeGreaterThan(0);
        },
      ),
    );
  });
});

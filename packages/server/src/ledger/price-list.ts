/**
 * Reads and changes the prices that are set in the database. The prices are cached for the creation of jobs.
 */
import Type from 'typebox';
import { type Actor, recordAudit } from '../audit/audit.ts';
import type { AccountRef } from '../base/account.ts';
import { uuidv7 } from '../base/ids.ts';
import type { Database, Queryable } from '../database/database.ts';
import type { Settings } from '../settings/settings.ts';
import * as store from './price-store.ts';
import {
  choosePrice,
  type Discount,
  discountsOf,
  insertTerm,
  isValidAt,
  MATCH_KINDS,
  type MatchKind,
  type MatchShares,
  type Pair,
  type Price,
  type PriceIndex,
  type PriceTerm,
  priceOf,
  type Scope,
  type Tier,
  toPriceIndex,
  type WordCounts,
} from './prices.ts';

export type { Discount, MatchKind, MatchShares, WordCounts } from './prices.ts';
export { FUZZY_KINDS, MATCH_KINDS, MEMORY_KINDS, priceOf, withoutUntranslated } from './prices.ts';

/** The schema of a discount in answers. */
export const DiscountBody = Type.Object(
  {
    kind: Type.Enum([...MATCH_KINDS], {
      description:
        'The match of the words: `context` and `exact` are sentences that an editor confirmed in an earlier job, with or without the same neighbors; `fuzzy95`, `fuzzy85` and `fuzzy75` are similar to such a sentence, by at least 95, 85 or 75 %; `repeat` are sentences that occurred earlier in the text.',
    }),
    words: Type.Integer({ minimum: 1 }),
    share: Type.Integer({ minimum: 0, maximum: 99, description: 'Percent of the price of a word.' }),
  },
  { title: 'Discount', description: 'Words that cost only a share of their price.' },
);

/** The field of a quote whose price has fuzzy matches only for the beginning of the text. */
export const COUNTED = Type.Optional(
  Type.Integer({
    minimum: 0,
    description:
      'The number of sentences, from the beginning of the text, that were compared with similar sentences of the memory. Absent if all were, or if the operator has set no share for similar sentences.',
  }),
);

/** The price of a job, and what it was calculated from. */
export interface JobPrice {
  cents: number;
  /** The price of a word without a discount. */
  centsPerWord: number;
  discounts: Discount[];
}

export interface PriceList {
  /** Returns the price of a new job. Later changes of prices do not affect the job. */
  priceOf(account: AccountRef, tier: Tier, pair: Pair, counts: WordCounts): Promise<JobPrice>;
  /** Returns whether no job of a tier costs anything. Its matches then need not be counted. */
  isFree(tier: Tier): Promise<boolean>;
  readonly shares: MatchShares;
}

export type PriceSettings = Pick<Settings, 'humanCentsPerWord' | 'machineCentsPerWord' | `${MatchKind}Share`>;

const CACHE_MILLISECONDS = 2_000;

/** Caches all prices for two seconds. They change a few times a year, and every new job needs them. */
export function createPriceList(
  database: Database,
  settings: PriceSettings,
  now: () => number = Date.now,
): PriceList {
  const shares = sharesOf(settings);
  let cached: Promise<PriceIndex> | undefined;
  let until = 0;

  function prices(): Promise<PriceIndex> {
    if (cached === undefined || now() >= until) {
      until = now() + CACHE_MILLISECONDS;
      const loading = listPrices(database, new Date(now())).then(toPriceIndex);
      loading.catch(() => {
        if (cached === loading) cached = undefined;
      });
      cached = loading;
    }
    return cached;
  }

  return {
    async priceOf(account, tier, pair, counts) {
      const chosen = choosePrice(await prices(), { account, tier, pair }, new Date(now()));
      const centsPerWord = chosen ?? defaultPrice(settings, tier);
      const discounts = centsPerWord === 0 ? [] : discountsOf(counts, shares);
      return { cents: priceOf(counts.words, discounts, centsPerWord), centsPerWord, discounts };
    },
    async isFree(tier) {
      if (defaultPrice(settings, tier) > 0) return false;
      const set = [...(await prices()).values()].flat();
      return set.every((price) => price.tier !== tier || price.centsPerWord === 0);
    },
    shares,
  };
}

/** Returns the shares of the price that matched words cost. */
export function sharesOf(settings: PriceSettings): MatchShares {
  const shares = MATCH_KINDS.map((kind) => [kind, settings[`${kind}Share`]]);
  return Object.fromEntries(shares) as MatchShares;
}

/** Returns the price per word for scopes in which no operator set a price. */
export function defaultPrice(settings: PriceSettings, tier: Tier): number {
  return tier === 'human' ? settings.humanCentsPerWord : settings.machineCentsPerWord;
}

/** Returns every price that is valid at `at` or later. */
export async function listPrices(on: Queryable, at: Date): Promise<Price[]> {
  const rows = await store.selectPrices(on, { at });
  return rows.map(toPrice);
}

/**
 * Sets a price per word for a scope. The currently valid price ends where the new price begins, and the new
 * price ends where the next one begins.
 * @returns the new price with its actual start and end
 */
export function setPrice(
  database: Database,
  by: Actor,
  scope: Scope,
  wanted: PriceTerm & { centsPerWord: number },
): Promise<Price> {
  return database.transaction(async (transaction) => {
    await store.lockPrices(transaction);
    const { end, replace, until } = insertTerm(await scopePrices(transaction, scope, wanted.from), wanted);
    if (end !== undefined) await store.updatePriceEnd(transaction, { priceId: end.id, at: wanted.from });
    if (replace !== undefined) await store.removePrice(transaction, { priceId: replace.id });
    const price = { ...scope, ...wanted, until };
    await store.insertPrice(transaction, { ...price, id: uuidv7() });
    const detail = { from: price.from, until: until ?? null, cents_per_word: price.centsPerWord };
    await recordAudit(transaction, by, { action: 'price.set', ...subjectOf(scope), detail });
    return price;
  });
}

/** Returns the price of a scope that is valid at `at`, and the next price that begins then or later. */
export async function upcomingPrice(
  on: Queryable,
  scope: Scope,
  at: Date,
): Promise<{ current: Price | undefined; next: Price | undefined }> {
  const prices = await scopePrices(on, scope, at);
  return {
    current: prices.find((price) => price.from < at && isValidAt(price, at)),
    next: prices.find(({ from }) => from >= at),
  };
}

/**
 * Ends the price of a scope at `at` and deletes its future prices. Afterwards the next less specific price
 * applies.
 * @returns false when the scope had no price
 */
export function endPrice(database: Database, by: Actor, scope: Scope, at: Date): Promise<boolean> {
  return database.transaction(async (transaction) => {
    await store.lockPrices(transaction);
    const prices = await scopePrices(transaction, scope, at);
    for (const price of prices) {
      if (price.from < at && isValidAt(price, at))
        await store.updatePriceEnd(transaction, { priceId: price.id, at });
      else await store.removePrice(transaction, { priceId: price.id });
    }
    if (prices.length > 0) {
      await recordAudit(transaction, by, { action: 'price.ended', ...subjectOf(scope), detail: {} });
    }
    return prices.length > 0;
  });
}

function subjectOf({ tier, account, pair }: Scope): { account: AccountRef | undefined; subject: string } {
  return { account, subject: `${pair?.sourceLanguage ?? '*'}>${pair?.targetLanguage ?? '*'} ${tier}` };
}

/** Returns the prices of one scope that are valid at `at` or later, in the order of their starts. */
async function scopePrices(on: Queryable, scope: Scope, at: Date): Promise<(Price & { id: string })[]> {
  const rows = await store.selectPrices(on, { at });
  return rows
    .filter(
      (row) =>
        row.tier === scope.tier &&
        row.account_id === (scope.account?.accountId ?? null) &&
        row.source_language === (scope.pair?.sourceLanguage ?? null) &&
        row.target_language === (scope.pair?.targetLanguage ?? null),
    )
    .map((row) => ({ ...toPrice(row), id: row.price_id }));
}

function toPrice(row: store.PriceRow): Price {
  return {
    tier: row.tier,
    account:
      row.account_id === null ? undefined : ({ part: row.part!, accountId: row.account_id } as AccountRef),
    pair:
      row.source_language === null
        ? undefined
        : { sourceLanguage: row.source_language, targetLanguage: row.target_language! },
    centsPerWord: row.cents_per_word,
    from: row.valid_from,
    until: row.valid_until ?? undefined,
  };
}

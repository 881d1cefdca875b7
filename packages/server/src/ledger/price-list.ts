/** The prices that hold: read by every creation, from memory, and set by operators. */
import type { AccountRef } from '../account.ts';
import type { Database, Queryable } from '../database/database.ts';
import { uuidv7 } from '../ids.ts';
import type { Settings } from '../settings.ts';
import {
  bookOf,
  choosePrice,
  type Extent,
  fitIn,
  holds,
  type Pair,
  type Price,
  type PriceBook,
  priceOf,
  type Scope,
  type Term,
  type Tier,
} from './prices.ts';
import * as store from './store.ts';

export interface PriceList {
  /** What a job costs now, in cents. Once it is created its price stays. */
  priceOf(account: AccountRef, tier: Tier, pair: Pair, extent: Extent): Promise<number>;
  /** Whether repeats cost less than their words, and so have to be counted. */
  readonly countsRepeats: boolean;
}

export type PriceSettings = Pick<Settings, 'humanCentsPerWord' | 'machineCentsPerWord' | 'repeatShare'>;

const REMEMBER_MILLISECONDS = 2_000;

/** Prices are set a few times a year and asked for by every creation: they are remembered 2 s, all of them. */
export function createPriceList(
  database: Database,
  settings: PriceSettings,
  now: () => number = Date.now,
): PriceList {
  let known: Promise<PriceBook> | undefined;
  let until = 0;

  function prices(): Promise<PriceBook> {
    if (known === undefined || now() >= until) {
      until = now() + REMEMBER_MILLISECONDS;
      const asked = listPrices(database, new Date(now())).then(bookOf);
      asked.catch(() => {
        if (known === asked) known = undefined;
      });
      known = asked;
    }
    return known;
  }

  return {
    async priceOf(account, tier, pair, extent) {
      const chosen = choosePrice(await prices(), { account, tier, pair }, new Date(now()));
      return priceOf(extent, chosen ?? defaultPrice(settings, tier), settings.repeatShare);
    },
    countsRepeats: settings.repeatShare !== 100,
  };
}

/** The price of a word where none was set. */
export function defaultPrice(settings: PriceSettings, tier: Tier): number {
  return tier === 'human' ? settings.humanCentsPerWord : settings.machineCentsPerWord;
}

/** Every price that has not ended at a moment, with those to come. */
export async function listPrices(on: Queryable, at: Date): Promise<Price[]> {
  const rows = await store.listPrices(on, at);
  return rows.map(toPrice);
}

/**
 * Sets a price of a word for a scope. The one that held ends where this begins, and this ends where the next one
 * begins.
 * @returns the price as it was fitted in
 */
export function setPrice(
  database: Database,
  scope: Scope,
  wanted: Term & { centsPerWord: number },
): Promise<Price> {
  return database.transaction(async (transaction) => {
    await store.lockPrices(transaction);
    const { end, replace, until } = fitIn(await scopePrices(transaction, scope, wanted.from), wanted);
    if (end !== undefined) await store.endPrice(transaction, end.id, wanted.from);
    if (replace !== undefined) await store.removePrice(transaction, replace.id);
    const price = { ...scope, ...wanted, until };
    await store.insertPrice(transaction, { ...price, id: uuidv7() });
    return price;
  });
}

/** The price of a scope that holds at a moment, and the next one that begins then or later. */
export async function upcomingPrice(
  on: Queryable,
  scope: Scope,
  at: Date,
): Promise<{ holding: Price | undefined; next: Price | undefined }> {
  const prices = await scopePrices(on, scope, at);
  return {
    holding: prices.find((price) => price.from < at && holds(price, at)),
    next: prices.find(({ from }) => from >= at),
  };
}

/**
 * Ends the price that holds for a scope at a moment, and drops those to come: the next less specific one holds.
 * @returns whether there was any
 */
export function endPrice(database: Database, scope: Scope, at: Date): Promise<boolean> {
  return database.transaction(async (transaction) => {
    await store.lockPrices(transaction);
    const prices = await scopePrices(transaction, scope, at);
    for (const price of prices) {
      if (price.from < at && holds(price, at)) await store.endPrice(transaction, price.id, at);
      else await store.removePrice(transaction, price.id);
    }
    return prices.length > 0;
  });
}

/** The prices of one scope that have not ended at a moment, in their order. */
async function scopePrices(on: Queryable, scope: Scope, at: Date): Promise<(Price & { id: string })[]> {
  const rows = await store.listPrices(on, at);
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

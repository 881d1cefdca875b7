import type { Queryable, Transaction } from '../database/database.ts';
import { statement } from '../database/statements.ts';
import type { Price, Tier } from './prices.ts';

export interface PriceRow {
  price_id: string;
  tier: Tier;
  part: number | null;
  account_id: string | null;
  source_language: string | null;
  target_language: string | null;
  cents_per_word: number;
  valid_from: Date;
  valid_until: Date | null;
}

const LIST_PRICES = statement<PriceRow>(
  'ledger.prices',
  `select price_id, tier, part, account_id, source_language, target_language, cents_per_word, valid_from, valid_until
     from prices where valid_until is null or valid_until > $1
    order by tier, account_id nulls first, source_language nulls first, target_language nulls first, valid_from`,
);

/** Selects the prices of all accounts that are valid at `at` or later. */
export function selectPrices(on: Queryable, at: Date): Promise<PriceRow[]> {
  return on.query(LIST_PRICES, [at]);
}

// The lock mode does not block readers. Writers run one after the other, so that each sees the prices of the
// others.
const LOCK_PRICES = statement('ledger.lock_prices', 'lock table prices in share row exclusive mode');

export async function lockPrices(transaction: Transaction): Promise<void> {
  await transaction.query(LOCK_PRICES);
}

const INSERT_PRICE = statement(
  'ledger.insert_price',
  `insert into prices (price_id, tier, part, account_id, source_language, target_language, cents_per_word,
     valid_from, valid_until) values ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
);

export async function insertPrice(transaction: Transaction, price: Price & { id: string }): Promise<void> {
  await transaction.query(INSERT_PRICE, [
    price.id,
    price.tier,
    price.account?.part ?? null,
    price.account?.accountId ?? null,
    price.pair?.sourceLanguage ?? null,
    price.pair?.targetLanguage ?? null,
    price.centsPerWord,
    price.from,
    price.until ?? null,
  ]);
}

const END_PRICE = statement('ledger.end_price', `update prices set valid_until = $2 where price_id = $1`);
const REMOVE_PRICE = statement('ledger.remove_price', `delete from prices where price_id = $1`);

export async function updatePriceEnd(transaction: Transaction, priceId: string, at: Date): Promise<void> {
  await transaction.query(END_PRICE, [priceId, at]);
}

export async function removePrice(transaction: Transaction, priceId: string): Promise<void> {
  await transaction.query(REMOVE_PRICE, [priceId]);
}

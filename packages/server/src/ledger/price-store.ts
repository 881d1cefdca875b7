import type { Transaction } from '../database/database.ts';
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

/** Selects the prices of all accounts that are valid at `at` or later. */
export const selectPrices = statement<PriceRow, { at: Date }>(
  'ledger.prices',
  `select price_id, tier, part, account_id, source_language, target_language, cents_per_word, valid_from, valid_until
     from prices where valid_until is null or valid_until > :at
    order by tier, account_id nulls first, source_language nulls first, target_language nulls first, valid_from`,
).rows;

// The lock mode does not block readers. Writers run one after the other, so that each sees the prices of the
// others.
export const lockPrices = statement<never, object, Transaction>(
  'ledger.lock_prices',
  'lock table prices in share row exclusive mode',
).run;

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

export const updatePriceEnd = statement<never, { priceId: string; at: Date }, Transaction>(
  'ledger.end_price',
  `update prices set valid_until = :at where price_id = :priceId`,
).run;
export const removePrice = statement<never, { priceId: string }, Transaction>(
  'ledger.remove_price',
  `delete from prices where price_id = :priceId`,
).run;

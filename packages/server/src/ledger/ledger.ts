/**
 * Transfers of money. The price of a job is held when the job is created. The hold ends once: it is captured
 * when the job completes, or voided when the job fails or is canceled. Before a capture, the part of the hold for
 * untranslated words is released. The column `available` of a balance is
 * the amount that the customer can spend. Unique keys prevent double charges, and a check constraint enforces
 * the credit limit.
 */
import type { AccountRef, Environment } from '../base/account.ts';
import { OperatorError } from '../base/errors.ts';
import { firstIdOf, uuidv7 } from '../base/ids.ts';
import { constraintOf, type Database, type Queryable, type Transaction } from '../database/database.ts';
import type { EditedWordCounts } from '../http/schemas.ts';
import type { Discount } from './prices.ts';
import * as store from './store.ts';
import { type Discrepancy, findDiscrepancies, readTotals } from './verify-store.ts';

export type { Discrepancy } from './verify-store.ts';

/**
 * Creates both balances of a new account, and adds a top-up to each balance whose amount in `cents` is not
 * zero. Production has a credit limit of 0. The sandbox has no limit, because nothing is charged there.
 */
export async function openBalances(
  transaction: Transaction,
  account: AccountRef,
  cents: Record<Environment, number>,
): Promise<void> {
  for (const environment of ['production', 'sandbox'] as const) {
    await store.openBalance(transaction, {
      account,
      environment,
      limit: environment === 'sandbox' ? null : 0,
    });
    if (cents[environment] > 0) {
      const entry = { transferId: uuidv7(), environment, cents: cents[environment], memo: 'opening balance' };
      await store.insertTopUp(transaction, { ...entry, account });
    }
  }
}

/** Lists accounts that are not overdrawn but can spend less than was held for their jobs since `since`. */
export function listLowBalances(
  on: Queryable,
  since: Date,
  limit: number,
): Promise<{ username: string; cents: number }[]> {
  return store.selectLowBalances(on, { since: firstIdOf(since.getTime()), limit });
}

/** Adds a top-up. @returns the new balance in cents */
export function topUp(
  on: Queryable,
  account: AccountRef,
  entry: { environment: Environment; cents: number; memo: string },
): Promise<number> {
  return store.insertTopUp(on, { ...entry, account, transferId: uuidv7() });
}

/** An operator requested an impossible transfer. The message is for the operator. */
export class LedgerError extends OperatorError {
  override name = 'LedgerError';
}

/**
 * Adds an adjustment.
 * @param entry `cents` may be negative; `memo` gives the reason
 * @returns the new balance in cents
 * @throws LedgerError when the balance would exceed the credit limit
 */
export async function adjust(
  on: Queryable,
  account: AccountRef,
  entry: { environment: Environment; cents: number; memo: string },
): Promise<number> {
  try {
    return await store.insertAdjustment(on, { ...entry, account, transferId: uuidv7() });
  } catch (error) {
    if (!isOverdrawn(error)) throw error;
    throw new LedgerError('The balance would go below the credit limit. Nothing was changed.');
  }
}

/**
 * Refunds all captured amounts of a job that were not refunded yet.
 * @returns the refunded amount and the new balance, in cents
 * @throws LedgerError when the job does not exist or has nothing to refund
 */
export async function refund(
  transaction: Transaction,
  account: AccountRef,
  entry: { environment: Environment; uid: string; memo: string },
): Promise<{ cents: number; balance: number }> {
  const { environment, uid } = entry;
  const refunded = await store.insertRefund(transaction, account, { ...entry, transferId: uuidv7() });
  if (refunded !== undefined) return { cents: refunded.amount_cents, balance: refunded.available_cents };
  const job = await store.findRefundableJob(transaction, { account, environment, uid });
  if (job === undefined) throw new LedgerError(`There is no job ${uid} in ${environment}.`);
  throw new LedgerError(
    job.refunded
      ? 'The job was already refunded.'
      : 'Nothing was charged for this job. A held amount is released automatically.',
  );
}

/** Lists the transfers of a job in order. The cents are always positive; the kind gives the direction. */
export async function listJobTransfers(
  on: Queryable,
  account: AccountRef,
  jobId: string,
): Promise<{ at: Date; kind: string; cents: number; memo: string | null }[]> {
  const rows = await store.selectJobTransfers(on, { account, jobId });
  return rows.map(({ created_at: at, kind, amount_cents: cents, memo }) => ({ at, kind, cents, memo }));
}

/** The transfers of a balance in a period. All amounts are in cents. */
export interface LedgerStatement {
  opening: number;
  lines: StatementLine[];
  closing: number;
}

export interface StatementLine {
  at: Date;
  kind: string;
  /** The uid of the transfer's job; null for a transfer without a job. */
  uid: string | null;
  memo: string | null;
  amount: number;
  /**
   * The change of the available balance. The change is zero for a capture, which takes the amount from the
   * hold.
   */
  change: number;
  /** The available balance after the transfer. */
  balance: number;
  /** The discounts in the amount of a job's current charge. */
  discounts: Discount[];
  /** For the charge of a job: how many words editors confirmed, and how many came from votes. */
  edited_words: EditedWordCounts;
}

/**
 * Reads the statement of a balance for `[from, until)`. The opening balance plus all changes equals the
 * closing balance.
 */
export function readStatement(
  database: Database,
  account: AccountRef,
  environment: Environment,
  period: { from: Date; until: Date },
): Promise<LedgerStatement> {
  return database.transaction(async (transaction) => {
    await store.takeSnapshot(transaction);
    const opening = await store.readOpening(transaction, { account, environment, at: period.from });
    const rows = await store.listLines(transaction, {
      account,
      environment,
      from: period.from,
      until: period.until,
    });
    let balance = opening;
    const lines = rows.map(
      ({ created_at: at, kind, uid, memo, amount_cents: amount, change_cents: change, ...row }) => {
        balance += change;
        const { discounts, edited_words } = row;
        return { at, kind, uid, memo, amount, change, balance, discounts: discounts ?? [], edited_words };
      },
    );
    return { opening, lines, closing: balance };
  });
}

/**
 * Sets the credit limit of a balance; null means no limit.
 * @throws the check violation of `balances_credit_limit` when the balance is already below the limit; see
 * `isOverdrawn`
 */
export function setCreditLimit(
  on: Queryable,
  account: AccountRef,
  environment: Environment,
  cents: number | null,
): Promise<void> {
  return store.updateCreditLimit(on, { account, environment, cents });
}

export interface Hold {
  account: AccountRef;
  environment: Environment;
  jobId: string;
  /**
   * The number of the charge: 1 when the job is created, and a new number for each upgrade of a machine job.
   */
  charge: number;
  cents: number;
  /** The key whose daily limit counts the price; undefined for a key without a limit and for people. */
  limitedKey?: string | undefined;
}

/** The key of a hold: the job and the number of its charge. */
export type Charge = Pick<Hold, 'jobId' | 'charge'>;

/**
 * Holds the prices of several jobs in one statement, and counts them for the daily limits of their keys. Free jobs get
 * no hold.
 * @returns the new balance of each account in cents; undefined for an account without a hold
 * @throws the check violation of `balances_credit_limit` when an account cannot pay; see `isOverdrawn`;
 *   that of `keys_daily_limit` when a key may not order so much today; see `isOverLimit`
 */
export async function holdPrices(
  transaction: Transaction,
  holds: readonly Hold[],
): Promise<(account: AccountRef, environment: Environment) => number | undefined> {
  const entries = holds.filter(({ cents }) => cents > 0).map((hold) => ({ ...hold, transferId: uuidv7() }));
  const rows = entries.length > 0 ? await store.insertHolds(transaction, entries) : [];
  // After the holds: their statement has locked the balances, so that two batches do not lock keys in different orders.
  const limited = entries.filter(({ limitedKey }) => limitedKey !== undefined);
  if (limited.length > 0) await store.countOrders(transaction, limited);
  const left = new Map(rows.map((row) => [`${row.account_id} ${row.environment}`, row.available_cents]));
  return (account, environment) => left.get(`${account.accountId} ${environment}`);
}

/** Returns the number for the next charge of a job. The caller must have locked the row of the job. */
export async function nextCharge(
  transaction: Transaction,
  account: AccountRef,
  jobId: string,
): Promise<number> {
  return (await store.lastCharge(transaction, { account, jobId })) + 1;
}

/** Returns whether an error of `holdPrices` means that the account cannot pay. */
export function isOverdrawn(error: unknown): boolean {
  return constraintOf(error) === 'balances_credit_limit';
}

/** Returns whether an error of `holdPrices` means that the key may not order so much today. */
export function isOverLimit(error: unknown): boolean {
  return constraintOf(error) === 'keys_daily_limit';
}

/** Captures what is left of the holds of several charges in one statement. Free jobs have no hold. */
export async function capturePrices(
  transaction: Transaction,
  jobs: readonly (Charge & { account: AccountRef })[],
): Promise<void> {
  if (jobs.length === 0) return;
  await store.captureAll(
    transaction,
    jobs.map((job) => ({ ...job, transferId: uuidv7() })),
  );
}

/** Voids the hold of a charge. Free jobs have no hold. */
export function voidPrice(transaction: Transaction, account: AccountRef, charge: Charge): Promise<void> {
  return store.giveBack(transaction, account, { ...charge, cents: undefined }, uuidv7());
}

/** Releases a part of the hold of a charge, before the rest is captured. */
export function releasePrice(
  transaction: Transaction,
  account: AccountRef,
  release: Charge & { cents: number },
): Promise<void> {
  return store.giveBack(transaction, account, release, uuidv7());
}

/** Returns the available balance in cents, without the credit limit. */
export async function availableCents(
  on: Queryable,
  account: AccountRef,
  environment: Environment,
): Promise<number> {
  return (await store.readBalance(on, { account, environment }))?.available_cents ?? 0;
}

/** Returns the credit limit in cents; null means no limit. */
export async function creditLimitOf(
  on: Queryable,
  account: AccountRef,
  environment: Environment,
): Promise<number | null> {
  return (await store.readBalance(on, { account, environment }))?.credit_limit_cents ?? null;
}

/** Returns both balances of an account in cents. A `credit_limit` of null means no limit. */
export async function readBalances(
  on: Queryable,
  account: AccountRef,
): Promise<{ environment: Environment; balance: number; credit_limit: number | null }[]> {
  const rows = await store.listBalances(on, { account });
  return rows.map(({ environment, available_cents, credit_limit_cents }) => ({
    environment,
    balance: available_cents,
    credit_limit: credit_limit_cents,
  }));
}

/**
 * Returns the cents that an account's unfinished jobs hold, and those that were charged since a moment, less refunds, by
 * environment.
 */
export async function readSpent(
  on: Queryable,
  account: AccountRef,
  since: Date,
): Promise<Record<'held' | 'charged', Record<Environment, number>>> {
  const [held, charged] = await Promise.all([
    store.sumHeld(on, { account }),
    store.sumCharged(on, { account, since: firstIdOf(since.getTime()) }),
  ]);
  const centsOf = (rows: typeof held, environment: Environment) =>
    rows.find((row) => row.environment === environment)?.cents ?? 0;
  const byEnvironment = (rows: typeof held) => ({
    production: centsOf(rows, 'production'),
    sandbox: centsOf(rows, 'sandbox'),
  });
  return { held: byEnvironment(held), charged: byEnvironment(charged) };
}

/**
 * Recalculates every balance and every job's price from the transfers. The ledger is consistent if this finds
 * no discrepancies.
 */
export async function verifyLedger(database: Database): Promise<{
  discrepancies: Discrepancy[];
  accounts: number;
  transfers: number;
  cents: number;
}> {
  const [discrepancies, totals] = await Promise.all([findDiscrepancies(database), readTotals(database)]);
  return { discrepancies, ...totals };
}

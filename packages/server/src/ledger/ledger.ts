/**
 * Money. A price is held when a job is created, and the hold is ended once: captured when the job completes,
 * or voided when it fails or is canceled. What the customer can spend is `available`; the tables see to it
 * that nothing is charged twice (unique keys) and that no one spends beyond the credit limit (a check).
 */
import type { AccountRef, Environment } from '../account.ts';
import type { Database, Queryable, Transaction } from '../database/database.ts';
import { uuidv7 } from '../ids.ts';
import * as store from './store.ts';

export type { Discrepancy } from './store.ts';

/** Opens both balances of a new account, with a first top-up where the amount (in cents) is not zero. */
export async function openBalances(
  transaction: Transaction,
  account: AccountRef,
  cents: Record<Environment, number>,
): Promise<void> {
  for (const environment of ['production', 'sandbox'] as const) {
    await store.openBalance(transaction, account, environment);
    if (cents[environment] > 0) {
      const entry = { transferId: uuidv7(), environment, cents: cents[environment], memo: 'opening balance' };
      await store.topUp(transaction, account, entry);
    }
  }
}

/** Puts money on a balance. @returns what the account can spend afterwards, in cents */
export function topUp(
  on: Queryable,
  account: AccountRef,
  entry: { environment: Environment; cents: number; memo: string },
): Promise<number> {
  return store.topUp(on, account, { ...entry, transferId: uuidv7() });
}

/**
 * Sets how far a balance may be owed; null is without limit.
 * @throws pg's check violation of `balances_credit_limit` when more is owed already; see `isOverdrawn`
 */
export function setCreditLimit(
  on: Queryable,
  account: AccountRef,
  environment: Environment,
  cents: number | null,
): Promise<void> {
  return store.setCreditLimit(on, account, environment, cents);
}

export interface Hold {
  account: AccountRef;
  environment: Environment;
  jobId: string;
  /** Which charge of the job: 1 at its creation, 2 where a machine's job goes on to a human. */
  charge: number;
  cents: number;
}

/** What ends a hold: the job, and which of its charges. */
export type Charge = Pick<Hold, 'jobId' | 'charge'>;

/**
 * Holds the price of each job, all in one statement. Free jobs hold nothing.
 * @returns what each of the accounts can spend afterwards, in cents; undefined for one without a hold
 * @throws pg's check violation of `balances_credit_limit` when an account cannot pay; see `isOverdrawn`
 */
export async function holdPrices(
  transaction: Transaction,
  holds: readonly Hold[],
): Promise<(account: AccountRef, environment: Environment) => number | undefined> {
  const entries = holds.filter(({ cents }) => cents > 0).map((hold) => ({ ...hold, transferId: uuidv7() }));
  const rows = entries.length > 0 ? await store.insertHolds(transaction, entries) : [];
  const left = new Map(rows.map((row) => [`${row.account_id} ${row.environment}`, row.available_cents]));
  return (account, environment) => left.get(`${account.accountId} ${environment}`);
}

/** Whether an error of `holdPrices` says that the account cannot pay. */
export function isOverdrawn(error: unknown): boolean {
  return (error as { constraint?: string }).constraint === 'balances_credit_limit';
}

/** Ends a charge's hold: the price is earned. Free jobs have none. */
export function capturePrice(transaction: Transaction, account: AccountRef, charge: Charge): Promise<void> {
  return capturePrices(transaction, [{ account, ...charge }]);
}

/** The same for several jobs, in one statement. */
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

/** Ends a charge's hold: the price goes back to the account. Free jobs have none. */
export function voidPrice(transaction: Transaction, account: AccountRef, charge: Charge): Promise<void> {
  return store.voidHold(transaction, account, charge, uuidv7());
}

/** What an account can spend, in cents, before its credit. */
export async function availableCents(
  on: Queryable,
  account: AccountRef,
  environment: Environment,
): Promise<number> {
  return (await store.readBalance(on, account, environment))?.available_cents ?? 0;
}

/** How far a balance may be owed, in cents; null is without limit. */
export async function creditLimitOf(
  on: Queryable,
  account: AccountRef,
  environment: Environment,
): Promise<number | null> {
  return (await store.readBalance(on, account, environment))?.credit_limit_cents ?? null;
}

/** Both balances of an account, in cents; a credit limit of null is none. */
export async function readBalances(
  on: Queryable,
  account: AccountRef,
): Promise<{ environment: Environment; balance: number; credit_limit: number | null }[]> {
  const rows = await store.listBalances(on, account);
  return rows.map(({ environment, available_cents, credit_limit_cents }) => ({
    environment,
    balance: available_cents,
    credit_limit: credit_limit_cents,
  }));
}

/** Re-adds every balance and every job's price from the transfers. An empty list is a sound ledger. */
export async function verifyLedger(database: Database): Promise<{
  discrepancies: store.Discrepancy[];
  accounts: number;
  transfers: number;
  cents: number;
}> {
  const [discrepancies, totals] = await Promise.all([
    store.findDiscrepancies(database),
    store.readTotals(database),
  ]);
  return { discrepancies, ...totals };
}

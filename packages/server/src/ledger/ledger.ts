/**
 * Money. A price is held when a job is created, and the hold is ended once: captured when the job completes,
 * or voided when it fails or is canceled. What the customer can spend is `available`; the tables see to it
 * that nothing is charged twice (unique keys) and that no one spends beyond the credit limit (a check).
 */
import type { AccountRef, Environment } from '../account.ts';
import type { Database, Queryable, Transaction } from '../database/database.ts';
import { OperatorError } from '../errors.ts';
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

/** An operator's mistake with money; the message is for the operator. */
export class LedgerError extends OperatorError {
  override name = 'LedgerError';
}

/**
 * Puts a balance right, for a reason that the memo says.
 * @param entry.cents above zero for the customer's good, below zero against it
 * @returns what the account can spend afterwards, in cents
 * @throws LedgerError when it would owe more than it may
 */
export async function adjust(
  on: Queryable,
  account: AccountRef,
  entry: { environment: Environment; cents: number; memo: string },
): Promise<number> {
  try {
    return await store.adjust(on, account, { ...entry, transferId: uuidv7() });
  } catch (error) {
    if (!isOverdrawn(error)) throw error;
    throw new LedgerError('The account would owe more than it may; nothing was changed.');
  }
}

/**
 * Gives back all that was captured for a job and was not given back before.
 * @returns what was given back, and what the account can spend afterwards, in cents
 * @throws LedgerError when there is nothing to give back
 */
export function refund(
  database: Database,
  account: AccountRef,
  entry: { environment: Environment; uid: string; memo: string },
): Promise<{ cents: number; balance: number }> {
  return database.transaction((transaction) => refundWithin(transaction, account, entry));
}

/** The same as a part of somebody's transaction. */
export async function refundWithin(
  transaction: Transaction,
  account: AccountRef,
  entry: { environment: Environment; uid: string; memo: string },
): Promise<{ cents: number; balance: number }> {
  const refunded = await store.refund(transaction, account, { ...entry, transferId: uuidv7() });
  if (refunded !== undefined) return { cents: refunded.amount_cents, balance: refunded.available_cents };
  const before = await store.wasRefunded(transaction, account, entry.environment, entry.uid);
  throw new LedgerError(
    before
      ? 'The job was refunded before.'
      : 'Nothing was charged for such a job: what is held is given back by itself.',
  );
}

/** What moved for a job, in its order; cents above zero, the kind says which way. */
export async function listJobTransfers(
  on: Queryable,
  account: AccountRef,
  jobId: string,
): Promise<{ at: Date; kind: string; cents: number; memo: string | null }[]> {
  const rows = await store.listJobTransfers(on, account, jobId);
  return rows.map(({ created_at: at, kind, amount_cents: cents, memo }) => ({ at, kind, cents, memo }));
}

/** Of a balance in a period, every transfer; all in cents. */
export interface Statement {
  opening: number;
  lines: StatementLine[];
  closing: number;
}

export interface StatementLine {
  at: Date;
  kind: string;
  /** Of the job that it is about. */
  uid: string | null;
  memo: string | null;
  amount: number;
  /** What it does to the balance: a capture takes from what was held, and so nothing more. */
  change: number;
  /** What can be spent after it. */
  balance: number;
}

/** The statement of a balance, from a moment to before another. It adds up: opening and changes are the closing. */
export function readStatement(
  database: Database,
  account: AccountRef,
  environment: Environment,
  period: { from: Date; until: Date },
): Promise<Statement> {
  return database.transaction(async (transaction) => {
    await store.takeSnapshot(transaction);
    const opening = await store.readOpening(transaction, account, environment, period.from);
    const rows = await store.listLines(transaction, account, environment, period.from, period.until);
    let balance = opening;
    const lines = rows.map(
      ({ created_at: at, kind, uid, memo, amount_cents: amount, change_cents: change }) => {
        balance += change;
        return { at, kind, uid, memo, amount, change, balance };
      },
    );
    return { opening, lines, closing: balance };
  });
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
  /** Which charge of the job: 1 at its creation, another number for each time that a machine's job goes on to a human. */
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

/** Returns a number for another charge of a job, whose row is locked. */
export async function nextCharge(
  transaction: Transaction,
  account: AccountRef,
  jobId: string,
): Promise<number> {
  return (await store.lastCharge(transaction, account, jobId)) + 1;
}

/** Whether an error of `holdPrices` says that the account cannot pay. */
export function isOverdrawn(error: unknown): boolean {
  return (error as { constraint?: string }).constraint === 'balances_credit_limit';
}

/** Ends the holds of charges, in one statement: their prices are earned. Free jobs have none. */
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

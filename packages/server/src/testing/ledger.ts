import { expect } from 'vitest';
import type { AccountRef, Environment } from '../base/account.ts';
import type { Database } from '../database/database.ts';
import { refund, verifyLedger } from '../ledger/ledger.ts';

/** Refunds a job in its own transaction. */
export function refundJob(
  database: Database,
  account: AccountRef,
  entry: { environment: Environment; uid: string; memo: string },
): Promise<{ cents: number; balance: number }> {
  return database.transaction((transaction) => refund(transaction, account, entry));
}

/** Fails when the ledger breaks one of its rules. */
export async function expectSoundLedger(database: Database): Promise<void> {
  expect((await verifyLedger(database)).discrepancies).toEqual([]);
}

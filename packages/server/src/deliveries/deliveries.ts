/**
 * Deliveries: one event to one address. The row is written in the transaction that made the event, so an
 * event is never lost and never sent for something that did not happen; the sender does the rest.
 */
import type { AccountRef } from '../account.ts';
import type { Transaction } from '../database/database.ts';
import { uuidv7 } from '../ids.ts';
import { insertDelivery, type NewDelivery } from './store.ts';

/** Puts an event in the outbox. It is sent after the commit, as often as it takes, under one id and one body. */
export async function enqueueDelivery(
  transaction: Transaction,
  account: AccountRef,
  delivery: Omit<NewDelivery, 'deliveryId'>,
): Promise<void> {
  await insertDelivery(transaction, account, { ...delivery, deliveryId: uuidv7() });
}

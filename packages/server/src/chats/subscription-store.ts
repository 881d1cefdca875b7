/** SQL statements for chat subscriptions. */
import type { AccountRef } from '../base/account.ts';
import type { Queryable } from '../database/database.ts';
import { statement } from '../database/statements.ts';

/** An account's chat subscription: none (undefined), all pairs (`pairs` null) or the listed pairs. */
export type Subscription = { pairs: readonly string[] | null } | undefined;

/** SQL condition: the subscription is valid now. */
export const SUBSCRIBED =
  '(a.chat and coalesce(a.chat_from <= now(), true) and coalesce(a.chat_until > now(), true))';

/** The validity of a subscription, `[from, until)`; null means unbounded. */
export interface SubscriptionPeriod {
  from: Date | null;
  until: Date | null;
}

const SUBSCRIPTION = statement<{ chat: boolean; chat_pairs: string[] | null }>(
  'chats.subscription',
  `select ${SUBSCRIBED} as chat, a.chat_pairs from accounts a where a.part = $1 and a.account_id = $2`,
);

export async function readSubscription(on: Queryable, account: AccountRef): Promise<Subscription> {
  const [row] = await on.query(SUBSCRIPTION, [account.part, account.accountId]);
  return row?.chat ? { pairs: row.chat_pairs } : undefined;
}

const SUBSCRIBE = statement(
  'chats.subscribe',
  `update accounts set chat = $3, chat_pairs = $4, chat_from = $5, chat_until = $6
    where part = $1 and account_id = $2`,
);

export async function writeSubscription(
  on: Queryable,
  account: AccountRef,
  subscription: (NonNullable<Subscription> & Partial<SubscriptionPeriod>) | undefined,
): Promise<void> {
  const { pairs = null, from = null, until = null } = subscription ?? {};
  const values = [subscription !== undefined, pairs, from, until];
  await on.query(SUBSCRIBE, [account.part, account.accountId, ...values]);
}

/** The SQL statement that stores the outcomes of messages. */
import type { AccountRef } from '../base/account.ts';
import type { Transaction } from '../database/database.ts';
import { columnsOf, statement } from '../database/statements.ts';
import type { MessageStatus } from './states.ts';

export interface AnsweredMessage {
  account: AccountRef;
  chatId: string;
  messageId: string;
  leaseToken: string;
  from: readonly MessageStatus[];
  to: MessageStatus;
  translated: string | undefined;
  untranslated: number | undefined;
  failure: string | undefined;
}

// Locks chats in the same order as the creation of messages, so that the two cannot deadlock. Then locks the messages
// in key order, like the statement that extends leases.
const SETTLE = statement<{ message_id: string; answered_position: number }>(
  'chats.settle',
  `with given as materialized (
     select * from unnest(:part::smallint[], :account_id::uuid[], :message_id::uuid[], :token::uuid[], :from_statuses::text[],
       :to_status::text[], :translated::text[], :failure::text[], :chat_id::uuid[], :untranslated::integer[])
       as g (part, account_id, message_id, token, from_statuses, to_status, translated, failure, chat_id,
         untranslated)),
   held as materialized (
     select c.part, c.account_id, c.chat_id, c.answered_position
       from (select distinct part, account_id, chat_id from given) g
       join chats c on c.part = g.part and c.account_id = g.account_id and c.chat_id = g.chat_id
      order by c.part, c.account_id, c.environment, c.external_id
        for update of c),
   locked as materialized (
     select g.*, h.answered_position from held h
       join given g on g.part = h.part and g.account_id = h.account_id and g.chat_id = h.chat_id
       join messages l on l.part = g.part and l.account_id = g.account_id and l.message_id = g.message_id
      where l.lease_token = g.token and l.status = any(string_to_array(g.from_statuses, ' '))
      order by l.part, l.account_id, l.message_id for update of l)
   update messages m set status = g.to_status, translated = g.translated, untranslated = g.untranslated,
          failure = g.failure, lease_token = null, due_at = null, completed_at = (select statement_timestamp() where g.translated is not null)
     from locked g
    where m.part = g.part and m.account_id = g.account_id and m.message_id = g.message_id
   returning m.message_id, g.answered_position`,
);

/**
 * Stores the outcome of leased messages, which are then translated or failed, and locks their chats until the end of
 * the transaction. Because of this lock, only one transaction at a time records events of a chat, and it sees the
 * events that the previous transaction recorded.
 * @returns for each moved message id, the `answered_position` that its chat had before
 */
export async function settleMessages(
  transaction: Transaction,
  settling: readonly AnsweredMessage[],
): Promise<Map<string, number>> {
  const rows = await transaction.query(
    SETTLE,
    columnsOf(settling, {
      part: ({ account }) => account.part,
      account_id: ({ account }) => account.accountId,
      message_id: ({ messageId }) => messageId,
      token: ({ leaseToken }) => leaseToken,
      from_statuses: ({ from }) => from.join(' '),
      to_status: ({ to }) => to,
      translated: ({ translated }) => translated ?? null,
      failure: ({ failure }) => failure ?? null,
      chat_id: ({ chatId }) => chatId,
      untranslated: ({ untranslated }) => untranslated ?? null,
    }),
  );
  if (rows.length > 0) for (const { account } of settling) transaction.changed('chats', account);
  return new Map(rows.map((row) => [row.message_id, row.answered_position]));
}

/** SQL statements for corrections of messages. */
import type { AccountRef, Environment } from '../base/account.ts';
import type { Queryable, Transaction } from '../database/database.ts';
import { statement } from '../database/statements.ts';
import { ofActiveAccount } from '../work/queue.ts';
import type { ChatRow, MessageRow } from './store.ts';

const ASK = statement(
  'chats.ask_correction',
  `insert into message_corrections (part, account_id, message_id)
   select m.part, m.account_id, m.message_id
     from unnest($1::smallint[], $2::uuid[], $3::uuid[]) as g (part, account_id, message_id)
     join accounts a on a.part = g.part and a.account_id = g.account_id and a.chat_correction
     join messages m on m.part = g.part and m.account_id = g.account_id and m.message_id = g.message_id
      and m.status = 'deliver_complete' and m.environment = 'production'
   on conflict (part, account_id, message_id) do nothing`,
);

/** Queues delivered messages for correction, if their accounts want corrections. */
export async function requestCorrections(
  transaction: Transaction,
  messages: readonly { account: AccountRef; messageId: string }[],
): Promise<void> {
  await transaction.query(ASK, [
    messages.map(({ account }) => account.part),
    messages.map(({ account }) => account.accountId),
    messages.map(({ messageId }) => messageId),
  ]);
}

const DUE = statement<{ part: number; account_id: string; message_id: string }>(
  'chats.due_corrections',
  `select part, account_id, message_id from message_corrections c
    where job_id is null and ${ofActiveAccount('c')} order by created_at limit $1`,
);

/** Returns messages that wait for their correction, oldest first. Those of suspended accounts wait until the resume. */
export async function findDueCorrections(
  on: Queryable,
  limit: number,
): Promise<{ account: AccountRef; messageId: string }[]> {
  const rows = await on.query(DUE, [limit]);
  return rows.map(({ part, account_id: accountId, message_id: messageId }) => ({
    account: { part, accountId } as AccountRef,
    messageId,
  }));
}

/**
 * Locks a due correction until the end of the transaction. @returns false if another transaction has locked
 * it
 */
export const lockDueCorrection = statement<
  { message_id: string },
  { account: AccountRef; messageId: string },
  Transaction
>(
  'chats.take_correction',
  `select message_id from message_corrections
    where part = :part and account_id = :account_id and message_id = :messageId
      and job_id is null for update skip locked`,
).found;

export const setCorrectionJob = statement<
  never,
  { account: AccountRef; messageId: string; jobId: string },
  Transaction
>(
  'chats.correction_begun',
  `update message_corrections set job_id = :jobId where part = :part and account_id = :account_id
    and message_id = :messageId`,
).run;

export interface CorrectedRow extends MessageRow {
  environment: Environment;
  default_brand: string | null;
}

const COLUMNS = `m.message_id, m.chat_id, m.external_id, m.author_external_id, m.callback_url, m.is_inbound,
  m.source_language, m.target_language, m.text_format, m.document_settings, m.body, m.translation_id, m.translated,
  m.untranslated, m.status, m.failure, m.created_at, m.completed_at, m.environment, m.default_brand`;

export const findMessageToCorrect = statement<CorrectedRow, { account: AccountRef; messageId: string }>(
  'chats.message_to_correct',
  `select ${COLUMNS} from messages m where m.part = :part and m.account_id = :account_id and m.message_id = :messageId`,
).first;

/**
 * Marks the correction that belongs to a job as finished.
 * @returns the id of the corrected message; undefined if the job belongs to no correction, or its correction
 * was finished before
 */
export const finishCorrection = statement<
  { message_id: string },
  { account: AccountRef; jobId: string },
  Transaction
>(
  'chats.finish_correction',
  `update message_corrections set finished_at = now()
    where part = :part and account_id = :account_id and job_id = :jobId and finished_at is null returning message_id`,
).firstValue;

// Recording events of a chat requires a lock on the chat's row.
const LOCK_CHAT = statement<ChatRow>(
  'chats.lock_for_correction',
  `select chat_id, external_id, agent_external_id, brand, created_at from chats
    where part = $1 and account_id = $2 and chat_id = $3 for no key update`,
);

export async function lockChat(
  transaction: Transaction,
  account: AccountRef,
  chatId: string,
): Promise<ChatRow> {
  return (await transaction.query(LOCK_CHAT, [account.part, account.accountId, chatId]))[0]!;
}

const FIND_CHAT = statement<{ brand: string | null }>(
  'chats.brand_of_correction',
  `select b.external_id as brand from chats c
     left join brands b on b.part = $1 and b.account_id = c.account_id and b.external_id = c.brand
    where c.part = $1 and c.account_id = $2 and c.chat_id = $3`,
);

/** Returns the chat's brand; undefined if the account has no brand of that name. */
export async function brandOf(
  on: Queryable,
  account: AccountRef,
  chatId: string,
): Promise<string | undefined> {
  return (await on.query(FIND_CHAT, [account.part, account.accountId, chatId]))[0]?.brand ?? undefined;
}

// A message whose text retention has deleted is not changed, because retention would not delete its text
// again.
/**
 * Replaces the text of a message. @returns the message; undefined if it was completely translated with this text, or if
 * retention has deleted its text
 */
export const writeCorrection = statement<
  CorrectedRow,
  { account: AccountRef; messageId: string; translated: string },
  Transaction
>(
  'chats.correct',
  `update messages m set translated = :translated, untranslated = null
    where m.part = :part and m.account_id = :account_id and m.message_id = :messageId and m.translated is not null
      and (m.translated <> :translated or m.untranslated is not null) and m.body <> ''
   returning ${COLUMNS}`,
).reporting('chats').first;

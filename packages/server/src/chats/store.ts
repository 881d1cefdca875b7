/** SQL statements for chats and messages. */
import type { AccountRef, Environment } from '../base/account.ts';
import type { Queryable, Transaction } from '../database/database.ts';
import { columnsOf, statement } from '../database/statements.ts';
import type { MessageFormat } from './request.ts';
import type { MessageStatus } from './states.ts';
import { SUBSCRIBED, type Subscription } from './subscription-store.ts';

export interface ChatRow {
  chat_id: string;
  external_id: string;
  agent_external_id: string | null;
  brand: string | null;
  created_at: Date;
}

export interface MessageRow {
  message_id: string;
  chat_id: string;
  external_id: string;
  author_external_id: string | null;
  callback_url: string | null;
  is_inbound: boolean | null;
  source_language: string;
  target_language: string;
  text_format: MessageFormat;
  /** The hash of its document settings; null if its text is read without any. */
  document_settings: string | null;
  body: string;
  translation_id: string;
  translated: string | null;
  /** The number of segments that keep their source text in the translation; null if there are none. */
  untranslated: number | null;
  status: MessageStatus;
  failure: string | null;
  created_at: Date;
  completed_at: Date | null;
}

const MESSAGE = `m.message_id, m.chat_id, m.external_id, m.author_external_id, m.callback_url, m.is_inbound,
  m.source_language, m.target_language, m.text_format, m.document_settings, m.body, m.translation_id, m.translated,
  m.untranslated, m.status, m.failure, m.created_at, m.completed_at`;
const CHAT_OF_MESSAGE = `c.external_id as chat_external_id, c.agent_external_id, c.brand,
  c.created_at as chat_created_at`;

interface ChatOfMessage {
  chat_external_id: string;
  agent_external_id: string | null;
  brand: string | null;
  chat_created_at: Date;
}

function chatOf(row: { chat_id: string } & ChatOfMessage): ChatRow {
  return {
    chat_id: row.chat_id,
    external_id: row.chat_external_id,
    agent_external_id: row.agent_external_id,
    brand: row.brand,
    created_at: row.chat_created_at,
  };
}

export interface FoundMessage {
  chat: ChatRow;
  message: MessageRow;
}

const LOOK_UP = statement<
  { chat: boolean; chat_pairs: string[] | null; found_chat: string | null } & MessageRow & ChatOfMessage
>(
  'chats.look_up',
  `select ${SUBSCRIBED} as chat, a.chat_pairs, c.chat_id as found_chat, ${CHAT_OF_MESSAGE}, ${MESSAGE}
     from accounts a
     left join chats c on c.part = $1 and c.account_id = a.account_id
          and c.environment = $3 and c.external_id = $4
     left join messages m on m.part = $1 and m.account_id = c.account_id
          and m.chat_id = c.chat_id and m.external_id = $5
    where a.part = $1 and a.account_id = $2`,
);

/**
 * Returns, in one query, the account's chat subscription and, as far as they exist, the chat and the message with
 * these external ids.
 */
export async function lookUpMessage(
  on: Queryable,
  account: AccountRef,
  environment: Environment,
  external: { chat: string; message: string },
): Promise<{ subscription: Subscription; chat: ChatRow | undefined; found: FoundMessage | undefined }> {
  const values = [account.part, account.accountId, environment, external.chat, external.message];
  const [row] = await on.query(LOOK_UP, values);
  return {
    subscription: row?.chat ? { pairs: row.chat_pairs } : undefined,
    chat: row?.found_chat == null ? undefined : chatOf({ ...row, chat_id: row.found_chat }),
    found: row === undefined || row.message_id === null ? undefined : { chat: chatOf(row), message: row },
  };
}

/** A chat to insert, or to find if its external id exists. */
export interface NewChat {
  account: AccountRef;
  chatId: string;
  environment: Environment;
  externalId: string;
  agentExternalId: string | undefined;
  brand: string | undefined;
}

// The no-op update returns and locks an existing row; that lock serializes changes of a chat. Rows are locked
// in the order of the unique key, so that two transactions cannot deadlock.
const HOLD_CHATS = statement<ChatRow & { account_id: string; environment: Environment }>(
  'chats.hold',
  `insert into chats (part, account_id, chat_id, environment, external_id, agent_external_id, brand)
   select distinct on (part, account_id, environment, external_id)
          part, account_id, chat_id, environment, external_id, agent_external_id, brand
     from unnest($1::smallint[], $2::uuid[], $3::uuid[], $4::text[], $5::text[], $6::text[], $7::text[])
          with ordinality as g (part, account_id, chat_id, environment, external_id, agent_external_id, brand, turn)
    order by part, account_id, environment, external_id, turn
   on conflict (part, account_id, environment, external_id) do update set last_position = chats.last_position
   returning account_id, environment, chat_id, external_id, agent_external_id, brand, created_at`,
);

/**
 * Finds or creates chats, and locks them until the end of the transaction. @returns one row for each chat, in
 * no order
 */
export async function findOrCreateChats(
  transaction: Transaction,
  chats: readonly NewChat[],
): Promise<(ChatRow & { account_id: string; environment: Environment })[]> {
  const rows = await transaction.query(HOLD_CHATS, [
    chats.map(({ account }) => account.part),
    chats.map(({ account }) => account.accountId),
    chats.map(({ chatId }) => chatId),
    chats.map(({ environment }) => environment),
    chats.map(({ externalId }) => externalId),
    chats.map(({ agentExternalId }) => agentExternalId ?? null),
    chats.map(({ brand }) => brand ?? null),
  ]);
  const held = new Set(rows.map(({ chat_id }) => chat_id));
  for (const { account, chatId } of chats) if (held.has(chatId)) transaction.changed('chats', account);
  return rows;
}

export interface NewMessage {
  account: AccountRef;
  messageId: string;
  environment: Environment;
  chatId: string;
  externalId: string;
  authorExternalId: string | undefined;
  callbackUrl: string | undefined;
  isInbound: boolean | undefined;
  sourceLanguage: string;
  targetLanguage: string;
  textFormat: MessageFormat;
  text: string;
  defaultBrand: string | undefined;
  documentSettings: string | undefined;
  translationId: string;
  status: MessageStatus;
  /** The lease token, if the inserting process leases the message; undefined if the message is queued. */
  leaseToken: string | undefined;
}

/** The columns whose values the insert assigns. The caller knows the other columns. */
export interface InsertedMessageRow {
  message_id: string;
  position: number;
  created_at: Date;
}

// The chats are locked, so no other transaction inserts messages into them. This keeps positions consecutive.
const INSERT_MESSAGES = statement<InsertedMessageRow>(
  'chats.insert_messages',
  `with given as (
     select * from unnest(
       :part::smallint[], :account_id::uuid[], :message_id::uuid[], :environment::text[], :chat_id::uuid[],
       :external_id::text[], :author_external_id::text[], :callback_url::text[], :is_inbound::boolean[],
       :source_language::text[], :target_language::text[], :text_format::text[], :characters::integer[],
       :body::text[], :translation_id::uuid[], :status::text[], :default_brand::text[], :lease_token::uuid[],
       :document_settings::text[])
     with ordinality as g (part, account_id, message_id, environment, chat_id, external_id, author_external_id,
       callback_url, is_inbound, source_language, target_language, text_format, characters, body, translation_id,
       status, default_brand, lease_token, document_settings, turn)),
   fresh as (
     select distinct on (part, account_id, chat_id, external_id) g.* from given g
      where not exists (select from messages m where m.part = g.part and m.account_id = g.account_id
                           and m.chat_id = g.chat_id and m.external_id = g.external_id)
      order by part, account_id, chat_id, external_id, turn),
   placed as (
     select *, row_number() over (partition by part, account_id, chat_id order by turn) as place from fresh),
   grown as (
     update chats c set last_position = c.last_position + n.count
       from (select part, account_id, chat_id, count(*) as count from placed group by part, account_id, chat_id) n
      where c.part = n.part and c.account_id = n.account_id and c.chat_id = n.chat_id
     returning c.part, c.account_id, c.chat_id, c.last_position - n.count as before)
   insert into messages (part, account_id, message_id, environment, chat_id, position, external_id,
     author_external_id, callback_url, is_inbound, source_language, target_language, text_format, characters, body,
     translation_id, status, default_brand, document_settings, due_at, lease_token, attempts)
   select part, account_id, message_id, environment, chat_id, before + place, external_id, author_external_id,
          callback_url, is_inbound, source_language, target_language, text_format, characters, body, translation_id,
          status, default_brand, document_settings, now() + make_interval(secs => case when lease_token is null then 0 else :lease_seconds end),
          lease_token, case when lease_token is null then 0 else 1 end
     from placed join grown using (part, account_id, chat_id)
   returning message_id, position, created_at`,
);

/** Inserts messages. @returns the new messages, without those whose external id the chat already contains */
export async function insertMessages(
  transaction: Transaction,
  messages: readonly NewMessage[],
  leaseSeconds: number,
): Promise<InsertedMessageRow[]> {
  const rows = await transaction.query(INSERT_MESSAGES, {
    ...columnsOf(messages, {
      part: ({ account }) => account.part,
      account_id: ({ account }) => account.accountId,
      message_id: ({ messageId }) => messageId,
      environment: ({ environment }) => environment,
      chat_id: ({ chatId }) => chatId,
      external_id: ({ externalId }) => externalId,
      author_external_id: ({ authorExternalId }) => authorExternalId ?? null,
      callback_url: ({ callbackUrl }) => callbackUrl ?? null,
      is_inbound: ({ isInbound }) => isInbound ?? null,
      source_language: ({ sourceLanguage }) => sourceLanguage,
      target_language: ({ targetLanguage }) => targetLanguage,
      text_format: ({ textFormat }) => textFormat,
      characters: ({ text }) => text.length,
      body: ({ text }) => text,
      translation_id: ({ translationId }) => translationId,
      status: ({ status }) => status,
      default_brand: ({ defaultBrand }) => defaultBrand ?? null,
      lease_token: ({ leaseToken }) => leaseToken ?? null,
      document_settings: ({ documentSettings }) => documentSettings ?? null,
    }),
    lease_seconds: leaseSeconds,
  });
  const inserted = new Set(rows.map(({ message_id }) => message_id));
  for (const { account, messageId } of messages) {
    if (inserted.has(messageId)) transaction.changed('chats', account);
  }
  return rows;
}

const FIND_CHAT = statement<ChatRow & { last_position: number }>(
  'chats.find',
  `select chat_id, external_id, agent_external_id, brand, created_at, last_position from chats
    where part = $1 and account_id = $2 and environment = $3 and chat_id = $4`,
);

/** Returns a chat with the number of its messages. */
export async function findChat(
  on: Queryable,
  account: AccountRef,
  environment: Environment,
  chatId: string,
): Promise<{ chat: ChatRow; messages: number } | undefined> {
  const [row] = await on.query(FIND_CHAT, [account.part, account.accountId, environment, chatId]);
  return row === undefined ? undefined : { chat: row, messages: row.last_position };
}

export interface ListedChatRow extends ChatRow {
  messages: number;
}

const LIST_CHATS = statement<ListedChatRow>(
  'chats.list_chats',
  `select chat_id, external_id, agent_external_id, brand, created_at, last_position as messages from chats
    where part = $1 and account_id = $2 and environment = $3 and ($4::uuid is null or chat_id < $4)
    order by chat_id desc limit $5`,
);

/** Lists chats, newest first. @param page `after`: the last chat of the previous page */
export function listChats(
  on: Queryable,
  account: AccountRef,
  environment: Environment,
  page: { after: string | undefined; limit: number },
): Promise<ListedChatRow[]> {
  return on.query(LIST_CHATS, [account.part, account.accountId, environment, page.after ?? null, page.limit]);
}

const FIND_MESSAGE = statement<MessageRow & ChatOfMessage>(
  'chats.find_message',
  `select ${MESSAGE}, ${CHAT_OF_MESSAGE} from messages m join chats c using (part, account_id, chat_id)
    where c.part = $1 and m.part = $1 and m.account_id = $2 and m.environment = $3 and m.chat_id = $4 and m.message_id = $5`,
);

export async function findMessage(
  on: Queryable,
  account: AccountRef,
  environment: Environment,
  ids: { chatId: string; messageId: string },
): Promise<FoundMessage | undefined> {
  const values = [account.part, account.accountId, environment, ids.chatId, ids.messageId];
  const [row] = await on.query(FIND_MESSAGE, values);
  return row === undefined ? undefined : { chat: chatOf(row), message: row };
}

/** Lists messages of a chat in order, starting with the message at `index`. */
export const listMessages = statement<
  MessageRow,
  { account: AccountRef; chatId: string; index: number; limit: number }
>(
  'chats.list_messages',
  `select ${MESSAGE} from messages m
    where m.part = :part and m.account_id = :account_id and m.chat_id = :chatId and m.position >= :index
      order by m.position limit :limit`,
).rows;

export type LeasedMessageRow = MessageRow & {
  default_brand: string | null;
  environment: Environment;
  position: number;
  /** Seconds since the message's creation, by the database's clock. */
  age: number;
};

const LEASED = statement<LeasedMessageRow & ChatOfMessage & { lease_token: string }>(
  'chats.leased',
  `select ${MESSAGE}, m.default_brand, m.environment, m.position, m.lease_token,
          extract(epoch from now() - m.created_at)::float8 as age, ${CHAT_OF_MESSAGE}
     from unnest($1::smallint[], $2::uuid[], $3::uuid[], $4::uuid[]) as held (part, account_id, message_id, token)
     join messages m on m.part = held.part and m.account_id = held.account_id
          and m.message_id = held.message_id and m.lease_token = held.token
     join chats c on c.part = m.part and c.account_id = m.account_id and c.chat_id = m.chat_id`,
);

/** Returns leased messages with their chats, in no order. Messages whose lease was lost are left out. */
export async function findLeasedMessages(
  on: Queryable,
  leases: readonly { account: AccountRef; id: string; token: string }[],
): Promise<{ chat: ChatRow; message: LeasedMessageRow; token: string }[]> {
  const rows = await on.query(LEASED, [
    leases.map(({ account }) => account.part),
    leases.map(({ account }) => account.accountId),
    leases.map(({ id }) => id),
    leases.map(({ token }) => token),
  ]);
  return rows.map((row) => ({ chat: chatOf(row), message: row, token: row.lease_token }));
}

export type EarlierRow = Pick<
  MessageRow,
  'source_language' | 'target_language' | 'text_format' | 'body' | 'translated'
>;

/** Lists the messages before a message of a chat, nearest first. */
export const listEarlier = statement<
  EarlierRow,
  { account: AccountRef; chat_id: string; position: number; most: number }
>(
  'chats.earlier',
  `select source_language, target_language, text_format, body, translated from messages
    where part = :part and account_id = :account_id and chat_id = :chat_id and position < :position
      order by position desc limit :most`,
).rows;

/** Identifies a chat in a list for several accounts. */
export interface ChatRef {
  account: AccountRef;
  chatId: string;
}

const RELEASE_ANSWERS = statement<MessageRow>(
  'chats.release_answers',
  `with given as (
     select * from unnest($1::smallint[], $2::uuid[], $3::uuid[], $4::integer[])
       as g (part, account_id, chat_id, answered)),
   unanswered as (
     select g.*, coalesce((select min(w.position) from messages w
                            where w.part = g.part and w.account_id = g.account_id and w.chat_id = g.chat_id
                              and w.status = 'mt_init'), 2147483647) as position
       from given g),
   moved as (
     update chats c set answered_position = least(c.last_position, u.position - 1)
       from unanswered u where c.part = u.part and c.account_id = u.account_id and c.chat_id = u.chat_id)
   select ${MESSAGE} from unanswered u
     join messages m on m.part = u.part and m.account_id = u.account_id and m.chat_id = u.chat_id
    where m.position > u.answered and m.position < u.position
    order by m.chat_id, m.position`,
);

/**
 * Sets the `answered_position` of locked chats to the last message before the first message without an outcome
 * (`mt_init`).
 * @returns the messages after `answered` up to the new `answered_position`, by chat and position
 */
export async function releaseAnswers(
  transaction: Transaction,
  chats: readonly (ChatRef & { answered: number })[],
): Promise<MessageRow[]> {
  const rows = await transaction.query(RELEASE_ANSWERS, [
    chats.map(({ account }) => account.part),
    chats.map(({ account }) => account.accountId),
    chats.map(({ chatId }) => chatId),
    chats.map(({ answered }) => answered),
  ]);
  if (rows.length > 0) for (const { account } of chats) transaction.changed('chats', account);
  return rows;
}

// Locks rows in key order, like other statements that change many messages, so that they cannot deadlock.
const MOVE_ALL = statement(
  'chats.move_all',
  `with given as (
     select * from unnest($1::smallint[], $2::uuid[], $3::uuid[], $4::text[], $5::text[])
       as g (part, account_id, message_id, from_statuses, to_status)),
   locked as materialized (
     select g.* from given g
       join messages l on l.part = g.part and l.account_id = g.account_id and l.message_id = g.message_id
      where l.status = any(string_to_array(g.from_statuses, ' '))
      order by l.part, l.account_id, l.message_id for no key update of l)
   update messages m set status = g.to_status from locked g
    where m.part = g.part and m.account_id = g.account_id and m.message_id = g.message_id`,
);

export interface MessageMove {
  account: AccountRef;
  messageId: string;
  from: readonly MessageStatus[];
  to: MessageStatus;
}

/** Changes the status of messages whose current status is in `from`. */
export async function moveMessages(transaction: Transaction, moves: readonly MessageMove[]): Promise<void> {
  await transaction.query(MOVE_ALL, [
    moves.map(({ account }) => account.part),
    moves.map(({ account }) => account.accountId),
    moves.map(({ messageId }) => messageId),
    moves.map(({ from }) => from.join(' ')),
    moves.map(({ to }) => to),
  ]);
  for (const { account } of moves) transaction.changed('chats', account);
}

/**
 * Creates messages and their chats. Requests that arrive while a commit is in flight share the next commit (group
 * commit). Each request is answered only after its commit.
 *
 * Creating a message never changes existing rows. If the chat already has a message with this external id, the answer
 * is 200 with that message, whatever else the request contains.
 */
import type { Static } from 'typebox';
import { isOverQuota, quotaWords, type SandboxQuota } from '../accounts/sandbox-words.ts';
import type { AccountRef, Caller, Environment } from '../base/account.ts';
import { ApiError, fieldError } from '../base/errors.ts';
import { uuidv7 } from '../base/ids.ts';
import { settingsOfBrand, storeDocumentSettings } from '../brands/document-settings.ts';
import { BatcherFull, createBatcher, REQUEST_BATCH_MILLISECONDS } from '../database/batcher.ts';
import { type Database, isUnavailable, retryUnknownCommit } from '../database/database.ts';
import type { AddressGuard } from '../deliveries/addresses.ts';
import { type Languages, sayNotOffered } from '../languages/languages.ts';
import type { DocumentSettings, Scanner } from '../scanning/scanner.ts';
import type { Settings } from '../settings/settings.ts';
import { assignLeases, newLease } from '../work/worker.ts';
import { presentChat, presentMessage } from './present.ts';
import { type MessageRequest, noSubscription, readMessageRequest } from './request.ts';
import type { ChatMessageRequest } from './schemas.ts';
import { FIRST_MESSAGE_STATUS } from './states.ts';
import * as store from './store.ts';
import type { ChatWorker } from './worker.ts';

export interface MessageCreatorOptions {
  database: Database;
  languages: Languages;
  scanner: Scanner;
  guard: AddressGuard;
  settings: Pick<Settings, 'maxMessageCharacters'>;
  quota: SandboxQuota;
  /**
   * Returns this process's worker, if it has one. New messages that fit its capacity are leased to it on
   * insert.
   */
  worker(): ChatWorker | undefined;
  /**
   * Called after a commit that created messages. `waiting` is the number of new messages that are not leased
   * to this process.
   */
  created(count: number, waiting: number): void;
}

export interface CreatedMessage {
  /** 201 for a new message, 200 for an existing message. */
  status: 201 | 200;
  body: Record<string, unknown>;
}

export interface MessageCreator {
  /**
   * Creates a message, and its chat if needed, or finds the existing message.
   * @throws ApiError `invalid_request`, `invalid_subscription`, `sandbox_quota`; `unavailable` when too many texts are
   * being read
   */
  create(caller: Caller, body: Static<typeof ChatMessageRequest>): Promise<CreatedMessage>;
  /** Resolves when no creation is in progress, including those of clients that have disconnected. */
  idle(): Promise<void>;
}

/** A message to create, with the chat that it belongs to. */
interface Wanted {
  chat: store.NewChat;
  message: store.NewMessage;
}

type Inserted = { chat: store.ChatRow; position: number; createdAt: Date } | 'exists';

const MAX_BATCH_MESSAGES = 500;
const MAX_BATCH_CHARACTERS = 2 * 1024 * 1024;
/**
 * The maximum number of messages that wait for their insert: several seconds of work. Further requests get
 * 503 with `retry-after`.
 */
const MAX_WAITING = 10_000;

export function createMessageCreator(options: MessageCreatorOptions): MessageCreator {
  const { database, settings, quota } = options;

  const inserts = createBatcher<Wanted, Inserted>({
    run: (wanted, lockMilliseconds) => insertBatch(options, wanted, lockMilliseconds),
    weigh: ({ message }) => message.text.length,
    maxItems: MAX_BATCH_MESSAGES,
    maxWeight: MAX_BATCH_CHARACTERS,
    maxWaiting: MAX_WAITING,
    maxRunning: 2,
    mostMilliseconds: REQUEST_BATCH_MILLISECONDS,
    isolates: (error) => !isUnavailable(error),
    accountOf: ({ message }) => message.account.accountId,
  });

  async function insert(caller: Caller, wanted: Wanted): Promise<CreatedMessage> {
    const { message } = wanted;
    const inserted = await inserts.add(wanted).catch((error: unknown) => {
      if (!(error instanceof BatcherFull)) throw error;
      throw new ApiError('unavailable', 'Messages cannot be created fast enough at present; try again.', {
        'retry-after': '1',
      });
    });
    if (inserted !== 'exists') {
      const row = rowOf(message, inserted.chat, inserted.createdAt);
      return { status: 201, body: present({ chat: inserted.chat, message: row }) };
    }
    const found = await find(caller, wanted.chat.externalId, message.externalId);
    if (found === undefined) throw new Error('a message that exists was not found');
    // A row with the id that this process chose was inserted by an earlier attempt, which committed although the reply
    // was lost. The message therefore counts as new.
    return { status: found.message.message_id === message.messageId ? 201 : 200, body: present(found) };
  }

  async function find(
    caller: Caller,
    chat: string,
    message: string,
  ): Promise<store.FoundMessage | undefined> {
    const { account, environment } = caller;
    return (await store.lookUpMessage(database, account, environment, { chat, message })).found;
  }

  return {
    async create(caller, body) {
      const { account, environment } = caller;
      const { subscription, chat, found } = await store.lookUpMessage(database, account, environment, {
        chat: body.chat_external_id,
        message: body.external_id,
      });
      // The message is looked up before the checks, because a repeated request must succeed even if the
      // subscription has ended or the language pair was closed in the meantime.
      if (found !== undefined) return { status: 200, body: present(found) };
      if (subscription === undefined) throw noSubscription();
      const request = readMessageRequest(body, settings.maxMessageCharacters);
      await checkPair(request, environment, subscription, options.languages);
      const brand = chat === undefined ? request.brand : chat.brand;
      const documentSettings = await settingsOfBrand(database, account, brand, caller.defaultBrand);
      const counted = await checkContent(account, request, documentSettings, options);
      const words = quotaWords(counted, request.text);
      const stored = await storeDocumentSettings(database, account, documentSettings);
      const create = () => insert(caller, wantedBy(caller, request, stored));
      const usedBy = ({ status }: CreatedMessage) => (status === 201 ? words : 0);
      return quota.within(caller, { words, field: 'text' }, create, usedBy).catch(async (error: unknown) => {
        // A concurrent request with the same ids may have created the message.
        const made = isOverQuota(error)
          ? await find(caller, request.chatExternalId, request.externalId)
          : undefined;
        if (made === undefined) throw error;
        return { status: 200, body: present(made) };
      });
    },
    idle: () => inserts.idle(),
  };
}

async function checkPair(
  request: MessageRequest,
  environment: Environment,
  subscription: { pairs: readonly string[] | null },
  languages: Languages,
): Promise<void> {
  const { sourceLanguage, targetLanguage } = request;
  const targets = await languages.targets(environment);
  if (!targets.includes(targetLanguage)) {
    throw fieldError('target_language', sayNotOffered(targetLanguage, '', targets));
  }
  const sources = await languages.sources(environment, targetLanguage);
  if (!sources.includes(sourceLanguage)) {
    throw fieldError('source_language', sayNotOffered(sourceLanguage, ` into ${targetLanguage}`, sources));
  }
  const pair = `${sourceLanguage}-${targetLanguage}`;
  if (subscription.pairs !== null && !subscription.pairs.includes(pair)) {
    throw new ApiError('invalid_subscription', `The pair ${pair} is not in the account’s chat subscription.`);
  }
}

/** Checks the callback URL and the text. @returns the number of words of the text */
async function checkContent(
  account: AccountRef,
  request: MessageRequest,
  settings: DocumentSettings,
  { guard, scanner }: Pick<MessageCreatorOptions, 'guard' | 'scanner'>,
): Promise<number> {
  const complaints: string[] = [];
  if (request.callbackUrl !== undefined) {
    const checked = guard.checkUrl(request.callbackUrl);
    if (!checked.ok) complaints.push(`callback_url: ${checked.reason}`);
  }
  const { text, textFormat: format, sourceLanguage } = request;
  const counted = await scanner.count(account, { text, format, sourceLanguage, settings });
  if (counted.kind === 'counted' && complaints.length === 0) return counted.words;
  if (counted.kind === 'invalid') complaints.push(`text: ${counted.sentence}`);
  throw new ApiError('invalid_request', complaints.join('\n'));
}

function wantedBy(
  { account, environment, defaultBrand }: Caller,
  request: MessageRequest,
  documentSettings: string | undefined,
): Wanted {
  const chatId = uuidv7();
  return {
    chat: {
      account,
      chatId,
      environment,
      externalId: request.chatExternalId,
      agentExternalId: request.agentExternalId,
      brand: request.brand,
    },
    message: {
      account,
      messageId: uuidv7(),
      environment,
      chatId,
      externalId: request.externalId,
      authorExternalId: request.authorExternalId,
      callbackUrl: request.callbackUrl,
      isInbound: request.isInbound,
      sourceLanguage: request.sourceLanguage,
      targetLanguage: request.targetLanguage,
      textFormat: request.textFormat,
      text: request.text,
      defaultBrand,
      documentSettings,
      translationId: uuidv7(),
      status: FIRST_MESSAGE_STATUS,
      leaseToken: undefined,
    },
  };
}

/**
 * Inserts a batch in one transaction. If the connection is lost during the commit, the batch runs again. Rows
 * that were committed then exist already, and are recognized by the ids that this process chose.
 */
async function insertBatch(
  options: MessageCreatorOptions,
  wanted: Wanted[],
  lockMilliseconds: number,
): Promise<Inserted[]> {
  const worker = options.worker();
  const tokens =
    worker &&
    assignLeases(
      wanted.map(({ message }) => ({ ...message, weight: message.text.length })),
      worker,
    );
  for (const [index, { message }] of wanted.entries()) message.leaseToken = tokens?.[index];
  const leaseSeconds = worker?.leaseSeconds ?? 0;
  const results = await retryUnknownCommit(() =>
    insertOnce(options.database, wanted, leaseSeconds, lockMilliseconds),
  );
  let count = 0;
  let leased = 0;
  for (const [index, result] of results.entries()) {
    if (result === 'exists') continue;
    count++;
    const { message } = wanted[index]!;
    if (message.leaseToken === undefined) continue;
    leased++;
    worker!.adopt(newLease(message.account, message.messageId, message.leaseToken, message.text.length), {
      chat: result.chat,
      message: leasedRowOf(message, result),
    });
  }
  if (count > 0) options.created(count, count - leased);
  return results;
}

function insertOnce(
  database: Database,
  wanted: Wanted[],
  leaseSeconds: number,
  lockMilliseconds: number,
): Promise<Inserted[]> {
  return database.transaction(async (transaction) => {
    const held = await store.findOrCreateChats(
      transaction,
      wanted.map(({ chat }) => chat),
    );
    const chats = new Map(
      held.map((chat) => [`${chat.account_id} ${chat.environment} ${chat.external_id}`, chat]),
    );
    const chatOf = ({ chat }: Wanted) =>
      chats.get(`${chat.account.accountId} ${chat.environment} ${chat.externalId}`)!;
    const rows = await store.insertMessages(
      transaction,
      wanted.map((one) => ({ ...one.message, chatId: chatOf(one).chat_id })),
      leaseSeconds,
    );
    const inserted = new Map(rows.map((row) => [row.message_id, row]));
    return wanted.map((one): Inserted => {
      const row = inserted.get(one.message.messageId);
      if (row === undefined) return 'exists';
      return { chat: chatOf(one), position: row.position, createdAt: row.created_at };
    });
  }, lockMilliseconds);
}

function leasedRowOf(
  message: store.NewMessage,
  { chat, position, createdAt }: Exclude<Inserted, 'exists'>,
): store.LeasedMessageRow {
  return {
    ...rowOf(message, chat, createdAt),
    default_brand: message.defaultBrand ?? null,
    environment: message.environment,
    position,
    age: 0,
  };
}

function rowOf(message: store.NewMessage, chat: store.ChatRow, createdAt: Date): store.MessageRow {
  return {
    message_id: message.messageId,
    chat_id: chat.chat_id,
    external_id: message.externalId,
    author_external_id: message.authorExternalId ?? null,
    callback_url: message.callbackUrl ?? null,
    is_inbound: message.isInbound ?? null,
    source_language: message.sourceLanguage,
    target_language: message.targetLanguage,
    text_format: message.textFormat,
    document_settings: message.documentSettings ?? null,
    body: message.text,
    translation_id: message.translationId,
    translated: null,
    untranslated: null,
    status: message.status,
    failure: null,
    created_at: createdAt,
    completed_at: null,
  };
}

function present({ chat, message }: store.FoundMessage): Record<string, unknown> {
  return { chat: presentChat(chat), message: presentMessage(message) };
}

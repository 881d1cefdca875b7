/** Chats and their messages after creation: reads, subscriptions, and changes of a message's status. */
import type { Static } from 'typebox';
import type { AccountRef, Caller, Environment } from '../base/account.ts';
import { ApiError, notFound } from '../base/errors.ts';
import { uuidv7 } from '../base/ids.ts';
import { createBatcher } from '../database/batcher.ts';
import { type Database, isUnavailable, type Queryable, type Transaction } from '../database/database.ts';
import {
  type ChangedDelivery,
  deliveryByTrigger,
  type NewEvent,
  type Outbox,
  type OutboxSender,
  recordEvents,
} from '../deliveries/deliveries.ts';
import { requestCorrections } from './correction-store.ts';
import {
  type EventSource,
  presentChat,
  presentCreatedChat,
  presentEvent,
  presentMessage,
} from './present.ts';
import { noSubscription } from './request.ts';
import type { ChatRequest } from './schemas.ts';
import { type AnsweredMessage, settleMessages } from './settle-store.ts';
import { MESSAGE_MOVES, type MessageActor, type MessageTrigger } from './states.ts';
import * as store from './store.ts';
import { readSubscription, type SubscriptionPeriod, writeSubscription } from './subscription-store.ts';

export type { EarlierRow, LeasedMessageRow } from './store.ts';

/**
 * Returns one message with its chat.
 * @throws ApiError `not_found` if the message is unknown, in another chat, or of another account
 */
export async function readMessage(
  database: Database,
  caller: Caller,
  ids: { chatId: string; messageId: string },
): Promise<Record<string, unknown>> {
  const found = await store.findMessage(database, caller.account, caller.environment, ids);
  if (found === undefined) throw notFound();
  return { chat: presentChat(found.chat), message: presentMessage(found.message) };
}

/** Returns a page of a chat's messages in the order of the chat. @throws ApiError like `readMessage` */
export async function readMessages(
  database: Database,
  caller: Caller,
  chatId: string,
  page: { limit: number; index: number },
): Promise<Record<string, unknown>> {
  const found = await store.findChat(database, caller.account, caller.environment, chatId);
  if (found === undefined) throw notFound();
  const messages = await store.listMessages(database, { ...page, account: caller.account, chatId });
  return { length: found.messages, messages: messages.map(presentMessage), ...page };
}

/** Checks that the account has a chat subscription. @throws ApiError `chat_not_allowed` if it has none */
export async function requireSubscription(database: Database, caller: Caller): Promise<void> {
  const subscription = await readSubscription(database, caller.account);
  if (subscription === undefined) throw new ApiError('chat_not_allowed', 'The account has no chat.');
}

/**
 * Creates a chat without a message, or finds the chat with this external id and leaves it unchanged.
 * @throws ApiError `invalid_request`, `invalid_subscription`
 */
export async function createChat(
  database: Database,
  caller: Caller,
  wanted: Static<typeof ChatRequest>,
): Promise<Record<string, unknown>> {
  const { account, environment } = caller;
  const chatId = uuidv7();
  const externalId = wanted.external_id ?? chatId;
  const earlier = await store.lookUpMessage(database, account, environment, {
    chat: externalId,
    message: '',
  });
  if (earlier.chat !== undefined) return presentCreatedChat(earlier.chat);
  if (earlier.subscription === undefined) throw noSubscription();
  const [chat] = await database.transaction((transaction) =>
    store.findOrCreateChats(transaction, [
      {
        account,
        chatId,
        environment,
        externalId,
        agentExternalId: wanted.agent_external_id,
        brand: wanted.brand,
      },
    ]),
  );
  return presentCreatedChat(chat!);
}

/**
 * Subscribes an account to chat, or ends its subscription if `subscription` is undefined. `pairs` lists
 * language pairs such as `en-es`; null means all offered pairs. Without a period the subscription starts now.
 * Existing chats are not deleted.
 */
export function subscribe(
  database: Queryable,
  account: AccountRef,
  subscription: ({ pairs: readonly string[] | null } & Partial<SubscriptionPeriod>) | undefined,
): Promise<void> {
  return writeSubscription(database, account, subscription);
}

/** A lease on a message, as the queue returns it. */
export interface MessageLease {
  account: AccountRef;
  id: string;
  token: string;
}

/** The rows that a worker needs to translate a leased message. */
export interface LeasedMessage {
  chat: store.ChatRow;
  message: store.LeasedMessageRow;
}

/** Returns the chats and messages of leases; undefined for a lost lease. */
async function openAllLeased(
  database: Database,
  leases: readonly MessageLease[],
): Promise<(LeasedMessage | undefined)[]> {
  const rows = await store.findLeasedMessages(database, leases);
  const found = new Map(rows.map((row) => [row.message.message_id + row.token, row]));
  return leases.map(({ id, token }) => found.get(id + token));
}

/** The maximum number of earlier messages of a chat that an engine may read as context. */
const EARLIER_MESSAGES = 8;

/** Returns the messages before this message in its chat, nearest first. */
export function readEarlier(
  database: Database,
  account: AccountRef,
  message: store.LeasedMessageRow,
): Promise<store.EarlierRow[]> {
  return store.listEarlier(database, { ...message, account, most: EARLIER_MESSAGES });
}

export type MessageOutcome =
  /** `untranslated`: the reasons of the segments that keep their source text. */
  | { kind: 'translated'; translated: string; untranslated?: readonly string[] }
  | { kind: 'failed'; reason: string };

/** Returns the base URL and the vendor that identify this server in the events of an environment. */
export type SourceOf = (environment: Environment) => EventSource;

export interface MessageSettlement {
  lease: MessageLease;
  leased: LeasedMessage;
  outcome: MessageOutcome;
}

/**
 * Stores the outcomes of leased messages in one transaction: status, translation and event. Also records the
 * events of later messages that already have an outcome and waited only for these messages. Events are recorded
 * and delivered in the order of the chat, even if a later message is translated first.
 * @returns false for each message whose lease was lost; it is left unchanged
 */
function settleAll(
  database: Database,
  settlements: readonly MessageSettlement[],
  sourceOf: SourceOf,
  outbox?: Outbox,
): Promise<boolean[]> {
  return database.transaction(async (transaction) => {
    outbox?.clear();
    const moved = await settleMessages(transaction, settlements.map(settlingOf));
    const done = settlements.filter(({ lease }) => moved.has(lease.id));
    // A message without a callback URL counts as delivered as soon as it is translated.
    const ended = done.filter(({ leased, outcome }) => triggerOf(outcome, leased.message) === 'answer');
    if (ended.length > 0) {
      const messages = ended.map(({ lease }) => ({ account: lease.account, messageId: lease.id }));
      await requestCorrections(transaction, messages);
    }
    // The event of a message waits until all earlier messages of the chat have an outcome.
    const next = done.filter(({ lease, leased }) => leased.message.position === moved.get(lease.id)! + 1);
    if (next.length > 0) {
      const waiting = next.map((one) => ({ ...refOf(one), answered: one.leased.message.position - 1 }));
      const released = await store.releaseAnswers(transaction, waiting);
      const byChat = new Map(next.map((one) => [one.leased.chat.chat_id, one]));
      await recordEvents(
        transaction,
        released.map((message) => eventOf(byChat.get(message.chat_id)!, message, sourceOf)),
        outbox,
      );
    }
    return settlements.map(({ lease }) => moved.has(lease.id));
  });
}

function refOf({ lease, leased }: MessageSettlement): store.ChatRef {
  return { account: lease.account, chatId: leased.chat.chat_id };
}

function settlingOf({ lease, leased, outcome }: MessageSettlement): AnsweredMessage {
  const { from, to } = moveBy(triggerOf(outcome, leased.message), 'machine');
  return {
    account: lease.account,
    chatId: leased.chat.chat_id,
    messageId: lease.id,
    leaseToken: lease.token,
    from,
    to,
    translated: outcome.kind === 'translated' ? outcome.translated : undefined,
    untranslated: outcome.kind === 'translated' ? outcome.untranslated?.length || undefined : undefined,
    failure: outcome.kind === 'failed' ? outcome.reason : undefined,
  };
}

/** Applies a sandbox trigger to the delivery of an event. */
function withTrigger<Event extends { headers: Record<string, string> }>(
  event: Event,
  trigger: ReturnType<typeof deliveryByTrigger>,
): Event & { delaySeconds?: number } {
  return { ...event, ...trigger, headers: { ...event.headers, ...trigger.headers } };
}

/** Returns the event of `message`, a translated or failed message. */
function eventOf(
  { lease, leased }: MessageSettlement,
  message: store.MessageRow,
  sourceOf: SourceOf,
): NewEvent {
  const { environment } = leased.message;
  const at = message.completed_at ?? new Date();
  const event = presentEvent(leased.chat, message, sourceOf(environment), at);
  return {
    account: lease.account,
    environment,
    type: message.status === 'mt_failed' ? 'message.failed' : 'message.translated',
    subject: { kind: 'message', chatId: message.chat_id, messageId: message.message_id },
    delivery:
      message.callback_url === null
        ? undefined
        : { url: message.callback_url, ...withTrigger(event, deliveryByTrigger(environment, message.body)) },
  };
}

/**
 * Reads leased messages and stores their outcomes in batches: all pending calls share one round trip or one
 * commit.
 */
export interface MessageSettler {
  open(lease: MessageLease): Promise<LeasedMessage | undefined>;
  settle(settlement: MessageSettlement): Promise<boolean>;
}

const MAX_BATCH = 128;
/** The maximum number of pending calls, higher than the number of messages that a worker can hold. */
const MAX_WAITING = 100_000;

/** Creates the settler of a worker. @param sender sends the callbacks that a commit has leased for it */
export function createMessageSettler(
  database: Database,
  sourceOf: SourceOf,
  sender: OutboxSender,
): MessageSettler {
  const limits = { maxItems: MAX_BATCH, maxWeight: MAX_BATCH, maxWaiting: MAX_WAITING, maxRunning: 2 };
  const opening = createBatcher<MessageLease, LeasedMessage | undefined>({
    ...limits,
    run: (leases) => openAllLeased(database, leases),
    weigh: () => 1,
    isolates: () => false,
  });
  const settling = createBatcher<MessageSettlement, boolean>({
    ...limits,
    run: (settlements) => sender.withOutbox((outbox) => settleAll(database, settlements, sourceOf, outbox)),
    weigh: () => 1,
    // If the connection is lost during a commit, it is unknown whether the outcomes were stored. Nothing is retried:
    // the leases of messages without a stored outcome expire.
    isolates: (error) => !isUnavailable(error),
  });
  return { open: opening.add, settle: settling.add };
}

function triggerOf(outcome: MessageOutcome, message: store.MessageRow): MessageTrigger {
  if (outcome.kind === 'failed') return 'fail';
  return message.callback_url === null ? 'answer' : 'translate';
}

function moveBy(trigger: MessageTrigger, actor: MessageActor) {
  const move = MESSAGE_MOVES[trigger];
  if (!(move.by as readonly MessageActor[]).includes(actor))
    throw new Error(`${actor} may not ${trigger} a message`);
  return move;
}

const TRIGGERS = {
  delivered: ['deliver', 'sender'],
  dead: ['lose', 'sender'],
  pending: ['replay', 'operator'],
} as const satisfies Record<ChangedDelivery['status'], [MessageTrigger, MessageActor]>;

/**
 * Changes the status of messages when the deliveries of their translations succeed, die or are replayed, in
 * the same transaction. Deliveries of failed messages change nothing, nor does a replay of a delivery that
 * had succeeded.
 */
export async function followDeliveries(
  transaction: Transaction,
  deliveries: readonly ChangedDelivery[],
): Promise<void> {
  const moves = deliveries.flatMap(({ account, event, messageId, status }) => {
    const [trigger, actor] = TRIGGERS[status];
    if (event !== 'message.translated' || messageId === null) return [];
    return [{ account, messageId, ...moveBy(trigger, actor) }];
  });
  if (moves.length > 0) await store.moveMessages(transaction, moves);
  const delivered = moves.filter(({ to }) => to === 'deliver_complete');
  if (delivered.length > 0) await requestCorrections(transaction, delivered);
}

/** Chats and their messages after creation: reading them, and every move that is made on them. */
import type { Static } from 'typebox';
import type { AccountRef, Caller, Environment } from '../base/account.ts';
import { ApiError, notFound } from '../base/errors.ts';
import { uuidv7 } from '../base/ids.ts';
import { createBatcher } from '../database/batcher.ts';
import { type Database, isUnavailable, type Queryable, type Transaction } from '../database/database.ts';
import {
  type ChangedDelivery,
  type NewEvent,
  type Outbox,
  type OutboxSender,
  recordEvents,
} from '../deliveries/deliveries.ts';
import { requestCorrections } from './correction-store.ts';
import { noSubscription } from './create.ts';
import {
  type EventSource,
  presentChat,
  presentCreatedChat,
  presentEvent,
  presentMessage,
} from './present.ts';
import type { ChatRequest } from './schemas.ts';
import { MESSAGE_MOVES, type MessageActor, type MessageTrigger } from './states.ts';
import * as store from './store.ts';
import { readSubscription, type SubscriptionPeriod, writeSubscription } from './subscription-store.ts';

export type { EarlierRow, LeasedMessageRow } from './store.ts';

/**
 * One message with its chat.
 * @throws ApiError `not_found` for what is unknown, in another chat, or another account's, alike
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

/** A page of a chat's messages, in their order. @throws ApiError as `readMessage` */
export async function readMessages(
  database: Database,
  caller: Caller,
  chatId: string,
  page: { limit: number; index: number },
): Promise<Record<string, unknown>> {
  const found = await store.findChat(database, caller.account, caller.environment, chatId);
  if (found === undefined) throw notFound();
  const messages = await store.listMessages(database, caller.account, chatId, page);
  return { length: found.messages, messages: messages.map(presentMessage), ...page };
}

/** @throws ApiError `chat_not_allowed` */
export async function requireSubscription(database: Database, caller: Caller): Promise<void> {
  const subscription = await readSubscription(database, caller.account);
  if (subscription === undefined) throw new ApiError('chat_not_allowed', 'The account has no chat.');
}

/**
 * Creates a chat without a message, or finds the one with its external id, which is not changed.
 * @throws ApiError `invalid_request`, `invalid_subscription`
 */
export async function createChat(
  database: Database,
  caller: Caller,
  wanted: Static<typeof ChatRequest>,
): Promise<Record<string, unknown>> {
  if ((await readSubscription(database, caller.account)) === undefined) throw noSubscription();
  const chatId = uuidv7();
  const [chat] = await database.transaction((transaction) =>
    store.findOrCreateChats(transaction, [
      {
        account: caller.account,
        chatId,
        environment: caller.environment,
        externalId: wanted.external_id ?? chatId,
        agentExternalId: wanted.agent_external_id,
        brand: wanted.brand,
      },
    ]),
  );
  return presentCreatedChat(chat!);
}

/**
 * Subscribes an account to chat, for every pair that is offered (`pairs` null) or the given ones (`en-es`), or ends
 * its subscription (undefined). Its chats are kept either way. Without a period it holds from now on.
 */
export function subscribe(
  database: Queryable,
  account: AccountRef,
  subscription: ({ pairs: readonly string[] | null } & Partial<SubscriptionPeriod>) | undefined,
): Promise<void> {
  return writeSubscription(database, account, subscription);
}

/** A lease on a message, as the queue gives it. */
export interface MessageLease {
  account: AccountRef;
  id: string;
  token: string;
}

/** What a worker needs to know of the message that it leased. */
export interface LeasedMessage {
  chat: store.ChatRow;
  message: store.LeasedMessageRow;
}

/** The message of a lease; undefined when the lease is lost. */
export async function openLeasedMessage(
  database: Database,
  lease: MessageLease,
): Promise<LeasedMessage | undefined> {
  return (await openAllLeased(database, [lease]))[0];
}

async function openAllLeased(
  database: Database,
  leases: readonly MessageLease[],
): Promise<(LeasedMessage | undefined)[]> {
  const rows = await store.findLeasedMessages(database, leases);
  const found = new Map(rows.map((row) => [row.message.message_id + row.token, row]));
  return leases.map(({ id, token }) => found.get(id + token));
}

/** Messages before this one that an engine may read as context. */
const EARLIER_MESSAGES = 8;

/** What was said in the chat before, the nearest first. */
export function readEarlier(
  database: Database,
  account: AccountRef,
  message: store.LeasedMessageRow,
): Promise<store.EarlierRow[]> {
  return store.listEarlier(database, account, message, EARLIER_MESSAGES);
}

/** The end of a machine's work on a message. */
export type MessageOutcome = { kind: 'translated'; translated: string } | { kind: 'failed'; reason: string };

/** Where the events of an environment come from. */
export type SourceOf = (environment: Environment) => EventSource;

/** A leased message, and what became of it. */
export interface MessageSettlement {
  lease: MessageLease;
  leased: LeasedMessage;
  outcome: MessageOutcome;
}

/**
 * Settles a leased message in one transaction, and records the events of all that have their answer and waited for
 * nothing but this message: events of a chat are recorded, and so delivered, in the order of its messages, whichever
 * is translated first.
 * @returns whether it happened: the lease may be lost
 */
export async function settleMessage(
  database: Database,
  settlement: MessageSettlement,
  sourceOf: SourceOf,
): Promise<boolean> {
  return (await settleAll(database, [settlement], sourceOf))[0]!;
}

/** The same for several: those that can be settled are, the others are left as they are. */
function settleAll(
  database: Database,
  settlements: readonly MessageSettlement[],
  sourceOf: SourceOf,
  outbox?: Outbox,
): Promise<boolean[]> {
  return database.transaction(async (transaction) => {
    outbox?.clear();
    const moved = await store.settleMessages(transaction, settlements.map(settlingOf));
    const done = settlements.filter(({ lease }) => moved.has(lease.id));
    // Where nobody is to be told, an answer is as good as delivered.
    const ended = done.filter(({ leased, outcome }) => triggerOf(outcome, leased.message) === 'answer');
    if (ended.length > 0) {
      const messages = ended.map(({ lease }) => ({ account: lease.account, messageId: lease.id }));
      await requestCorrections(transaction, messages);
    }
    // Where one before it is still being worked on, who settles that one sees to this one too.
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

function settlingOf({ lease, leased, outcome }: MessageSettlement): store.AnsweredMessage {
  const { from, to } = moveBy(triggerOf(outcome, leased.message), 'machine');
  return {
    account: lease.account,
    chatId: leased.chat.chat_id,
    messageId: lease.id,
    leaseToken: lease.token,
    from,
    to,
    translated: outcome.kind === 'translated' ? outcome.translated : undefined,
    failure: outcome.kind === 'failed' ? outcome.reason : undefined,
  };
}

/** The event of a message's answer, in the chat of one that was settled. */
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
    delivery: message.callback_url === null ? undefined : { url: message.callback_url, ...event },
  };
}

/** What a worker does with the messages that it leased, many at a time: one round trip and one commit for all that wait. */
export interface MessageSettler {
  open(lease: MessageLease): Promise<LeasedMessage | undefined>;
  settle(settlement: MessageSettlement): Promise<boolean>;
}

const MAX_BATCH = 128;
/** More than a worker ever has in hand. */
const MAX_WAITING = 100_000;

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
    // Whether a commit on its way was made is not known: the leases run out, and what was settled stays settled.
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
 * Follows the deliveries of messages' translations, in the transaction in which they ended or began anew. A failed
 * message stays failed, whatever becomes of the news of it; so does one that was replayed after it had arrived.
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

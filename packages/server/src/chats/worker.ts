/**
 * The chat worker: translates leased messages and decides their status. A person waits for each message, so chat has
 * its own worker capacity and uses the engine's interactive lane. Bulk jobs therefore do not delay messages.
 *
 * The outcome of a message and its next status:
 * - Translated: `deliver_init`, or `deliver_complete` if the message has no callback URL.
 * - A segment failed: the message is retried soon. After the last attempt, or when a retry cannot help, the segment
 *   keeps its source text. If every segment failed, the message is `mt_failed`.
 * - The text exceeds the time limit: `mt_failed`.
 * - The engine is unavailable: the message is retried for five minutes at most, because later messages wait for it.
 *   Then it is `mt_failed`.
 */

import type { Context } from '@dragoman/engines';
import type { Environment } from '../base/account.ts';
import type { Log } from '../base/log.ts';
import { sandboxTriggerOf } from '../base/text.ts';
import { readContext } from '../brands/brands.ts';
import { readDocumentSettings } from '../brands/document-settings.ts';
import type { Database } from '../database/database.ts';
import type { OutboxSender } from '../deliveries/deliveries.ts';
import { type Scanner, TextTakesTooLong } from '../scanning/scanner.ts';
import { type Drafted, draftsOf, hasTranslation } from '../translation/drafts.ts';
import type { Translator } from '../translation/translator.ts';
import { createLeaseQueue, type Lease } from '../work/queue.ts';
import { type LeaseWorker, RetryLater, startLeaseWorker } from '../work/worker.ts';
import {
  createMessageSettler,
  type LeasedMessage,
  type MessageOutcome,
  readEarlier,
  type SourceOf,
} from './chats.ts';
import { chatContextOf } from './context.ts';

export interface ChatWorkerOptions {
  database: Database;
  translator: Translator;
  scanner: Scanner;
  log: Log;
  capacity: number;
  leaseSeconds: number;
  sourceOf: SourceOf;
  sender: OutboxSender;
  /** Called when the outcome of a message is stored, with the seconds since its creation, for metrics. */
  settled(environment: Environment, outcome: MessageOutcome, seconds: number): void;
}

/** The maximum number of attempts for a message with failed segments. */
const MAX_TRIES = 4;
/** The maximum number of claims of a message. A message that was claimed more often fails. */
const MAX_CLAIMS = 8;
/**
 * Returns the seconds from a failed attempt to the next one: ¼, ½, then 1. These pauses are long enough for a
 * pipeline of the engine to restart.
 */
const retrySeconds = (attempts: number) => 2 ** (attempts - 3);
/** Seconds between retries while an engine is unavailable. */
const TROUBLE_SECONDS = 5;
/** The age in seconds after which a message is no longer retried while an engine is unavailable. */
const MAX_TROUBLE_AGE_SECONDS = 300;
/**
 * The maximum total length of the texts that one worker processes at a time, in UTF-16 code units: about a hundred of
 * the largest messages.
 */
const MAX_CHARACTERS = 2 * 1024 * 1024;

export type ChatWorker = LeaseWorker<Lease, LeasedMessage>;

export function startChatWorker(options: ChatWorkerOptions): ChatWorker {
  const { database, translator, scanner, log } = options;
  const desk = createMessageSettler(database, options.sourceOf, options.sender);

  async function decide(
    lease: Lease,
    leased: LeasedMessage,
    lost: AbortSignal,
  ): Promise<MessageOutcome | RetryLater> {
    const { message } = leased;
    if (lease.attempts > MAX_CLAIMS) {
      return { kind: 'failed', reason: 'given up after too many interrupted tries' };
    }
    if (sandboxTriggerOf(message.environment, message.body) === 'fail') {
      return { kind: 'failed', reason: 'the text contains [sandbox:fail]' };
    }
    const task = {
      text: message.body,
      format: message.text_format,
      sourceLanguage: message.source_language,
      targetLanguage: message.target_language,
      settings: await readDocumentSettings(database, lease.account, message.document_settings),
    };
    const { segments, assemble } = await scanner.open(lease.account, task);
    const before = await whatWasSaid(message, lease);
    const { brand, context } = await whatItsBrandSays(leased, lease);
    const drafted = await translator.draft(segments, {
      account: lease.account,
      tier: 'chat',
      environment: message.environment,
      brand,
      from: message.source_language,
      to: message.target_language,
      lane: 'interactive',
      context,
      signal: lost,
      ...(before === undefined ? {} : { before }),
    });
    const untranslated = untranslatedOf(drafted, lease.attempts, message.age);
    if (!Array.isArray(untranslated)) return untranslated;
    return { kind: 'translated', translated: await assemble(draftsOf(drafted)), untranslated };
  }

  /**
   * The chat platform chooses the name of a chat's brand, so the brand may be unknown here. If the brand has
   * no settings for the target language, the account's default brand is used.
   */
  async function whatItsBrandSays(
    { chat, message }: LeasedMessage,
    lease: Lease,
  ): Promise<{ brand: string | undefined; context: Context }> {
    const format = message.text_format;
    for (const brand of [chat.brand, message.default_brand]) {
      if (brand === null) continue;
      const said = await readContext(database, lease.account, brand, message.target_language);
      const saysNothing = said.terms.length === 0 && !said.tone && !said.instructions;
      if (!saysNothing) return { brand, context: { ...said, format } };
    }
    return { brand: undefined, context: { format } };
  }

  /** Returns the earlier messages of the chat, if any engine reads context. */
  async function whatWasSaid(message: LeasedMessage['message'], lease: Lease): Promise<string | undefined> {
    const read = translator.runners.some(({ engine }) => engine.capabilities.context);
    if (!read || message.position === 1) return undefined;
    return chatContextOf(await readEarlier(database, lease.account, message), message.source_language);
  }

  /** A retry of a text that exceeded the time limit would exceed it again. */
  function unreadable(error: unknown): MessageOutcome {
    if (!(error instanceof TextTakesTooLong)) throw error;
    return { kind: 'failed', reason: error.reason };
  }

  return startLeaseWorker<Lease, LeasedMessage, { end: MessageOutcome; started: number }>({
    name: 'chat',
    queue: createLeaseQueue(database, 'messages', options.leaseSeconds, log),
    capacity: options.capacity,
    maxWeight: MAX_CHARACTERS,
    claims: { trusted: MAX_TRIES, most: MAX_CLAIMS },
    open: desk.open,
    async decide(lease, leased, lost) {
      const started = performance.now();
      const end = await decide(lease, leased, lost).catch(unreadable);
      return end instanceof RetryLater ? end : { end, started };
    },
    async settle(lease, leased, { end, started }) {
      if (!(await desk.settle({ lease, leased, outcome: end }))) return;
      const { age, environment } = leased.message;
      options.settled(environment, end, age + (performance.now() - started) / 1000);
      if (end.kind === 'failed') log.warn({ message: lease.id, reason: end.reason }, 'message failed');
    },
    log,
  });
}

/**
 * Returns the reasons of the segments that stay untranslated; the next attempt at the message if there is one, or its
 * failure if no segment was translated or the engine is unavailable.
 */
function untranslatedOf(
  drafted: readonly Drafted[],
  attempts: number,
  age: number,
): string[] | RetryLater | (MessageOutcome & { kind: 'failed' }) {
  const failed = drafted.filter((one) => one.status === 'failed');
  const isUnavailable = failed.some(({ retry }) => retry === 'wait');
  if (isUnavailable && age < MAX_TROUBLE_AGE_SECONDS) return new RetryLater(TROUBLE_SECONDS, false);
  if (!isUnavailable && failed.some(({ retry }) => retry === 'soon') && attempts < MAX_TRIES) {
    return new RetryLater(retrySeconds(attempts), true);
  }
  if (failed[0] !== undefined && (isUnavailable || !hasTranslation(drafted))) {
    return { kind: 'failed', reason: `the engine could not translate a segment: ${failed[0].reason}` };
  }
  return failed.map(({ reason }) => reason);
}

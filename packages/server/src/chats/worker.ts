/**
 * The chat worker: what becomes of a leased message. Somebody waits for each, so it has room of its own and the
 * engine's live lane, and bulk jobs do not delay it.
 *
 *   mt_init, translated            deliver_init, or deliver_complete where there is nobody to tell
 *   a segment failed               tried again soon; after the last try, or where no try can help: mt_failed
 *   its text is over the time limit  mt_failed
 *   the engine is in trouble       waits for it, for minutes at most, since the chat waits behind it; then mt_failed
 */
import type { Context } from '@dragoman/engines';
import type { AccountRef } from '../account.ts';
import { readContext } from '../brands/brands.ts';
import type { Database } from '../database/database.ts';
import type { Log } from '../log.ts';
import { type Scanner, TextTakesTooLong } from '../scanning/scanner.ts';
import { draftsOf } from '../translation/translate.ts';
import type { Translator } from '../translation/translator.ts';
import { type Loop, type OpenLoop, startLoop } from '../work/loop.ts';
import { createQueue, type Lease } from '../work/queue.ts';
import { createSuspects } from '../work/suspects.ts';
import {
  createDesk,
  type LeasedMessage,
  type Outcome,
  postponeMessage,
  readEarlier,
  type SourceOf,
} from './chats.ts';
import { contextOf } from './context.ts';

export interface ChatWorkerOptions {
  database: Database;
  translator: Translator;
  scanner: Scanner;
  log: Log;
  capacity: number;
  leaseSeconds: number;
  sourceOf: SourceOf;
  /** Called after each message that was settled, with the seconds since its creation, for metrics and hints. */
  settled(outcome: Outcome['kind'], seconds: number): void;
}

/** Tries of a message whose segments failed, and claims after which one that never ends is given up. */
const MAX_TRIES = 4;
const MAX_CLAIMS = 8;
/** Seconds before the next try, ¼, ½, 1: long enough for a pipeline to be started anew. */
const retrySeconds = (attempts: number) => 2 ** (attempts - 3);
/** Seconds to the next look at an engine in trouble, and how old a message it may make wait. */
const TROUBLE_SECONDS = 5;
const MAX_TROUBLE_AGE_SECONDS = 300;
/** Of the texts in hand, UTF-16 units: some hundred of the largest messages. */
const MAX_CHARACTERS = 2 * 1024 * 1024;

export interface ChatWorker extends Loop, Pick<OpenLoop<Lease>, 'roomFor'> {
  readonly leaseSeconds: number;
  /** Takes a message that this process has made and leased in one: it is neither claimed nor read again. */
  adopt(account: AccountRef, token: string, leased: LeasedMessage): void;
}

export function startChatWorker(options: ChatWorkerOptions): ChatWorker {
  const { database, translator, scanner, log } = options;
  const queue = createQueue(database, 'messages', options.leaseSeconds, log);
  const withSuspects = createSuspects(queue, MAX_TRIES);
  const desk = createDesk(database, options.sourceOf);
  /** Adopted ones on their way into the loop, by their leases' tokens: each has one of its own. */
  const adopted = new Map<string, LeasedMessage>();

  async function work(lease: Lease, lost: AbortSignal): Promise<void> {
    // One that is given up now is not begun.
    if (lease.attempts > MAX_CLAIMS) return workOn(lease, lost);
    return withSuspects(lease, lost, () => workOn(lease, lost));
  }

  async function workOn(lease: Lease, lost: AbortSignal): Promise<void> {
    const leased = adopted.get(lease.token) ?? (await desk.open(lease));
    adopted.delete(lease.token);
    if (leased === undefined) return;
    const started = performance.now();
    const next = await decide(leased, lease, lost).catch(unreadable);
    if (next === 'retry') return postponeMessage(database, lease, retrySeconds(lease.attempts));
    if (next === 'wait') return queue.release([lease], TROUBLE_SECONDS);
    if (await desk.settle({ lease, leased, outcome: next })) {
      options.settled(next.kind, leased.message.age + (performance.now() - started) / 1000);
      if (next.kind === 'failed') log.warn({ message: lease.id, reason: next.reason }, 'message failed');
    }
  }

  async function decide(
    leased: LeasedMessage,
    lease: Lease,
    lost: AbortSignal,
  ): Promise<Outcome | 'retry' | 'wait'> {
    const { message } = leased;
    if (lease.attempts > MAX_CLAIMS) {
      return { kind: 'failed', reason: 'given up after too many interrupted tries' };
    }
    const task = {
      text: message.body,
      format: message.text_format,
      sourceLanguage: message.source_language,
      targetLanguage: message.target_language,
    };
    const { segments, assemble } = await scanner.open(lease.account, task);
    const before = await whatWasSaid(message, lease);
    const { brand, context } = await whatItsBrandSays(leased, lease);
    const drafted = await translator.draft(segments, {
      account: lease.account,
      tier: 'chat',
      brand,
      from: message.source_language,
      to: message.target_language,
      lane: 'live',
      context,
      signal: lost,
      ...(before === undefined ? {} : { before }),
    });
    const failed = drafted.filter((one) => one.status === 'failed');
    if (failed[0] === undefined) {
      return { kind: 'translated', translated: await assemble(draftsOf(drafted)) };
    }
    if (failed.some(({ retry }) => retry === 'wait')) {
      if (message.age < MAX_TROUBLE_AGE_SECONDS) return 'wait';
    } else if (failed.some(({ retry }) => retry === 'soon') && lease.attempts < MAX_TRIES) return 'retry';
    return { kind: 'failed', reason: `the engine could not translate a segment: ${failed[0].reason}` };
  }

  /**
   * The brand of a chat is the source platform's word for it, so it need not be one of ours; where it says nothing
   * about the language, the account's default brand does.
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

  /** What was said before it in the chat, where an engine reads it. */
  async function whatWasSaid(message: LeasedMessage['message'], lease: Lease): Promise<string | undefined> {
    const read = translator.stations.some(({ engine }) => engine.capabilities.context);
    if (!read || message.position === 1) return undefined;
    return contextOf(await readEarlier(database, lease.account, message), message.source_language);
  }

  /** Another try of a text that is over its time limit would use the same time again. */
  function unreadable(error: unknown): Outcome {
    if (!(error instanceof TextTakesTooLong)) throw error;
    return { kind: 'failed', reason: error.reason };
  }

  const loop = startLoop({
    name: 'chat',
    queue,
    capacity: options.capacity,
    maxWeight: MAX_CHARACTERS,
    work,
    log,
  });
  return {
    leaseSeconds: options.leaseSeconds,
    wake: loop.wake,
    stop: loop.stop,
    roomFor: loop.roomFor,
    get inHand() {
      return loop.inHand;
    },
    adopt(account, token, leased) {
      const { message_id: id, body } = leased.message;
      const lease = { account, id, token, attempts: 1, weight: body.length };
      adopted.set(token, leased);
      if (loop.adopt(lease)) return;
      adopted.delete(token);
      // Where it cannot be given back either, the lease runs out.
      queue.release([lease]).catch((error: unknown) => log.warn({ error }, 'could not give a message back'));
    },
  };
}

/**
 * Human correction of chat messages after their delivery, for accounts that want it. A delivered machine translation
 * becomes a small editing task. The editor's text replaces the message's text and is sent as a second event with its
 * own id. If the editor changes nothing, no event is sent.
 *
 * - When a message gets the status `deliver_complete`, it waits in `message_corrections` for a job.
 * - The job has the tier `chat`, the price 0, and the machine translation as its draft. Editors get the same kinds of
 *   tasks for it as for other jobs.
 * - When the job is completed, one transaction stores the message's new text and puts the second event into the
 *   outbox.
 */
import type { AccountRef } from '../base/account.ts';
import { uuidv7 } from '../base/ids.ts';
import type { Log } from '../base/log.ts';
import type { Database, Transaction } from '../database/database.ts';
import { recordEvents } from '../deliveries/deliveries.ts';
import { createCorrectionJob } from '../jobs/create/corrections.ts';
import type { SourceOf } from './chats.ts';
import * as store from './correction-store.ts';
import { presentEvent } from './present.ts';

const POLL_MILLISECONDS = 2_000;
const AT_ONCE = 100;

export interface Corrections {
  /** Stops creating jobs. Resolves when no creation is in progress. */
  stop(): Promise<void>;
}

/** Starts to create jobs for due corrections periodically. @param ordered called when jobs were created */
export function startCorrections(database: Database, log: Log, ordered: () => void): Corrections {
  let stopping = false;
  let running: Promise<void> | undefined;
  const timer = setInterval(() => {
    running ??= createDueCorrections(database, () => stopping)
      .then((made) => {
        if (made > 0) ordered();
      })
      .catch((error: unknown) => {
        if (!stopping) log.warn({ error }, 'corrections of messages were interrupted');
      })
      .finally(() => {
        running = undefined;
      });
  }, POLL_MILLISECONDS);
  return {
    async stop() {
      stopping = true;
      clearInterval(timer);
      await running;
    },
  };
}

/** Creates a job for every message that waits for a correction. @returns the number of created jobs */
export async function createDueCorrections(database: Database, ended = () => false): Promise<number> {
  let made = 0;
  for (;;) {
    const due = await store.findDueCorrections(database, AT_ONCE);
    let taken = 0;
    for (const { account, messageId } of due) {
      if (ended()) return made;
      if (await database.transaction((transaction) => order(transaction, account, messageId))) taken++;
    }
    made += taken;
    // Stops here, because other processes have locked the remaining corrections.
    if (taken === 0 || due.length < AT_ONCE) return made;
  }
}

async function order(transaction: Transaction, account: AccountRef, messageId: string): Promise<boolean> {
  if (!(await store.lockDueCorrection(transaction, { account, messageId }))) return false;
  const message = (await store.findMessageToCorrect(transaction, { account, messageId }))!;
  const jobId = uuidv7();
  await createCorrectionJob(transaction, account, {
    jobId,
    environment: message.environment,
    from: message.source_language,
    to: message.target_language,
    format: message.text_format,
    brand: await store.brandOf(transaction, account, message.chat_id),
    defaultBrand: message.default_brand ?? undefined,
    documentSettings: message.document_settings ?? undefined,
    text: message.body,
    // The source text of an untranslated segment must not become its draft, so the message is drafted again.
    translated: message.untranslated === null ? (message.translated ?? '') : undefined,
  });
  await store.setCorrectionJob(transaction, { account, messageId, jobId });
  return true;
}

/**
 * Writes an editor's text to the message that the job corrects, in the transaction that completes the job.
 * Does nothing for a job that corrects no message.
 */
export async function correctMessage(
  transaction: Transaction,
  account: AccountRef,
  jobId: string,
  text: string,
  sourceOf: SourceOf,
): Promise<void> {
  const messageId = await store.finishCorrection(transaction, { account, jobId });
  if (messageId === undefined) return;
  const before = (await store.findMessageToCorrect(transaction, { account, messageId }))!;
  const chat = await store.lockChat(transaction, account, before.chat_id);
  const message = await store.writeCorrection(transaction, { account, messageId, translated: text });
  if (message === undefined) return;
  const event = presentEvent(chat, message, sourceOf(message.environment), new Date());
  const headers = { ...event.headers, 'ce-id': `${event.headers['ce-id']}-corrected` };
  await recordEvents(transaction, [
    {
      account,
      environment: message.environment,
      type: 'message.corrected',
      subject: { kind: 'message', chatId: message.chat_id, messageId },
      delivery: message.callback_url === null ? undefined : { url: message.callback_url, ...event, headers },
    },
  ]);
}

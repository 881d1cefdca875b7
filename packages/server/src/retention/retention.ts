/**
 * Retention: how long the data of an account is kept. Every worker deletes expired data in small batches.
 *
 * - `attempts`: the attempts of finished deliveries.
 * - `events`: events with their deliveries and bodies. The event feed continues after them.
 * - `texts`: sources, results, segments, edits and comments of finished jobs, how much editors changed in drafts, and
 *   chat messages.
 *
 * Jobs, their charges and the translation memory are kept.
 */
import { type Actor, recordAudit } from '../audit/audit.ts';
import type { AccountRef } from '../base/account.ts';
import type { Log } from '../base/log.ts';
import type { Database, Transaction } from '../database/database.ts';
import { eraseRequested } from './erase.ts';
import * as store from './store.ts';

export { readRetention } from './store.ts';

/** The maximum number of days. A period of null means unlimited. */
export const MAX_DAYS = 36_500;
const ROUND_MILLISECONDS = 600_000;
const ROWS = 1_000;
const JOBS = 100;
const DAY_MILLISECONDS = 86_400_000;

/** Sets the retention of an account, and writes the audit entry. */
export async function setRetention(
  transaction: Transaction,
  by: Actor,
  { ref, username }: { ref: AccountRef; username: string },
  periods: store.RetentionPeriods,
): Promise<void> {
  await store.writeRetention(transaction, { ...periods, account: ref });
  await recordAudit(transaction, by, {
    action: 'account.keeping',
    account: ref,
    subject: username,
    detail: periods,
  });
}

/**
 * Starts a loop that deletes expired data and erases the accounts whose erasure was requested. The loop runs
 * every ten minutes, and at once when it is woken for an erasure.
 */
export function startRetention(database: Database, log: Log): { wake(): void; stop(): Promise<void> } {
  let stopping = false;
  let runAgain = false;
  let running: Promise<void> | undefined;
  const interrupted = (error: unknown) => {
    if (!stopping) log.warn({ error }, 'the deletion of expired data failed; it runs again');
  };
  async function round(): Promise<void> {
    do {
      runAgain = false;
      await eraseRequested(database, log, () => stopping).catch(interrupted);
    } while (runAgain && !stopping);
    await deleteExpired(database, () => stopping).catch(interrupted);
  }
  function wake(): void {
    if (stopping) return;
    runAgain = true;
    running ??= round().finally(() => {
      running = undefined;
    });
  }
  const timer = setInterval(wake, ROUND_MILLISECONDS);
  return {
    wake,
    async stop() {
      stopping = true;
      clearInterval(timer);
      await running;
    },
  };
}

/** Deletes the expired data of all accounts. @param now milliseconds since 1970; ids older than a period expire */
export async function deleteExpired(
  database: Database,
  isStopping = () => false,
  now = Date.now(),
): Promise<void> {
  for (const { account, periods, forgotten } of await store.listLimited(database)) {
    const { attempts, events, texts } = periods;
    if (attempts !== null) {
      await inBatches(isStopping, ROWS, () =>
        store.deleteAttempts(database, account, idBefore(attempts, now), attempts, ROWS),
      );
    }
    if (events !== null) {
      await inBatches(isStopping, ROWS, () =>
        database.transaction((transaction) =>
          store.deleteEvents(transaction, account, idBefore(events, now), ROWS),
        ),
      );
    }
    if (texts !== null) {
      await inBatches(isStopping, JOBS, () =>
        database.transaction((transaction) =>
          store.deleteJobTexts(transaction, account, idBefore(texts, now), texts, JOBS),
        ),
      );
      await store.deleteEfforts(database, { account, days: texts });
      await deleteMessageTexts(
        database,
        account,
        forgotten ?? idBefore(Number.POSITIVE_INFINITY, now),
        idBefore(texts, now),
        isStopping,
      );
    }
  }
}

async function deleteMessageTexts(
  database: Database,
  account: AccountRef,
  from: string,
  before: string,
  isStopping: () => boolean,
): Promise<void> {
  for (let after: string | undefined = from; after !== undefined && !isStopping(); ) {
    const start: string = after;
    after = await database.transaction((transaction) =>
      store.deleteMessageTexts(transaction, account, { from, after: start, before }, ROWS),
    );
  }
}

async function inBatches(
  isStopping: () => boolean,
  full: number,
  batch: () => Promise<number>,
): Promise<void> {
  while (!isStopping() && (await batch()) === full);
}

/**
 * Returns a lower bound of the ids that were made in the last `days`. The first 48 bits of an id are its time
 * in milliseconds.
 */
export function idBefore(days: number, now: number): string {
  const milliseconds = Math.max(0, Math.floor(now - days * DAY_MILLISECONDS));
  const hex = (Number.isFinite(milliseconds) ? milliseconds : 0).toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}-0000-0000-000000000000`;
}

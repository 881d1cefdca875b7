/**
 * How long an account's data is kept. What its time has come for is ended by every worker, in small batches; nothing
 * depends on when, or on who does it.
 *
 *   attempts   of deliveries that have ended
 *   events     with their deliveries and what these said; the feed goes on after them
 *   texts      of finished jobs (sources, results, segments, edits, comments) and of messages
 *
 * Jobs themselves, what they cost, and what the memory learned stay.
 */
import type { AccountRef } from '../account.ts';
import type { Database } from '../database/database.ts';
import type { Log } from '../log.ts';
import { eraseRequested } from './erase.ts';
import * as store from './store.ts';

export { type Keeping, readKeeping, writeKeeping } from './store.ts';

/** More is for ever. */
export const MAX_DAYS = 36_500;
const ROUND_MILLISECONDS = 600_000;
const ROWS = 1_000;
const JOBS = 100;
const DAY_MILLISECONDS = 86_400_000;

/** @returns `wake`: an account is to be erased */
export function startRetention(database: Database, log: Log): { wake(): void; stop(): Promise<void> } {
  let stopping = false;
  let again = false;
  let running: Promise<void> | undefined;
  const interrupted = (error: unknown) => {
    if (!stopping) log.warn({ error }, 'retention was interrupted');
  };
  async function round(): Promise<void> {
    do {
      again = false;
      await eraseRequested(database, log, () => stopping).catch(interrupted);
    } while (again && !stopping);
    await endAll(database, () => stopping).catch(interrupted);
  }
  function wake(): void {
    if (stopping) return;
    again = true;
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

/** Ends all that is past its time. */
export async function endAll(database: Database, ended = () => false): Promise<void> {
  for (const { account, keeping, forgotten } of await store.listLimited(database)) {
    const { attempts, events, texts } = keeping;
    if (attempts !== null) {
      await inBatches(ended, ROWS, () =>
        store.endAttempts(database, account, idBefore(attempts), attempts, ROWS),
      );
    }
    if (events !== null) {
      await inBatches(ended, ROWS, () =>
        database.transaction((transaction) => store.endEvents(transaction, account, idBefore(events), ROWS)),
      );
    }
    if (texts !== null) {
      await inBatches(ended, JOBS, () =>
        database.transaction((transaction) =>
          store.forgetJobs(transaction, account, idBefore(texts), texts, JOBS),
        ),
      );
      await forgetMessages(database, account, forgotten ?? idBefore(Number.POSITIVE_INFINITY), texts, ended);
    }
  }
}

async function forgetMessages(
  database: Database,
  account: AccountRef,
  from: string,
  days: number,
  ended: () => boolean,
): Promise<void> {
  for (let after: string | undefined = from; after !== undefined && !ended(); ) {
    const start: string = after;
    after = await database.transaction((transaction) =>
      store.forgetMessages(transaction, account, start, idBefore(days), ROWS),
    );
  }
}

async function inBatches(ended: () => boolean, full: number, batch: () => Promise<number>): Promise<void> {
  while (!ended() && (await batch()) === full);
}

/** Below every id that was made in the last so many days: the first 48 bits of an id are its time in milliseconds. */
export function idBefore(days: number, now = Date.now()): string {
  const milliseconds = Math.max(0, Math.floor(now - days * DAY_MILLISECONDS));
  const hex = (Number.isFinite(milliseconds) ? milliseconds : 0).toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}-0000-0000-000000000000`;
}

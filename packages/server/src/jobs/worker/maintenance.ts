/**
 * Periodic maintenance in every worker. It adds up the rows of job counters, so that a total is the sum of only
 * a few rows. It deletes creation records of dead processes, old idempotency keys, ended sessions and old counts of
 * sign-in attempts. It accepts jobs to which customers did not react, and mails customers whose documents are finished.
 * It may run at any time and in any worker.
 */
import { cleanSessions } from '../../access/sessions.ts';
import type { Log } from '../../base/log.ts';
import type { Database } from '../../database/database.ts';
import { cleanLessons } from '../../memory/memory.ts';
import { autoAcceptJobs } from '../acceptance.ts';
import { deleteIdempotencyKeysOlderThan } from '../create/idempotency-store.ts';
import { type JobMailOptions, mailFinishedJobs } from '../documents/mails.ts';
import { findAccountsToFold, foldCounts } from '../list/list-store.ts';
import { deleteStaleCreations } from '../order-numbers.ts';

const FOLD_MILLISECONDS = 10_000;
const FORGET_MILLISECONDS = 600_000;
const ACCEPT_MILLISECONDS = 60_000;
const MAIL_MILLISECONDS = 30_000;
/**
 * The number of counter rows at which sums replace an account's rows. A total therefore reads at most this many
 * extra rows.
 */
const MIN_ROWS_TO_FOLD = 64;
const MAX_ACCOUNTS = 1000;
const KEY_HOURS = 24;
/** The age in seconds from which a creation record is assumed to belong to a dead process. */
const CREATION_SECONDS = 60;
const MAX_KEYS = 10_000;

export interface JobMaintenance {
  /** Stops the maintenance: starts no further round, and resolves when the running round is done. */
  stop(): Promise<void>;
}

export interface JobMaintenanceSettings {
  /** Hours after which a completed job is accepted automatically; 0 turns this off. */
  autoAcceptHours: number;
  smtpUrl: string | undefined;
}

export function startJobMaintenance(
  database: Database,
  settings: JobMaintenanceSettings,
  mails: JobMailOptions,
  log: Log,
): JobMaintenance {
  let stopping = false;
  const running = new Set<Promise<void>>();

  /** Runs a round periodically. A failed round is repeated by the next one. */
  function every(milliseconds: number, round: () => Promise<void>): NodeJS.Timeout {
    let busy = false;
    return setInterval(() => {
      if (busy) return;
      busy = true;
      const done = round()
        .catch((error: unknown) => {
          if (!stopping) log.warn({ error }, 'maintenance of jobs was interrupted');
        })
        .finally(() => {
          busy = false;
          running.delete(done);
        });
      running.add(done);
    }, milliseconds);
  }

  const timers = [
    every(FOLD_MILLISECONDS, () => foldAllCounts(database, MIN_ROWS_TO_FOLD, () => stopping)),
    every(FOLD_MILLISECONDS, () => deleteStaleCreations(database, { seconds: CREATION_SECONDS })),
    every(FORGET_MILLISECONDS, () => deleteOldIdempotencyKeys(database, () => stopping)),
    every(FORGET_MILLISECONDS, () => cleanSessions(database, () => stopping)),
    every(FORGET_MILLISECONDS, () => cleanLessons(database, () => stopping)),
    every(ACCEPT_MILLISECONDS, () => autoAcceptJobs(database, settings.autoAcceptHours, () => stopping)),
    ...(settings.smtpUrl === undefined
      ? []
      : [every(MAIL_MILLISECONDS, () => mailFinishedJobs(database, mails, () => stopping))]),
  ];
  return {
    async stop() {
      stopping = true;
      for (const timer of timers) clearInterval(timer);
      await Promise.all(running);
    },
  };
}

/** Sums up the job counters of every account that has at least `least` new counter rows. */
export async function foldAllCounts(database: Database, least: number, ended = () => false): Promise<void> {
  for (const account of await findAccountsToFold(database, least, MAX_ACCOUNTS)) {
    if (ended()) return;
    await foldCounts(database, { account });
  }
}

/** Deletes idempotency keys older than a day. */
export async function deleteOldIdempotencyKeys(database: Database, ended = () => false): Promise<void> {
  while (!ended() && (await deleteIdempotencyKeysOlderThan(database, KEY_HOURS, MAX_KEYS)) === MAX_KEYS);
}

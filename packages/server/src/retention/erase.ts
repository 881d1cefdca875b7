/**
 * Erasure of an account.
 *
 * - `requested`: an owner has requested the erasure. Users and API keys lose access at once. This cannot be
 *   undone.
 * - `erased`: workers, or an operator's command, have deleted all data.
 *
 * Erasure cancels unfinished jobs and deletes all texts and personal data. Transfers, balances, audit entries
 * and jobs stay for accounting, without texts and names. Erasure runs in small batches and resumes after an
 * interruption.
 */
import { KEYS_CHANNEL } from '../access/accounts.ts';
import { type Actor, forgetNames, recordAudit } from '../audit/audit.ts';
import type { AccountRef } from '../base/account.ts';
import type { Log } from '../base/log.ts';
import type { Database } from '../database/database.ts';
import { cancelCorrectionJob } from '../jobs/create/corrections.ts';
import { cancelJob, type JobHooks } from '../jobs/jobs.ts';
import * as store from './store.ts';

const ROWS = 1_000;
const PAGE = 500;

/** Erasure needs no hooks for canceled jobs, because it deletes the tasks of these jobs next. */
const NO_HOOKS: Pick<JobHooks, 'onCanceled'> = { onCanceled: async () => {} };

/** The notification channel that wakes workers for a requested erasure. */
export const ERASURES_CHANNEL = 'dragoman_erasures';

/** Records that an account is to be erased. Workers then finish the erasure even if this process ends. */
export function beginErasure(database: Database, by: Actor, account: AccountRef): Promise<Date> {
  return database.transaction(async (transaction) => {
    const { since, isFirst } = await store.markForErasure(transaction, account);
    if (isFirst) {
      const subject = account.accountId;
      await recordAudit(transaction, by, { action: 'account.erasing', account, subject, detail: {} });
    }
    return since;
  });
}

/** Records the erasure and revokes all access to the account. Workers then delete the data. */
export async function requestErasure(database: Database, by: Actor, account: AccountRef): Promise<Date> {
  const since = await beginErasure(database, by, account);
  await revokeAccess(database, account, {});
  // If the notification fails, workers find the request at their next poll.
  await database.notify(ERASURES_CHANNEL).catch(() => {});
  return since;
}

/**
 * Erases all accounts whose erasure was requested. A failed erasure does not block others and is tried again
 * in the next round.
 */
export async function eraseRequested(
  database: Database,
  log: Log,
  isStopping: () => boolean = () => false,
): Promise<void> {
  for (const account of await store.listRequestedErasures(database, ERASURES_AT_ONCE)) {
    if (isStopping()) return;
    try {
      await eraseAccount(database, 'program', account, isStopping);
    } catch (error) {
      if (!isStopping()) log.warn({ error, account: account.accountId }, 'an erasure was interrupted');
    }
  }
}

const ERASURES_AT_ONCE = 100;

/**
 * Erases an account whose erasure was requested.
 * @param isStopping a function that is called between batches; when it returns true, this run stops and
 * another worker resumes
 * @returns the number of deleted rows by table
 */
export async function eraseAccount(
  database: Database,
  by: Actor,
  account: AccountRef,
  isStopping: () => boolean = () => false,
): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  await revokeAccess(database, account, counts);
  await cancelAll(database, account, isStopping);
  for (const { table } of store.allTables())
    await eraseTable(database, account, table.name, counts, isStopping);
  for (let stripped = ROWS; stripped === ROWS; ) {
    throwIfStopping(isStopping);
    stripped = await store.stripJobs(database, account, ROWS);
  }
  await database.transaction(async (transaction) => {
    const isLast = await store.stripAccount(transaction, account);
    // Removes names a second time, because operators may have written audit entries before `stripAccount`
    // locked the account.
    await forgetNames(transaction, { account });
    if (!isLast) return;
    const subject = account.accountId;
    await recordAudit(transaction, by, { action: 'account.erased', account, subject, detail: counts });
  });
  return counts;
}

/** Deletes the API keys and users of the account. Runs before all other deletions. */
async function revokeAccess(
  database: Database,
  account: AccountRef,
  counts: Record<string, number>,
): Promise<void> {
  await eraseTable(database, account, 'keys', counts);
  await database.notify(KEYS_CHANNEL);
  // The names are removed before the users are deleted, because `forgetNames` looks them up by the ids of the users.
  await forgetNames(database, { account });
  await eraseTable(database, account, 'users', counts);
}

async function eraseTable(
  database: Database,
  account: AccountRef,
  name: string,
  counts: Record<string, number>,
  isStopping: () => boolean = () => false,
): Promise<void> {
  const table = store.allTables().find((one) => one.table.name === name)!;
  // A batch that deletes nothing does not show that the table is empty, because a concurrent erasure may be deleting
  // the same rows. So `hasRows` decides.
  while (await store.hasRows(database, account, table)) {
    throwIfStopping(isStopping);
    const erased = await store.eraseRows(database, account, table, ROWS);
    if (erased > 0) counts[name] = (counts[name] ?? 0) + erased;
  }
}

function throwIfStopping(isStopping: () => boolean): void {
  if (isStopping()) throw new Error('the server stops; another worker resumes the erasure');
}

async function cancelAll(database: Database, account: AccountRef, isStopping: () => boolean): Promise<void> {
  for (;;) {
    const jobs = await store.listUnfinished(database, { account, limit: ROWS });
    if (jobs.length === 0) return;
    for (const { environment, tier, uid, job_id: jobId } of jobs) {
      throwIfStopping(isStopping);
      if (tier === 'chat') {
        await database.transaction((transaction) => cancelCorrectionJob(transaction, account, jobId));
        continue;
      }
      await cancelJob(database, NO_HOOKS, { account, environment }, tier, uid, 'program').catch(
        async (error: unknown) => {
          // A failed cancellation is ignored if the job has finished meanwhile. If the job is unfinished, the error is
          // thrown, because this loop would otherwise never end.
          const left = await store.listUnfinished(database, { account, limit: ROWS });
          if (left.some((one) => one.uid === uid && one.environment === environment)) throw error;
        },
      );
    }
  }
}

/** Yields all data of an account as JSON lines `{"table": …, "row": {…}}`, without secrets. */
export async function* exportAccount(database: Database, account: AccountRef): AsyncGenerator<string> {
  for (const table of store.allTables().toReversed()) {
    for await (const row of store.rowsOf(database, account, table, PAGE)) {
      yield `${JSON.stringify({ table: table.table.name, row })}\n`;
    }
  }
}

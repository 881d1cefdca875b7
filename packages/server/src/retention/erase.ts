/**
 * The end of an account, and all that is known of it.
 *
 *   asked for   by an owner: from now on nobody comes in, people or programs. It cannot be taken back
 *   erased      workers, or an operator's command, have deleted all there was
 *
 * Erasure takes back what is not finished, deletes what the customer and its people said, and leaves what the books
 * need: transfers, balances, and jobs without a word of theirs. It goes in small steps and can be begun again where it
 * was broken off.
 */
import type { AccountRef } from '../account.ts';
import { KEYS_CHANNEL } from '../accounts/accounts.ts';
import type { Database, Transaction } from '../database/database.ts';
import { withdrawCorrection } from '../jobs/corrections.ts';
import { cancelJob, type JobFollower } from '../jobs/jobs.ts';
import type { Log } from '../log.ts';
import * as store from './store.ts';

const ROWS = 1_000;
const PAGE = 500;

/** Nobody need be told: the tasks of the jobs are deleted next. */
const NOBODY: Pick<JobFollower, 'canceled'> = { canceled: async () => {} };

/** Workers look at once whether an account is to be erased. */
export const ERASURES_CHANNEL = 'dragoman_erasures';

/**
 * Asks for the end of an account, and lets nobody in any more.
 * @param alongside what is written in the transaction in which it is asked for
 */
export async function requestErasure(
  database: Database,
  account: AccountRef,
  alongside: (transaction: Transaction) => Promise<void>,
): Promise<Date> {
  const since = await database.transaction(async (transaction) => {
    await alongside(transaction);
    return store.askToEnd(transaction, account);
  });
  await shutOut(database, account, {});
  await database.notify(ERASURES_CHANNEL).catch(() => {}); // polled as well
  return since;
}

/** Erases what is asked for. One that fails is tried again in the next round, and keeps nobody waiting. */
export async function eraseRequested(
  database: Database,
  log: Log,
  ended: () => boolean = () => false,
): Promise<void> {
  for (const account of await store.listAskedToEnd(database, ERASURES)) {
    if (ended()) return;
    try {
      await eraseAccount(database, account, ended);
    } catch (error) {
      if (!ended()) log.warn({ error, account: account.accountId }, 'an erasure was broken off');
    }
  }
}

const ERASURES = 100;

/**
 * @param ended asked between batches; whoever is told so breaks off, and another goes on from there
 * @returns how many rows were deleted, by table
 */
export async function eraseAccount(
  database: Database,
  account: AccountRef,
  ended: () => boolean = () => false,
): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  await shutOut(database, account, counts);
  await cancelAll(database, account, ended);
  for (const { table } of store.allTables()) await eraseTable(database, account, table.name, counts, ended);
  for (let stripped = ROWS; stripped === ROWS; ) {
    goOn(ended);
    stripped = await store.stripJobs(database, account, ROWS);
  }
  await database.transaction((transaction) => store.stripAccount(transaction, account));
  return counts;
}

/** First of all nobody may come in any more. */
async function shutOut(
  database: Database,
  account: AccountRef,
  counts: Record<string, number>,
): Promise<void> {
  await eraseTable(database, account, 'keys', counts);
  await database.notify(KEYS_CHANNEL);
  await eraseTable(database, account, 'users', counts);
}

async function eraseTable(
  database: Database,
  account: AccountRef,
  name: string,
  counts: Record<string, number>,
  ended: () => boolean = () => false,
): Promise<void> {
  const table = store.allTables().find((one) => one.table.name === name)!;
  // Asked rather than concluded: a batch that somebody else deletes just then comes back empty.
  while (await store.hasRows(database, account, table)) {
    goOn(ended);
    const erased = await store.eraseRows(database, account, table, ROWS);
    if (erased > 0) counts[name] = (counts[name] ?? 0) + erased;
  }
}

function goOn(ended: () => boolean): void {
  if (ended()) throw new Error('the server stops: another begins it again');
}

async function cancelAll(database: Database, account: AccountRef, ended: () => boolean): Promise<void> {
  for (;;) {
    const jobs = await store.listUnfinished(database, account, ROWS);
    if (jobs.length === 0) return;
    for (const { environment, tier, uid, job_id: jobId } of jobs) {
      goOn(ended);
      if (tier === 'chat') {
        await database.transaction((transaction) => withdrawCorrection(transaction, account, jobId));
        continue;
      }
      await cancelJob(database, NOBODY, { account, environment }, tier, uid, 'operator').catch(
        async (error: unknown) => {
          // It was finished meanwhile; anything else would be met again for ever.
          const left = await store.listUnfinished(database, account, ROWS);
          if (left.some((one) => one.uid === uid && one.environment === environment)) throw error;
        },
      );
    }
  }
}

/** All that is kept of an account, a JSON object a line: `{"table": …, "row": {…}}`. Without its secrets. */
export async function* exportAccount(database: Database, account: AccountRef): AsyncGenerator<string> {
  for (const table of store.allTables().toReversed()) {
    for await (const row of store.rowsOf(database, account, table, PAGE)) {
      yield `${JSON.stringify({ table: table.table.name, row })}\n`;
    }
  }
}

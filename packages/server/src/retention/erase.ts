/**
 * The end of an account, and all that is known of it.
 *
 * Erasure takes back what is not finished, deletes what the customer and its people said, and leaves what the books
 * need: transfers, balances, and jobs without a word of theirs. It goes in small steps and can be begun again where it
 * was broken off.
 */
import type { AccountRef } from '../account.ts';
import { KEYS_CHANNEL } from '../accounts/accounts.ts';
import type { Database } from '../database/database.ts';
import { withdrawCorrection } from '../jobs/corrections.ts';
import { cancelJob, type JobFollower } from '../jobs/jobs.ts';
import * as store from './store.ts';

const ROWS = 1_000;
const PAGE = 500;

/** Nobody need be told: the tasks of the jobs are deleted next. */
const NOBODY: JobFollower = { drafted: async () => {}, canceled: async () => {} };

/** @returns how many rows were deleted, by table */
export async function eraseAccount(database: Database, account: AccountRef): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  // First of all nobody may come in any more.
  for (const name of ['keys', 'users', ...store.allTables().map(({ table }) => table.name)]) {
    if (name === 'attempts') await cancelAll(database, account);
    const table = store.allTables().find((one) => one.table.name === name)!;
    for (let erased = ROWS; erased === ROWS; ) {
      erased = await store.eraseRows(database, account, table, ROWS);
      if (erased > 0) counts[name] = (counts[name] ?? 0) + erased;
    }
    if (name === 'keys') await database.notify(KEYS_CHANNEL);
  }
  while ((await store.stripJobs(database, account, ROWS)) === ROWS);
  await database.transaction((transaction) => store.stripAccount(transaction, account));
  return counts;
}

async function cancelAll(database: Database, account: AccountRef): Promise<void> {
  for (;;) {
    const jobs = await store.listUnfinished(database, account, ROWS);
    if (jobs.length === 0) return;
    for (const { environment, tier, uid, job_id: jobId } of jobs) {
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

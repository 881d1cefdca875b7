/**
 * The restore scenario: a backup is made while the server receives orders. It is restored into a new data directory,
 * on which the service continues.
 */
import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { createAccount, runCommand, startProgram } from '../../scripts/program.ts';
import { startBackgroundLoad } from '../harness/background-load.ts';
import { withDatabase } from '../harness/database.ts';
import { sendRequest } from '../harness/requests.ts';
import { startService } from '../harness/service.ts';

export interface RestoreHistory {
  /** The number of rows in each table: as the backup reports it, and as counted in the new directory. */
  backedUp: Record<string, number>;
  restored: Record<string, number>;
  /** The uids of jobs that were acknowledged before the backup started. */
  acknowledged: string[];
  /** The uids of the jobs in the new directory. */
  stored: Set<string>;
  /** The number of jobs that were acknowledged during the backup. */
  meanwhile: number;
  /** The exit status of `ledger verify` in the new directory. */
  verified: number;
  /** The status of the response when a job is created in the new directory. */
  created: number;
}

const CLIENTS = 8;
const OPENING_CENTS = 100_000_000;

/**
 * Runs the scenario.
 *
 * @param jobs the number of jobs that are acknowledged before the backup starts
 */
export async function runRestore(directory: string, jobs: number): Promise<RestoreHistory> {
  const [source, target, file] = ['old', 'new', 'made.backup'].map((name) => join(directory, name)) as [
    string,
    string,
    string,
  ];
  const service = await startService(source);
  const { production_key: key } = await createAccount(source, 'restore', OPENING_CENTS);
  const acknowledged: string[] = [];
  let stopping = false;
  let count = 0;
  const client = async () => {
    while (!stopping) {
      const uid = `restore-${count++}`;
      if ((await createJob(service.url, key, uid)) === 201) acknowledged.push(uid);
    }
  };
  const clients = startBackgroundLoad(...Array.from({ length: CLIENTS }, client));
  while (acknowledged.length < jobs) {
    clients.check();
    await wait(5);
  }
  const before = [...acknowledged];
  const backup = JSON.parse(await runCommand(source, 'backup', file, '--json'));
  stopping = true;
  await clients.done();
  await service.stop();

  await runCommand(target, 'restore', file);
  copyFileSync(join(source, 'secret.key'), join(target, 'secret.key'));
  const counted = await countRows(target, Object.keys(backup.rows));
  const verified = await runCommand(target, 'ledger', 'verify').then(
    () => 0,
    ({ code }: { code: number }) => code,
  );
  const restarted = await startProgram({ directory: target });
  const created = await createJob(restarted.url, key, 'restore-afterwards');
  await restarted.stop();
  const meanwhile = acknowledged.length - before.length;
  return { backedUp: backup.rows, acknowledged: before, meanwhile, verified, created, ...counted };
}

/**
 * Creates a job.
 *
 * @returns the HTTP status
 */
export async function createJob(url: string, key: string, uid: string): Promise<number> {
  const body = { uid, text: 'The house is big.', source_language: 'en', target_language: 'es' };
  const request = { method: 'POST', key, body: JSON.stringify(body) };
  return (await sendRequest(`${url}/tapi/v2/translation/`, request)).status;
}

export async function countRows(
  directory: string,
  tables: readonly string[],
): Promise<Pick<RestoreHistory, 'restored' | 'stored'>> {
  return withDatabase(directory, async (query) => {
    const restored: Record<string, number> = {};
    for (const table of tables) {
      const [row] = await query<{ count: number }>(`select count(*)::int as count from "${table}"`);
      restored[table] = row!.count;
    }
    const jobs = await query<{ uid: string }>('select uid from jobs');
    return { restored, stored: new Set(jobs.map(({ uid }) => uid)) };
  });
}

/**
 * The second scenario of the migrate proof: backups with data that older versions of the program made are restored by
 * this version, on which the service continues. `backups/NNNN.backup` is of the last version that knew migration NNNN.
 * It has an account with a completed machine job, a human job that waits, a chat message and a key.
 */
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { believeEngine, runCommand, startProgram } from '../../scripts/program.ts';
import { sendRequest } from '../harness/requests.ts';
import { countRows, createJob } from '../restore/run.ts';

/** The secret key of the backups, and the API key of their account `shop`. */
export const SECRET_KEY = 'Tr190NjbgjvzFfEZKifIAQ/HKOGMdKN904rd8TcwYZA=';
export const API_KEY = 'shop:dgm_live_7a4c9022IzrF658vnvOrDR7HfDn_LP9dv2KSnFSu7usA4q9z_Ko';
/** The result of the job `machine` of this account. */
export const TRANSLATION = 'La casa es grande.';

const BACKUPS = new URL('./backups/', import.meta.url).pathname;

export interface Upgrade {
  file: string;
  /** The number of rows in each table: as the restore reports it, and as counted after it. */
  backedUp: Record<string, number>;
  restored: Record<string, number>;
  /** The exit status of `ledger verify`. */
  verified: number;
  /** The translation of the job that was completed before the backup. */
  read: string;
  /** The status of the response when a job is created. */
  created: number;
}

export function listBackups(): string[] {
  return readdirSync(BACKUPS)
    .filter((name) => name.endsWith('.backup'))
    .map((name) => join(BACKUPS, name));
}

export async function runUpgrades(directory: string): Promise<Upgrade[]> {
  const upgrades: Upgrade[] = [];
  for (const [index, file] of listBackups().entries()) {
    upgrades.push(await upgrade(file, join(directory, `upgrade-${index}`)));
  }
  return upgrades;
}

async function upgrade(file: string, directory: string): Promise<Upgrade> {
  mkdirSync(directory);
  writeFileSync(join(directory, 'secret.key'), `${SECRET_KEY}\n`, { mode: 0o600 });
  const { rows } = JSON.parse(await runCommand(directory, 'restore', file, '--json'));
  const { restored } = await countRows(directory, Object.keys(rows));
  const verified = await runCommand(directory, 'ledger', 'verify').then(
    () => 0,
    ({ code }: { code: number }) => code,
  );
  await believeEngine(directory);
  const service = await startProgram({ directory });
  const job = await sendRequest(`${service.url}/tapi/v2/mt_translation/machine/`, { key: API_KEY });
  const created = await createJob(service.url, API_KEY, 'after-the-upgrade');
  await service.stop();
  const { translated_text: read } = JSON.parse(job.text);
  return { file, backedUp: rows, restored, verified, read, created };
}

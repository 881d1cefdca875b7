/**
 * A restore run: a backup is made beside a server that takes orders meanwhile, and restored into a new data directory,
 * where the service goes on.
 */
import { execFile } from 'node:child_process';
import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createConnection } from '../../packages/server/src/database/connections.ts';
import { createLog } from '../../packages/server/src/log.ts';
import { openStore } from '../../packages/server/src/program.ts';
import { loadSettings } from '../../packages/server/src/settings.ts';
import { believeEngine, createAccount, DRAGOMAN, startProgram } from '../../scripts/program.ts';
import { startBeside } from '../beside.ts';

export interface RestoreHistory {
  /** Rows of each table, as the backup says, and as they are counted in the new directory. */
  backedUp: Record<string, number>;
  restored: Record<string, number>;
  /** Uids that were acknowledged before the backup began; those in the new directory. */
  acknowledged: string[];
  there: Set<string>;
  /** Acknowledged while it was made. */
  meanwhile: number;
  /** What `ledger verify` ended with there. */
  verified: number;
  /** What a creation there was answered with. */
  goesOn: number;
}

const CLIENTS = 8;
const OPENING_CENTS = 100_000_000;

/** @param jobs acknowledged before the backup begins */
export async function runRestore(directory: string, jobs: number): Promise<RestoreHistory> {
  const [old, anew, file] = ['old', 'new', 'made.backup'].map((name) => join(directory, name)) as [
    string,
    string,
    string,
  ];
  await believeEngine(old);
  const program = await startProgram({ directory: old });
  const { production_key: key } = await createAccount(old, 'restore', OPENING_CENTS);
  const acknowledged: string[] = [];
  let stopping = false;
  let count = 0;
  const client = async () => {
    while (!stopping) {
      const uid = `restore-${count++}`;
      if ((await create(program.url, key, uid)) === 201) acknowledged.push(uid);
    }
  };
  const clients = startBeside(...Array.from({ length: CLIENTS }, client));
  while (acknowledged.length < jobs) {
    clients.check();
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  const before = [...acknowledged];
  const backup = JSON.parse(await dragoman('backup', file, '--json', '--data', old));
  stopping = true;
  await clients.done();
  await program.stop();

  await dragoman('restore', file, '--data', anew);
  copyFileSync(join(old, 'secret.key'), join(anew, 'secret.key'));
  const counted = await countAll(anew, Object.keys(backup.rows));
  const verified = await dragoman('ledger', 'verify', '--data', anew).then(
    () => 0,
    ({ code }: { code: number }) => code,
  );
  const again = await startProgram({ directory: anew });
  const goesOn = await create(again.url, key, 'restore-afterwards');
  await again.stop();
  const meanwhile = acknowledged.length - before.length;
  return { backedUp: backup.rows, acknowledged: before, meanwhile, verified, goesOn, ...counted };
}

/** @returns the status */
async function create(url: string, key: string, uid: string): Promise<number> {
  const response = await fetch(`${url}/tapi/v2/translation/`, {
    method: 'POST',
    headers: { authorization: `ApiKey ${key}` },
    body: JSON.stringify({ uid, text: 'The house is big.', source_language: 'en', target_language: 'es' }),
  });
  await response.arrayBuffer();
  return response.status;
}

async function dragoman(...args: string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(process.execPath, [DRAGOMAN, ...args]);
  return stdout;
}

async function countAll(
  directory: string,
  tables: readonly string[],
): Promise<Pick<RestoreHistory, 'restored' | 'there'>> {
  const store = await openStore(loadSettings({ DRAGOMAN_DATA: directory }), 'command', createLog('silent'));
  const client = createConnection(store.connection);
  await client.connect();
  try {
    const restored: Record<string, number> = {};
    for (const table of tables) {
      const sql = `select count(*)::int as count from ${client.escapeIdentifier(table)}`;
      restored[table] = (await client.query<{ count: number }>(sql)).rows[0]!.count;
    }
    const { rows } = await client.query<{ uid: string }>('select uid from jobs');
    return { restored, there: new Set(rows.map(({ uid }) => uid)) };
  } finally {
    await client.end();
    await store.close();
  }
}

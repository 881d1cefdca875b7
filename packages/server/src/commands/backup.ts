/** The commands `dragoman backup` and `dragoman restore`: the whole database in one file. */
import { once } from 'node:events';
import { createReadStream, createWriteStream, existsSync, renameSync, rmSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { readKeyFile } from '../access/secrets.ts';
import { recordAudit } from '../audit/audit.ts';
import { counted } from '../base/text.ts';
import { type Rows, readBackup, writeBackup } from '../database/backup.ts';
import type { Connection } from '../database/database.ts';
import { startEmbedded } from '../database/embedded.ts';
import { prepareDataDirectory } from '../roles/program.ts';
import type { Settings } from '../settings/settings.ts';
import { type Command, settingsWith, withStore } from './options.ts';
import { CommandError, print, printJson, say } from './output.ts';

export function addBackupCommands(program: Command): void {
  program
    .command('backup')
    .description('write a consistent copy of the database to a file; the server may be running')
    .argument('<file>', 'a new file, such as dragoman-2026-11-21.backup; - for standard output')
    .onStore()
    .action((file: string, options: { data?: string; json?: boolean }) => {
      requireNewFile(file);
      return withStore(
        options,
        async ({ connection, database, behind }) => {
          // The audit entry is written first, so that the backup contains it. A database with an older schema
          // gets no entry, because its audit table may be different or missing.
          if (behind === 0) {
            const entry = { action: 'database.backed_up', subject: file, detail: {} };
            await database.transaction((transaction) => recordAudit(transaction, 'command', entry));
          }
          const rows = await writeWhole(file, (target) => writeBackup(connection, target));
          if (file === '-') say(summaryOf(rows));
          else report(options, { file, bytes: statSync(file).size, rows });
          if (behind > 0)
            say(
              `The schema was not changed; it is ${counted(behind, 'version')} behind. Run: dragoman migrate`,
            );
          const settings = settingsWith(options);
          if (settings.secretKey === undefined) {
            say(
              `Keep ${resolve(settings.data, 'secret.key')} with it: without it, the secrets in the backup cannot be read.`,
            );
          }
        },
        'any',
      );
    });
  program
    .command('restore')
    .description('fill a new, empty database from a backup; no server may be running on it')
    .argument('<file>', 'a file written by `dragoman backup`')
    .onStore()
    .action(async (file: string, options: { data?: string; json?: boolean }) => {
      if (!existsSync(file)) throw new CommandError(`There is no ${file}.`);
      const rows = await withConnection(settingsWith(options), (connection) =>
        readBackup(connection, createReadStream(file)),
      );
      report(options, { file, bytes: statSync(file).size, rows });
      const { secretKey, data } = settingsWith(options);
      if (rows.secret_key_mark === 1 && (secretKey ?? readKeyFile(resolve(data))) === undefined) {
        say(`Copy the secret.key of the backup to ${resolve(data)}, or set DRAGOMAN_SECRET_KEY.`);
      }
    });
}

/** @throws CommandError when a backup cannot be written to this file */
function requireNewFile(file: string): void {
  if (file === '-') {
    if (process.stdout.isTTY)
      throw new CommandError('Standard output is a terminal: name a file, or use a pipe.');
    return;
  }
  if (existsSync(file)) throw new CommandError(`${file} already exists.`);
  const folder = dirname(resolve(file));
  if (!existsSync(folder))
    throw new CommandError(`There is no folder ${folder}: create it, or choose another file.`);
}

/** Writes a file under a temporary name and renames it when it is complete. `-` is standard output. */
async function writeWhole<T>(file: string, write: (target: NodeJS.WritableStream) => Promise<T>): Promise<T> {
  if (file === '-') return write(process.stdout);
  const partial = `${file}.partial`;
  const target = createWriteStream(partial, { mode: 0o600, flush: true });
  await once(target, 'open').catch((error: Error) => {
    throw new CommandError(`${file} cannot be written: ${error.message}.`);
  });
  try {
    const written = await write(target);
    renameSync(partial, file);
    return written;
  } catch (error) {
    rmSync(partial, { force: true });
    throw error;
  }
}

/**
 * Connects without migrating. A store would migrate the database, but the schema of a restored database comes
 * from the backup.
 */
async function withConnection<T>(
  settings: Settings,
  work: (connection: Connection) => Promise<T>,
): Promise<T> {
  if (settings.databaseUrl !== undefined) return work({ connectionString: settings.databaseUrl });
  const dataDir = resolve(settings.data);
  prepareDataDirectory(settings.data);
  // With the role `serve` the start fails if another program uses the data directory.
  const embedded = await startEmbedded({ dataDir, role: 'serve' });
  try {
    return await work(embedded.connection);
  } finally {
    await embedded.stop();
  }
}

function report(options: { json?: boolean }, done: { file: string; bytes: number; rows: Rows }): void {
  if (options.json) {
    printJson(done);
    return;
  }
  print(`${done.file}: ${summaryOf(done.rows)}, ${done.bytes} bytes`);
}

function summaryOf(rows: Rows): string {
  const counts = Object.values(rows);
  const all = counts.reduce((sum, count) => sum + count, 0);
  return `${counted(all, 'row')} of ${counted(counts.length, 'table')}`;
}

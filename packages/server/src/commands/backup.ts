/** `dragoman backup` and `restore`: all that the database holds, in one file. */
import { once } from 'node:events';
import { createReadStream, createWriteStream, existsSync, renameSync, rmSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { Command } from 'commander';
import { readKeyFile } from '../accounts/secrets.ts';
import { type Rows, readBackup, writeBackup } from '../database/backup.ts';
import type { Connection } from '../database/database.ts';
import { startEmbedded } from '../database/embedded.ts';
import { recordAudit } from '../operations/audit.ts';
import { prepareDataDirectory, versions } from '../program.ts';
import type { Settings } from '../settings.ts';
import { data, json, settingsWith, withStore } from './options.ts';
import { CommandError, print, printJson, say } from './output.ts';

export function addBackupCommands(program: Command): void {
  program
    .command('backup')
    .description(
      'write all that the database holds, as of this moment, into one file; beside a running server',
    )
    .argument('<file>', 'a new file, such as dragoman-2026-11-21.backup')
    .addOption(data())
    .addOption(json())
    .action((file: string, options: { data?: string; json?: boolean }) => {
      if (existsSync(file)) throw new CommandError(`${file} is there already.`);
      const folder = dirname(resolve(file));
      if (!existsSync(folder))
        throw new CommandError(`There is no folder ${folder}: make it, or choose another file.`);
      return withStore(
        options,
        async ({ connection, database, behind }) => {
          // First, so that it stands in the backup too. An older schema may have another audit, or none.
          if (behind === 0) {
            await recordAudit(database, 'command', {
              action: 'database.backed_up',
              subject: file,
              detail: {},
            });
          }
          const rows = await writeWhole(file, (target) => writeBackup(connection, target));
          report(options, { file, bytes: statSync(file).size, rows });
          if (behind > 0)
            say(`The schema is as it was, ${versions(behind)} behind: dragoman migrate brings it up.`);
          const settings = settingsWith(options);
          if (settings.secretKey === undefined) {
            say(
              `Keep ${resolve(settings.data, 'secret.key')} with it: the secrets in it can be read with that alone.`,
            );
          }
        },
        'any',
      );
    });
  program
    .command('restore')
    .description('fill a new, empty database from a backup; nothing else may be running on it')
    .argument('<file>', 'what `dragoman backup` wrote')
    .addOption(data())
    .addOption(json())
    .action(async (file: string, options: { data?: string; json?: boolean }) => {
      if (!existsSync(file)) throw new CommandError(`There is no ${file}.`);
      const rows = await withConnection(settingsWith(options), (connection) =>
        readBackup(connection, createReadStream(file)),
      );
      report(options, { file, bytes: statSync(file).size, rows });
      const { secretKey, data } = settingsWith(options);
      if (rows.secret_key_mark === 1 && (secretKey ?? readKeyFile(resolve(data))) === undefined) {
        say(`Put the secret.key that was kept with it into ${resolve(data)}, or set DRAGOMAN_SECRET_KEY.`);
      }
    });
}

/** A file that is there is whole: it gets its name when all of it is written. */
async function writeWhole<T>(file: string, write: (target: NodeJS.WritableStream) => Promise<T>): Promise<T> {
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

/** The database as it is: a store would bring its schema up first, and a backup brings its own. */
async function withConnection<T>(
  settings: Settings,
  work: (connection: Connection) => Promise<T>,
): Promise<T> {
  if (settings.databaseUrl !== undefined) return work({ connectionString: settings.databaseUrl });
  const dataDir = resolve(settings.data);
  prepareDataDirectory(settings.data);
  // As `serve` has it: nobody else may be there.
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
  const counts = Object.values(done.rows);
  const rows = counts.reduce((sum, count) => sum + count, 0);
  print(`${done.file}: ${rows} rows of ${counts.length} tables, ${done.bytes} bytes`);
}

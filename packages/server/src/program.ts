/** Puts the rooms together: what `serve`, the commands, the demo and the tests all start from. */
import { mkdirSync } from 'node:fs';
import { resolve } from 'node:path';
import { openVault, readKeyMark, recordSecretKey } from './accounts/secret-key.ts';
import type { Vault } from './accounts/secrets.ts';
import { type Connection, type Database, openDatabase } from './database/database.ts';
import { startEmbedded } from './database/embedded.ts';
import { migrate } from './database/migrate.ts';
import type { Log } from './log.ts';
import type { Settings } from './settings.ts';

/** The store that every role needs: the database, and the vault for the secrets in it. */
export interface Store {
  database: Database;
  /** @throws SecretKeyError, for a command: most commands need no key and work without one */
  readonly vault: Vault;
  /** The migrations that were applied when it was opened. */
  migrated: string[];
  /** As the owner of the schema; for tools such as benchmarks, never for the program's own work. */
  connection: Connection;
  close(): Promise<void>;
}

/**
 * Opens the database of the settings, or the embedded one in the data directory, and brings its schema up.
 * @throws SecretKeyError for `serve` without the key that the database is used with
 * @param role `serve` owns the embedded server for its whole life; `command` works beside a running one
 */
export async function openStore(settings: Settings, role: 'serve' | 'command', log: Log): Promise<Store> {
  const dataDirectory = resolve(settings.data);
  mkdirSync(dataDirectory, { recursive: true, mode: 0o700 });
  const embedded =
    settings.databaseUrl === undefined
      ? await startEmbedded({
          dataDir: dataDirectory,
          role,
          log: (line) => log.info({ detail: line }, 'postgresql'),
        })
      : undefined;
  const connection: Connection = embedded?.connection ?? { connectionString: settings.databaseUrl! };
  let opened: Database | undefined;
  try {
    const migrated = await migrate(connection);
    const database = openDatabase(connection, log);
    opened = database;
    const mark = await readKeyMark(database);
    let vault = role === 'serve' ? openVault(settings, mark) : undefined;
    if (vault !== undefined) await recordSecretKey(database, settings, vault);
    return {
      database,
      get vault() {
        vault ??= openVault(settings, mark);
        return vault;
      },
      migrated,
      connection,
      async close() {
        await database.close();
        await embedded?.stop();
      },
    };
  } catch (error) {
    await opened?.close();
    await embedded?.stop();
    throw error;
  }
}

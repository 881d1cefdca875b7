/** Puts the rooms together: what `serve`, the commands, the demo and the tests all start from. */
import { accessSync, constants, existsSync, mkdirSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { openVault, readKeyMark, recordSecretKey } from './accounts/secret-key.ts';
import type { Vault } from './accounts/secrets.ts';
import { type Connection, type Database, openDatabase } from './database/database.ts';
import { EmbeddedError, startEmbedded } from './database/embedded.ts';
import { countVersionsBehind, migrate, SchemaError } from './database/migrate.ts';
import type { Log } from './log.ts';
import type { Settings } from './settings.ts';

/** The store that every role needs: the database, and the vault for the secrets in it. */
export interface Store {
  database: Database;
  /** @throws SecretKeyError, for a command: most commands need no key and work without one */
  readonly vault: Vault;
  /** The migrations that were applied when it was opened. */
  migrated: string[];
  /** How many migrations the schema lacks; above 0 only where it was opened with `any`. */
  behind: number;
  /** As the owner of the schema; for tools such as benchmarks, never for the program's own work. */
  connection: Connection;
  close(): Promise<void>;
}

/**
 * What opening does about the schema. `make`: creates the database and applies migrations. `require`: changes nothing,
 * and refuses a schema that is behind. `any`: changes nothing, and takes an older schema, too.
 */
export type SchemaMode = 'make' | 'require' | 'any';

/**
 * Opens the database of the settings, or the embedded one in the data directory.
 * @throws SecretKeyError for `serve` without the key that the database is used with
 * @throws EmbeddedError `no_data` when there is no embedded database and none may be made
 * @throws SchemaError when the schema is behind and must not be
 * @param role `serve` owns the embedded server for its whole life; `command` works beside a running one
 */
export async function openStore(
  settings: Settings,
  role: 'serve' | 'command',
  log: Log,
  schema: SchemaMode = 'make',
): Promise<Store> {
  const dataDirectory = resolve(settings.data);
  if (schema === 'make') prepareDataDirectory(settings.data);
  else if (settings.databaseUrl === undefined) requireEmbeddedData(settings.data);
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
    const migrated = schema === 'make' ? await migrate(connection) : [];
    const behind = schema === 'make' ? 0 : await countVersionsBehind(connection);
    if (behind > 0 && schema === 'require') {
      throw new SchemaError(`The schema is ${versions(behind)} behind: run dragoman migrate.`);
    }
    const database = openDatabase(connection, log);
    opened = database;
    // An older schema may have no place for the mark.
    const mark = behind === 0 ? await readKeyMark(database) : undefined;
    let vault = role === 'serve' ? openVault(settings, mark) : undefined;
    if (vault !== undefined) await recordSecretKey(database, settings, vault);
    return {
      database,
      get vault() {
        vault ??= openVault(settings, mark);
        return vault;
      },
      migrated,
      behind,
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

export const versions = (count: number): string => (count === 1 ? '1 version' : `${count} versions`);

/**
 * Makes the data directory where there is none.
 * @throws EmbeddedError `data_directory` when it cannot be made or written
 */
export function prepareDataDirectory(path: string): void {
  const refuse = (what: string, cause?: unknown) =>
    new EmbeddedError(
      'data_directory',
      `The data directory ${path} ${what}: set DRAGOMAN_DATA to a folder that this user may write.`,
      { cause },
    );
  try {
    mkdirSync(resolve(path), { recursive: true, mode: 0o700 });
  } catch (error) {
    const isFile = existsSync(path) && !statSync(path).isDirectory();
    throw refuse(isFile ? 'is a file' : `cannot be made (${(error as NodeJS.ErrnoException).code})`, error);
  }
  try {
    accessSync(path, constants.W_OK | constants.X_OK);
  } catch (error) {
    throw refuse('is not writable', error);
  }
}

/** A command that made an empty database in the wrong folder would report success there. */
function requireEmbeddedData(path: string): void {
  if (!existsSync(join(path, 'postgres', 'PG_VERSION'))) {
    throw new EmbeddedError('no_data', `There is no data in ${path}. Is DRAGOMAN_DATA set?`);
  }
}

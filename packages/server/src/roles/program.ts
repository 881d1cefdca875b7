/** Opens the database and the vault for `serve`, commands, the demo and tests. */
import { accessSync, constants, existsSync, mkdirSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { EmbeddedPostgresError } from '@dragoman/embedded-postgres';
import {
  followKey,
  openVault,
  readKeyTest,
  recordSecretKey,
  requireSecretKey,
} from '../access/secret-key.ts';
import type { Vault } from '../access/secrets.ts';
import type { Log } from '../base/log.ts';
import { counted } from '../base/text.ts';
import { type Connection, type Database, openDatabase } from '../database/database.ts';
import { NoDatabaseError, startEmbedded } from '../database/embedded.ts';
import { countVersionsBehind, migrate, requireStandbySessions, SchemaError } from '../database/migrate.ts';
import type { Settings } from '../settings/settings.ts';

/** The open database, and the vault that encrypts the secrets in it. */
export interface Store {
  database: Database;
  /**
   * The vault. It is opened at its first use, because most commands need no secret key. @throws
   * SecretKeyError
   */
  readonly vault: Vault;
  /** The names of the migrations that this start applied. */
  migrated: string[];
  /** The number of migrations that were not applied to the database. It is above 0 only in the mode `any`. */
  behind: number;
  /** The connection data of the schema's owner. Only tools such as benchmarks may use it. */
  connection: Connection;
  close(): Promise<void>;
}

/**
 * How the schema is opened:
 * - `make` creates the database and applies migrations.
 * - `require` changes nothing and refuses an older schema.
 * - `any` changes nothing and accepts an older schema.
 */
export type SchemaMode = 'make' | 'require' | 'any';

/**
 * Opens the database that the settings name, or else the embedded database in the data directory.
 * @param role with `serve`, the process owns the embedded server while it runs; with `command`, the server
 * may already run
 * @throws SecretKeyError for `serve` without the key of the database
 * @throws NoDatabaseError when there is no embedded database and the mode is not `make`
 * @throws SchemaError when the schema is older and the mode is `require`
 */
export async function openStore(
  settings: Settings,
  role: 'serve' | 'command',
  log: Log,
  schema: SchemaMode = 'make',
): Promise<Store> {
  const dataDirectory = resolve(settings.data);
  if (role === 'serve') requireSecretKey(settings);
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
    const migrated = schema === 'make' ? await migrate(connection, { log }) : [];
    const behind = schema === 'make' ? 0 : await countVersionsBehind(connection, log);
    if (behind > 0 && schema === 'require') {
      throw new SchemaError(`The schema is ${counted(behind, 'version')} behind: run dragoman migrate.`);
    }
    const readUrl = role === 'serve' ? settings.databaseReadUrl : undefined;
    if (readUrl !== undefined) await requireStandbySessions(readUrl);
    const database = openDatabase(connection, log, undefined, readUrl);
    opened = database;
    // An older schema may lack the table that shows with which secret key the secrets in the database are encrypted.
    const fits = behind === 0 ? await readKeyTest(database) : undefined;
    let vault = role === 'serve' ? openVault(settings, fits) : undefined;
    if (vault !== undefined) await recordSecretKey(database, settings, vault);
    const unfollow =
      vault === undefined || settings.previousSecretKey === undefined ? () => {} : followKey(database, vault);
    return {
      database,
      get vault() {
        vault ??= openVault(settings, fits);
        return vault;
      },
      migrated,
      behind,
      connection,
      async close() {
        unfollow();
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

/**
 * Creates the data directory if it does not exist.
 * @throws EmbeddedPostgresError `data_directory` when the directory cannot be created or written
 */
export function prepareDataDirectory(path: string): void {
  const refuse = (what: string, cause?: unknown) =>
    new EmbeddedPostgresError(
      'data_directory',
      `The data directory ${path} ${what}: set DRAGOMAN_DATA to a folder that this user can write to.`,
      { cause },
    );
  try {
    mkdirSync(resolve(path), { recursive: true, mode: 0o700 });
  } catch (error) {
    const isFile = existsSync(path) && !statSync(path).isDirectory();
    throw refuse(
      isFile ? 'is a file' : `cannot be created (${(error as NodeJS.ErrnoException).code})`,
      error,
    );
  }
  try {
    accessSync(path, constants.W_OK | constants.X_OK);
  } catch (error) {
    throw refuse('is not writable', error);
  }
}

/**
 * Throws if there is no database in the folder. Otherwise a command in the wrong folder would create an empty
 * database and report success.
 */
function requireEmbeddedData(path: string): void {
  if (!existsSync(join(path, 'postgres', 'PG_VERSION'))) {
    throw new NoDatabaseError(`There is no data in ${path}. Is DRAGOMAN_DATA set?`);
  }
}

/**
 * The secret key of a database: every process that uses the database needs the same one, since what one process seals
 * another opens. A mark of the key stands in the database from its first use. A process with another key stops at its
 * start: it would translate and never deliver, as it could sign nothing.
 */
import { resolve } from 'node:path';
import type { Database, Queryable } from '../database/database.ts';
import { statement } from '../database/statements.ts';
import type { Settings } from '../settings.ts';
import { createKeyFile, createVault, hashesEqual, readKeyFile, type Vault } from './secrets.ts';

/** Why there is no key to work with; the message is for the operator and says what to do. */
export class SecretKeyError extends Error {
  override name = 'SecretKeyError';
}

const LOST = 'If that key is lost: npx dragoman secret-key replace.';

/** HMAC-SHA256 of a constant, by a key derived from the secret key: it tells keys apart and says nothing of them. */
const markOf = (vault: Vault): Buffer => vault.mark('the secret key of this database');

const READ = statement<{ mark: Buffer }>('accounts.read_key_mark', 'select mark from secret_key_mark');
const RECORD = statement(
  'accounts.record_key_mark',
  'insert into secret_key_mark (mark) values ($1) on conflict (one) do nothing',
);
const REPLACE = statement(
  'accounts.replace_key_mark',
  `insert into secret_key_mark (mark) values ($1)
   on conflict (one) do update set mark = excluded.mark, recorded_at = now()`,
);

/** The mark of the key that this database is used with; undefined before its first use. */
export async function readKeyMark(on: Queryable): Promise<Buffer | undefined> {
  const [row] = await on.query(READ);
  return row?.mark;
}

/**
 * The vault of this process's key: the one in the settings, else the one in the data directory. A new key is made only
 * for an embedded database that has never been used with one.
 * @param mark of the key that the database is used with
 * @throws SecretKeyError when there is no key, or it is not that one
 */
export function openVault(settings: Settings, mark: Buffer | undefined): Vault {
  const directory = resolve(settings.data);
  const key = settings.secretKey ?? readKeyFile(directory);
  if (key === undefined && settings.databaseUrl !== undefined) {
    throw new SecretKeyError(
      'DRAGOMAN_SECRET_KEY must be set where DATABASE_URL is: all processes of one database need the same key. ' +
        'Make one with: openssl rand -base64 32',
    );
  }
  if (key === undefined && mark !== undefined) {
    throw new SecretKeyError(
      `The secret key of this database is missing: put its secret.key into ${directory}, or set ` +
        `DRAGOMAN_SECRET_KEY. ${LOST}`,
    );
  }
  const vault = createVault(key ?? createKeyFile(directory));
  if (mark !== undefined && !hashesEqual(markOf(vault), mark)) throw another(settings);
  return vault;
}

/**
 * Records the key at the database's first use.
 * @throws SecretKeyError when the database is used with another one
 */
export async function recordSecretKey(database: Database, settings: Settings, vault: Vault): Promise<void> {
  await database.query(RECORD, [markOf(vault)]);
  const mark = await readKeyMark(database);
  if (mark !== undefined && !hashesEqual(markOf(vault), mark)) throw another(settings);
}

/** From now on the database is used with this process's key. What another key sealed stays unreadable. */
export async function replaceSecretKey(on: Queryable, settings: Settings): Promise<void> {
  await on.query(REPLACE, [markOf(openVault(settings, undefined))]);
}

function another(settings: Settings): SecretKeyError {
  const source =
    settings.secretKey === undefined ? `secret.key in ${resolve(settings.data)}` : 'DRAGOMAN_SECRET_KEY';
  return new SecretKeyError(
    `${source} is not the key that this database is used with: set DRAGOMAN_SECRET_KEY to the one that the other ` +
      `processes have, or that was kept with the backup. ${LOST}`,
  );
}

/**
 * The secret key of a database. All processes that use a database need the same key, because one process decrypts what
 * another has encrypted. At the first use, the database records a fingerprint of the key (`mark`), which is a keyed
 * hash. Databases of older versions have secrets but no fingerprint; for them, the newest encrypted secret identifies
 * the key. A process with a wrong key stops when it starts, because it could not sign deliveries.
 */
import { resolve } from 'node:path';
import type { Database, Queryable } from '../database/database.ts';
import { statement } from '../database/statements.ts';
import type { Settings } from '../settings/settings.ts';
import {
  createKeyFile,
  createVault,
  hashesEqual,
  readKeyFile,
  secretContext,
  type Vault,
} from './secrets.ts';
import { newestWebhookSecret } from './webhook-secret-store.ts';

/** The secret key is missing or wrong. The message tells the operator what to do. */
export class SecretKeyError extends Error {
  override name = 'SecretKeyError';
}

const LOST = 'If that key is lost: dragoman secret-key replace.';

/**
 * Returns the fingerprint of a secret key: HMAC-SHA256 of a constant, with a key that is derived from the secret key.
 * The same secret key always has the same fingerprint, which reveals nothing about the key.
 */
const markOf = (vault: Vault): Buffer => vault.mark('the secret key of this database');

const READ = statement<{ mark: Buffer }>('accounts.read_key_mark', 'select mark from secret_key_mark');
const RECORD = statement(
  'accounts.record_key_mark',
  'insert into secret_key_mark (mark) values ($1) on conflict (one) do nothing',
);
const REPLACE = statement(
  'accounts.replace_key_mark',
  `insert into secret_key_mark (mark) values ($1)
   on conflict (one) do update set mark = excluded.mark where secret_key_mark.mark <> excluded.mark
   returning mark`,
);

/** Returns whether a vault has the secret key of the database. */
export type KeyTest = (vault: Vault) => boolean;

/**
 * Returns a function that tests whether a vault has the key of this database. Returns undefined when the
 * database was never used.
 */
export async function readKeyTest(on: Queryable): Promise<KeyTest | undefined> {
  const [row] = await on.query(READ);
  if (row !== undefined) return (vault) => hashesEqual(markOf(vault), row.mark);
  const secret = await newestWebhookSecret(on);
  return secret && ((vault) => opens(vault, secret.sealed, secretContext(secret.account, secret.use)));
}

function opens(vault: Vault, sealed: Buffer, context: string): boolean {
  try {
    vault.open(sealed, context);
    return true;
  } catch {
    return false;
  }
}

/**
 * Stops the program before it changes anything, if the secret key is missing.
 * @throws SecretKeyError when `DATABASE_URL` is set and there is no secret key
 */
export function requireSecretKey(settings: Settings): void {
  if (settings.databaseUrl === undefined || settings.secretKey !== undefined) return;
  if (readKeyFile(resolve(settings.data)) !== undefined) return;
  throw new SecretKeyError(
    'DRAGOMAN_SECRET_KEY must be set when DATABASE_URL is set: all processes of one database need the same key. ' +
      'Create one with: openssl rand -base64 32',
  );
}

/**
 * Opens the vault, which encrypts and decrypts secrets, with the key of the settings or else of the data directory.
 * Creates a new key only for an embedded database that was never used.
 * @param fits the test for the database's key; undefined when the database was never used
 * @throws SecretKeyError when the key is missing or is not the key of the database
 */
export function openVault(settings: Settings, fits: KeyTest | undefined): FollowingVault {
  const directory = resolve(settings.data);
  requireSecretKey(settings);
  const key = settings.secretKey ?? readKeyFile(directory);
  if (key === undefined && fits !== undefined) {
    throw new SecretKeyError(
      `The secret key of this database is missing: put its secret.key into ${directory}, or set ` +
        `DRAGOMAN_SECRET_KEY. ${LOST}`,
    );
  }
  const { previousSecretKey: previous } = settings;
  const vault = createFollowingVault([
    key ?? createKeyFile(directory),
    ...(previous === undefined ? [] : [previous]),
  ]);
  if (fits !== undefined && !vault.follow(fits)) throw wrongKey(settings);
  return vault;
}

/** A vault that has the previous key too while the secret key is rotated. It opens what any of its keys has sealed. */
export interface FollowingVault extends Vault {
  /** Seals with the key of the database from now on. @returns false if it is none of the vault's keys */
  follow(fits: KeyTest): boolean;
}

/** The interval at which processes with a previous key look which key the database names. */
export const FOLLOW_MILLISECONDS = 1_000;

function createFollowingVault(keys: readonly Buffer[]): FollowingVault {
  const vaults = keys.map(createVault);
  let current = vaults[0]!;
  return {
    seal: (secret, context) => current.seal(secret, context),
    open(sealed, context) {
      const other = vaults.find((vault) => vault !== current);
      if (other !== undefined && !opens(current, sealed, context)) return other.open(sealed, context);
      return current.open(sealed, context);
    },
    mark: (text) => current.mark(text),
    marks: (text) => vaults.map((vault) => vault.mark(text)),
    follow(fits) {
      const found = vaults.find(fits);
      current = found ?? current;
      return found !== undefined;
    },
  };
}

/** Lets the vault of a process follow the database until the returned function is called. */
export function followKey(database: Database, vault: FollowingVault): () => void {
  const timer = setInterval(async () => {
    // An error only delays the change of the key that seals: all keys open.
    const fits = await readKeyTest(database).catch(() => undefined);
    if (fits !== undefined) vault.follow(fits);
  }, FOLLOW_MILLISECONDS);
  timer.unref();
  return () => clearInterval(timer);
}

/**
 * Returns the vaults of the new and of the previous secret key.
 * @throws SecretKeyError when the settings lack one of them, or both are the same
 */
export function rotationVaults({
  secretKey,
  previousSecretKey,
}: Pick<Settings, 'secretKey' | 'previousSecretKey'>): { next: Vault; previous: Vault } {
  if (secretKey === undefined || previousSecretKey === undefined || secretKey.equals(previousSecretKey)) {
    throw new SecretKeyError(
      'To rotate the secret key, set DRAGOMAN_SECRET_KEY to the new key and DRAGOMAN_SECRET_KEY_PREVIOUS to the key ' +
        'that the database uses, for this command and for all processes.',
    );
  }
  return { next: createVault(secretKey), previous: createVault(previousSecretKey) };
}

/**
 * Names the new key in the database.
 * @returns false when the database already names it
 * @throws SecretKeyError when the database uses neither key
 */
export async function nameNewKey(
  on: Queryable,
  { next, previous }: { next: Vault; previous: Vault },
): Promise<boolean> {
  const fits = await readKeyTest(on);
  if (fits?.(next)) return false;
  if (fits !== undefined && !fits(previous)) {
    throw new SecretKeyError(
      'Neither DRAGOMAN_SECRET_KEY nor DRAGOMAN_SECRET_KEY_PREVIOUS is the key of this database.',
    );
  }
  return (await on.query(REPLACE, [markOf(next)])).length > 0;
}

/**
 * Records the fingerprint of the key when the database is used for the first time.
 * @throws SecretKeyError when the database already has the fingerprint of another key
 */
export async function recordSecretKey(database: Database, settings: Settings, vault: Vault): Promise<void> {
  await database.query(RECORD, [markOf(vault)]);
  const fits = await readKeyTest(database);
  if (fits?.(vault) === false) throw wrongKey(settings);
}

/**
 * Records this process's key as the new key of the database. Secrets that were encrypted with the former key
 * stay unreadable.
 * @returns false when the database already had this key
 */
export async function replaceSecretKey(on: Queryable, settings: Settings): Promise<boolean> {
  if (settings.previousSecretKey !== undefined) {
    throw new SecretKeyError(
      'DRAGOMAN_SECRET_KEY_PREVIOUS is set, so the previous key is not lost: dragoman secret-key rotate keeps the secrets.',
    );
  }
  return (await on.query(REPLACE, [markOf(openVault(settings, undefined))])).length > 0;
}

function wrongKey(settings: Settings): SecretKeyError {
  const source =
    settings.secretKey === undefined ? `secret.key in ${resolve(settings.data)}` : 'DRAGOMAN_SECRET_KEY';
  return new SecretKeyError(
    `${source} is not the key of this database: set DRAGOMAN_SECRET_KEY to the key of the other processes or of the ` +
      `backup. ${LOST}`,
  );
}

/**
 * Storage of secrets. API keys are stored as hashes. Webhook secrets are needed in clear text for signing, so
 * they are encrypted with the program's secret key (AES-256-GCM).
 */
import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  hash,
  hkdfSync,
  randomBytes,
  timingSafeEqual,
} from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { AccountRef, Environment } from '../base/account.ts';

const PREFIX = { production: 'dgm_live_', sandbox: 'dgm_test_' } as const;
const ID_LENGTH = 8;

/**
 * Creates an API key: `dgm_live_` or `dgm_test_`, eight characters that identify its row, and 32 random
 * bytes. One round of SHA-256 is enough to store it; slow hashes are only needed for secrets that can be
 * guessed.
 */
export function createKey(environment: Environment): { keyId: string; secret: string; hash: Buffer } {
  const keyId = randomBytes(ID_LENGTH / 2).toString('hex');
  const secret = `${PREFIX[environment]}${keyId}${randomBytes(32).toString('base64url')}`;
  return { keyId, secret, hash: hashKey(secret) };
}

/** Returns the SHA-256 hash of a secret (32 bytes). The hash is stored and compared instead of the secret. */
export function hashKey(secret: string): Buffer {
  return hash('sha256', secret, 'buffer');
}

/**
 * Returns the part of a key that identifies its row, or undefined when the text is not in the form of a key.
 */
export function keyIdOf(secret: string, environment: Environment): string | undefined {
  const prefix = PREFIX[environment];
  const id = secret.slice(prefix.length, prefix.length + ID_LENGTH);
  return secret.startsWith(prefix) && /^[0-9a-f]{8}$/.test(id) ? id : undefined;
}

/**
 * The maximum number of active webhook secrets per account and environment. Each secret adds one HMAC
 * computation and 48 bytes of headers to every delivery, and receivers limit headers to a few kilobytes.
 */
export const MAX_LIVE_SECRETS = 5;

/** Creates a webhook secret in the format of Standard Webhooks: `whsec_` and 32 bytes in base64. */
export function createWebhookSecret(): string {
  return `whsec_${randomBytes(32).toString('base64')}`;
}

/** What a webhook secret signs: the callbacks of an environment, or the deliveries to one webhook endpoint in it. */
export interface SecretUse {
  environment: Environment;
  /** The webhook endpoint whose deliveries the secret signs. Null if the secret signs callbacks. */
  endpointId: string | null;
}

/** Returns the encryption context of a webhook secret. */
export function secretContext({ accountId }: AccountRef, { environment, endpointId }: SecretUse): string {
  return `webhook-secret ${accountId} ${environment}${endpointId === null ? '' : ` ${endpointId}`}`;
}

/** Creates the token of a session or an invitation, 32 random bytes. Only the hash of a token is stored. */
export function createToken(): { token: string; hash: Buffer } {
  const token = randomBytes(32).toString('base64url');
  return { token, hash: hashKey(token) };
}

/** Compares two hashes in constant time. */
export function hashesEqual(one: Buffer, other: Buffer): boolean {
  return one.length === other.length && timingSafeEqual(one, other);
}

/**
 * Encrypts and decrypts secrets with one 32-byte key. The `context` names account and purpose; it is
 * authenticated (GCM's associated data) but not stored.
 */
export interface Vault {
  seal(secret: Buffer, context: string): Buffer;
  /** @throws Error when the bytes were altered, or were encrypted with another key or context */
  open(sealed: Buffer, context: string): Buffer;
  /**
   * Returns a keyed hash of a text: HMAC-SHA256, 32 bytes. Without the key the hash does not reveal the text.
   */
  mark(text: string): Buffer;
  /** Returns the hashes of a text with all keys of the vault, to find one that was stored. */
  marks(text: string): Buffer[];
}

const IV_BYTES = 12;
const TAG_BYTES = 16;

/** @param key 32 bytes */
export function createVault(key: Buffer): Vault {
  const markKey = Buffer.from(hkdfSync('sha256', key, '', 'dragoman marks', 32));
  const mark = (text: string) => createHmac('sha256', markKey).update(text).digest();
  return {
    mark,
    marks: (text) => [mark(text)],
    seal(secret, context) {
      const iv = randomBytes(IV_BYTES);
      const cipher = createCipheriv('aes-256-gcm', key, iv).setAAD(Buffer.from(context));
      const body = Buffer.concat([cipher.update(secret), cipher.final()]);
      return Buffer.concat([iv, cipher.getAuthTag(), body]);
    },
    open(sealed, context) {
      const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(0, IV_BYTES), {
        authTagLength: TAG_BYTES,
      })
        .setAAD(Buffer.from(context))
        .setAuthTag(sealed.subarray(IV_BYTES, IV_BYTES + TAG_BYTES));
      return Buffer.concat([decipher.update(sealed.subarray(IV_BYTES + TAG_BYTES)), decipher.final()]);
    },
  };
}

const KEY_FILE = 'secret.key';

/** Reads the secret key from the data directory; undefined when the directory has none. */
export function readKeyFile(dataDirectory: string): Buffer | undefined {
  const path = join(dataDirectory, KEY_FILE);
  let written: string;
  try {
    written = readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
  const key = Buffer.from(written, 'base64');
  if (key.length !== 32) throw new Error(`${path} must hold 32 bytes in base64`);
  return key;
}

/**
 * Creates a secret key in the data directory. Never overwrites an existing file, so two processes that start at the
 * same time get the same key.
 */
export function createKeyFile(dataDirectory: string): Buffer {
  const path = join(dataDirectory, KEY_FILE);
  mkdirSync(dataDirectory, { recursive: true, mode: 0o700 });
  try {
    writeFileSync(path, `${randomBytes(32).toString('base64')}\n`, { flag: 'wx', mode: 0o600, flush: true });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
  return readKeyFile(dataDirectory)!;
}

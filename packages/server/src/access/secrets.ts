/**
 * Secrets at rest. API keys are stored as hashes. Webhook secrets must be readable to sign with, so they are sealed with
 * the program's secret key (AES-256-GCM).
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
 * Creates an API key: `dgm_live_` or `dgm_test_`, eight characters that identify its row, and 32 random bytes. With
 * that much entropy one round of SHA-256 is enough to store it; slow hashes protect guessable secrets.
 */
export function createKey(environment: Environment): { keyId: string; secret: string; hash: Buffer } {
  const keyId = randomBytes(ID_LENGTH / 2).toString('hex');
  const secret = `${PREFIX[environment]}${keyId}${randomBytes(32).toString('base64url')}`;
  return { keyId, secret, hash: hashKey(secret) };
}

/** Returns the SHA-256 hash of a secret, 32 bytes, which is stored and compared in its place. */
export function hashKey(secret: string): Buffer {
  return hash('sha256', secret, 'buffer');
}

/** Returns the part of a key that identifies its row; undefined when it is not in the form of our keys. */
export function keyIdOf(secret: string, environment: Environment): string | undefined {
  const prefix = PREFIX[environment];
  const id = secret.slice(prefix.length, prefix.length + ID_LENGTH);
  return secret.startsWith(prefix) && /^[0-9a-f]{8}$/.test(id) ? id : undefined;
}

/**
 * Webhook secrets per account and environment that sign at a time. Each costs one HMAC over the body of a delivery, and
 * 48 bytes of a header that receivers limit to some kilobytes.
 */
export const MAX_LIVE_SECRETS = 5;

/** Creates a webhook secret in the form of Standard Webhooks: `whsec_` and 32 bytes in base64. */
export function createWebhookSecret(): string {
  return `whsec_${randomBytes(32).toString('base64')}`;
}

/** Returns the context under which a webhook secret is sealed. */
export function secretContext({ accountId }: AccountRef, environment: Environment): string {
  return `webhook-secret ${accountId} ${environment}`;
}

/** Creates the token of a session or an invitation: 32 random bytes, of which only the hash is stored. */
export function createToken(): { token: string; hash: Buffer } {
  const token = randomBytes(32).toString('base64url');
  return { token, hash: hashKey(token) };
}

/** Compares two hashes in constant time. */
export function hashesEqual(one: Buffer, other: Buffer): boolean {
  return one.length === other.length && timingSafeEqual(one, other);
}

/** Seals and opens secrets with one 32-byte key. `context` (account and purpose) is authenticated but not stored. */
export interface Vault {
  seal(secret: Buffer, context: string): Buffer;
  /** @throws Error when the bytes were altered, or sealed with another key or context */
  open(sealed: Buffer, context: string): Buffer;
  /** Returns a keyed hash of a text (HMAC-SHA256), 32 bytes. Without the key it does not reveal the text. */
  mark(text: string): Buffer;
}

const IV_BYTES = 12;
const TAG_BYTES = 16;

/** @param key 32 bytes */
export function createVault(key: Buffer): Vault {
  const markKey = Buffer.from(hkdfSync('sha256', key, '', 'dragoman marks', 32));
  return {
    mark: (text) => createHmac('sha256', markKey).update(text).digest(),
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

/** Reads the secret key from the data directory; undefined when it has none. */
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
 * Creates a secret key in the data directory. Two processes that start at the same time get the same key, because an
 * existing file is never overwritten.
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

/**
 * Secrets at rest. API keys are kept as hashes; webhook secrets must be read back to sign with, so they are
 * sealed with the program's own key (AES-256-GCM).
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
import type { Environment } from '../account.ts';

const PREFIX = { production: 'dgm_live_', sandbox: 'dgm_test_' } as const;
const ID_LENGTH = 8;

/**
 * A new API key: `dgm_live_` or `dgm_test_`, eight characters that find its row, and 32 random bytes.
 * With that much entropy one round of SHA-256 is enough to store (a slow hash guards guessable secrets).
 */
export function createKey(environment: Environment): { keyId: string; secret: string; hash: Buffer } {
  const keyId = randomBytes(ID_LENGTH / 2).toString('hex');
  const secret = `${PREFIX[environment]}${keyId}${randomBytes(32).toString('base64url')}`;
  return { keyId, secret, hash: hashKey(secret) };
}

/** SHA-256, 32 bytes: what is stored of a key, and what is compared instead of secrets. */
export function hashKey(secret: string): Buffer {
  return hash('sha256', secret, 'buffer');
}

/** The part of a presented key that finds its row; undefined when it cannot be one of ours. */
export function keyIdOf(secret: string, environment: Environment): string | undefined {
  const prefix = PREFIX[environment];
  const id = secret.slice(prefix.length, prefix.length + ID_LENGTH);
  return secret.startsWith(prefix) && /^[0-9a-f]{8}$/.test(id) ? id : undefined;
}

/**
 * Webhook secrets that are live at a time. Each costs one HMAC over the body of a delivery, and 48 bytes of a header
 * that receivers limit to some kilobytes.
 */
export const MAX_LIVE_SECRETS = 5;

/** A webhook secret in the form of Standard Webhooks: `whsec_` and 32 bytes in base64. */
export function createWebhookSecret(): string {
  return `whsec_${randomBytes(32).toString('base64')}`;
}

/** What opens a session or an invitation: 32 random bytes, of which the hash is kept, as of a key. */
export function createToken(): { token: string; hash: Buffer } {
  const token = randomBytes(32).toString('base64url');
  return { token, hash: hashKey(token) };
}

/** Compares in the same time wherever the two differ. */
export function hashesEqual(one: Buffer, other: Buffer): boolean {
  return one.length === other.length && timingSafeEqual(one, other);
}

/** Seals and opens with one 32-byte key. `context` (whose secret, which) is authenticated but not stored. */
export interface Vault {
  seal(secret: Buffer, context: string): Buffer;
  /** @throws Error when the bytes were altered, or sealed with another key or context */
  open(sealed: Buffer, context: string): Buffer;
  /** 32 bytes that tell whether two texts are the same one, and what neither is to somebody without the key. */
  mark(text: string): Buffer;
}

const IV_BYTES = 12;
const TAG_BYTES = 16;

/** @param key 32 bytes; what one key sealed, no other opens */
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

/** The program's own key as the data directory keeps it; undefined where it keeps none. */
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
 * Makes a key and keeps it in the data directory. Two processes that start at once agree: the file is created only
 * where it does not exist.
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

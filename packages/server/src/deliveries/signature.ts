/**
 * Signatures of deliveries by Standard Webhooks 1.0.0 (symmetric, `v1`): HMAC-SHA256 over `id.timestamp.body`
 * in base64. There is one entry for each active secret, so that a secret can be replaced without
 * interruption. https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
 */
import { createHmac, type KeyObject, timingSafeEqual } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { MAX_LIVE_SECRETS } from '../access/secrets.ts';

const PREFIX = 'whsec_';
/** The length of a secret in bytes. The standard: "between 24 bytes and 64 bytes". */
const SECRET_BYTES = { least: 24, most: 64 } as const;
/**
 * If a body is larger than this number of bytes and is signed with several secrets, other work can run between the
 * signatures. One HMAC over 40 MiB takes about 0.1 s; one over a body of this size takes less than a millisecond.
 */
const LARGE_BODY = 256 * 1024;
/** Preparing a key from bytes takes longer than signing a small body, so callers keep a `KeyObject`. */
export type SigningKey = Buffer | KeyObject;
/**
 * The maximum difference between a timestamp and the receiver's clock. The libraries of the standard use the
 * same value.
 */
export const TOLERANCE_SECONDS = 300;

export interface SignatureHeaders {
  'webhook-id': string;
  /** The time of the attempt in Unix seconds, as a decimal number. */
  'webhook-timestamp': string;
  /** Signatures of the form `v1,<base64>`, separated by spaces. */
  'webhook-signature': string;
}

export type SignatureCheck =
  | { ok: true }
  | { ok: false; reason: 'malformed' | 'too old' | 'too new' | 'no matching signature' };

/**
 * Returns the value of `webhook-signature`.
 * @param secrets the active secrets, newest first; each one adds a signature
 * @param id the same for all retries; without `.`, which separates the signed parts
 * @param timestampSeconds Unix seconds of this attempt
 * @throws TypeError for no secret, more than `MAX_LIVE_SECRETS`, a short secret, or an id or timestamp that
 * would make the signed text ambiguous
 */
export function sign(
  secrets: readonly SigningKey[],
  id: string,
  timestampSeconds: number,
  body: Buffer | string,
): string {
  if (secrets.length === 0) throw new TypeError('a delivery needs at least one secret');
  if (secrets.length > MAX_LIVE_SECRETS) {
    throw new TypeError(`a delivery is signed with at most ${MAX_LIVE_SECRETS} secrets`);
  }
  if (!isId(id)) throw new TypeError('a delivery id must be visible ASCII without a dot');
  if (!Number.isSafeInteger(timestampSeconds) || timestampSeconds < 0) {
    throw new TypeError('a timestamp must be whole Unix seconds');
  }
  const stamp = String(timestampSeconds);
  return secrets.map((secret) => `v1,${digest(secret, id, stamp, body).toString('base64')}`).join(' ');
}

/** Returns the three headers of one attempt. `now` becomes the timestamp. */
export function signatureHeaders(
  secrets: readonly SigningKey[],
  id: string,
  now: Date,
  body: Buffer | string,
): SignatureHeaders {
  const seconds = Math.floor(now.getTime() / 1000);
  return {
    'webhook-id': id,
    'webhook-timestamp': String(seconds),
    'webhook-signature': sign(secrets, id, seconds, body),
  };
}

/**
 * Returns the same headers as `signatureHeaders`. For a large body it yields to the event loop between
 * secrets, so that the process is busy for one HMAC at a time.
 */
export async function signatureHeadersInTurns(
  secrets: readonly SigningKey[],
  id: string,
  now: Date,
  body: Buffer,
): Promise<SignatureHeaders> {
  const mayPause = secrets.length > 1 && secrets.length <= MAX_LIVE_SECRETS;
  if (!mayPause || body.length <= LARGE_BODY) return signatureHeaders(secrets, id, now, body);
  const each: SignatureHeaders[] = [];
  for (const secret of secrets) {
    if (each.length > 0) await nextTurn();
    each.push(signatureHeaders([secret], id, now, body));
  }
  const signatures = each.map((headers) => headers['webhook-signature']);
  return { ...each[0]!, 'webhook-signature': signatures.join(' ') };
}

/**
 * Verifies a signature as a receiver does: any active secret may match any `v1` entry. Entries of other
 * versions (`v1a`) are skipped. The body must have the bytes as received; a body that was parsed and
 * serialized again does not match.
 */
export function verify(
  secrets: readonly Buffer[],
  headers: SignatureHeaders,
  body: Buffer | string,
  now: Date,
): SignatureCheck {
  const id = headers['webhook-id'];
  const stamp = headers['webhook-timestamp'];
  if (!isId(id) || !/^\d{1,12}$/.test(stamp)) return { ok: false, reason: 'malformed' };
  const age = Math.floor(now.getTime() / 1000) - Number(stamp);
  if (age > TOLERANCE_SECONDS) return { ok: false, reason: 'too old' };
  if (age < -TOLERANCE_SECONDS) return { ok: false, reason: 'too new' };
  const given = headers['webhook-signature']
    .split(' ')
    .filter((entry) => entry.startsWith('v1,'))
    .map((entry) => Buffer.from(entry.slice(3), 'base64'));
  // Compares every pair, so that the duration does not reveal which pair matched.
  let matches = 0;
  for (const secret of secrets) {
    const expected = digest(secret, id, stamp, body);
    for (const entry of given) {
      if (entry.length === expected.length && timingSafeEqual(entry, expected)) matches += 1;
    }
  }
  return matches > 0 ? { ok: true } : { ok: false, reason: 'no matching signature' };
}

/** Returns the bytes of a secret; undefined unless the text is `whsec_` and base64 of 24 to 64 bytes. */
export function parseSecret(text: string): Buffer | undefined {
  if (!text.startsWith(PREFIX)) return undefined;
  const encoded = text.slice(PREFIX.length);
  const secret = Buffer.from(encoded, 'base64');
  // Buffer skips characters that are not base64. Only exact base64 passes, so that a typing mistake cannot
  // become a secret.
  if (secret.toString('base64') !== encoded) return undefined;
  return isSecretLength(secret.length) ? secret : undefined;
}

function isSecretLength(bytes: number): boolean {
  return bytes >= SECRET_BYTES.least && bytes <= SECRET_BYTES.most;
}

/**
 * Returns true if an id is visible ASCII without dots. It is sent in a header, and dots separate the signed
 * parts.
 */
function isId(id: string): boolean {
  return /^[!-~]{1,255}$/.test(id) && !id.includes('.');
}

function digest(secret: SigningKey, id: string, stamp: string, body: Buffer | string): Buffer {
  const bytes = Buffer.isBuffer(secret) ? secret.length : secret.symmetricKeySize!;
  if (!isSecretLength(bytes)) throw new TypeError('a secret has 24 to 64 bytes');
  return createHmac('sha256', secret).update(`${id}.${stamp}.`).update(body).digest();
}

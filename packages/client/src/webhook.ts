/**
 * Verifies that a callback comes from the service. Signatures follow Standard Webhooks 1.0.0 (symmetric, `v1`) and
 * are checked with Web Crypto.
 * https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
 */

export interface WebhookInput {
  /** The account's webhook secret, `whsec_…`. Pass a list while secrets are rotated. */
  secret: string | readonly string[];
  /** The received headers: a `Headers` object, or Node's `request.headers`. */
  headers: Headers | Record<string, string | string[] | undefined>;
  /** The received body, unchanged. A body that was parsed and serialized again does not match the signature. */
  body: string | Uint8Array;
  /** The maximum age of the callback and the maximum clock difference, in seconds. Default: 300. */
  toleranceSeconds?: number;
  now?: Date;
}

export type WebhookVerdict =
  /** `id` is the same for every attempt of a delivery. Use it to ignore repeated deliveries. */
  | { ok: true; id: string }
  | { ok: false; reason: 'malformed' | 'too old' | 'too new' | 'no matching signature' };

const TOLERANCE_SECONDS = 300;
/** The permitted length of a secret. The standard says: "between 24 bytes and 64 bytes". */
const SECRET_BYTES = { least: 24, most: 64 };
const SIGNATURE_BYTES = 32;
/** The maximum number of signatures that are compared. The service signs with at most five secrets at a time. */
const MAX_SIGNATURES = 10;
/** The maximum number of characters of the header that are read, including entries of other versions. */
const MAX_HEADER_LENGTH = 4096;
const HMAC = { name: 'HMAC', hash: 'SHA-256' };

/**
 * Checks the signature and the age of a callback. Respond with 2xx only if `ok` is true.
 *
 * @throws TypeError for an invalid secret
 */
export async function verifyWebhook(input: WebhookInput): Promise<WebhookVerdict> {
  const secrets = (typeof input.secret === 'string' ? [input.secret] : input.secret).map(readSecret);
  if (secrets.length === 0) throw new TypeError('a webhook needs at least one secret');
  const id = readHeader(input.headers, 'webhook-id');
  const stamp = readHeader(input.headers, 'webhook-timestamp');
  const signatures = readHeader(input.headers, 'webhook-signature');
  if (id === undefined || signatures === undefined || stamp === undefined || !/^\d{1,12}$/.test(stamp)) {
    return { ok: false, reason: 'malformed' };
  }
  const tolerance = input.toleranceSeconds ?? TOLERANCE_SECONDS;
  const age = Math.floor((input.now ?? new Date()).getTime() / 1000) - Number(stamp);
  if (age > tolerance) return { ok: false, reason: 'too old' };
  if (age < -tolerance) return { ok: false, reason: 'too new' };

  const signed = join(new TextEncoder().encode(`${id}.${stamp}.`), input.body);
  const given = readSignatures(signatures);
  // Computes one HMAC per secret, regardless of how many signatures an unknown sender puts into the header. All pairs
  // are compared, so that the time does not reveal which pair matched.
  let matches = 0;
  for (const secret of secrets) {
    const key = await crypto.subtle.importKey('raw', secret, HMAC, false, ['sign']);
    const expected = new Uint8Array(await crypto.subtle.sign('HMAC', key, signed));
    for (const signature of given) {
      if (isEqual(signature, expected)) matches++;
    }
  }
  return matches > 0 ? { ok: true, id } : { ok: false, reason: 'no matching signature' };
}

/** Returns the `v1` signatures of the header, at most `MAX_SIGNATURES`. Skips other versions and lengths. */
function readSignatures(header: string): Uint8Array[] {
  const entries = header.slice(0, MAX_HEADER_LENGTH).split(' ');
  return entries
    .flatMap((entry) => (entry.startsWith('v1,') ? (decode(entry.slice(3)) ?? []) : []))
    .filter(({ length }) => length === SIGNATURE_BYTES)
    .slice(0, MAX_SIGNATURES);
}

/** Compares two signatures in constant time. */
function isEqual(one: Uint8Array, other: Uint8Array): boolean {
  let difference = 0;
  for (let at = 0; at < SIGNATURE_BYTES; at++) difference |= one[at]! ^ other[at]!;
  return difference === 0;
}

function readHeader(headers: WebhookInput['headers'], name: string): string | undefined {
  const value =
    headers instanceof Headers
      ? headers.get(name)
      : Object.entries(headers).find(([written]) => written.toLowerCase() === name)?.[1];
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function readSecret(text: string): Uint8Array<ArrayBuffer> {
  const bytes = text.startsWith('whsec_') ? decode(text.slice('whsec_'.length)) : undefined;
  if (bytes === undefined || bytes.length < SECRET_BYTES.least || bytes.length > SECRET_BYTES.most) {
    throw new TypeError('a webhook secret is whsec_ and base64 of 24 to 64 bytes');
  }
  return bytes;
}

function decode(base64: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  } catch {
    return undefined;
  }
}

function join(start: Uint8Array, body: string | Uint8Array): Uint8Array<ArrayBuffer> {
  const rest = typeof body === 'string' ? new TextEncoder().encode(body) : body;
  const all = new Uint8Array(start.length + rest.length);
  all.set(start);
  all.set(rest, start.length);
  return all;
}

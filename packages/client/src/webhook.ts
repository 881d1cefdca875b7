/**
 * Whether a callback comes from the service: Standard Webhooks 1.0.0 (symmetric, `v1`), with Web Crypto, so that
 * it runs wherever `fetch` does.
 * https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
 */

export interface WebhookInput {
  /** The account's signing secret, `whsec_…`; several while one is being changed for another. */
  secret: string | readonly string[];
  /** As they came: a `Headers`, or Node's `request.headers`. */
  headers: Headers | Record<string, string | string[] | undefined>;
  /** The bytes as they came. A body that was parsed and written again does not match. */
  body: string | Uint8Array;
  /** How far the sender's clock may be from ours; 300 by default. */
  toleranceSeconds?: number;
  now?: Date;
}

export type WebhookVerdict =
  /** `id` is the same at every try of one delivery: whoever has seen it may ignore the repetition. */
  | { ok: true; id: string }
  | { ok: false; reason: 'malformed' | 'too old' | 'too new' | 'no matching signature' };

const TOLERANCE_SECONDS = 300;
/** Bytes. The standard: "between 24 bytes and 64 bytes". */
const SECRET_BYTES = { least: 24, most: 64 };
const SIGNATURE_BYTES = 32;
/** The service signs with at most five secrets at a time; a header with many more is not its own. */
const MAX_SIGNATURES = 10;
/** Characters; room for entries of other versions before ours. */
const MAX_HEADER_LENGTH = 4096;
const HMAC = { name: 'HMAC', hash: 'SHA-256' };

/**
 * Checks the signature and the age of a callback. Answer with a status of 2xx only when `ok`.
 * @throws TypeError for a secret that cannot be one: a mistake of the receiver's own
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
  // One HMAC for each secret, however many signatures the header has: the sender of the header is not known yet.
  // Every pair is compared, so the time does not tell which one matched.
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

/** Returns the first `v1` signatures of the header; entries of other versions or lengths are skipped. */
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

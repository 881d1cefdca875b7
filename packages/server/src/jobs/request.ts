/** What a caller may send to create a job, checked and made plain. Pure. */
import { hash } from 'node:crypto';
import { isLonger } from '../brands/terms.ts';
import { TONE_NAMES, TOPIC_NAMES } from '../brands/tones.ts';
import { ApiError, fieldError, fieldErrors, tooLarge } from '../errors.ts';
import { findUnusable } from '../text.ts';
import type { TextFormat, Tier } from './store.ts';

/** The body of a create, as it is understood: absent is `undefined`, whatever way it was absent. */
export interface CreateRequest {
  text: string;
  sourceLanguage: string | undefined;
  targetLanguage: string;
  targetText: string | undefined;
  textFormat: TextFormat;
  uid: string | undefined;
  callbackUrl: string | undefined;
  brand: string | undefined;
  tone: string | undefined;
  topics: string[] | undefined;
  instructions: string | undefined;
}

export const TEXT_FORMATS: readonly TextFormat[] = ['text', 'html', 'srt', 'xliff'];

/** What may stand in a uid. Every program that reads addresses takes `.` and `..` out of a path: they could not be read. */
export const UID_PATTERN = '^(?!\\.{1,2}$)[A-Za-z0-9._~:@+-]{1,128}$';
const UID = new RegExp(UID_PATTERN);
/** Whether a job can have this uid. */
export function isUid(value: string): boolean {
  return UID.test(value);
}

/** Whether a uid can have this in it. */
export function isPartOfUid(value: string): boolean {
  return /^[A-Za-z0-9._~:@+-]{1,128}$/.test(value);
}

const MAX_INSTRUCTIONS = 10_000;
/** Far more than there are. */
const MAX_TOPICS = 50;
const REQUIRED = 'This field is required.';

/**
 * Checks the body of a create field by field. Unknown fields are ignored; `null` is absent; `formality` is the
 * older name of `tone`; no topics are none.
 * @param maxTextBytes the longest text, in bytes of UTF-8
 * @throws ApiError `invalid_request` that names every wrong field, or `too_large`
 */
export function readCreateRequest(body: unknown, tier: Tier, maxTextBytes: number): CreateRequest {
  const fields = asObject(body);
  const complaints: string[] = [];
  const complain = (field: string, reason: string): undefined => {
    complaints.push(`${field}: ${reason}`);
    return undefined;
  };

  function string(field: string): string | undefined {
    const value = fields[field];
    if (value === undefined || value === null) return undefined;
    if (typeof value !== 'string') return complain(field, 'must be a string.');
    const unusable = findUnusable(value);
    return unusable === undefined ? value : complain(field, unusable);
  }
  const present = (field: string): string | undefined => string(field) || undefined;
  function required(field: string): string {
    const before = complaints.length;
    const value = string(field);
    if (value === undefined && complaints.length === before) complain(field, REQUIRED);
    if (value?.trim() === '') complain(field, 'must not be empty.');
    return value ?? '';
  }
  function oneOf<T extends string>(
    field: string,
    value: string | undefined,
    accepted: readonly T[],
  ): T | undefined {
    const found = accepted.find((name) => name === value);
    if (value !== undefined && found === undefined) {
      complain(field, `"${shorten(value)}" is not one of ${accepted.join(', ')}.`);
    }
    return found;
  }
  function topics(): string[] | undefined {
    const value = fields.topics;
    if (value === undefined || value === null) return undefined;
    if (!Array.isArray(value) || !value.every((topic) => typeof topic === 'string')) {
      return complain('topics', 'must be a list of strings.');
    }
    if (value.length > MAX_TOPICS) return complain('topics', `must be at most ${MAX_TOPICS}.`);
    for (const topic of value) oneOf('topics', topic, TOPIC_NAMES);
    return value.length > 0 ? value : undefined;
  }

  const request: CreateRequest = {
    text: required('text'),
    sourceLanguage: present('source_language'),
    targetLanguage: required('target_language'),
    targetText: tier === 'human' ? present('target_text') : undefined,
    textFormat: oneOf('text_format', present('text_format'), TEXT_FORMATS) ?? 'text',
    uid: present('uid'),
    callbackUrl: present('callback_url'),
    brand: present('brand'),
    tone: oneOf('tone', present('tone') ?? present('formality'), TONE_NAMES),
    topics: topics(),
    instructions: present('instructions'),
  };
  if (request.uid !== undefined && !isUid(request.uid)) {
    complain('uid', 'must be 1 to 128 of A-Z a-z 0-9 . _ ~ : @ + - and neither "." nor "..".');
  }
  if (isLonger(request.instructions ?? '', MAX_INSTRUCTIONS)) {
    complain('instructions', `must be at most ${MAX_INSTRUCTIONS} characters.`);
  }
  for (const [field, value] of [
    ['text', request.text],
    ['target_text', request.targetText ?? ''],
  ] as const) {
    if (Buffer.byteLength(value) > maxTextBytes) {
      throw tooLarge(field, maxTextBytes);
    }
  }
  if (complaints.length > 0) throw fieldErrors(complaints);
  return request;
}

/** Of a create, what a job that goes on to a human may be given anew. */
const UPGRADE_FIELDS = ['callback_url', 'brand', 'tone', 'formality', 'topics', 'instructions'] as const;

/** What an upgrade asks for, and its fingerprint: equal for its retry. */
export interface UpgradeRequest {
  /** Fields of a create, as they came; those that are absent or null are not here. */
  properties: Record<string, unknown>;
  hash: Buffer;
}

/**
 * Checks the body of an upgrade, `{"status":"upgrade","properties":{…}|null}`. What the properties hold is checked
 * with the job that they are for, as a create's.
 * @throws ApiError `invalid_request`
 */
export function readUpgradeRequest(body: unknown): UpgradeRequest {
  const { status, properties } = asObject(body);
  const complaints: string[] = [];
  if (status === undefined || status === null) complaints.push(`status: ${REQUIRED}`);
  else if (status !== 'upgrade') complaints.push('status: must be "upgrade".');
  const given = properties ?? {};
  if (!isObject(given)) complaints.push('properties: must be a JSON object.');
  if (complaints.length > 0) throw fieldErrors(complaints);
  const fields = given as Record<string, unknown>;
  const known = UPGRADE_FIELDS.flatMap((field) => {
    const value = fields[field];
    return value === undefined || value === null ? [] : [[field, value] as const];
  });
  return { properties: Object.fromEntries(known), hash: hash('sha256', JSON.stringify(known), 'buffer') };
}

const MAX_BULK = 1000;

/**
 * Checks a bulk create, `{"objects":[…]}`: every object as the body of a human create, and that no two ask for the
 * same uid.
 * @throws ApiError `invalid_request` that names every wrong field with its object's index, or `too_large`
 */
export function readBulkRequest(body: unknown, maxTextBytes: number): CreateRequest[] {
  const { objects } = asObject(body);
  if (objects === undefined || objects === null) throw fieldError('objects', REQUIRED);
  if (!Array.isArray(objects) || objects.length === 0 || objects.length > MAX_BULK) {
    throw fieldError('objects', `must be a list of 1 to ${MAX_BULK} jobs.`);
  }
  const complaints: string[] = [];
  const requests: CreateRequest[] = [];
  const indexOf = new Map<string, number>();
  for (const [index, object] of objects.entries()) {
    const name = `objects[${index}]`;
    if (!isObject(object)) {
      complaints.push(`${name}: must be a JSON object.`);
      continue;
    }
    try {
      const request = readCreateRequest(object, 'human', maxTextBytes);
      requests.push(request);
      const first = indexOf.get(request.uid ?? '');
      if (first !== undefined) complaints.push(`${name}.uid: is the uid of objects[${first}] as well.`);
      else if (request.uid !== undefined) indexOf.set(request.uid, index);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      if (error.code !== 'invalid_request') throw new ApiError(error.code, `${name}.${error.message}`);
      complaints.push(...error.message.split('\n').map((line) => `${name}.${line}`));
    }
  }
  if (complaints.length > 0) throw fieldErrors(complaints);
  return requests;
}

/** A key as a caller may choose it: printable ASCII. */
const IDEMPOTENCY_KEY = /^[\x20-\x7e]{1,255}$/;

/**
 * The `Idempotency-Key` header, when there is one.
 * @param hash the fingerprint of the request that it stands for
 * @throws ApiError `invalid_request`
 */
export function readIdempotencyKey(
  header: unknown,
  hash: () => Buffer,
): { key: string; requestHash: Buffer } | undefined {
  if (header === undefined) return undefined;
  if (typeof header !== 'string' || !IDEMPOTENCY_KEY.test(header)) {
    throw fieldError('idempotency_key', 'must be 1 to 255 printable ASCII characters.');
  }
  return { key: header, requestHash: hash() };
}

/** The fingerprint of a create: equal for a retry, different for another request under the same uid. */
export function fingerprint(tier: Tier, request: CreateRequest): Buffer {
  const { uid: _, ...content } = request;
  return hash('sha256', JSON.stringify([tier, Object.entries(content)]), 'buffer');
}

/** The fingerprint of all that is asked for under one idempotency key, uids among it. */
export function fingerprintRequests(kind: Tier | 'bulk', requests: readonly CreateRequest[]): Buffer {
  const tier = kind === 'machine' ? 'machine' : 'human';
  const each = requests.map((request) => [request.uid, fingerprint(tier, request).toString('hex')]);
  return hash('sha256', JSON.stringify([kind, each]), 'buffer');
}

function asObject(body: unknown): Record<string, unknown> {
  if (!isObject(body)) throw fieldError('body', 'must be a JSON object.');
  return body;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A wrong value is quoted back, but not a whole document of it. */
function shorten(value: string): string {
  return value.length > 40 ? `${value.slice(0, 40)}…` : value;
}

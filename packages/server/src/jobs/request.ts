/** What a caller may send to create a job, checked and made plain. Pure. */
import { hash } from 'node:crypto';
import { TONE_NAMES, TOPIC_NAMES } from '../brands/tones.ts';
import { ApiError, fieldError, tooLarge } from '../errors.ts';
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

const UID = /^[A-Za-z0-9._~:@+-]{1,128}$/;
/** Whether a job can have this uid. */
export function isUid(value: string): boolean {
  return UID.test(value);
}

const MAX_INSTRUCTIONS = 10_000;
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
    if (!value.isWellFormed() || value.includes('\0')) {
      return complain(field, 'must not contain NUL characters or half surrogate pairs.');
    }
    return value;
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
    complain('uid', 'must be 1 to 128 of A-Z a-z 0-9 . _ ~ : @ + -');
  }
  if ([...(request.instructions ?? '')].length > MAX_INSTRUCTIONS) {
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
  if (complaints.length > 0) throw new ApiError('invalid_request', complaints.join('\n'));
  return request;
}

/** The fingerprint of a create: equal for a retry, different for another request under the same uid. */
export function fingerprint(tier: Tier, request: CreateRequest): Buffer {
  const { uid: _, ...content } = request;
  return hash('sha256', JSON.stringify([tier, Object.entries(content)]), 'buffer');
}

function asObject(body: unknown): Record<string, unknown> {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw fieldError('body', 'must be a JSON object.');
  }
  return body as Record<string, unknown>;
}

/** A wrong value is quoted back, but not a whole document of it. */
function shorten(value: string): string {
  return value.length > 40 ? `${value.slice(0, 40)}…` : value;
}

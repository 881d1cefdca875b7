/** What a caller may send to the chat interface, checked and made plain. Pure. */
import { ApiError } from '../errors.ts';
import { findUnusable } from '../text.ts';

export type MessageFormat = 'text' | 'html';
export const MESSAGE_FORMATS: readonly MessageFormat[] = ['html', 'text'];

/** The body of a message's creation, as it is understood: absent is `undefined`, whatever way it was absent. */
export interface MessageRequest {
  chatExternalId: string;
  externalId: string;
  sourceLanguage: string;
  targetLanguage: string;
  text: string;
  textFormat: MessageFormat;
  callbackUrl: string | undefined;
  brand: string | undefined;
  agentExternalId: string | undefined;
  isInbound: boolean | undefined;
  authorExternalId: string | undefined;
}

/** The body of a chat's creation. */
export interface ChatRequest {
  externalId: string | undefined;
  brand: string | undefined;
  agentExternalId: string | undefined;
}

/** Room for a UUID, an e-mail address or a URL; in UTF-8 still short enough to be a key of an index. */
export const MAX_ID_CHARACTERS = 512;
const REQUIRED = 'This field is required.';

/**
 * Checks the body of a message's creation field by field. Unknown fields are ignored; `null` is absent.
 * @param maxCharacters the longest text
 * @throws ApiError `invalid_request` that names every wrong field
 */
export function readMessageRequest(body: unknown, maxCharacters: number): MessageRequest {
  const fields = createReader(body);
  const request: MessageRequest = {
    chatExternalId: fields.requiredId('chat_external_id'),
    externalId: fields.requiredId('external_id'),
    sourceLanguage: fields.required('source_language'),
    targetLanguage: fields.required('target_language'),
    text: fields.required('text'),
    textFormat: fields.oneOf('text_format', MESSAGE_FORMATS),
    callbackUrl: fields.string('callback_url') || undefined,
    brand: fields.id('brand'),
    agentExternalId: fields.id('agent_external_id'),
    isInbound: fields.boolean('is_inbound'),
    authorExternalId: fields.id('author_external_id'),
  };
  if (isLonger(request.text, maxCharacters)) {
    fields.complain('text', `must be at most ${maxCharacters} characters.`);
  }
  fields.end();
  return request;
}

/**
 * Checks the body of a chat's creation; no body is an empty one.
 * @throws ApiError `invalid_request` that names every wrong field
 */
export function readChatRequest(body: unknown): ChatRequest {
  const fields = createReader(body ?? {});
  const request: ChatRequest = {
    externalId: fields.id('external_id'),
    brand: fields.id('brand'),
    agentExternalId: fields.id('agent_external_id'),
  };
  fields.end();
  return request;
}

export interface Page {
  limit: number;
  /** From 1. */
  index: number;
}

const DEFAULT_LIMIT = 50;
export const MAX_LIMIT = 1000;
const MAX_INDEX = 2 ** 31 - 1;

/** @throws ApiError `invalid_request` that names every wrong parameter */
export function readPage(query: URLSearchParams): Page {
  const complaints: string[] = [];
  function integer(field: string, fallback: number, most: number): number {
    const written = query.getAll(field).at(-1);
    if (written === undefined) return fallback;
    const value = Number(written);
    if (!/^\d{1,10}$/.test(written) || value < 1 || value > most) {
      complaints.push(`${field}: must be a whole number from 1 to ${most}.`);
    }
    return value;
  }
  const page = { limit: integer('limit', DEFAULT_LIMIT, MAX_LIMIT), index: integer('index', 1, MAX_INDEX) };
  if (complaints.length > 0) throw new ApiError('invalid_request', complaints.join('\n'));
  return page;
}

/** Reads the fields of one body and gathers what is wrong with them; `end` throws it, all at once. */
function createReader(body: unknown) {
  const complaints: string[] = [];
  const complain = (field: string, reason: string): undefined => {
    complaints.push(`${field}: ${reason}`);
    return undefined;
  };
  const isObject = typeof body === 'object' && body !== null && !Array.isArray(body);
  if (!isObject) throw new ApiError('invalid_request', 'body: must be a JSON object.');
  const fields = body as Record<string, unknown>;

  function string(field: string): string | undefined {
    const value = fields[field];
    if (value === undefined || value === null) return undefined;
    if (typeof value !== 'string') return complain(field, 'must be a string.');
    const unusable = findUnusable(value);
    return unusable === undefined ? value : complain(field, unusable);
  }
  function required(field: string): string {
    const before = complaints.length;
    const value = string(field);
    if (value === undefined && complaints.length === before) complain(field, REQUIRED);
    if (value?.trim() === '') complain(field, 'must not be empty.');
    return value ?? '';
  }
  function short(field: string, value: string): string {
    if (isLonger(value, MAX_ID_CHARACTERS))
      complain(field, `must be at most ${MAX_ID_CHARACTERS} characters.`);
    return value;
  }
  return {
    complain,
    string,
    required,
    requiredId: (field: string) => short(field, required(field)),
    /** An identifier that may be absent; an empty one is none. */
    id: (field: string) => short(field, string(field) ?? '') || undefined,
    oneOf<T extends string>(field: string, accepted: readonly T[]): T {
      const value = required(field);
      const found = accepted.find((name) => name === value);
      if (found === undefined && value.trim() !== '') {
        const shown = value.length > 40 ? `${value.slice(0, 40)}…` : value;
        complain(field, `"${shown}" is not one of ${accepted.join(', ')}.`);
      }
      return found ?? accepted[0]!;
    },
    boolean(field: string): boolean | undefined {
      const value = fields[field];
      if (value === undefined || value === null) return undefined;
      return typeof value === 'boolean' ? value : complain(field, 'must be true or false.');
    },
    end(): void {
      if (complaints.length > 0) throw new ApiError('invalid_request', complaints.join('\n'));
    },
  };
}

/** In characters, not in UTF-16 units: an emoji is one. */
function isLonger(text: string, most: number): boolean {
  return text.length > most && [...text].length > most;
}

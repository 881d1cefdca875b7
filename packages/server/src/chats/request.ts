/** Checks and normalizes the body of a chat message request. The functions are pure. */
import type { Static } from 'typebox';
import { ApiError, fieldError, reason } from '../base/errors.ts';
import type { ChatMessageRequest, MESSAGE_FORMATS } from './schemas.ts';

export type MessageFormat = (typeof MESSAGE_FORMATS)[number];

/** A validated request to create a message. Null and missing fields are both `undefined`. */
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

/**
 * Checks the length of the text, which the schema cannot check.
 * @param maxCharacters the maximum length of the text in characters
 * @throws ApiError `invalid_request`
 */
export function readMessageRequest(
  fields: Static<typeof ChatMessageRequest>,
  maxCharacters: number,
): MessageRequest {
  if (isLonger(fields.text, maxCharacters)) {
    throw fieldError('text', reason('text_at_most', { most: maxCharacters }));
  }
  return {
    chatExternalId: fields.chat_external_id,
    externalId: fields.external_id,
    sourceLanguage: fields.source_language,
    targetLanguage: fields.target_language,
    text: fields.text,
    textFormat: fields.text_format,
    callbackUrl: fields.callback_url,
    brand: fields.brand,
    agentExternalId: fields.agent_external_id,
    isInbound: fields.is_inbound,
    authorExternalId: fields.author_external_id,
  };
}

/** Counts characters, not UTF-16 code units: an emoji counts as one character. */
function isLonger(text: string, most: number): boolean {
  return text.length > most && [...text].length > most;
}

/** Returns the error for an account without a chat subscription. */
export function noSubscription(): ApiError {
  return new ApiError('invalid_subscription', 'The account has no chat subscription.');
}

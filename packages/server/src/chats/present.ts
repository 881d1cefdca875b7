/** Converts chats and messages to the JSON form of the chat interface. The functions are pure. */
import type { ChatRow, MessageRow } from './store.ts';

type Body = Record<string, unknown>;

export function presentChat(chat: ChatRow): Body {
  return {
    id: chat.chat_id,
    external_id: chat.external_id,
    agent_external_id: chat.agent_external_id,
    brand: chat.brand,
    creation_date: chat.created_at.toISOString(),
  };
}

/**
 * Omits absent fields, except those that the specification allows to be null. The translation is shown from
 * `deliver_init` on.
 */
export function presentMessage(message: MessageRow): Body {
  return {
    id: message.message_id,
    chat_id: message.chat_id,
    external_id: message.external_id,
    author_external_id: message.author_external_id,
    ...(message.callback_url === null ? {} : { callback_url: message.callback_url }),
    is_inbound: message.is_inbound,
    source_language: message.source_language,
    target_language: message.target_language,
    text: message.body,
    text_format: message.text_format,
    ...(message.translated === null ? {} : { translated_text: message.translated }),
    ...(message.untranslated === null ? {} : { untranslated: message.untranslated }),
    translation_uid: message.translation_id,
    status: message.status,
    creation_date: message.created_at.toISOString(),
    ...(message.completed_at === null ? {} : { completion_date: message.completed_at.toISOString() }),
  };
}

/** Returns the response body of POST /chats. Its field names differ from those of other responses. */
export function presentCreatedChat(chat: ChatRow): Body {
  return {
    chat_id: chat.chat_id,
    created_at: chat.created_at.toISOString(),
    external_id: chat.external_id,
    agent_external_id: chat.agent_external_id,
  };
}

/** The values that identify this server in the events of messages. */
export interface EventSource {
  /** The base URL of the chat interface in the message's environment. */
  chatBaseUrl: string;
  vendor: string;
}

/**
 * Returns a message's event as a CloudEvent in binary mode: headers, and the body bytes that every attempt
 * sends.
 */
export function presentEvent(
  chat: ChatRow,
  message: MessageRow,
  source: EventSource,
  at: Date,
): { contentType: string; headers: Record<string, string>; body: Buffer } {
  return {
    contentType: 'application/json',
    headers: {
      'ce-type': `com.${source.vendor}.chat-api.v2`,
      'ce-time': at.toISOString(),
      'ce-specversion': '1.0',
      'ce-source': source.chatBaseUrl,
      'ce-id': `chatapi-${message.message_id}`,
      'ce-datacontenttype': 'application/json',
    },
    body: Buffer.from(JSON.stringify({ chat: presentChat(chat), message: presentMessage(message) })),
  };
}

/** Chats and messages as the interface shows them. Pure. */
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

/** The translation is there from `deliver_init` on; what there is not is left out, but for what may be null. */
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
    translation_uid: message.translation_id,
    status: message.status,
    creation_date: message.created_at.toISOString(),
    ...(message.completed_at === null ? {} : { completion_date: message.completed_at.toISOString() }),
  };
}

/** The answer to the creation of a chat by itself has names of its own. */
export function presentCreatedChat(chat: ChatRow): Body {
  return {
    chat_id: chat.chat_id,
    created_at: chat.created_at.toISOString(),
    external_id: chat.external_id,
    agent_external_id: chat.agent_external_id,
  };
}

/** Where a message's events come from, and what they are called. */
export interface EventSource {
  /** The address of the chat interface in the environment of the message. */
  chatBaseUrl: string;
  vendor: string;
}

/** A message's answer as a CloudEvent in binary mode: its headers, and the bytes that every attempt sends. */
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

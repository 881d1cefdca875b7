/** Schemas of the chat interface: requests, answers and webhooks. */
import type { FastifySchema } from 'fastify';
import Type, { type TSchema } from 'typebox';
import { ERRORS, type ErrorCode } from '../base/errors.ts';
import {
  answer,
  type DescribedWebhook,
  describeErrors,
  ErrorBody,
  EVERYWHERE,
  IGNORED,
  UNTRANSLATED,
} from '../http/schemas.ts';
import { MESSAGE_STATUSES } from './states.ts';

/**
 * The maximum length of an external id. A UUID, an e-mail address or a URL fits, and the id is short enough
 * in UTF-8 for an index key.
 */
const MAX_ID_CHARACTERS = 512;
/** The maximum number of messages on one page. */
export const MAX_LISTED_MESSAGES = 1000;
export const MESSAGE_FORMATS = ['html', 'text'] as const;

const TAG = 'Chat';
const orNull = (schema: TSchema, description: string) => Type.Union([schema, Type.Null()], { description });

const ID = Type.String({ format: 'uuid' });
const EXTERNAL_ID = Type.String({ pattern: '\\S', maxLength: MAX_ID_CHARACTERS });
const TIME = Type.String({ format: 'date-time' });
const LANGUAGE = Type.String({ description: 'A language code.', examples: ['es'] });
const FORMAT = Type.Enum([...MESSAGE_FORMATS], { title: 'MessageFormat' });
const CALLBACK_URL = Type.String({
  format: 'uri',
  description: 'The URL to which the result is posted: public, http or https, without credentials.',
});

export const Chat = Type.Object(
  {
    id: ID,
    external_id: Type.String({ description: 'Your identifier of the chat.' }),
    agent_external_id: orNull(Type.String(), 'The agent who serves the chat; should be an e-mail address.'),
    brand: orNull(
      Type.String(),
      'The chat’s brand on your platform. If it is a brand of the account, its style and glossary apply.',
    ),
    creation_date: TIME,
  },
  { title: 'Chat' },
);

export const MessageStatusSchema = Type.Enum([...MESSAGE_STATUSES], {
  title: 'MessageStatus',
  description:
    '`mt_init`: translation is pending. `deliver_init`: translated, the delivery is pending. `deliver_complete`: ' +
    'translated, and delivered or without a callback URL. `mt_failed`: could not be translated. ' +
    '`deliver_failed`: translated, but the receiver never accepted the callback.',
});

export const ChatMessage = Type.Object(
  {
    id: ID,
    chat_id: ID,
    external_id: Type.String({ description: 'Your identifier of the message, unique in its chat.' }),
    author_external_id: orNull(Type.String(), 'The author of the message.'),
    callback_url: Type.Optional(CALLBACK_URL),
    is_inbound: orNull(
      Type.Boolean(),
      '`true` for a message of a customer, `false` for a message of an agent.',
    ),
    source_language: LANGUAGE,
    target_language: LANGUAGE,
    text: Type.String(),
    text_format: FORMAT,
    translated_text: Type.Optional(
      Type.String({
        description: 'The translation, in the format of `text`; present when the message is translated.',
      }),
    ),
    untranslated: Type.Optional(UNTRANSLATED),
    translation_uid: Type.String({ description: 'The id of the translation.' }),
    status: MessageStatusSchema,
    creation_date: TIME,
    completion_date: Type.Optional(Type.String({ ...TIME, description: 'The time of the translation.' })),
  },
  { title: 'ChatMessage' },
);

export const MessageInChat = Type.Object({ chat: Chat, message: ChatMessage }, { title: 'MessageInChat' });

const optional = (description: string) =>
  Type.Optional(Type.String({ maxLength: MAX_ID_CHARACTERS, description }));

export const ChatMessageRequest = Type.Object(
  {
    chat_external_id: Type.String({
      ...EXTERNAL_ID,
      description: 'Your identifier of the chat. A new one creates a chat.',
    }),
    external_id: Type.String({
      ...EXTERNAL_ID,
      description: 'Your identifier of the message, unique in its chat. It makes retries safe.',
    }),
    source_language: Type.String({ ...LANGUAGE, pattern: '\\S' }),
    target_language: Type.String({ ...LANGUAGE, pattern: '\\S' }),
    text: Type.String({
      pattern: '\\S',
      description:
        'The text to translate. The operator sets its maximum length: at least 6,000 characters, by default 20,000.',
    }),
    text_format: FORMAT,
    callback_url: Type.Optional(CALLBACK_URL),
    brand: optional('The chat’s brand on your platform; stored when the chat is new.'),
    agent_external_id: optional('The agent who serves the chat; stored when the chat is new.'),
    is_inbound: Type.Optional(Type.Boolean({ description: '`true` for a message of a customer.' })),
    author_external_id: optional('The author of the message.'),
  },
  {
    title: 'ChatMessageRequest',
    description: IGNORED,
    examples: [
      {
        chat_external_id: 'ticket-17',
        external_id: 'message-1',
        source_language: 'es',
        target_language: 'en',
        text: '¿Dónde está mi pedido?',
        text_format: 'text',
        is_inbound: true,
      },
    ],
  },
);

export const ChatRequest = Type.Object(
  {
    external_id: optional('Your identifier of the chat; assigned when absent.'),
    brand: optional(
      'The chat’s brand on your platform. If it is a brand of the account, its style and glossary apply.',
    ),
    agent_external_id: optional('The agent who serves the chat.'),
  },
  { title: 'ChatRequest', description: IGNORED, examples: [{ external_id: 'ticket-17' }] },
);

export const CreatedChat = Type.Object(
  {
    chat_id: ID,
    created_at: TIME,
    external_id: Type.String(),
    agent_external_id: orNull(Type.String(), 'The agent who serves the chat.'),
  },
  { title: 'CreatedChat' },
);

export const ChatMessageList = Type.Object(
  {
    length: Type.Integer({ minimum: 0, description: 'The number of all messages of the chat.' }),
    messages: Type.Array(ChatMessage),
    index: Type.Integer({ minimum: 1 }),
    limit: Type.Integer({ minimum: 1, maximum: MAX_LISTED_MESSAGES }),
  },
  { title: 'ChatMessageList' },
);

export type ChatErrorCode = 'validation_error' | 'invalid_subscription' | 'server_error';

/** Returns how the chat interface presents an error: with a code, as a text, or with an empty body. */
export function chatErrorShapeOf(code: ErrorCode): ChatErrorCode | 'text' | 'nothing' {
  const { status } = ERRORS[code];
  if (status === 400) return 'validation_error';
  if (status === 402) return 'invalid_subscription';
  if (status >= 500) return 'server_error';
  return status === 403 || status === 404 ? 'nothing' : 'text';
}

export const ChatError = Type.Object(
  {
    error: Type.Object({
      code: Type.Enum(['validation_error', 'invalid_subscription', 'server_error']),
      message: Type.String({
        description: 'A description; for `validation_error` one line for each invalid field.',
      }),
    }),
  },
  { title: 'ChatError' },
);

function refusals(...codes: ErrorCode[]) {
  return describeErrors([...codes, ...EVERYWHERE], (code) => {
    const shape = chatErrorShapeOf(code);
    return shape === 'nothing' ? undefined : shape === 'text' ? ErrorBody : ChatError;
  });
}

const EXAMPLE_CHAT = {
  id: '0199d2a1-5a54-7c1f-8f0e-3d1f5b7a9c10',
  external_id: 'ticket-17',
  agent_external_id: 'agent@example.com',
  brand: null,
  creation_date: '2026-01-31T09:30:00.000Z',
};
const EXAMPLE_MESSAGE = {
  id: '0199d2a1-5a55-7c20-9b1e-6f7d2c4e8a31',
  chat_id: EXAMPLE_CHAT.id,
  external_id: 'message-1',
  author_external_id: 'customer-4',
  callback_url: 'https://example.com/chat',
  is_inbound: true,
  source_language: 'es',
  target_language: 'en',
  text: '¿Dónde está la casa?',
  text_format: 'text',
  translation_uid: '0199d2a1-5a55-7c21-8c2f-7a8e3d5f9b42',
  status: 'mt_init',
  creation_date: '2026-01-31T09:30:00.000Z',
};
const EXAMPLE_TRANSLATED = {
  ...EXAMPLE_MESSAGE,
  status: 'deliver_init',
  translated_text: 'Where is the house?',
  completion_date: '2026-01-31T09:30:00.020Z',
};

export const createMessageSchema = {
  operationId: 'createChatMessage',
  summary: 'Create a message and its chat',
  description:
    'Never changes an existing chat or message. If the chat has a message with this `external_id`, that message is ' +
    'returned unchanged, whatever else the request contains. So you can repeat a request to read the current state.',
  tags: [TAG],
  body: ChatMessageRequest,
  response: {
    200: answer('The message existed already; nothing was created.', MessageInChat),
    201: answer('The message was created.', MessageInChat, { chat: EXAMPLE_CHAT, message: EXAMPLE_MESSAGE }),
    ...refusals('invalid_request', 'invalid_subscription', 'read_only_key', 'sandbox_quota', 'too_large'),
  },
} satisfies FastifySchema;

export const messageSchema = {
  operationId: 'getChatMessage',
  summary: 'Read a message',
  description: 'The response has `translated_text` when the message is translated.',
  tags: [TAG],
  params: Type.Object({ chat_id: ID, message_id: ID }),
  response: {
    200: answer('The message and its chat.', MessageInChat),
    ...refusals('chat_not_allowed', 'not_found'),
  },
} satisfies FastifySchema;

export const createChatSchema = {
  operationId: 'createChat',
  summary: 'Create a chat without a message',
  description: 'If a chat with this `external_id` exists, it is returned unchanged.',
  tags: [TAG],
  body: ChatRequest,
  response: {
    200: answer('The chat.', CreatedChat),
    ...refusals('invalid_request', 'invalid_subscription', 'read_only_key', 'too_large'),
  },
} satisfies FastifySchema;

export const listMessagesSchema = {
  operationId: 'listChatMessages',
  summary: 'List the messages of a chat in order',
  description: '`length` is the number of all messages of the chat.',
  tags: [TAG],
  params: Type.Object({ chat_id: ID }),
  querystring: Type.Object({
    limit: Type.Integer({ minimum: 1, maximum: MAX_LISTED_MESSAGES, default: 50 }),
    index: Type.Integer({
      minimum: 1,
      maximum: 2 ** 31 - 1,
      default: 1,
      description: 'The position of the first message to return, from 1.',
    }),
  }),
  response: {
    200: answer('A page of messages.', ChatMessageList),
    ...refusals('invalid_request', 'chat_not_allowed', 'not_found'),
  },
} satisfies FastifySchema;

/** The callback sent to a message's `callback_url`. */
export const chatWebhooks: Record<string, DescribedWebhook> = {
  messageAnswered: {
    operationId: 'messageAnswered',
    summary: 'A chat message was translated or could not be translated',
    description:
      'A CloudEvent in binary mode, posted to the `callback_url` of the message. Its `status` is `deliver_init` or ' +
      '`mt_failed`. The messages of one chat are posted in order.',
    headers: {
      'ce-type': Type.String({
        pattern: '^com\\.[a-z0-9-]+\\.chat-api\\.v2$',
        examples: ['com.dragoman.chat-api.v2'],
      }),
      'ce-time': Type.String({ ...TIME, examples: ['2026-01-31T09:30:00.030Z'] }),
      'ce-specversion': Type.Literal('1.0'),
      'ce-source': Type.String({
        format: 'uri',
        description: 'The URL of the chat interface.',
        examples: ['https://translate.example.com'],
      }),
      'ce-id': Type.String({
        pattern: '^chatapi-.+$',
        description: '`chatapi-` and the message’s id; for a correction, followed by `-corrected`.',
        examples: [`chatapi-${EXAMPLE_MESSAGE.id}`],
      }),
      'ce-datacontenttype': Type.Literal('application/json'),
    },
    content: {
      'application/json': {
        schema: MessageInChat,
        example: { chat: EXAMPLE_CHAT, message: EXAMPLE_TRANSLATED },
      },
    },
  },
};

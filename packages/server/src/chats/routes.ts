/** Routes of the chat interface: `/v2/chats/messages` and `/chats`. */
import type { FastifyInstance } from 'fastify';
import type { ApiError } from '../base/errors.ts';
import type { Log } from '../base/log.ts';
import type { Database } from '../database/database.ts';
import { answerWith, resource } from '../http/http.ts';
import { createChat, readMessage, readMessages, requireSubscription } from './chats.ts';
import type { MessageCreator } from './create.ts';
import {
  chatErrorShapeOf,
  createChatSchema,
  createMessageSchema,
  listMessagesSchema,
  messageSchema,
} from './schemas.ts';

export function chatRoutes(
  app: FastifyInstance,
  options: { database: Database; messages: MessageCreator; log: Log },
): void {
  const { database, messages } = options;
  // A separate Fastify scope inside the authenticated one, because errors of the chat interface have their
  // own format.
  void app.register(async (room) => {
    answerWith(room, options.log, presentError);
    resource(room, '/v2/chats/messages', {
      POST: {
        schema: createMessageSchema,
        scope: 'chat',
        bodyLimit: 'texts',
        emptyIsAbsent: true,
        async handler(request, reply) {
          const { status, body } = await messages.create(request.caller, request.body);
          return reply.code(status).send(body);
        },
      },
    });
    resource(room, '/v2/chats/:chat_id/messages/:message_id', {
      GET: {
        schema: messageSchema,
        scope: 'chat',
        allow: ({ caller }) => requireSubscription(database, caller),
        async handler(request) {
          const { chat_id: chatId, message_id: messageId } = request.params;
          return readMessage(database, request.caller, { chatId, messageId });
        },
      },
    });
    resource(room, '/chats', {
      POST: {
        schema: createChatSchema,
        scope: 'chat',
        emptyIsAbsent: true,
        handler: (request) => createChat(database, request.caller, request.body),
      },
    });
    resource(room, '/chats/:chat_id/messages', {
      GET: {
        schema: listMessagesSchema,
        scope: 'chat',
        allow: ({ caller }) => requireSubscription(database, caller),
        async handler(request) {
          return readMessages(database, request.caller, request.params.chat_id, request.query);
        },
      },
    });
  });
}

/**
 * Returns the body of an error: an object for 400, 402 and 5xx, nothing for 403 and 404, otherwise a text.
 */
function presentError(error: ApiError): object | undefined {
  const shape = chatErrorShapeOf(error.code);
  if (shape === 'nothing') return undefined;
  if (shape === 'text') return { error: error.message };
  return { error: { code: shape, message: error.message } };
}

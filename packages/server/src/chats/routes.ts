/** The chat interface: `/v2/chats/messages`, `/chats`, and what is read of them. */
import type { FastifyInstance } from 'fastify';
import type { Database } from '../database/database.ts';
import type { ApiError } from '../errors.ts';
import { answerWith, parametersOf, resource } from '../http.ts';
import type { Log } from '../log.ts';
import { createChat, listMessages, readMessage } from './chats.ts';
import type { MessageCreator } from './create.ts';
import { readPage } from './request.ts';
import {
  createChatSchema,
  createMessageSchema,
  listMessagesSchema,
  messageSchema,
  readsAs,
} from './schemas.ts';

export function chatRoutes(
  app: FastifyInstance,
  options: { database: Database; messages: MessageCreator; log: Log },
): void {
  const { database, messages } = options;
  // A room of its own inside the door, with errors of its own shape.
  void app.register(async (room) => {
    answerWith(room, options.log, presentError);
    resource(room, '/v2/chats/messages', {
      POST: {
        schema: createMessageSchema,
        bodyLimit: 'texts',
        async handler(request, reply) {
          const { status, body } = await messages.create(request.caller, request.body);
          return reply.code(status).send(body);
        },
      },
    });
    resource(room, '/v2/chats/:chat_id/messages/:message_id', {
      GET: {
        schema: messageSchema,
        async handler(request) {
          const ids = request.params as { chat_id: string; message_id: string };
          return readMessage(database, request.caller, { chatId: ids.chat_id, messageId: ids.message_id });
        },
      },
    });
    resource(room, '/chats', {
      POST: {
        schema: createChatSchema,
        handler: (request) => createChat(database, request.caller, request.body),
      },
    });
    resource(room, '/chats/:chat_id/messages', {
      GET: {
        schema: listMessagesSchema,
        async handler(request) {
          const { chat_id } = request.params as { chat_id: string };
          return listMessages(database, request.caller, chat_id, readPage(parametersOf(request)));
        },
      },
    });
  });
}

/** The body of an error: an object for 400, 402 and 5xx, none for 403 and 404, a text for all else. */
function presentError(error: ApiError): object | undefined {
  const shape = readsAs(error.code);
  if (shape === 'nothing') return undefined;
  if (shape === 'text') return { error: error.message };
  return { error: { code: shape, message: error.message } };
}

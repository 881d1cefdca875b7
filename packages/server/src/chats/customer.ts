/** A customer's own chats: `/api/account/chats…`. What was said stays readable when the subscription has ended. */
import type { FastifyInstance } from 'fastify';
import Type from 'typebox';
import { accountOf } from '../accounts/door.ts';
import {
  describedOwn,
  ENVIRONMENT,
  environment,
  id,
  integer,
  isId,
  OPTIONAL_TEXT,
  parameter,
  readForm,
} from '../console.ts';
import type { Database } from '../database/database.ts';
import { notFound } from '../errors.ts';
import { resource } from '../http.ts';
import { presentChat, presentMessage } from './present.ts';
import { Chat, ChatMessageList } from './schemas.ts';
import * as store from './store.ts';

const ListedChat = Type.Object(
  { ...Chat.properties, messages: Type.Integer({ minimum: 0 }) },
  { title: 'ListedChat' },
);

const schemas = {
  list: describedOwn(
    'listOwnChats',
    'One’s chats, newest first',
    Type.Object({ objects: Type.Array(ListedChat), next: OPTIONAL_TEXT }, { title: 'ListedChats' }),
    {
      querystring: Type.Object({
        environment: Type.Optional(ENVIRONMENT),
        after: Type.Optional(Type.String()),
        limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 200, default: 50 })),
      }),
    },
  ),
  messages: describedOwn('listOwnMessages', 'The messages of a chat, in their order', ChatMessageList, {
    params: Type.Object({ chat_id: Type.String() }),
    querystring: Type.Object({
      environment: Type.Optional(ENVIRONMENT),
      index: Type.Optional(Type.Integer({ minimum: 1, default: 1, description: 'The first one’s place.' })),
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000, default: 100 })),
    }),
  }),
};

export function chatsOfCustomer(app: FastifyInstance, { database }: { database: Database }): void {
  resource(app, '/api/account/chats', {
    GET: {
      schema: schemas.list,
      async handler(request) {
        const form = readForm(request.query);
        const which = form.optional('environment', environment) ?? 'production';
        const after = form.optional('after', id);
        const limit = form.optional('limit', integer(1, 200)) ?? 50;
        form.done();
        const page = { after, limit: limit + 1 };
        const rows = await store.listChats(database, accountOf(request).ref, which, page);
        const shown = rows.slice(0, limit);
        return {
          objects: shown.map((row) => ({ ...presentChat(row), messages: row.messages })),
          next: rows.length > limit ? shown.at(-1)!.chat_id : null,
        };
      },
    },
  });
  resource(app, '/api/account/chats/:chat_id/messages', {
    GET: {
      schema: schemas.messages,
      async handler(request) {
        const form = readForm(request.query);
        const which = form.optional('environment', environment) ?? 'production';
        const page = {
          index: form.optional('index', integer(1, 2_000_000_000)) ?? 1,
          limit: form.optional('limit', integer(1, 1000)) ?? 100,
        };
        form.done();
        const { ref } = accountOf(request);
        const chatId = parameter(request, 'chat_id');
        const found = isId(chatId) ? await store.findChat(database, ref, which, chatId) : undefined;
        if (found === undefined) throw notFound();
        const messages = await store.listMessages(database, ref, chatId, page);
        return { length: found.messages, messages: messages.map(presentMessage), ...page };
      },
    },
  });
}

/** A customer's chats: `/api/account/chats…`. They stay readable after the subscription has ended. */
import type { FastifyInstance } from 'fastify';
import Type from 'typebox';
import { accountOf } from '../access/session-auth.ts';
import { notFound } from '../base/errors.ts';
import type { Database } from '../database/database.ts';
import { resource } from '../http/http.ts';
import { describedOwn, ID, IN_ENVIRONMENT, OPTIONAL_TEXT, PAGE } from '../http/schemas.ts';
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
        environment: IN_ENVIRONMENT,
        after: Type.Optional(ID),
        limit: PAGE,
      }),
    },
  ),
  messages: describedOwn('listOwnMessages', 'The messages of a chat in order', ChatMessageList, {
    params: Type.Object({ chat_id: ID }),
    querystring: Type.Object({
      environment: IN_ENVIRONMENT,
      index: Type.Integer({
        minimum: 1,
        maximum: 2_000_000_000,
        default: 1,
        description: 'The position of the first message to return, from 1.',
      }),
      limit: Type.Integer({ minimum: 1, maximum: 1000, default: 100 }),
    }),
  }),
};

export function customerChatRoutes(app: FastifyInstance, { database }: { database: Database }): void {
  resource(app, '/api/account/chats', {
    GET: {
      schema: schemas.list,
      async handler(request) {
        const { environment, after, limit } = request.query;
        const page = { after, limit: limit + 1 };
        const { ref } = accountOf(request);
        const rows = await database.read((reader) => store.listChats(reader, ref, environment, page));
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
        const { environment, ...page } = request.query;
        const { ref } = accountOf(request);
        const { chat_id: chatId } = request.params;
        const found = await store.findChat(database, ref, environment, chatId);
        if (found === undefined) throw notFound();
        const messages = await store.listMessages(database, { ...page, account: ref, chatId });
        return { length: found.messages, messages: messages.map(presentMessage), ...page };
      },
    },
  });
}

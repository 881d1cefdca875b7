/** The routes with which customers read and answer the queries of editors: `/api/account/queries…`. */
import type { FastifyInstance } from 'fastify';
import Type from 'typebox';
import { accountOf } from '../access/session-auth.ts';
import type { AccountRef } from '../base/account.ts';
import type { Database } from '../database/database.ts';
import { resource } from '../http/http.ts';
import { describedOwn, ID } from '../http/schemas.ts';
import { answerQuery, presentOwnQuery } from './queries.ts';
import { listQueriesOfAccount } from './query-store.ts';
import { OwnQuery, type OwnQueryBody } from './schemas.ts';

/** The maximum number of queries in an answer. */
const MAX_LISTED = 200;
const OwnQueries = Type.Object(
  {
    objects: Type.Array(OwnQuery, {
      description: `At most ${MAX_LISTED}: open ones first, each group oldest first.`,
    }),
  },
  { title: 'OwnQueries' },
);

const schemas = {
  list: describedOwn('listQueries', 'List the queries of editors', OwnQueries, {
    description: 'Lists the open queries, or with `uid` all queries of one job.',
    querystring: Type.Object({ uid: Type.Optional(Type.String()) }),
  }),
  answer: describedOwn('answerQuery', 'Answer a query of an editor', OwnQueries, {
    description: 'Returns the queries of the job.',
    params: Type.Object({ query: ID }),
    body: Type.Object({ answer: Type.String({ pattern: '\\S', maxLength: 2000 }) }),
  }),
};

export function queriesOfCustomer(app: FastifyInstance, { database }: { database: Database }): void {
  resource(app, '/api/account/queries', {
    GET: {
      schema: schemas.list,
      handler: (request) => list(database, accountOf(request).ref, request.query.uid),
    },
  });
  resource(app, '/api/account/queries/:query/answer', {
    POST: {
      schema: schemas.answer,
      async handler(request) {
        const { ref } = accountOf(request);
        const { params, body, person } = request;
        const uid = await answerQuery(database, ref, person, params.query, body.answer.trim());
        return list(database, ref, uid);
      },
    },
  });
}

async function list(
  database: Database,
  account: AccountRef,
  uid: string | undefined,
): Promise<{ objects: OwnQueryBody[] }> {
  return { objects: (await listQueriesOfAccount(database, account, uid, MAX_LISTED)).map(presentOwnQuery) };
}

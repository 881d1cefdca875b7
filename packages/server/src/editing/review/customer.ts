/**
 * Routes for customers, who read and answer the queries of editors: `/api/account/queries…` in the web app,
 * `/api/v1/queries/…` with API keys.
 */
import type { FastifyInstance, FastifySchema } from 'fastify';
import Type from 'typebox';
import { accountOf } from '../../access/session-auth.ts';
import type { AccountRef, Environment } from '../../base/account.ts';
import type { Database } from '../../database/database.ts';
import { resource } from '../../http/http.ts';
import { answer, describedOwn, errorResponses, ID } from '../../http/schemas.ts';
import { JobQuery, type JobQueryBody } from '../schemas/schemas.ts';
import { answerQuery, presentJobQuery } from './queries.ts';
import { listQueriesOfAccount } from './query-store.ts';

/** The maximum number of queries in an answer. */
const MAX_LISTED = 200;
const JobQueries = Type.Object(
  {
    objects: Type.Array(JobQuery, {
      description: `At most ${MAX_LISTED}: open ones first, each group oldest first.`,
    }),
  },
  { title: 'JobQueries' },
);
const Answer = Type.Object(
  { answer: Type.String({ pattern: '\\S', maxLength: 2000, 'x-trim': true }) },
  { title: 'QueryAnswer', examples: [{ answer: 'It is the name of the product: do not translate it.' }] },
);
const filter = Type.Object({
  uid: Type.Optional(Type.String({ description: 'A job: lists its queries of every status but withdrawn.' })),
});
const parameters = Type.Object({ query: ID });
const LISTS =
  'Lists the open queries of all jobs, or with `uid` the open and the latest ended queries of one job; at most 200.';

const own = {
  list: describedOwn('listOwnQueries', 'List the queries of editors', JobQueries, {
    description: LISTS,
    querystring: filter,
  }),
  answer: describedOwn('answerOwnQuery', 'Answer a query of an editor', JobQueries, {
    description: 'Returns the queries of the job.',
    params: parameters,
    body: Answer,
  }),
};

const TAG = 'Jobs';
const EXAMPLE = {
  query: '0197a5b0-0000-7000-8000-000000000001',
  position: 3,
  question: 'A bank for money, or of a river?',
  status: 'open',
  asked_at: '2027-01-31T12:00:00.000Z',
  ended_at: null,
  uid: 'article-7',
  source: 'The bank is closed.',
};

const listQueriesSchema = {
  operationId: 'listQueries',
  summary: 'List the questions of editors',
  description: `An extension. ${LISTS} The sandbox has no editors, so its list is empty.`,
  tags: [TAG],
  querystring: filter,
  response: {
    200: answer('The queries.', JobQueries, { objects: [EXAMPLE] }),
    ...errorResponses('invalid_request'),
  },
} satisfies FastifySchema;

const answerQuerySchema = {
  operationId: 'answerQuery',
  summary: 'Answer a question of an editor',
  description:
    'An extension. Returns the queries of the job. The editor then sees the answer and can confirm the segment. The same answer again changes nothing; a query that has ended in another way is not found.',
  tags: [TAG],
  params: parameters,
  body: Answer,
  response: {
    200: answer('The queries of the job.', JobQueries, {
      objects: [
        { ...EXAMPLE, status: 'answered', answer: 'For money.', ended_at: '2027-01-31T13:00:00.000Z' },
      ],
    }),
    ...errorResponses('invalid_request', 'not_found', 'read_only_key', 'too_large'),
  },
} satisfies FastifySchema;

/** Registers the routes that the web app calls for a signed-in customer. */
export function queriesOfCustomer(app: FastifyInstance, { database }: { database: Database }): void {
  const who = (account: AccountRef) => ({ account, environment: 'production' as const });
  resource(app, '/api/account/queries', {
    GET: {
      schema: own.list,
      handler: (request) => list(database, who(accountOf(request).ref), request.query.uid),
    },
  });
  resource(app, '/api/account/queries/:query/answer', {
    POST: {
      schema: own.answer,
      async handler(request) {
        const caller = who(accountOf(request).ref);
        const { params, body, person } = request;
        const uid = await answerQuery(database, caller, person, params.query, body.answer);
        return list(database, caller, uid);
      },
    },
  });
}

/** Registers the routes that programs call with an API key. */
export function queryRoutes(app: FastifyInstance, { database }: { database: Database }): void {
  resource(app, '/api/v1/queries/', {
    GET: {
      schema: listQueriesSchema,
      scope: 'jobs',
      handler: ({ caller, query }) => list(database, caller, query.uid),
    },
  });
  resource(app, '/api/v1/queries/:query/answer/', {
    POST: {
      schema: answerQuerySchema,
      scope: 'jobs',
      async handler({ caller, params, body }) {
        const uid = await answerQuery(database, caller, 'key', params.query, body.answer);
        return list(database, caller, uid);
      },
    },
  });
}

async function list(
  database: Database,
  { account, environment }: { account: AccountRef; environment: Environment },
  uid: string | undefined,
): Promise<{ objects: JobQueryBody[] }> {
  const rows = await listQueriesOfAccount(database, {
    account,
    environment,
    uid: uid ?? null,
    limit: MAX_LISTED,
  });
  return { objects: rows.map(presentJobQuery) };
}

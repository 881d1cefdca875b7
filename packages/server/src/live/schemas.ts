import type { FastifySchema } from 'fastify';
import Type from 'typebox';
import { MAX_TOPICS } from './topics.ts';

export const liveSchema = {
  operationId: 'subscribe',
  summary: 'Subscribe to live updates',
  description:
    'Server-sent events until the session ends. `changed` with `{"topic"}` says that a topic has changed and the page ' +
    'should read it again; it is sent at most once a second for each topic. `progress` with ' +
    '`{"topic","drafted","segments"}` reports how many segments of a job are drafted. `ended` says that the session has ' +
    'ended. Nothing is replayed: after a reconnection, read once. Topics of customers: `jobs`, ' +
    '`job:ENVIRONMENT:UID`, `deliveries`, `chats`, `balance`. Topics of editors: `tasks`, `task:ID`. Topics of ' +
    'operators: those of editors and `console`, `jobs`, `job:USERNAME:ID`, `deliveries`, `engines`, `requests`. A topic ' +
    'that names something unknown never changes. Errors: `too_many_streams` if this user or account, `unavailable` if ' +
    'this process has too many streams.',
  tags: ['Live'],
  querystring: Type.Object({
    topic: Type.Union([Type.String(), Type.Array(Type.String(), { minItems: 1, maxItems: MAX_TOPICS })], {
      description: `One or more topics: \`topic=jobs&topic=balance\`; at most ${MAX_TOPICS}.`,
    }),
  }),
  response: {
    200: { description: 'The event stream.', content: { 'text/event-stream': { schema: Type.String() } } },
  },
} as const satisfies FastifySchema;

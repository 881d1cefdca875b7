/** How looking on is described. */

import type { FastifySchema } from 'fastify';
import Type from 'typebox';
import { MOST_TOPICS } from './topics.ts';

export const schemas = {
  live: {
    operationId: 'lookOn',
    summary: 'Be told when something has changed',
    description:
      'Server-sent events until the session ends: `changed` with `{"topic"}`, at most one a second for each topic, says ' +
      'to look again; `progress` with `{"topic","drafted","segments"}` says how far a machine is with a job; `ended` says ' +
      'that the session is over. Nothing is replayed: who connects anew looks once. Customers look on at `jobs`, ' +
      '`job:ENVIRONMENT:UID`, `deliveries`, `chats` and `balance`; editors at `tasks` and `task:ID`; operators at these ' +
      'two, `console`, `jobs`, `job:USERNAME:ID`, `deliveries`, `engines` and `requests`. A topic that names what is not ' +
      'there never changes. `too_many_streams`: this person has too many; `unavailable`: the process has.',
    tags: ['Live'],
    querystring: Type.Object({
      topic: Type.Union([Type.String(), Type.Array(Type.String(), { minItems: 1, maxItems: MOST_TOPICS })], {
        description: `One, or several: \`topic=jobs&topic=balance\`; at most ${MOST_TOPICS}.`,
      }),
    }),
    response: {
      200: { description: 'A stream.', content: { 'text/event-stream': { schema: Type.String() } } },
    },
  },
} as const satisfies Record<string, FastifySchema>;

/**
 * The route `/sandbox/api/v1/clock/`, with which customers skip waiting times of their sandbox: the delivery
 * delay, retries, and the 72 hours of deliveries. Only rows of the account's sandbox change, so production is
 * not affected.
 */
import type { FastifyInstance, FastifySchema } from 'fastify';
import Type from 'typebox';
import { notFound } from '../../base/errors.ts';
import type { Database } from '../../database/database.ts';
import { skipDeliveryTime } from '../../deliveries/deliveries.ts';
import { resource } from '../../http/http.ts';
import { answer, errorResponses } from '../../http/schemas.ts';
import { skipJobTime } from '../move-store.ts';

/** The most seconds that one request may skip: the 72 hours in which a delivery is attempted. */
const MAX_SECONDS = 72 * 3600;
const COUNT = Type.Integer({ minimum: 0 });

const clockSchema = {
  operationId: 'skipSandboxTime',
  summary: 'Skip waiting times of the sandbox',
  description:
    'Only in the sandbox; production answers 404. Everything that waits in the account’s sandbox becomes due earlier: ' +
    'delays before delivery, late callbacks, retries, and the end of the 72 hours of each delivery. Times in answers ' +
    'do not change.',
  tags: ['Account'],
  body: Type.Object(
    {
      seconds: Type.Integer({ minimum: 1, maximum: MAX_SECONDS }),
    },
    { title: 'SkipRequest', examples: [{ seconds: 120 }] },
  ),
  response: {
    200: answer(
      'What became due earlier.',
      Type.Object(
        {
          jobs: Type.Integer({ ...COUNT, description: 'The number of unfinished jobs.' }),
          deliveries: Type.Integer({ ...COUNT, description: 'The number of pending deliveries.' }),
        },
        { title: 'SkippedTime' },
      ),
      { jobs: 1, deliveries: 0 },
    ),
    ...errorResponses('invalid_request', 'not_found', 'read_only_key', 'too_large'),
  },
} satisfies FastifySchema;

export function clockRoutes(app: FastifyInstance, { database }: { database: Database }): void {
  resource(app, '/api/v1/clock/', {
    POST: {
      schema: clockSchema,
      scope: ['jobs', 'deliveries'],
      async handler({ caller: { account, environment }, body: { seconds } }) {
        if (environment !== 'sandbox') throw notFound();
        return database.transaction(async (transaction) => ({
          jobs: await skipJobTime(transaction, account, seconds),
          deliveries: await skipDeliveryTime(transaction, account, seconds),
        }));
      },
    },
  });
}

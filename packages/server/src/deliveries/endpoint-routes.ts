/** The operations of webhook endpoints: `…/webhook-endpoints`. A key reaches those of its environment, a user all. */
import type { FastifyInstance } from 'fastify';
import { type Audience, share } from '../access/audiences.ts';
import type { Environment } from '../base/account.ts';
import { OVERLAP_SECONDS } from '../http/schemas.ts';
import { endpointSchemas as schemas } from './endpoint-schemas.ts';
import { listEndpoints } from './endpoint-store.ts';
import {
  changeEndpoint,
  createEndpoint,
  deleteEndpoint,
  type EndpointContext,
  findEndpoint,
  rollEndpointSecret,
} from './endpoints.ts';

export function endpointRoutes(app: FastifyInstance, context: EndpointContext, audience: Audience): void {
  const { database } = context;
  const who = { key: 'deliveries', customer: true } as const;
  const keyOf = ({ endpoint_id: id }: { endpoint_id: string }, environment: Environment | undefined) =>
    environment === undefined ? { id } : { id, environment };

  share(app, database, audience, '/webhook-endpoints', {
    GET: {
      who: { ...who, operator: true },
      schema: schemas.list,
      async handler(_, { account, environment = null }) {
        return { objects: await listEndpoints(database, { account, environment }) };
      },
    },
    POST: {
      who,
      schema: schemas.create,
      async handler({ body }, { by, account, environment }, reply) {
        const { url, events = null, description = '' } = body;
        const wanted = { environment: environment!, url, events, description };
        const { endpoint, secret } = await createEndpoint(context, by, account, wanted);
        return reply.code(201).send({ ...endpoint, webhook_secret: secret });
      },
    },
  });

  share(app, database, audience, '/webhook-endpoints/:endpoint_id', {
    GET: {
      who: { key: 'deliveries' },
      schema: schemas.read,
      handler: async ({ params }, { account, environment }) =>
        findEndpoint(database, account, keyOf(params, environment)),
    },
    PATCH: {
      who,
      schema: schemas.change,
      handler: async ({ params, body }, { by, account, environment }) =>
        changeEndpoint(context, by, account, keyOf(params, environment), body),
    },
    DELETE: {
      who,
      schema: schemas.delete,
      async handler({ params }, { by, account, environment }, reply) {
        await deleteEndpoint(context, by, account, keyOf(params, environment));
        return reply.code(204).send();
      },
    },
  });

  share(app, database, audience, '/webhook-endpoints/:endpoint_id/roll', {
    POST: {
      who,
      schema: schemas.roll,
      async handler({ params, body }, { by, account, environment }, reply) {
        const seconds = OVERLAP_SECONDS[body.overlap];
        const key = keyOf(params, environment);
        const secret = await rollEndpointSecret(context, by, account, key, seconds);
        const ends = new Date(Date.now() + seconds * 1000);
        return reply.code(201).send({ webhook_secret: secret, previous_ends: ends });
      },
    },
  });
}

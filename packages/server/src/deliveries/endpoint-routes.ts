/**
 * The routes for webhook endpoints: `/api/v1/webhook-endpoints/…`, `/api/account/webhook-endpoints…` and the console's
 * list.
 */
import type { FastifyInstance } from 'fastify';
import { requestedAccount } from '../access/accounts.ts';
import { accountOf } from '../access/session-auth.ts';
import type { Caller } from '../base/account.ts';
import type { Database } from '../database/database.ts';
import { resource } from '../http/http.ts';
import { OVERLAP_SECONDS } from '../http/schemas.ts';
import { consoleEndpointSchema, endpointSchemas, ownEndpointSchemas } from './endpoint-schemas.ts';
import { listEndpoints } from './endpoint-store.ts';
import {
  changeEndpoint,
  createEndpoint,
  deleteEndpoint,
  type EndpointContext,
  findEndpoint,
  rollEndpointSecret,
} from './endpoints.ts';

/** Registers the routes for API keys. A key reaches the endpoints of its environment. */
export function endpointRoutes(app: FastifyInstance, context: EndpointContext): void {
  const keyOf = ({ environment }: Caller, id: string) => ({ id, environment });

  resource(app, '/api/v1/webhook-endpoints/', {
    GET: {
      schema: endpointSchemas.list,
      scope: 'deliveries',
      async handler({ caller: { account, environment } }) {
        const rows = await listEndpoints(context.database, { account, environment });
        return { objects: rows };
      },
    },
    POST: {
      schema: endpointSchemas.create,
      scope: 'deliveries',
      async handler({ caller, body }, reply) {
        const { account, environment } = caller;
        const { url, events = null, description = '' } = body;
        const wanted = { environment, url, events, description };
        const { endpoint, secret } = await createEndpoint(context, caller, account, wanted);
        return reply.code(201).send({ ...endpoint, webhook_secret: secret });
      },
    },
  });

  resource(app, '/api/v1/webhook-endpoints/:endpoint_id/', {
    GET: {
      schema: endpointSchemas.read,
      scope: 'deliveries',
      async handler({ caller, params }) {
        const key = keyOf(caller, params.endpoint_id);
        return findEndpoint(context.database, caller.account, key);
      },
    },
    PATCH: {
      schema: endpointSchemas.change,
      scope: 'deliveries',
      async handler({ caller, params, body }) {
        const key = keyOf(caller, params.endpoint_id);
        return changeEndpoint(context, caller, caller.account, key, body);
      },
    },
    DELETE: {
      schema: endpointSchemas.delete,
      scope: 'deliveries',
      async handler({ caller, params }, reply) {
        await deleteEndpoint(context, caller, caller.account, keyOf(caller, params.endpoint_id));
        return reply.code(204).send();
      },
    },
  });

  resource(app, '/api/v1/webhook-endpoints/:endpoint_id/roll/', {
    POST: {
      schema: endpointSchemas.roll,
      scope: 'deliveries',
      async handler({ caller, params, body }, reply) {
        const key = keyOf(caller, params.endpoint_id);
        const seconds = OVERLAP_SECONDS[body.overlap];
        const secret = await rollEndpointSecret(context, caller, caller.account, key, seconds);
        return reply.code(201).send(presentSecret(secret, seconds));
      },
    },
  });
}

/** Registers the routes for signed-in customers, who see the endpoints of both environments. */
export function endpointsOfCustomer(app: FastifyInstance, context: EndpointContext): void {
  const { database } = context;

  resource(app, '/api/account/webhook-endpoints', {
    GET: {
      schema: ownEndpointSchemas.list,
      async handler(request) {
        const rows = await listEndpoints(database, { account: accountOf(request).ref, environment: null });
        return { objects: rows };
      },
    },
    POST: {
      schema: ownEndpointSchemas.create,
      async handler(request, reply) {
        const { ref } = accountOf(request);
        const { environment, url, events = null, description = '' } = request.body;
        const wanted = { environment, url, events, description };
        const { endpoint, secret } = await createEndpoint(context, request.person, ref, wanted);
        return reply.code(201).send({ ...endpoint, webhook_secret: secret });
      },
    },
  });

  resource(app, '/api/account/webhook-endpoints/:endpoint_id', {
    PATCH: {
      schema: ownEndpointSchemas.change,
      async handler(request) {
        const { person, params, body } = request;
        const { ref } = accountOf(request);
        return changeEndpoint(context, person, ref, { id: params.endpoint_id }, body);
      },
    },
    DELETE: {
      schema: ownEndpointSchemas.delete,
      async handler(request) {
        const { ref } = accountOf(request);
        await deleteEndpoint(context, request.person, ref, { id: request.params.endpoint_id });
        return {
          objects: await listEndpoints(database, { account: ref, environment: null }),
        };
      },
    },
  });

  resource(app, '/api/account/webhook-endpoints/:endpoint_id/roll', {
    POST: {
      schema: ownEndpointSchemas.roll,
      async handler(request, reply) {
        const { person, params, body } = request;
        const { ref } = accountOf(request);
        const key = { id: params.endpoint_id };
        const seconds = OVERLAP_SECONDS[body.overlap];
        const secret = await rollEndpointSecret(context, person, ref, key, seconds);
        return reply.code(201).send(presentSecret(secret, seconds));
      },
    },
  });
}

/** Registers the console's list of the endpoints of an account. */
export function endpointConsole(app: FastifyInstance, { database }: { database: Database }): void {
  resource(app, '/api/console/accounts/:username/webhook-endpoints', {
    GET: {
      schema: consoleEndpointSchema,
      async handler(request) {
        const { ref } = await requestedAccount(database, request);
        return {
          objects: await listEndpoints(database, { account: ref, environment: null }),
        };
      },
    },
  });
}

function presentSecret(secret: string, overlapSeconds: number) {
  const ends = new Date(Date.now() + overlapSeconds * 1000);
  return { webhook_secret: secret, previous_ends: ends };
}

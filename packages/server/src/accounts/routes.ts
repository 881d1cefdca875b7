/** The route `/tapi/v2/account/`, which shows the calling account. */
import type { FastifyInstance } from 'fastify';
import type { Database } from '../database/database.ts';
import { resource } from '../http/http.ts';
import { presentAccount } from './accounts.ts';
import { getAccountSchema } from './schemas.ts';

export function accountRoutes(app: FastifyInstance, { database }: { database: Database }): void {
  resource(app, '/tapi/v2/account/', {
    GET: {
      schema: getAccountSchema,
      scope: 'account',
      handler: async ({ caller }) => ({ objects: [{ account: await presentAccount(database, caller) }] }),
    },
  });
}

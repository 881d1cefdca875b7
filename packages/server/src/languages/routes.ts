/** The list of language pairs: `/tapi/v2/language_pair/`, the same in both environments. */
import type { FastifyInstance } from 'fastify';
import { resource } from '../http.ts';
import type { Languages } from './languages.ts';
import { listPairsSchema } from './schemas.ts';

export function languageRoutes(app: FastifyInstance, { languages }: { languages: Languages }): void {
  resource(app, '/tapi/v2/language_pair/', {
    GET: { schema: listPairsSchema, handler: async () => ({ objects: await languages.pairs() }) },
  });
}

/** The route for the list of language pairs: `/tapi/v2/language_pair/`. */
import type { FastifyInstance } from 'fastify';
import { resource } from '../http/http.ts';
import type { Languages } from './languages.ts';
import { listPairsSchema } from './schemas.ts';

export function languageRoutes(app: FastifyInstance, { languages }: { languages: Languages }): void {
  const written = new WeakMap<object, Buffer>();

  /** Writes each cached list once. The same `Buffer` is also compressed only once. */
  function write(objects: object): Buffer {
    const made = written.get(objects) ?? Buffer.from(JSON.stringify({ objects }));
    written.set(objects, made);
    return made;
  }

  resource(app, '/tapi/v2/language_pair/', {
    GET: {
      schema: listPairsSchema,
      scope: 'any',
      async handler({ caller }, reply) {
        const objects = await languages.pairs(caller.environment);
        return reply.type('application/json; charset=utf-8').send(write(objects));
      },
    },
  });
}

/** The routes that list the values of `tone` and `topics`, and the terms of a brand. */
import type { FastifyInstance } from 'fastify';
import type { Database } from '../database/database.ts';
import { resource } from '../http/http.ts';
import { readContext, resolveBrand } from './brands.ts';
import { listTermsSchema, listTones, listTopics } from './schemas.ts';
import { presentTerm } from './terms.ts';
import { TONES, TOPICS } from './tones.ts';

const tones = { objects: TONES.map((tone) => ({ tone })) };
const topics = { objects: TOPICS.map((topic) => ({ topic })) };

export function contextRoutes(app: FastifyInstance, { database }: { database: Database }): void {
  resource(app, '/tapi/v2/tone/', {
    GET: { schema: listTones, scope: 'any', handler: async () => tones },
  });
  resource(app, '/tapi/v2/topic/', {
    GET: { schema: listTopics, scope: 'any', handler: async () => topics },
  });
  resource(app, '/api/v1/terms/', {
    GET: {
      schema: listTermsSchema,
      scope: 'machine',
      emptyIsAbsent: true,
      async handler({ caller, query: { brand: named, target_language, q, limit } }) {
        const { brand, defaultBrand } = await resolveBrand(database, caller, named);
        const name = brand ?? defaultBrand;
        const { tone, terms } = await readContext(database, caller.account, name, target_language);
        const searched = q?.toLowerCase();
        const contains = (text: string | undefined) => text?.toLowerCase().includes(searched!) ?? false;
        const found =
          searched === undefined
            ? terms
            : terms.filter(({ source, target }) => contains(source) || contains(target));
        return {
          ...(name === undefined ? {} : { brand: name }),
          ...(tone === undefined ? {} : { tone }),
          total_count: found.length,
          objects: found.slice(0, limit).map(presentTerm),
        };
      },
    },
  });
}

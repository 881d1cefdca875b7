/** The routes with which customers read their brands: `/api/account/brands…`. Only operators edit brands. */
import type { FastifyInstance } from 'fastify';
import Type from 'typebox';
import { accountOf } from '../access/session-auth.ts';
import { notFound } from '../base/errors.ts';
import type { Database } from '../database/database.ts';
import { resource } from '../http/http.ts';
import { describedOwn, MOMENT, OPTIONAL_TEXT } from '../http/schemas.ts';
import { BrandError, listBrands, readBrand } from './brands.ts';
import { presentTerm } from './terms.ts';

const Summary = Type.Object(
  {
    external_id: Type.String(),
    name: Type.String(),
    default: Type.Boolean({ description: 'Whether requests without a brand use this brand.' }),
    changed_at: MOMENT,
    version: Type.Integer({ description: 'How many times the brand was published.' }),
    languages: Type.Array(
      Type.Object({
        language: Type.String(),
        tone: OPTIONAL_TEXT,
        instructions: Type.Boolean({ description: 'Whether the brand has instructions for this language.' }),
        terms: Type.Integer(),
      }),
    ),
  },
  { title: 'OwnBrand' },
);
const OwnTerm = Type.Object(
  {
    source: Type.String(),
    target: Type.Optional(Type.String()),
    case_sensitive: Type.Optional(Type.Boolean()),
    forbidden: Type.Optional(Type.Boolean()),
    do_not_translate: Type.Optional(Type.Boolean()),
    note: Type.Optional(Type.String()),
  },
  { title: 'OwnTerm' },
);
const Detail = Type.Object(
  {
    external_id: Type.String(),
    name: Type.String(),
    default: Type.Boolean(),
    version: Type.Integer(),
    languages: Type.Array(
      Type.Object(
        {
          language: Type.String(),
          tone: OPTIONAL_TEXT,
          instructions: OPTIONAL_TEXT,
          terms: Type.Array(OwnTerm),
        },
        { title: 'OwnBrandLanguage' },
      ),
    ),
  },
  { title: 'OwnBrandDetail' },
);

const schemas = {
  list: describedOwn('listOwnBrands', 'List your brands', Type.Object({ objects: Type.Array(Summary) })),
  read: describedOwn('readOwnBrand', 'Read a brand with its glossaries', Detail, {
    params: Type.Object({ brand: Type.String() }),
  }),
};

export function brandsOfCustomer(app: FastifyInstance, { database }: { database: Database }): void {
  resource(app, '/api/account/brands', {
    GET: {
      schema: schemas.list,
      handler: async (request) => ({ objects: await listBrands(database, accountOf(request).ref) }),
    },
  });
  resource(app, '/api/account/brands/:brand', {
    GET: {
      schema: schemas.read,
      async handler(request) {
        try {
          const { ref } = accountOf(request);
          const { brand, isDefault, version } = await readBrand(database, ref, request.params.brand);
          return {
            external_id: brand.externalId,
            name: brand.name,
            default: isDefault,
            version,
            languages: [...brand.languages].map(([language, { tone, instructions, terms }]) => ({
              language,
              tone: tone ?? null,
              instructions: instructions ?? null,
              terms: terms.map(presentTerm),
            })),
          };
        } catch (error) {
          if (error instanceof BrandError) throw notFound();
          throw error;
        }
      },
    },
  });
}

/**
 * The routes with which customers read their brands and decide on the terms that editors propose:
 * `/api/account/brands…`. All other changes of brands are made by operators.
 */
import type { FastifyInstance } from 'fastify';
import Type from 'typebox';
import { accountOf } from '../access/session-auth.ts';
import type { AccountRef } from '../base/account.ts';
import { notFound } from '../base/errors.ts';
import type { Database } from '../database/database.ts';
import type { Answer } from '../http/answers.ts';
import { resource } from '../http/http.ts';
import { describedOwn, ID, MOMENT, OPTIONAL_TEXT } from '../http/schemas.ts';
import { BrandError, listBrands, readBrand, requireBrand } from './brands.ts';
import { PROTECT } from './console-schemas.ts';
import { countProposals, findWaitingProposals } from './proposal-store.ts';
import { decideOnTerm } from './proposals.ts';
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
    proposals: Type.Integer({
      description: 'How many terms editors have proposed that wait for a decision.',
    }),
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
    protect: PROTECT,
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

const OwnProposal = Type.Object(
  {
    proposal: ID,
    language: Type.String(),
    source: Type.String(),
    target: Type.String(),
    note: Type.Optional(Type.String()),
    proposed_at: MOMENT,
  },
  { title: 'OwnProposal', description: 'A term that an editor proposes for the glossary of a brand.' },
);
/** The maximum number of proposals in an answer. Later proposals are listed after these are taken or declined. */
const MAX_LISTED = 200;
const OwnProposals = Type.Object(
  { objects: Type.Array(OwnProposal, { description: `The oldest ${MAX_LISTED}, oldest first.` }) },
  { title: 'OwnProposals' },
);
const proposalParameters = Type.Object({ proposal: ID });

const schemas = {
  list: describedOwn('listOwnBrands', 'List your brands', Type.Object({ objects: Type.Array(Summary) })),
  read: describedOwn('readOwnBrand', 'Read a brand with its glossaries', Detail, {
    params: Type.Object({ brand: Type.String() }),
  }),
  proposals: describedOwn('listProposals', 'List the terms that editors propose for a brand', OwnProposals, {
    params: Type.Object({ brand: Type.String() }),
  }),
  take: describedOwn('takeProposal', 'Add a proposed term to the draft of the brand', OwnProposals, {
    description:
      'The glossary has the term when an operator publishes the draft. Error `conflict`: the draft has a term that ' +
      'contradicts it. Returns the proposals that are left.',
    params: proposalParameters,
  }),
  decline: describedOwn('declineProposal', 'Decline a proposed term', OwnProposals, {
    description: 'The term does not apply any more. Returns the proposals that are left.',
    params: proposalParameters,
  }),
};

export function brandsOfCustomer(app: FastifyInstance, { database }: { database: Database }): void {
  resource(app, '/api/account/brands', {
    GET: {
      schema: schemas.list,
      async handler(request) {
        const { ref } = accountOf(request);
        const [brands, proposals] = await Promise.all([
          listBrands(database, ref),
          countProposals(database, ref),
        ]);
        return {
          objects: brands.map((one) => ({ ...one, proposals: proposals.get(one.external_id) ?? 0 })),
        };
      },
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
            protect: [...(brand.protect ?? [])],
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
  resource(app, '/api/account/brands/:brand/proposals', {
    GET: {
      schema: schemas.proposals,
      handler: (request) => listProposals(database, accountOf(request).ref, request.params.brand),
    },
  });
  for (const [path, schema, decision] of [
    ['take', schemas.take, 'taken'],
    ['decline', schemas.decline, 'declined'],
  ] as const) {
    resource(app, `/api/account/proposals/:proposal/${path}`, {
      POST: {
        schema,
        async handler(request) {
          const { ref } = accountOf(request);
          const brand = await decideOnTerm(database, ref, request.person, request.params.proposal, decision);
          return listProposals(database, ref, brand);
        },
      },
    });
  }
}

/** @throws ApiError `not_found` if the account has no such brand */
async function listProposals(
  database: Database,
  account: AccountRef,
  brand: string,
): Promise<Answer<typeof OwnProposals>> {
  await requireBrand(database, account, brand).catch((error: unknown) => {
    throw error instanceof BrandError ? notFound() : error;
  });
  const rows = await findWaitingProposals(database, { account, externalId: brand, limit: MAX_LISTED });
  return { objects: rows };
}

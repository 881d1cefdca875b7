/** The operations of brands: `…/brands…`. Customers read them, operators change them. */
import type { FastifyInstance } from 'fastify';
import type { Static } from 'typebox';
import { type Audience, share } from '../access/audiences.ts';
import type { AccountRef } from '../base/account.ts';
import { fieldError } from '../base/errors.ts';
import type { Database } from '../database/database.ts';
import type { Scanner } from '../scanning/scanner.ts';
import {
  type BrandFile,
  checkPatterns,
  presentFields,
  protectBy,
  throwFaults,
  toLanguage,
  voteRule,
} from './brand.ts';
import { type BrandBody, type DraftChangeBody, brandSchemas as schemas } from './brand-schemas.ts';
import { foundBrand, listBrands, readBrand, removeBrand } from './brands.ts';
import { countChanges } from './changes.ts';
import {
  type BrandWithDraft,
  beginBrand,
  changeDraft,
  discardDraft,
  isStale,
  listDrafts,
  pendingChanges,
  publishDraft,
  readBrandWithDraft,
} from './drafts.ts';
import { withFieldErrors } from './field-errors.ts';
import { glossaryRoutes } from './glossary-routes.ts';
import { countProposals } from './proposal-store.ts';
import { createFaults, presentTerm } from './terms.ts';

const who = { operator: true } as const;

interface BrandOptions {
  database: Database;
  scanner: Scanner;
}

export function brandRoutes(
  app: FastifyInstance,
  { database, scanner }: BrandOptions,
  audience: Audience,
): void {
  const read = async (account: AccountRef, brand: string) =>
    present(brand, await readBrandWithDraft(database, account, brand));

  share(app, database, audience, '/brands', {
    GET: {
      who: { customer: true, operator: true },
      schema: schemas.list,
      async handler(_, { account, audience: name }) {
        return { objects: await list(database, account, name === 'operator') };
      },
    },
    POST: {
      who,
      schema: schemas.begin,
      async handler({ person, body }, { account }, reply) {
        const { external_id: externalId, default: isDefault, name } = body;
        const wanted = { externalId, name: name ?? externalId, isDefault };
        await withFieldErrors(() => beginBrand(database, person, account, wanted));
        return reply.code(201).send(await read(account, externalId));
      },
    },
  });

  share(app, database, audience, '/brands/:brand', {
    GET: {
      who: { customer: true },
      schema: schemas.readOwn,
      handler: async ({ params }, { account }) => readPublished(database, account, params.brand),
    },
  });
  share(app, database, audience, '/brands/:brand', {
    GET: { who, schema: schemas.read, handler: ({ params }, { account }) => read(account, params.brand) },
    DELETE: {
      who,
      schema: schemas.remove,
      async handler({ person, params }, { account }, reply) {
        await readBrandWithDraft(database, account, params.brand);
        await removeBrand(database, person, account, params.brand);
        return reply.code(204).send();
      },
    },
  });

  share(app, database, audience, '/brands/:brand/draft', {
    PATCH: {
      who,
      schema: schemas.change,
      bodyLimit: 'texts',
      async handler({ person, params, body: { revision, ...wanted } }, { account }) {
        const detail = { fields: Object.keys(wanted) };
        const draft = { externalId: params.brand, revision, by: person, detail };
        await withFieldErrors(() => changeDraft(database, account, draft, changeOf(wanted)));
        return read(account, params.brand);
      },
    },
    DELETE: {
      who,
      schema: schemas.discard,
      async handler({ person, params }, { account }, reply) {
        await database.transaction((transaction) => discardDraft(transaction, person, account, params.brand));
        return reply.code(204).send();
      },
    },
  });

  share(app, database, audience, '/brands/:brand/publish', {
    POST: {
      who,
      schema: schemas.publish,
      async handler({ person, params, body }, { account }) {
        const wanted = { externalId: params.brand, ...body };
        await withFieldErrors(() => publishDraft(database, person, account, wanted));
        return read(account, params.brand);
      },
    },
  });
  share(app, database, audience, '/brands/:brand/protect', {
    POST: {
      who,
      schema: schemas.try,
      async handler({ body: { protect, text } }, { account }) {
        await withFieldErrors(async () => {
          const faults = createFaults();
          checkPatterns(protect, faults);
          throwFaults('the patterns', faults);
        });
        return { parts: await scanner.protect(account, { text, settings: { protect } }) };
      },
    },
  });
  glossaryRoutes(app, database, audience, read);
}

/** Returns the brands of an account, ordered by identifier. @param withDrafts also brands that were never published */
async function list(database: Database, account: AccountRef, withDrafts: boolean) {
  const [brands, drafts, proposals] = await Promise.all([
    listBrands(database, account),
    withDrafts ? listDrafts(database, account) : [],
    countProposals(database, account),
  ]);
  const drafted = new Set(drafts.map(({ external_id }) => external_id));
  const published = new Set(brands.map(({ external_id }) => external_id));
  const unpublished = drafts
    .filter(({ external_id }) => !published.has(external_id))
    .map((draft) => ({ ...draft, default: false, version: 0, languages: [] }));
  return [...brands, ...unpublished]
    .map((brand) => ({
      ...brand,
      proposals: proposals.get(brand.external_id) ?? 0,
      draft: drafted.has(brand.external_id),
    }))
    .sort((a, b) => (a.external_id < b.external_id ? -1 : 1));
}

/** @throws ApiError `not_found` if the account has no such brand */
async function readPublished(database: Database, account: AccountRef, externalId: string) {
  const { brand, isDefault, version } = await foundBrand(readBrand(database, account, externalId));
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
}

/** Returns the change of a draft that a request describes. @throws ApiError `invalid_request` */
function changeOf({
  name,
  default: isDefault,
  fallback,
  votes,
  protect,
  languages: given = {},
}: Omit<DraftChangeBody, 'revision'>) {
  const languages = Object.entries(given).map(([written, settings]) => {
    const language = toLanguage(written);
    if (language === undefined) {
      throw fieldError('language', 'must be the shortname of a language, such as es or pt-br.');
    }
    return { language, settings };
  });
  return (brand: BrandFile): BrandFile => {
    const after = new Map(brand.languages);
    for (const { language, settings } of languages) {
      const before = after.get(language) ?? { tone: undefined, instructions: undefined, terms: [] };
      if (settings === null) after.delete(language);
      else {
        const { tone = before.tone, instructions = before.instructions } = settings;
        after.set(language, {
          ...before,
          tone: tone ?? undefined,
          instructions: instructions || undefined,
        });
      }
    }
    const { fallback: before, votes: rule, protect: patterns = [], ...rest } = brand;
    const machine = (fallback ?? before) === 'machine';
    return {
      ...rest,
      ...(machine ? { fallback: 'machine' } : {}),
      ...voteRule(votes ?? rule ?? 'draft'),
      ...protectBy(protect ?? patterns),
      name: name ?? brand.name,
      default: isDefault ?? brand.default,
      languages: after,
    };
  };
}

function present(externalId: string, versions: BrandWithDraft): Static<typeof BrandBody> {
  const { published, draft } = versions;
  return {
    external_id: externalId,
    published:
      published === undefined
        ? null
        : { ...presentFields(published.brand, published.isDefault), version: published.version },
    draft:
      draft === undefined
        ? null
        : {
            ...presentFields(draft.brand, draft.brand.default ?? false),
            revision: draft.revision,
            stale: isStale(versions),
            changed_at: draft.changedAt,
            changed_by: draft.changedBy,
            changes: countChanges(pendingChanges(versions)!),
          },
  };
}

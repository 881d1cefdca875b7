/** The console's routes for brands and glossaries: `/api/console/accounts/:username/brands…`. */
import { glossary } from '@dragoman/checks';
import type { Term } from '@dragoman/engines';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Static } from 'typebox';
import { requestedAccount } from '../access/accounts.ts';
import type { AccountRef } from '../base/account.ts';
import { fieldError, notFound, reason } from '../base/errors.ts';
import type { Database } from '../database/database.ts';
import { type Checked, resource } from '../http/http.ts';
import type { Scanner } from '../scanning/scanner.ts';
import {
  type Brand,
  BrandError,
  type BrandFile,
  checkPatterns,
  languagesFor,
  presentFields,
  protectBy,
  throwFaults,
  toBrandFile,
  toLanguage,
  voteRule,
} from './brand.ts';
import { listBrands, removeBrand } from './brands.ts';
import { countChanges } from './changes.ts';
import {
  type BrandBody,
  type BrandList,
  type brandParameters,
  type DraftChangeBody,
  exportSchema,
  type GivenTerm,
  type Import,
  type Imported,
  type PreviewBody,
  brandConsoleSchemas as schemas,
  type TermBody,
  type TermList,
} from './console-schemas.ts';
import { readCsv, writeCsv } from './csv.ts';
import {
  type BrandWithDraft,
  beginBrand,
  changeDraft,
  discardDraft,
  editTerms,
  isStale,
  listDrafts,
  mergeTerms,
  pendingChanges,
  publishDraft,
  readBrandWithDraft,
  withTerms,
} from './drafts.ts';
import { withFieldErrors } from './field-errors.ts';
import { readTbx, writeTbx } from './tbx.ts';
import { createFaults, presentTerm, sameTerm, termKey } from './terms.ts';

const MAX_SHOWN_ERRORS = 200;
const MAX_SHOWN_TERMS = 100;
type BrandRequest = Checked<{ params: typeof brandParameters }>;

export function brandConsole(
  app: FastifyInstance,
  { database, scanner }: { database: Database; scanner: Scanner },
): void {
  const base = '/api/console/accounts/:username/brands';

  async function requested(request: BrandRequest): Promise<{ ref: AccountRef; externalId: string }> {
    const { ref } = await requestedAccount(database, request);
    return { ref, externalId: request.params.brand };
  }
  async function read({ ref, externalId }: { ref: AccountRef; externalId: string }) {
    return present(externalId, await readBrandWithDraft(database, ref, externalId));
  }

  resource(app, base, {
    GET: {
      schema: schemas.list,
      handler: async (request) => listWithDrafts(database, (await requestedAccount(database, request)).ref),
    },
    POST: {
      schema: schemas.begin,
      async handler(request, reply) {
        const { ref } = await requestedAccount(database, request);
        const { external_id: externalId, default: isDefault } = request.body;
        const name = request.body.name ?? externalId;
        await withFieldErrors(() =>
          beginBrand(database, request.person, ref, { externalId, name, isDefault }),
        );
        return reply.code(201).send(await read({ ref, externalId }));
      },
    },
  });

  resource(app, `${base}/:brand`, {
    GET: { schema: schemas.read, handler: async (request) => read(await requested(request)) },
    DELETE: {
      schema: schemas.remove,
      async handler(request) {
        const { ref, externalId } = await requested(request);
        await readBrandWithDraft(database, ref, externalId);
        await removeBrand(database, request.person, ref, externalId);
        return listWithDrafts(database, ref);
      },
    },
  });

  resource(app, `${base}/:brand/draft`, {
    PATCH: {
      schema: schemas.change,
      bodyLimit: 'texts',
      async handler(request) {
        const { ref, externalId } = await requested(request);
        const { revision, ...wanted } = request.body;
        const draft = { externalId, revision, by: request.person, detail: { fields: Object.keys(wanted) } };
        await withFieldErrors(() => changeDraft(database, ref, draft, changeOf(wanted)));
        return read({ ref, externalId });
      },
    },
    DELETE: {
      schema: schemas.discard,
      async handler(request) {
        const { ref, externalId } = await requested(request);
        await database.transaction((transaction) =>
          discardDraft(transaction, request.person, ref, externalId),
        );
        return listWithDrafts(database, ref);
      },
    },
  });

  resource(app, `${base}/:brand/publish`, {
    POST: {
      schema: schemas.publish,
      async handler(request) {
        const { ref, externalId } = await requested(request);
        await withFieldErrors(() =>
          publishDraft(database, request.person, ref, { externalId, ...request.body }),
        );
        return read({ ref, externalId });
      },
    },
  });
  resource(app, `${base}/:brand/protect`, {
    POST: {
      schema: schemas.try,
      async handler(request) {
        const { ref } = await requested(request);
        const { protect, text } = request.body;
        await withFieldErrors(async () => {
          const faults = createFaults();
          checkPatterns(protect, faults);
          throwFaults('the patterns', faults);
        });
        return { parts: await scanner.protect(ref, { text, settings: { protect } }) };
      },
    },
  });
  glossaryConsole(app, { base, database, requested, read });
}

interface GlossaryContext {
  /** The path of an account's brands. */
  base: string;
  database: Database;
  requested(request: BrandRequest): Promise<{ ref: AccountRef; externalId: string }>;
  read(brand: { ref: AccountRef; externalId: string }): Promise<Static<typeof BrandBody>>;
}

/** Registers the routes that list and edit terms. */
function glossaryConsole(app: FastifyInstance, { base, database, requested, read }: GlossaryContext): void {
  resource(app, `${base}/:brand/terms`, {
    GET: {
      schema: schemas.terms,
      async handler(request) {
        const { ref, externalId } = await requested(request);
        const { language, q, ...page } = request.query;
        const versions = await readBrandWithDraft(database, ref, externalId);
        return listTerms(versions, language, { q: q?.toLowerCase(), ...page });
      },
    },
    POST: {
      schema: schemas.edit,
      bodyLimit: 'texts',
      async handler(request) {
        const { ref, externalId } = await requested(request);
        const { revision, put = [], remove = [] } = request.body;
        const language = toLanguage(request.body.language)!;
        const edits = {
          put: put.map((term) => ({
            was: term.was == null ? undefined : keyIn(term.was),
            term: termOf(term),
          })),
          remove: remove.map(keyIn),
        };
        const detail = { language, put: edits.put.length, removed: edits.remove.length };
        await withFieldErrors(() =>
          changeDraft(database, ref, { externalId, revision, by: request.person, detail }, (brand) =>
            withTerms(brand, language, (terms) => editTerms(terms, edits)),
          ),
        );
        return read({ ref, externalId });
      },
    },
  });
  glossaryFiles(app, { base, database, requested });
}

/** Registers the routes that import, export and preview terms. */
function glossaryFiles(
  app: FastifyInstance,
  { base, database, requested }: Omit<GlossaryContext, 'read'>,
): void {
  resource(app, `${base}/:brand/import`, {
    POST: {
      schema: schemas.import,
      bodyLimit: 'texts',
      async handler(request) {
        const { ref, externalId } = await requested(request);
        return importTerms(database, ref, { externalId, by: request.person }, request.body);
      },
    },
  });

  resource(app, `${base}/:brand/preview`, {
    POST: {
      schema: schemas.preview,
      bodyLimit: 'texts',
      async handler(request) {
        const { ref, externalId } = await requested(request);
        const { source_language: from, text: sample, of } = request.body;
        const language = toLanguage(request.body.language)!;
        const versions = await readBrandWithDraft(database, ref, externalId);
        const brand =
          of === 'published'
            ? versions.published?.brand
            : (versions.draft?.brand ?? versions.published?.brand);
        if (brand === undefined) throw notFound();
        return preview(brand, from ?? 'en', language, sample);
      },
    },
  });

  resource(app, `${base}/:brand/export`, {
    GET: {
      schema: exportSchema,
      async handler(request, reply) {
        const { ref, externalId } = await requested(request);
        const { format, language, from } = request.query;
        if (format !== 'json' && language === undefined) throw fieldError('language', reason('required'));
        const { published, draft } = await readBrandWithDraft(database, ref, externalId);
        const brand = draft?.brand ?? published!.brand;
        const isDefault = draft?.brand.default ?? published?.isDefault ?? false;
        const terms = language === undefined ? undefined : brand.languages.get(language)?.terms;
        if (format !== 'json' && terms === undefined) throw notFound();
        const name = `${externalId}${language === undefined ? '' : `-${language}`}`.replaceAll(
          /[^\w.-]+/g,
          '-',
        );
        void reply.header('content-disposition', `attachment; filename="${name}.${format}"`);
        if (format === 'json') {
          return reply
            .type('application/json')
            .send(`${JSON.stringify(toBrandFile(brand, isDefault), null, 2)}\n`);
        }
        return format === 'csv'
          ? reply.type('text/csv; charset=utf-8').send(writeCsv(terms!))
          : reply.type('application/xml; charset=utf-8').send(writeTbx(terms!, from, language!));
      },
    },
  });
}

/** Returns published brands, and drafts of brands that were never published, ordered by identifier. */
async function listWithDrafts(database: Database, ref: AccountRef): Promise<Static<typeof BrandList>> {
  const [brands, drafts] = [await listBrands(database, ref), await listDrafts(database, ref)];
  const drafted = new Set(drafts.map(({ external_id }) => external_id));
  const published = new Set(brands.map(({ external_id }) => external_id));
  const rows = brands.map(({ languages, ...brand }) => ({
    ...brand,
    draft: drafted.has(brand.external_id),
    languages: languages.map(({ language }) => language),
    terms: languages.reduce((sum, { terms }) => sum + terms, 0),
  }));
  const unpublished = drafts
    .filter(({ external_id }) => !published.has(external_id))
    .map(({ external_id, name, changed_at }) => ({
      external_id,
      name,
      default: false,
      version: null,
      changed_at,
      draft: true,
      languages: [],
      terms: 0,
    }));
  return { brands: [...rows, ...unpublished].sort((a, b) => (a.external_id < b.external_id ? -1 : 1)) };
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

function termOf(given: GivenTerm): Term {
  const { case_sensitive = false, forbidden = false, do_not_translate = false, note } = given;
  return {
    ...keyIn(given),
    caseSensitive: case_sensitive,
    forbidden,
    doNotTranslate: do_not_translate,
    ...(note ? { note } : {}),
  };
}

const keyIn = ({ source, target = '' }: { source: string; target?: string }) => ({ source, target });

const presentBody = (term: Term) => presentTerm(term) as Static<typeof TermBody>;

function listTerms(
  { published, draft }: BrandWithDraft,
  language: string,
  { q, offset, limit }: { q: string | undefined; offset: number; limit: number },
): Static<typeof TermList> {
  const before = published?.brand.languages.get(language)?.terms ?? [];
  const after = draft === undefined ? before : (draft.brand.languages.get(language)?.terms ?? []);
  const old = new Map(before.map((term) => [termKey(term), term]));
  const kept = new Set(after.map(termKey));
  const bySource = Map.groupBy(
    after.filter(({ forbidden }) => !forbidden),
    ({ source }) => source.toLowerCase(),
  );
  const matches = ({ source, target, note = '' }: Term) =>
    q === undefined || [source, target, note].some((one) => one.toLowerCase().includes(q));
  const found = after.filter(matches);
  return {
    terms: found.slice(offset, offset + limit).map((term) => {
      const was = old.get(termKey(term));
      return {
        ...presentBody(term),
        change: was === undefined ? 'added' : sameTerm(was, term) ? 'unchanged' : 'changed',
        alternatives: bySource.get(term.source.toLowerCase())?.length ?? 0,
      };
    }),
    removed: before
      .filter((term) => !kept.has(termKey(term)) && matches(term))
      .slice(0, MAX_SHOWN_TERMS)
      .map(presentBody),
    total: found.length,
  };
}

async function importTerms(
  database: Database,
  account: AccountRef,
  { externalId, by }: { externalId: string; by: FastifyRequest['person'] },
  { revision, from, file, mode, dry_run: dryRun, text, ...given }: Import,
): Promise<Static<typeof Imported>> {
  const language = toLanguage(given.language)!;
  const nothing = { added: 0, changed: 0, removed: 0, unchanged: 0 };
  let read: { terms: Term[]; skipped: number };
  try {
    read = /^\s*</.test(text)
      ? await readTbx(file, text, language, from ?? undefined)
      : { terms: await readCsv(file, text), skipped: 0 };
  } catch (error) {
    if (!(error instanceof BrandError)) throw error;
    const lines = error.faults.length > 0 ? error.faults : [error.message];
    if (!dryRun) throw fieldError('text', `${lines[0]}`);
    const errors = lines.slice(0, MAX_SHOWN_ERRORS).map((line) => {
      const [, where = '', reason = line] = /^(line \d+): (.*)$/s.exec(line.replace(`${file}: `, '')) ?? [];
      return { where, reason };
    });
    return {
      dry_run: true,
      errors,
      more_errors: lines.length - errors.length,
      skipped: 0,
      added: [],
      changed: [],
      removed: [],
      counts: nothing,
    };
  }

  const versions = await readBrandWithDraft(database, account, externalId);
  const brand = versions.draft?.brand ?? versions.published!.brand;
  const before = brand.languages.get(language)?.terms ?? [];
  const after = mode === 'merge' ? mergeTerms(before, read.terms) : read.terms;
  const change = (one: BrandFile) => withTerms(one, language, () => after);
  const old = new Map(before.map((term) => [termKey(term), term]));
  const remaining = new Set(after.map(termKey));
  const added = after.filter((term) => !old.has(termKey(term)));
  const changed = after.filter((term) => old.has(termKey(term)) && !sameTerm(old.get(termKey(term))!, term));
  const removed = before.filter((term) => !remaining.has(termKey(term)));
  const counts = {
    added: added.length,
    changed: changed.length,
    removed: removed.length,
    unchanged: after.length - added.length - changed.length,
  };
  if (!dryRun) {
    const draft = { externalId, revision, by, detail: { language, ...counts } };
    await withFieldErrors(() => changeDraft(database, account, draft, change));
  }
  const some = (terms: readonly Term[]) => terms.slice(0, MAX_SHOWN_TERMS).map(presentBody);
  return {
    dry_run: dryRun,
    errors: [],
    more_errors: 0,
    skipped: read.skipped,
    added: some(added),
    changed: some(changed),
    removed: some(removed),
    counts,
  };
}

/** Returns the settings that apply to a language, and the terms that occur in a sample text. */
function preview(brand: Brand, from: string, into: string, sample: string): Static<typeof PreviewBody> {
  const language = languagesFor(into).find((one) => brand.languages.has(one));
  const settings = language === undefined ? undefined : brand.languages.get(language);
  const found = glossary(settings?.terms ?? [], from, into).find(sample);
  return {
    language: language ?? null,
    tone: settings?.tone ?? null,
    instructions: settings?.instructions ?? null,
    marks: found.map(({ term, range }) => ({
      ...range,
      terms: (settings?.terms ?? [])
        .filter(({ source }) => source.toLowerCase() === term.source.toLowerCase())
        .map(presentBody),
    })),
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

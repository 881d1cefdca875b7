/** The operator's console for brands and glossaries: `/api/console/accounts/:username/brands…`. */
import { glossary } from '@dragoman/checks';
import type { Term } from '@dragoman/engines';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import Type, { type Static } from 'typebox';
import type { AccountRef } from '../account.ts';
import { requestedAccount } from '../accounts/console.ts';
import {
  accountParameters,
  described,
  flag,
  integer,
  listOf,
  MOMENT,
  OPTIONAL_MOMENT,
  OPTIONAL_TEXT,
  oneOf,
  open,
  parameter,
  readForm,
  text,
} from '../console.ts';
import type { Database } from '../database/database.ts';
import { type ApiError, fieldError, notFound } from '../errors.ts';
import { resource } from '../http.ts';
import { recordAudit } from '../operations/audit.ts';
import {
  type Brand,
  BrandError,
  type BrandFile,
  type BrandLanguage,
  languagesFor,
  toBrandFile,
  toLanguage,
} from './brand.ts';
import { listBrands, removeBrand } from './brands.ts';
import { countChanges } from './changes.ts';
import { readCsv, writeCsv } from './csv.ts';
import {
  beginBrand,
  changeDraft,
  discardDraft,
  editTerms,
  isStale,
  type KeptBrand,
  listDrafts,
  mergeTerms,
  pendingChanges,
  publishDraft,
  readKept,
  withTerms,
} from './drafts.ts';
import { readTbx, writeTbx } from './tbx.ts';
import { keyOf, MAX_NOTE_CHARACTERS, MAX_TERM_CHARACTERS, presentTerm, sameTerm } from './terms.ts';
import { TONE_NAMES } from './tones.ts';

const TERM = {
  source: Type.String(),
  target: Type.Optional(Type.String()),
  case_sensitive: Type.Optional(Type.Boolean()),
  forbidden: Type.Optional(Type.Boolean()),
  do_not_translate: Type.Optional(Type.Boolean()),
  note: Type.Optional(Type.String()),
};
const TermBody = Type.Object(TERM, { title: 'ConsoleTerm' });
const TermKey = Type.Object({ source: Type.String(), target: Type.Optional(Type.String()) }, open);

const Language = Type.Object(
  { language: Type.String(), tone: OPTIONAL_TEXT, instructions: OPTIONAL_TEXT, terms: Type.Integer() },
  { title: 'ConsoleBrandLanguage' },
);
const BrandFields = {
  name: Type.String(),
  default: Type.Boolean(),
  fallback: Type.Enum(['wait', 'machine'], {
    description: 'What is delivered where no editor came in time.',
  }),
  languages: Type.Array(Language),
};
const Changes = Type.Object(
  {
    change: Type.Enum(['added', 'changed', 'unchanged']),
    name: Type.Boolean(),
    fallback: Type.Boolean(),
    default: Type.Enum(['becomes', 'no longer', 'unchanged']),
    languages: Type.Array(
      Type.Object({
        language: Type.String(),
        change: Type.Enum(['added', 'changed', 'removed', 'unchanged']),
        tone: Type.Boolean(),
        instructions: Type.Boolean(),
        added: Type.Integer(),
        changed: Type.Integer(),
        removed: Type.Integer(),
        reordered: Type.Boolean(),
      }),
    ),
  },
  { title: 'ConsoleBrandChanges' },
);
const BrandBody = Type.Object(
  {
    external_id: Type.String(),
    published: Type.Union([
      Type.Object({ ...BrandFields, version: Type.Integer() }, { title: 'PublishedBrand' }),
      Type.Null(),
    ]),
    draft: Type.Union([
      Type.Object(
        {
          ...BrandFields,
          revision: Type.Integer(),
          stale: Type.Boolean({ description: 'The brand was published by another way since it was begun.' }),
          changed_at: MOMENT,
          changed_by: Type.String(),
          changes: Changes,
        },
        { title: 'BrandDraft' },
      ),
      Type.Null(),
    ]),
  },
  { title: 'ConsoleBrand' },
);
const BrandList = Type.Object(
  {
    brands: Type.Array(
      Type.Object({
        external_id: Type.String(),
        name: Type.String(),
        default: Type.Boolean(),
        version: Type.Union([Type.Integer(), Type.Null()], { description: 'Null: never published.' }),
        changed_at: OPTIONAL_MOMENT,
        draft: Type.Boolean(),
        languages: Type.Array(Type.String()),
        terms: Type.Integer(),
      }),
    ),
  },
  { title: 'ConsoleBrands' },
);
const TermList = Type.Object(
  {
    terms: Type.Array(
      Type.Object({
        ...TERM,
        change: Type.Enum(['added', 'changed', 'unchanged'], {
          description: 'Against the published glossary.',
        }),
        alternatives: Type.Integer({ description: 'How many translations its source has.' }),
      }),
    ),
    removed: Type.Array(TermBody, { description: 'Published terms that the draft does not have any more.' }),
    total: Type.Integer(),
  },
  { title: 'ConsoleTerms' },
);
const Imported = Type.Object(
  {
    dry_run: Type.Boolean(),
    errors: Type.Array(Type.Object({ where: Type.String(), reason: Type.String() }), {
      description: 'What is wrong with the file, by its line; nothing is imported then.',
    }),
    more_errors: Type.Integer(),
    skipped: Type.Integer({ description: 'Concepts without terms in both languages.' }),
    added: Type.Array(TermBody),
    changed: Type.Array(TermBody),
    removed: Type.Array(TermBody),
    counts: Type.Object({
      added: Type.Integer(),
      changed: Type.Integer(),
      removed: Type.Integer(),
      unchanged: Type.Integer(),
    }),
  },
  { title: 'ConsoleImport', description: 'Of each list, the first 100.' },
);
const PreviewBody = Type.Object(
  {
    language: OPTIONAL_TEXT,
    tone: OPTIONAL_TEXT,
    instructions: OPTIONAL_TEXT,
    marks: Type.Array(
      Type.Object({
        start: Type.Integer(),
        end: Type.Integer(),
        terms: Type.Array(TermBody),
      }),
    ),
  },
  { title: 'ConsoleBrandPreview' },
);

const brandParameters = Type.Object({ username: Type.String(), brand: Type.String() });
const REVISION = Type.Integer({ minimum: 0, description: 'Of the draft as it was read; 0: there was none.' });
const OF = Type.Optional(Type.Enum(['draft', 'published']));

const schemas = {
  list: described('listConsoleBrands', 'The brands of an account, with drafts', BrandList, {
    params: accountParameters,
  }),
  begin: described('beginBrand', 'Begin a brand', BrandBody, {
    status: 201,
    params: accountParameters,
    body: Type.Object(
      {
        external_id: Type.String(),
        name: Type.Optional(OPTIONAL_TEXT),
        default: Type.Optional(Type.Boolean()),
      },
      open,
    ),
  }),
  read: described('readConsoleBrand', 'A brand as it is published, and its draft', BrandBody, {
    params: brandParameters,
  }),
  remove: described('removeBrand', 'Remove a brand with its draft and glossaries', BrandList, {
    params: brandParameters,
  }),
  change: described('changeBrandDraft', 'Change a draft, or begin one', BrandBody, {
    params: brandParameters,
    body: Type.Object(
      {
        revision: REVISION,
        name: Type.Optional(Type.String()),
        default: Type.Optional(Type.Boolean()),
        fallback: Type.Optional(Type.Enum(['wait', 'machine'])),
        languages: Type.Optional(
          Type.Record(
            Type.String(),
            Type.Union([
              Type.Object(
                { tone: Type.Optional(OPTIONAL_TEXT), instructions: Type.Optional(OPTIONAL_TEXT) },
                open,
              ),
              Type.Null(),
            ]),
            { description: 'By language; null removes it with its glossary.' },
          ),
        ),
      },
      open,
    ),
  }),
  discard: described('discardBrandDraft', 'Discard a draft', BrandList, { params: brandParameters }),
  publish: described('publishBrand', 'Put the draft in the brand’s place', BrandBody, {
    params: brandParameters,
    body: Type.Object(
      {
        revision: REVISION,
        anyway: Type.Optional(
          Type.Boolean({ description: 'Also where the brand was published by another way meanwhile.' }),
        ),
      },
      open,
    ),
  }),
  terms: described('listConsoleTerms', 'The glossary of a brand for a language', TermList, {
    params: brandParameters,
    querystring: Type.Object({
      language: Type.String(),
      q: Type.Optional(Type.String()),
      offset: Type.Optional(Type.Integer({ minimum: 0 })),
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 200, default: 50 })),
    }),
  }),
  edit: described('editTerms', 'Put terms into a draft’s glossary, or take them out', BrandBody, {
    params: brandParameters,
    body: Type.Object(
      {
        revision: REVISION,
        language: Type.String(),
        put: Type.Optional(
          Type.Array(Type.Object({ ...TERM, was: Type.Optional(Type.Union([TermKey, Type.Null()])) }, open)),
        ),
        remove: Type.Optional(Type.Array(TermKey)),
      },
      open,
    ),
  }),
  import: described('importTerms', 'Take the terms of a file into a draft', Imported, {
    params: brandParameters,
    body: Type.Object(
      {
        revision: REVISION,
        language: Type.String(),
        from: Type.Optional(OPTIONAL_TEXT),
        file: Type.Optional(Type.String({ description: 'Its name, for the faults.' })),
        text: Type.String({ description: 'A table in CSV, or a termbase in TBX.' }),
        mode: Type.Enum(['replace', 'merge']),
        dry_run: Type.Boolean(),
      },
      open,
    ),
  }),
  preview: described('previewBrand', 'What an editor sees of a brand beside a text', PreviewBody, {
    params: brandParameters,
    body: Type.Object(
      { language: Type.String(), source_language: Type.Optional(OPTIONAL_TEXT), text: Type.String(), of: OF },
      open,
    ),
  }),
};

const MAX_SHOWN_ERRORS = 200;
const MAX_SHOWN_TERMS = 100;
const MAX_FILE_CHARACTERS = 8 * 1024 * 1024;

export function brandConsole(app: FastifyInstance, { database }: { database: Database }): void {
  const base = '/api/console/accounts/:username/brands';

  async function requested(request: FastifyRequest): Promise<{ ref: AccountRef; externalId: string }> {
    const { ref } = await requestedAccount(database, request);
    return { ref, externalId: parameter(request, 'brand') };
  }
  async function read({ ref, externalId }: { ref: AccountRef; externalId: string }) {
    return present(externalId, await readKept(database, ref, externalId));
  }

  async function list(ref: AccountRef): Promise<Static<typeof BrandList>> {
    const [brands, drafts] = [await listBrands(database, ref), await listDrafts(database, ref)];
    const drafted = new Set(drafts.map(({ external_id }) => external_id));
    const published = new Set(brands.map(({ external_id }) => external_id));
    const rows = brands.map(({ languages, ...brand }) => ({
      ...brand,
      draft: drafted.has(brand.external_id),
      languages: languages.map(({ language }) => language),
      terms: languages.reduce((sum, { terms }) => sum + terms, 0),
    }));
    const begun = drafts
      .filter(({ external_id }) => !published.has(external_id))
      .map(({ external_id, name, changed_at }) => ({
        ...{ external_id, name, default: false, version: null, changed_at: changed_at.toISOString() },
        ...{ draft: true, languages: [], terms: 0 },
      }));
    return { brands: [...rows, ...begun].sort((a, b) => (a.external_id < b.external_id ? -1 : 1)) };
  }

  async function auditDraft(
    request: FastifyRequest,
    account: AccountRef,
    externalId: string,
    detail: object,
  ): Promise<void> {
    await recordAudit(database, request.person, {
      ...{ action: 'brand.draft_changed', account, subject: externalId, detail },
    });
  }

  resource(app, base, {
    GET: {
      schema: schemas.list,
      handler: async (request) => list((await requestedAccount(database, request)).ref),
    },
    POST: {
      schema: schemas.begin,
      async handler(request, reply) {
        const { ref } = await requestedAccount(database, request);
        const form = readForm(request.body);
        const externalId = form.required('external_id', text(128));
        const name = form.optional('name', text(200)) ?? externalId;
        const isDefault = form.optional('default', flag) ?? false;
        form.done();
        await named(() =>
          beginBrand(database, ref, { externalId, name, isDefault, by: request.person.name }),
        );
        await recordAudit(database, request.person, {
          ...{ action: 'brand.begun', account: ref, subject: externalId, detail: { name } },
        });
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
        const { published } = await readKept(database, ref, externalId);
        await discardDraft(database, ref, externalId);
        if (published !== undefined) await removeBrand(database, ref, externalId);
        await recordAudit(database, request.person, {
          ...{ action: 'brand.removed', account: ref, subject: externalId, detail: {} },
        });
        return list(ref);
      },
    },
  });

  resource(app, `${base}/:brand/draft`, {
    PATCH: {
      schema: schemas.change,
      bodyLimit: 'texts',
      async handler(request) {
        const { ref, externalId } = await requested(request);
        const { revision, change } = readChange(request.body);
        const by = request.person.name;
        await named(() => changeDraft(database, ref, { externalId, revision, by }, change));
        const fields = Object.keys(request.body as object).filter((field) => field !== 'revision');
        await auditDraft(request, ref, externalId, { fields });
        return read({ ref, externalId });
      },
    },
    DELETE: {
      schema: schemas.discard,
      async handler(request) {
        const { ref, externalId } = await requested(request);
        if (!(await discardDraft(database, ref, externalId))) throw notFound();
        await recordAudit(database, request.person, {
          ...{ action: 'brand.draft_discarded', account: ref, subject: externalId, detail: {} },
        });
        return list(ref);
      },
    },
  });

  resource(app, `${base}/:brand/publish`, {
    POST: {
      schema: schemas.publish,
      async handler(request) {
        const { ref, externalId } = await requested(request);
        const form = readForm(request.body);
        const revision = form.required('revision', integer(1, 2 ** 31 - 1));
        const anyway = form.optional('anyway', flag) ?? false;
        form.done();
        await named(() =>
          publishDraft(database, ref, { externalId, revision, anyway }, async (transaction, changes) => {
            await recordAudit(transaction, request.person, {
              ...{
                action: 'brand.published',
                account: ref,
                subject: externalId,
                detail: countChanges(changes),
              },
            });
          }),
        );
        return read({ ref, externalId });
      },
    },
  });

  resource(app, `${base}/:brand/terms`, {
    GET: {
      schema: schemas.terms,
      async handler(request) {
        const { ref, externalId } = await requested(request);
        const form = readForm(request.query);
        const language = form.required('language', text(40));
        const q = form.optional('q', text(200))?.toLowerCase();
        const offset = form.optional('offset', integer(0, 1_000_000)) ?? 0;
        const limit = form.optional('limit', integer(1, 200)) ?? 50;
        form.done();
        return listTerms(await readKept(database, ref, externalId), language, { q, offset, limit });
      },
    },
    POST: {
      schema: schemas.edit,
      bodyLimit: 'texts',
      async handler(request) {
        const { ref, externalId } = await requested(request);
        const form = readForm(request.body);
        const revision = form.required('revision', integer(0, 2 ** 31 - 1));
        const language = readLanguage(form);
        const edits = {
          put: form.optional('put', listOf(readPut, 500)) ?? [],
          remove: form.optional('remove', listOf(readKey, 500)) ?? [],
        };
        form.done();
        const by = request.person.name;
        await named(() =>
          changeDraft(database, ref, { externalId, revision, by }, (brand) =>
            withTerms(brand, language, (terms) => editTerms(terms, edits)),
          ),
        );
        const detail = { language, put: edits.put.length, removed: edits.remove.length };
        await auditDraft(request, ref, externalId, detail);
        return read({ ref, externalId });
      },
    },
  });

  resource(app, `${base}/:brand/import`, {
    POST: {
      schema: schemas.import,
      bodyLimit: 'texts',
      async handler(request) {
        const { ref, externalId } = await requested(request);
        const imported = await importTerms(database, ref, externalId, request);
        if (!imported.dry_run) {
          const { language } = request.body as { language: string };
          await auditDraft(request, ref, externalId, { language, ...imported.counts });
        }
        return imported;
      },
    },
  });

  resource(app, `${base}/:brand/preview`, {
    POST: {
      schema: schemas.preview,
      bodyLimit: 'texts',
      async handler(request) {
        const { ref, externalId } = await requested(request);
        const form = readForm(request.body);
        const language = readLanguage(form);
        const from = form.optional('source_language', text(40)) ?? 'en';
        const sample = form.required('text', text(5_000));
        const of = form.optional('of', oneOf('draft', 'published')) ?? 'draft';
        form.done();
        const kept = await readKept(database, ref, externalId);
        const brand =
          of === 'published' ? kept.published?.brand : (kept.draft?.brand ?? kept.published?.brand);
        if (brand === undefined) throw notFound();
        return preview(brand, from, language, sample);
      },
    },
  });

  resource(app, `${base}/:brand/export`, {
    // A file, and none of the described interface.
    async GET(request, reply) {
      const { ref, externalId } = await requested(request);
      const form = readForm(request.query);
      const format = form.required('format', oneOf('json', 'csv', 'tbx'));
      const language = form.optional('language', text(40));
      if (format !== 'json' && language === undefined) form.complain('language', 'This field is required.');
      const from = form.optional('from', text(40)) ?? 'und';
      form.done();
      const { published, draft } = await readKept(database, ref, externalId);
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
  });
}

/** What is wrong with a brand, as fields of a form can show it. */
async function named<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof BrandError)) throw error;
    const lines = error.faults.length > 0 ? error.faults : [error.message];
    const form = readForm({});
    for (const line of lines) {
      const [, where = 'brand', reason = line] = /^([\w.[\]-]+): (.*)$/s.exec(line) ?? [];
      // Of a term, the fault says which of its fields is wrong.
      const [, field, wrong] = (where.includes('.glossary[') && /^(\w+): (.*)$/s.exec(reason)) || [];
      form.complain(field ?? where, wrong ?? reason);
    }
    form.done();
    throw error;
  }
}

function readLanguage(form: ReturnType<typeof readForm>): string {
  const language = toLanguage(form.required('language', text(40)) ?? '');
  if (language === undefined) {
    form.complain('language', 'must be the shortname of a language, such as es or pt-br.');
  }
  return language ?? '';
}

function readChange(body: unknown): { revision: number; change(brand: BrandFile): BrandFile } {
  const form = readForm(body);
  const revision = form.required('revision', integer(0, 2 ** 31 - 1));
  const name = form.optional('name', text(200));
  const isDefault = form.optional('default', flag);
  const fallback = form.optional('fallback', oneOf('wait', 'machine'));
  const languages = new Map<string, Partial<BrandLanguage> | undefined>();
  const given = (body as { languages?: unknown }).languages;
  if (typeof given === 'object' && given !== null) {
    for (const [written, settings] of Object.entries(given)) {
      const language = toLanguage(written);
      if (language === undefined) {
        form.complain('language', 'must be the shortname of a language, such as es or pt-br.');
        continue;
      }
      if (settings === null) {
        languages.set(language, undefined);
        continue;
      }
      const inner = readForm(settings);
      const tone = inner.optional('tone', oneOf(...TONE_NAMES));
      const instructions = inner.optional('instructions', text(10_000, 0));
      try {
        inner.done();
      } catch (error) {
        const { fields } = (error as ApiError).more as { fields?: Record<string, string> };
        for (const [field, reason] of Object.entries(fields ?? {})) form.complain(field, reason);
      }
      languages.set(language, {
        ...(inner.has('tone') ? { tone } : {}),
        ...(inner.has('instructions') ? { instructions: instructions || undefined } : {}),
      });
    }
  }
  form.done();
  return {
    revision,
    change(brand) {
      const after = new Map(brand.languages);
      for (const [language, settings] of languages) {
        const before = after.get(language) ?? { tone: undefined, instructions: undefined, terms: [] };
        if (settings === undefined) after.delete(language);
        else after.set(language, { ...before, ...settings });
      }
      const { fallback: before, ...rest } = brand;
      const machine = (fallback ?? before) === 'machine';
      return {
        ...rest,
        ...(machine ? { fallback: 'machine' } : {}),
        name: name ?? brand.name,
        default: isDefault ?? brand.default,
        languages: after,
      };
    },
  };
}

function readTerm(given: unknown): Term {
  const form = readForm(given);
  const note = form.optional('note', text(MAX_NOTE_CHARACTERS, 0));
  const term = {
    source: form.optional('source', text(MAX_TERM_CHARACTERS, 0)) ?? '',
    target: form.optional('target', text(MAX_TERM_CHARACTERS, 0)) ?? '',
    caseSensitive: form.optional('case_sensitive', flag) ?? false,
    forbidden: form.optional('forbidden', flag) ?? false,
    doNotTranslate: form.optional('do_not_translate', flag) ?? false,
    ...(note === undefined || note === '' ? {} : { note }),
  };
  try {
    form.done();
  } catch (error) {
    throw new Error(`right: ${(error as Error).message.replace(/\.$/, '')}`);
  }
  return term;
}

function readKey(given: unknown): { source: string; target: string } {
  const { source, target } = readTerm(given);
  return { source, target };
}

function readPut(given: unknown): { was: { source: string; target: string } | undefined; term: Term } {
  const was = (given as { was?: unknown } | null)?.was;
  return { was: was === undefined || was === null ? undefined : readKey(was), term: readTerm(given) };
}

const shown = (term: Term) => presentTerm(term) as Static<typeof TermBody>;

function listTerms(
  { published, draft }: KeptBrand,
  language: string,
  { q, offset, limit }: { q: string | undefined; offset: number; limit: number },
): Static<typeof TermList> {
  const before = published?.brand.languages.get(language)?.terms ?? [];
  const after = draft === undefined ? before : (draft.brand.languages.get(language)?.terms ?? []);
  const old = new Map(before.map((term) => [keyOf(term), term]));
  const kept = new Set(after.map(keyOf));
  const bySource = Map.groupBy(
    after.filter(({ forbidden }) => !forbidden),
    ({ source }) => source.toLowerCase(),
  );
  const matches = ({ source, target, note = '' }: Term) =>
    q === undefined || [source, target, note].some((one) => one.toLowerCase().includes(q));
  const found = after.filter(matches);
  return {
    terms: found.slice(offset, offset + limit).map((term) => {
      const was = old.get(keyOf(term));
      return {
        ...shown(term),
        change: was === undefined ? 'added' : sameTerm(was, term) ? 'unchanged' : 'changed',
        alternatives: bySource.get(term.source.toLowerCase())?.length ?? 0,
      };
    }),
    removed: before
      .filter((term) => !kept.has(keyOf(term)) && matches(term))
      .slice(0, MAX_SHOWN_TERMS)
      .map(shown),
    total: found.length,
  };
}

async function importTerms(
  database: Database,
  account: AccountRef,
  externalId: string,
  request: FastifyRequest,
): Promise<Static<typeof Imported>> {
  const form = readForm(request.body);
  const revision = form.required('revision', integer(0, 2 ** 31 - 1));
  const language = readLanguage(form);
  const from = form.optional('from', text(40));
  const file = form.optional('file', text(200)) ?? 'file';
  const mode = form.required('mode', oneOf('replace', 'merge'));
  const dryRun = form.required('dry_run', flag);
  const written = (request.body as { text?: unknown }).text;
  if (typeof written !== 'string' || written.trim() === '') form.complain('text', 'This field is required.');
  else if (written.length > MAX_FILE_CHARACTERS)
    form.complain('text', 'is longer than 8 million characters.');
  form.done();

  const nothing = { added: 0, changed: 0, removed: 0, unchanged: 0 };
  let read: { terms: Term[]; skipped: number };
  try {
    read = /^\s*</.test(written as string)
      ? readTbx(file, written as string, language, from)
      : { terms: readCsv(file, written as string), skipped: 0 };
  } catch (error) {
    if (!(error instanceof BrandError)) throw error;
    const lines = error.faults.length > 0 ? error.faults : [error.message];
    if (!dryRun) throw fieldError('text', `${lines[0]}`);
    const errors = lines.slice(0, MAX_SHOWN_ERRORS).map((line) => {
      const [, where = '', reason = line] = /^(line \d+): (.*)$/s.exec(line.replace(`${file}: `, '')) ?? [];
      return { where, reason };
    });
    return {
      ...{ dry_run: true, errors, more_errors: lines.length - errors.length, skipped: 0 },
      ...{ added: [], changed: [], removed: [], counts: nothing },
    };
  }

  const kept = await readKept(database, account, externalId);
  const brand = kept.draft?.brand ?? kept.published!.brand;
  const before = brand.languages.get(language)?.terms ?? [];
  const after = mode === 'merge' ? mergeTerms(before, read.terms) : read.terms;
  const change = (one: BrandFile) => withTerms(one, language, () => after);
  if (!dryRun) {
    const by = request.person.name;
    await named(() => changeDraft(database, account, { externalId, revision, by }, change));
  }
  const old = new Map(before.map((term) => [keyOf(term), term]));
  const there = new Set(after.map(keyOf));
  const added = after.filter((term) => !old.has(keyOf(term)));
  const changed = after.filter((term) => old.has(keyOf(term)) && !sameTerm(old.get(keyOf(term))!, term));
  const removed = before.filter((term) => !there.has(keyOf(term)));
  const some = (terms: readonly Term[]) => terms.slice(0, MAX_SHOWN_TERMS).map(shown);
  return {
    ...{ dry_run: dryRun, errors: [], more_errors: 0, skipped: read.skipped },
    ...{ added: some(added), changed: some(changed), removed: some(removed) },
    counts: {
      added: added.length,
      changed: changed.length,
      removed: removed.length,
      unchanged: after.length - added.length - changed.length,
    },
  };
}

/** The settings of the nearest language, as whoever translates gets them, and what is marked in a text. */
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
        .map(shown),
    })),
  };
}

function presentFields(brand: Brand, isDefault: boolean) {
  return {
    name: brand.name,
    default: isDefault,
    fallback: brand.fallback ?? ('wait' as const),
    languages: [...brand.languages]
      .map(([language, { tone, instructions, terms }]) => ({
        language,
        tone: tone ?? null,
        instructions: instructions ?? null,
        terms: terms.length,
      }))
      .sort((a, b) => (a.language < b.language ? -1 : 1)),
  };
}

function present(externalId: string, kept: KeptBrand): Static<typeof BrandBody> {
  const { published, draft } = kept;
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
            stale: isStale(kept),
            changed_at: draft.changedAt.toISOString(),
            changed_by: draft.changedBy,
            changes: countChanges(pendingChanges(kept)!),
          },
  };
}

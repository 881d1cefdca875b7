/** The operations of glossaries: `…/brands/:brand/terms` and others. Only operators may call them. */
import { glossary } from '@dragoman/checks';
import type { Term } from '@dragoman/engines';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Static } from 'typebox';
import { type Audience, share } from '../access/audiences.ts';
import type { AccountRef } from '../base/account.ts';
import { fieldError, notFound, reason } from '../base/errors.ts';
import type { Database } from '../database/database.ts';
import { type Brand, BrandError, type BrandFile, languagesFor, toBrandFile, toLanguage } from './brand.ts';
import {
  type BrandBody,
  exportSchema,
  type GivenTerm,
  type Import,
  type Imported,
  type PreviewBody,
  brandSchemas as schemas,
  type TermBody,
  type TermList,
} from './brand-schemas.ts';
import { readCsv, writeCsv } from './csv.ts';
import {
  type BrandWithDraft,
  changeDraft,
  editTerms,
  mergeTerms,
  readBrandWithDraft,
  withTerms,
} from './drafts.ts';
import { withFieldErrors } from './field-errors.ts';
import { readTbx, writeTbx } from './tbx.ts';
import { presentTerm, sameTerm, termKey } from './terms.ts';

const MAX_SHOWN_ERRORS = 200;
const MAX_SHOWN_TERMS = 100;
const who = { operator: true } as const;

/** @param read returns a brand with its draft */
export function glossaryRoutes(
  app: FastifyInstance,
  database: Database,
  audience: Audience,
  read: (account: AccountRef, brand: string) => Promise<Static<typeof BrandBody>>,
): void {
  share(app, database, audience, '/brands/:brand/terms', {
    GET: {
      who,
      schema: schemas.terms,
      async handler({ params, query: { language, q, ...page } }, { account }) {
        const versions = await readBrandWithDraft(database, account, params.brand);
        return listTerms(versions, language, { q: q?.toLowerCase(), ...page });
      },
    },
    POST: {
      who,
      schema: schemas.edit,
      bodyLimit: 'texts',
      async handler({ person, params: { brand: externalId }, body }, { account }) {
        const { revision, put = [], remove = [] } = body;
        const language = toLanguage(body.language)!;
        const edits = {
          put: put.map((term) => ({
            was: term.was == null ? undefined : keyIn(term.was),
            term: termOf(term),
          })),
          remove: remove.map(keyIn),
        };
        const detail = { language, put: edits.put.length, removed: edits.remove.length };
        await withFieldErrors(() =>
          changeDraft(database, account, { externalId, revision, by: person, detail }, (brand) =>
            withTerms(brand, language, (terms) => editTerms(terms, edits)),
          ),
        );
        return read(account, externalId);
      },
    },
  });
  glossaryFiles(app, database, audience);
}

/** Registers the routes that import, export and preview terms. */
function glossaryFiles(app: FastifyInstance, database: Database, audience: Audience): void {
  share(app, database, audience, '/brands/:brand/import', {
    POST: {
      who,
      schema: schemas.import,
      bodyLimit: 'texts',
      async handler({ person, params, body }, { account }) {
        return importTerms(database, account, { externalId: params.brand, by: person }, body);
      },
    },
  });

  share(app, database, audience, '/brands/:brand/preview', {
    POST: {
      who,
      schema: schemas.preview,
      bodyLimit: 'texts',
      async handler({ params, body }, { account }) {
        const { source_language: from, text: sample, of } = body;
        const language = toLanguage(body.language)!;
        const versions = await readBrandWithDraft(database, account, params.brand);
        const brand =
          of === 'published'
            ? versions.published?.brand
            : (versions.draft?.brand ?? versions.published?.brand);
        if (brand === undefined) throw notFound();
        return preview(brand, from ?? 'en', language, sample);
      },
    },
  });

  share(app, database, audience, '/brands/:brand/export', {
    GET: {
      who,
      schema: exportSchema,
      async handler({ params: { brand: externalId }, query }, { account }, reply) {
        const { format, language, from } = query;
        if (format !== 'json' && language === undefined) throw fieldError('language', reason('required'));
        const { published, draft } = await readBrandWithDraft(database, account, externalId);
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

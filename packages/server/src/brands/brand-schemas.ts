/** Schemas of brands, glossaries and proposed terms. */
import type { FastifySchema } from 'fastify';
import Type, { type Static } from 'typebox';
import { only } from '../access/audiences.ts';
import { defineFormat } from '../http/input.ts';
import { describing, emptyAnswer, ID, MOMENT, OPTIONAL_TEXT, PAGE, textOf } from '../http/schemas.ts';
import { toLanguage } from './brand.ts';
import { MAX_NOTE_CHARACTERS, MAX_TERM_CHARACTERS } from './terms.ts';
import { TONE_NAMES } from './tones.ts';

const described = describing('Brands');

const TERM = {
  source: Type.String(),
  target: Type.Optional(Type.String()),
  case_sensitive: Type.Optional(Type.Boolean()),
  forbidden: Type.Optional(Type.Boolean()),
  do_not_translate: Type.Optional(Type.Boolean()),
  note: Type.Optional(Type.String()),
};
export const TermBody = Type.Object(TERM, { title: 'BrandTerm' });
/** The language of a glossary in any spelling that `toLanguage` accepts. */
const GLOSSARY_LANGUAGE = Type.String({
  format: defineFormat('glossary-language', (written) =>
    toLanguage(written) === undefined
      ? 'must be the shortname of a language, such as es or pt-br.'
      : undefined,
  ),
});
const TERM_TEXT = textOf(MAX_TERM_CHARACTERS, 0);
const TermKey = Type.Object({ source: TERM_TEXT, target: Type.Optional(TERM_TEXT) });
const MAX_TERMS = 500;
const GivenTerm = Type.Object({
  ...TermKey.properties,
  case_sensitive: Type.Optional(Type.Boolean()),
  forbidden: Type.Optional(Type.Boolean()),
  do_not_translate: Type.Optional(Type.Boolean()),
  note: Type.Optional(textOf(MAX_NOTE_CHARACTERS, 0)),
  was: Type.Optional(Type.Union([TermKey, Type.Null()])),
});
export type GivenTerm = Static<typeof GivenTerm>;
const LanguageChange = Type.Object({
  tone: Type.Optional(Type.Union([Type.Enum([...TONE_NAMES]), Type.Null()])),
  instructions: Type.Optional(Type.Union([textOf(10_000, 0), Type.Null()])),
});

const Language = Type.Object(
  { language: Type.String(), tone: OPTIONAL_TEXT, instructions: OPTIONAL_TEXT, terms: Type.Integer() },
  { title: 'ConsoleBrandLanguage' },
);
export const PROTECT = Type.Array(Type.String(), {
  description: 'Regular expressions in the syntax of RE2. What they match in a text is not translated.',
});
const BrandFields = {
  name: Type.String(),
  default: Type.Boolean(),
  fallback: Type.Enum(['wait', 'machine'], {
    description: 'The result of a human job that no editor finished before its deadline.',
  }),
  votes: Type.Enum(['off', 'draft', 'confirm'], {
    description:
      'What a confirmed text does to waiting segments with the same source: nothing, a draft, or also a ' +
      'confirmation once editors agree.',
  }),
  protect: PROTECT,
  languages: Type.Array(Language),
};
const Changes = Type.Object(
  {
    change: Type.Enum(['added', 'changed', 'unchanged']),
    name: Type.Boolean(),
    fallback: Type.Boolean(),
    votes: Type.Boolean(),
    protect: Type.Boolean(),
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
export const BrandBody = Type.Object(
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
          stale: Type.Boolean({
            description: 'Whether the brand was published in another way since the draft was started.',
          }),
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
    objects: Type.Array(
      Type.Object(
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
              instructions: Type.Boolean({
                description: 'Whether the brand has instructions for this language.',
              }),
              terms: Type.Integer(),
            }),
          ),
          proposals: Type.Integer({
            description: 'How many terms editors have proposed that wait for a decision.',
          }),
          draft: only(Type.Boolean(), 'operator'),
        },
        { title: 'Brand' },
      ),
    ),
  },
  { title: 'Brands' },
);
export const TermList = Type.Object(
  {
    terms: Type.Array(
      Type.Object({
        ...TERM,
        change: Type.Enum(['added', 'changed', 'unchanged'], {
          description: 'The difference from the published glossary.',
        }),
        alternatives: Type.Integer({ description: 'The number of translations of the same source.' }),
      }),
    ),
    removed: Type.Array(TermBody, { description: 'Published terms that the draft does not contain.' }),
    total: Type.Integer(),
  },
  { title: 'ConsoleTerms' },
);
export const Imported = Type.Object(
  {
    dry_run: Type.Boolean(),
    errors: Type.Array(Type.Object({ where: Type.String(), reason: Type.String() }), {
      description: 'The faults of the file with their lines. A file with a fault is not imported.',
    }),
    more_errors: Type.Integer(),
    skipped: Type.Integer({ description: 'The number of concepts without terms in both languages.' }),
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
  { title: 'ConsoleImport', description: 'Each list has at most 100 terms.' },
);
export const PreviewBody = Type.Object(
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

export const ProtectedBody = Type.Object(
  {
    parts: Type.Array(Type.Object({ start: Type.Integer(), end: Type.Integer() }), {
      description: 'What is not translated, in UTF-16 offsets. It contains what every brand protects.',
    }),
  },
  { title: 'ConsoleProtected' },
);

const OwnBrandDetail = Type.Object(
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
          terms: Type.Array(TermBody),
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
export const MAX_LISTED = 200;
export const OwnProposals = Type.Object(
  { objects: Type.Array(OwnProposal, { description: `The oldest ${MAX_LISTED}, oldest first.` }) },
  { title: 'OwnProposals' },
);

const params = Type.Object({ brand: Type.String() });
const REVISION = Type.Integer({
  minimum: 0,
  maximum: 2 ** 31 - 1,
  description: 'The revision of the draft to which the change applies; 0 if there is no draft.',
});
const MAX_FILE_CHARACTERS = 8 * 1024 * 1024;

const OPTIONAL_LANGUAGE = Type.Union([textOf(40), Type.Null()]);
const DraftChange = Type.Object({
  revision: REVISION,
  name: Type.Optional(textOf(200)),
  default: Type.Optional(Type.Boolean()),
  fallback: Type.Optional(Type.Enum(['wait', 'machine'])),
  votes: Type.Optional(Type.Enum(['off', 'draft', 'confirm'])),
  protect: Type.Optional(PROTECT),
  languages: Type.Optional(
    Type.Record(Type.String(), Type.Union([LanguageChange, Type.Null()]), {
      description: 'Changes by language; null removes the language with its glossary.',
    }),
  ),
});
export type DraftChangeBody = Static<typeof DraftChange>;
const Import = Type.Object({
  revision: REVISION,
  language: GLOSSARY_LANGUAGE,
  from: Type.Optional(OPTIONAL_LANGUAGE),
  file: Type.String({
    minLength: 1,
    maxLength: 200,
    'x-trim': true,
    default: 'file',
    description: 'The name of the file, for the error messages.',
  }),
  text: Type.String({
    pattern: '\\S',
    maxLength: MAX_FILE_CHARACTERS,
    description: 'The content of the file, CSV or TBX.',
  }),
  mode: Type.Enum(['replace', 'merge']),
  dry_run: Type.Boolean(),
});
export type Import = Static<typeof Import>;

/** The schema of the route that exports a glossary as a file. The route is not part of the documented API. */
export const exportSchema = {
  hide: true,
  params,
  querystring: Type.Object({
    format: Type.Enum(['json', 'csv', 'tbx']),
    language: Type.Optional(textOf(40)),
    from: Type.String({ minLength: 1, maxLength: 40, default: 'und' }),
  }),
};

function deletion(operationId: string, summary: string) {
  return { operationId, summary, params, response: { 204: emptyAnswer('Deleted.') } } satisfies FastifySchema;
}

export const brandSchemas = {
  list: described('listBrands', 'List the brands of the account', BrandList),
  begin: described('beginBrand', 'Create a brand as a draft', BrandBody, {
    status: 201,
    body: Type.Object({
      external_id: textOf(128),
      name: Type.Optional(Type.Union([textOf(200), Type.Null()])),
      default: Type.Boolean({ default: false }),
    }),
  }),
  read: described('readConsoleBrand', 'Read a published brand and its draft', BrandBody, {
    params,
  }),
  remove: deletion('removeBrand', 'Remove a brand with its draft and glossaries'),
  change: described('changeBrandDraft', 'Change or start a draft', BrandBody, {
    params,
    body: DraftChange,
  }),
  discard: deletion('discardBrandDraft', 'Discard a draft'),
  publish: described('publishBrand', 'Publish a draft', BrandBody, {
    params,
    body: Type.Object({
      revision: Type.Integer({ ...REVISION, minimum: 1 }),
      anyway: Type.Boolean({
        default: false,
        description: 'Whether to publish even if the brand was published in another way meanwhile.',
      }),
    }),
  }),
  terms: described('listConsoleTerms', 'List the glossary of a brand for a language', TermList, {
    params,
    querystring: Type.Object({
      language: textOf(40),
      q: Type.Optional(textOf(200)),
      offset: Type.Integer({ minimum: 0, maximum: 1_000_000, default: 0 }),
      limit: PAGE,
    }),
  }),
  edit: described('editTerms', 'Add, change and remove terms of a draft', BrandBody, {
    params,
    body: Type.Object({
      revision: REVISION,
      language: GLOSSARY_LANGUAGE,
      put: Type.Optional(Type.Array(GivenTerm, { maxItems: MAX_TERMS })),
      remove: Type.Optional(Type.Array(TermKey, { maxItems: MAX_TERMS })),
    }),
  }),
  import: described('importTerms', 'Import the terms of a file into a draft', Imported, {
    params,
    body: Import,
  }),
  try: described('tryPatterns', 'Show what patterns protect in a text', ProtectedBody, {
    params,
    body: Type.Object({ protect: PROTECT, text: textOf(5_000) }),
  }),
  preview: described('previewBrand', 'Preview the settings and terms of a brand for a text', PreviewBody, {
    params,
    body: Type.Object({
      language: GLOSSARY_LANGUAGE,
      source_language: Type.Optional(OPTIONAL_LANGUAGE),
      text: textOf(5_000),
      of: Type.Enum(['draft', 'published'], { default: 'draft' }),
    }),
  }),
  readOwn: described('readOwnBrand', 'Read a brand with its glossaries', OwnBrandDetail, {
    params,
  }),
  proposals: described('listProposals', 'List the terms that editors propose for a brand', OwnProposals, {
    params,
  }),
  take: described('takeProposal', 'Add a proposed term to the draft of the brand', OwnProposals, {
    description:
      'The glossary has the term when an operator publishes the draft. Error `conflict`: the draft has a term that ' +
      'contradicts it. Returns the proposals that are left.',
    params: Type.Object({ proposal: ID }),
  }),
  decline: described('declineProposal', 'Decline a proposed term', OwnProposals, {
    description: 'The term does not apply any more. Returns the proposals that are left.',
    params: Type.Object({ proposal: ID }),
  }),
};

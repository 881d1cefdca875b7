/** Schemas of the memory operations, for customers and for operators. */
import type { FastifySchema } from 'fastify';
import Type, { type Static } from 'typebox';
import { describing, ID, LANGUAGE, MOMENT, OPTIONAL_TEXT, PAGE } from '../http/schemas.ts';

const MemoryEntry = Type.Object(
  {
    memory_id: ID,
    source_language: Type.String(),
    target_language: Type.String(),
    brand: Type.Union([Type.String(), Type.Null()], { description: 'null: for all brands.' }),
    source: Type.String(),
    target: Type.String(),
    origin: Type.Enum(['import', 'job']),
    weight: Type.Integer({
      minimum: 0,
      maximum: 4,
      description: '0: not used; 1: imported; 2: delivered; 3: reviewed; 4: accepted.',
    }),
    tone: Type.Union([Type.String(), Type.Null()], {
      description: 'The tone of its job or brand. Jobs of another tone do not use the entry as a draft.',
    }),
    created_at: MOMENT,
    changed_at: MOMENT,
    withdrawn: Type.Union([
      Type.Object({ at: MOMENT, by: Type.String(), reason: OPTIONAL_TEXT }),
      Type.Null(),
    ]),
  },
  { title: 'MemoryEntry', description: 'One translation of one segment, without codes.' },
);
/** A memory entry as customers and operators see it. */
export type Entry = Static<typeof MemoryEntry>;

const Entries = Type.Object(
  {
    entries: Type.Array(MemoryEntry, { description: 'Latest first.' }),
    next: Type.Union([ID, Type.Null()], {
      description: 'The value of `before` for the next page; null on the last page.',
    }),
  },
  { title: 'MemoryEntries' },
);

const Summary = Type.Object(
  {
    memory: Type.Array(
      Type.Object({
        source_language: Type.String(),
        target_language: Type.String(),
        brand: OPTIONAL_TEXT,
        entries: Type.Integer(),
        withdrawn: Type.Integer({
          description: 'The number of these entries that are withdrawn or not used.',
        }),
        changed_at: MOMENT,
      }),
    ),
  },
  { title: 'MemorySummary' },
);
export type MemorySummary = Static<typeof Summary>;

const Touched = Type.Object(
  {
    entry: MemoryEntry,
    touched: Type.Array(
      Type.Object({
        job_id: ID,
        uid: Type.String(),
        environment: Type.Enum(['production', 'sandbox']),
        status: Type.String(),
        position: Type.Integer({ description: 'The number of the segment in its job, from 0.' }),
        how: Type.Enum(['taught', 'applied', 'taken'], {
          description:
            '`taught`: the entry was made from the segment. `applied`: it was used as the draft. `taken`: an editor ' +
            'confirmed it unchanged.',
        }),
        outcome: OPTIONAL_TEXT,
        editor_id: Type.Optional(Type.Union([ID, Type.Null()], { description: 'Only for operators.' })),
        created_at: MOMENT,
      }),
      { description: 'Latest first, at most 1,000.' },
    ),
  },
  { title: 'MemoryEntryTouched' },
);

const Imported = Type.Object(
  {
    read: Type.Integer({ description: 'The number of units in the file.' }),
    written: Type.Integer({
      description: 'The number of different entries that were imported, or would be in a dry run.',
    }),
    skipped: Type.Integer({ description: 'The number of units without the language pair.' }),
  },
  { title: 'MemoryImported' },
);

const filter = {
  from: Type.Optional(LANGUAGE),
  to: Type.Optional(LANGUAGE),
  brand: Type.Optional(Type.String()),
};

const described = describing('Memory');
const one = Type.Object({ memory_id: ID });
export const memorySchemas = {
  search: described('searchMemory', 'Search entries by words of their source or target', Entries, {
    querystring: Type.Object({
      q: Type.Optional(
        Type.String({
          maxLength: 500,
          description: 'Words in any case and order; all must match. Without it, all entries.',
        }),
      ),
      ...filter,
      state: Type.Enum(['live', 'withdrawn', 'all'], { default: 'live' }),
      before: Type.Optional(Type.String({ format: 'uuid', 'x-fault': 'must be the `next` of a page.' })),
      limit: PAGE,
    }),
  }),
  summarize: described('summarizeMemory', 'Count entries by language pair and brand', Summary),
  read: described('readMemory', 'Read an entry and where it was made and used', Touched, { params: one }),
  withdraw: described('withdrawMemory', 'Withdraw an entry, so that it is not used any more', Touched, {
    description: 'The response lists the jobs that made or used it; they are not changed.',
    params: one,
    body: Type.Object({ reason: Type.Optional(Type.String({ maxLength: 500 })) }),
  }),
  restore: described('restoreMemory', 'Restore a withdrawn entry', Touched, { params: one }),
  import: described('importMemory', 'Import a TMX file', Imported, {
    body: Type.Object({
      from: LANGUAGE,
      to: LANGUAGE,
      brand: Type.Optional(Type.String()),
      dry_run: Type.Boolean({ default: false, description: 'Read the file and count, but write nothing.' }),
      tmx: Type.String({ description: 'The text of the file, TMX 1.4.' }),
    }),
  }),
  export: {
    operationId: 'exportMemory',
    summary: 'Export the usable entries as TMX 1.4',
    querystring: Type.Object(filter),
    response: {
      200: {
        description: 'The file, as a stream.',
        content: { 'application/xml': { schema: Type.String() } },
      },
    },
  } satisfies FastifySchema,
};

/** The memory, described for the web app: for customers theirs, for operators anybody's. */
import type { FastifySchema } from 'fastify';
import Type, { type TObject, type TSchema } from 'typebox';
import { answer } from '../schemas.ts';

const ID = Type.String({ format: 'uuid' });
const MOMENT = Type.String({ format: 'date-time' });
const OPTIONAL = Type.Union([Type.String(), Type.Null()]);

export const MemoryEntry = Type.Object(
  {
    memory_id: ID,
    source_language: Type.String(),
    target_language: Type.String(),
    brand: Type.Union([Type.String(), Type.Null()], { description: 'null: for every brand.' }),
    source: Type.String(),
    target: Type.String(),
    origin: Type.Enum(['import', 'job']),
    weight: Type.Integer({
      minimum: 0,
      maximum: 4,
      description: '0: not used any more; 1 brought in, 2 delivered, 3 reviewed, 4 accepted.',
    }),
    tone: Type.Union([Type.String(), Type.Null()], {
      description:
        'The tone that its job or its brand asked for: a job that asks for another is not answered with it.',
    }),
    created_at: MOMENT,
    changed_at: MOMENT,
    retracted: Type.Union([Type.Object({ at: MOMENT, by: Type.String(), reason: OPTIONAL }), Type.Null()]),
  },
  { title: 'MemoryEntry', description: 'One translation of one segment, as a reader sees it.' },
);

const Entries = Type.Object(
  {
    entries: Type.Array(MemoryEntry, { description: 'The last made first.' }),
    next: Type.Union([ID, Type.Null()], { description: '`before` of the next page; null at the end.' }),
  },
  { title: 'MemoryEntries' },
);

const Summary = Type.Object(
  {
    memory: Type.Array(
      Type.Object({
        source_language: Type.String(),
        target_language: Type.String(),
        brand: OPTIONAL,
        entries: Type.Integer(),
        retracted: Type.Integer({ description: 'Of them, those that are not used any more.' }),
        changed_at: MOMENT,
      }),
    ),
  },
  { title: 'MemorySummary' },
);

const Touched = Type.Object(
  {
    entry: MemoryEntry,
    touched: Type.Array(
      Type.Object({
        job_id: ID,
        uid: Type.String(),
        environment: Type.Enum(['production', 'sandbox']),
        status: Type.String(),
        position: Type.Integer({ description: 'Of the segment in its job, from 0.' }),
        how: Type.Enum(['taught', 'applied', 'taken'], {
          description:
            'The entry came from there; or went there: put into the draft by the machine, or confirmed by an editor as it was.',
        }),
        outcome: OPTIONAL,
        editor_id: Type.Optional(Type.Union([ID, Type.Null()], { description: 'For operators.' })),
        created_at: MOMENT,
      }),
      { description: 'The last first, at most 1000.' },
    ),
  },
  { title: 'MemoryEntryTouched' },
);

const Imported = Type.Object(
  {
    read: Type.Integer({ description: 'Units in the file.' }),
    written: Type.Integer({ description: 'Different entries that were brought in, or would be.' }),
    skipped: Type.Integer({ description: 'Units without the pair.' }),
  },
  { title: 'MemoryImported' },
);

const filter = {
  from: Type.Optional(Type.String({ description: 'Source language.' })),
  to: Type.Optional(Type.String({ description: 'Target language.' })),
  brand: Type.Optional(Type.String()),
};

/** @param whose `My` for a customer’s own, `Account` for an operator’s */
export function memorySchemas(whose: 'My' | 'Account', params: TObject | undefined) {
  const tags = [whose === 'My' ? 'Account' : 'Console'];
  const described = (
    name: string,
    summary: string,
    response: TSchema,
    more: { description?: string; querystring?: TObject; body?: TSchema; params?: TObject } = {},
  ): FastifySchema => ({
    operationId: `${name}${whose}Memory`,
    summary,
    tags,
    ...(params === undefined ? {} : { params }),
    ...more,
    response: { 200: answer(summary, response) },
  });
  const one = Type.Object({ ...params?.properties, memory_id: Type.String() });
  return {
    search: described('search', 'Entries that have all the words in their source or target', Entries, {
      querystring: Type.Object({
        q: Type.Optional(Type.String({ description: 'Words in any case and order; without them, all.' })),
        ...filter,
        state: Type.Optional(Type.Enum(['live', 'retracted', 'all'], { default: 'live' })),
        before: Type.Optional(Type.String()),
        limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 200, default: 50 })),
      }),
    }),
    summarize: described('summarize', 'How much there is, by pair and brand', Summary),
    read: described('read', 'An entry, where it came from and where it went', Touched, { params: one }),
    retract: described('retract', 'Take an entry back: it is used no more', Touched, {
      description: 'The answer lists the jobs that it touched; they stay as they are.',
      params: one,
      body: Type.Object(
        { reason: Type.Optional(Type.String({ maxLength: 500 })) },
        { additionalProperties: true },
      ),
    }),
    restore: described('restore', 'Use an entry again', Touched, { params: one }),
    import: described('import', 'Bring a TMX file in', Imported, {
      body: Type.Object(
        {
          from: Type.String(),
          to: Type.String(),
          brand: Type.Optional(Type.String()),
          dry_run: Type.Optional(Type.Boolean({ description: 'Read it and tell; write nothing.' })),
          tmx: Type.String({ description: 'The text of the file, TMX 1.4.' }),
        },
        { additionalProperties: true },
      ),
    }),
    export: {
      operationId: `export${whose}Memory`,
      summary: 'What is in use, as TMX 1.4',
      tags,
      ...(params === undefined ? {} : { params }),
      querystring: Type.Object(filter),
      response: {
        200: {
          description: 'A file, as a stream.',
          content: { 'application/xml': { schema: Type.String() } },
        },
      },
    } as FastifySchema,
  };
}

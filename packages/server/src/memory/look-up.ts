/** The route `/api/v1/memory/`, with which customers' programs search the translation memory. */
import type { FastifyInstance, FastifySchema } from 'fastify';
import Type from 'typebox';
import type { Database } from '../database/database.ts';
import { resource } from '../http/http.ts';
import { answer, errorResponses, ID, LANGUAGE, MOMENT, PAGE } from '../http/schemas.ts';
import { searchMemory } from './entries.ts';

const Entry = Type.Object(
  {
    id: ID,
    source_language: Type.String(),
    target_language: Type.String(),
    source: Type.String(),
    target: Type.String(),
    brand: Type.Optional(Type.String({ description: 'Absent if the entry is for all brands.' })),
    tone: Type.Optional(Type.String({ description: 'The tone of the job that the entry comes from.' })),
    changed_at: MOMENT,
  },
  { title: 'MemoryEntry', description: 'One translation of one segment, without tags.' },
);
const EXAMPLE_ID = '0197a5b0-0000-7000-8000-000000000001';

const searchSchema = {
  operationId: 'searchMemory',
  summary: 'Search the translation memory',
  description:
    'Finds entries by words of their source or target, latest first. Withdrawn entries are left out. ' +
    'The sandbox has no entries.',
  tags: ['Context'],
  querystring: Type.Object({
    q: Type.Optional(
      Type.String({
        maxLength: 500,
        description:
          'Words in any letter case and order; an entry must have all of them. Without it, all entries.',
      }),
    ),
    source_language: Type.Optional(LANGUAGE),
    target_language: Type.Optional(LANGUAGE),
    brand: Type.Optional(Type.String({ description: 'Only entries of this brand.' })),
    after: Type.Optional(Type.String({ format: 'uuid', description: 'The `next` of the previous page.' })),
    limit: PAGE,
  }),
  response: {
    200: answer(
      'A page of entries.',
      Type.Object(
        {
          objects: Type.Array(Entry),
          next: Type.Union([ID, Type.Null()], {
            description: 'The value of `after` for the next page; null at the end.',
          }),
        },
        { title: 'MemoryEntryList' },
      ),
      {
        objects: [
          {
            id: EXAMPLE_ID,
            source_language: 'en',
            target_language: 'es',
            source: 'The house is big.',
            target: 'La casa es grande.',
            changed_at: '2027-01-31T12:00:00.000Z',
          },
        ],
        next: null,
      },
    ),
    ...errorResponses('invalid_request'),
  },
} satisfies FastifySchema;

export function memoryLookUpRoutes(app: FastifyInstance, { database }: { database: Database }): void {
  resource(app, '/api/v1/memory/', {
    GET: {
      schema: searchSchema,
      scope: 'machine',
      emptyIsAbsent: true,
      async handler({ caller, query }) {
        // All entries belong to production, so other environments have none.
        if (caller.environment !== 'production') return { objects: [], next: null };
        const { source_language: from, target_language: to, after: before, ...rest } = query;
        const found = await searchMemory(database, caller.account, { ...rest, from, to, before });
        const objects = found.map((entry) => ({
          id: entry.memory_id,
          source_language: entry.source_language,
          target_language: entry.target_language,
          source: entry.source,
          target: entry.target,
          brand: entry.brand,
          tone: entry.tone,
          changed_at: entry.changed_at,
        }));
        return { objects, next: found.length < query.limit ? null : found.at(-1)!.memory_id };
      },
    },
  });
}

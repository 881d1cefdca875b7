/** Schemas of the routes that list tones, topics and terms. */
import type { FastifySchema } from 'fastify';
import Type, { type TSchema } from 'typebox';
import { answer, errorResponses, LANGUAGE } from '../http/schemas.ts';
import { TONE_NAMES, TONES, TOPIC_NAMES, TOPICS } from './tones.ts';

const Tone = Type.Object(
  {
    tone: Type.Object({
      name: Type.String({ description: 'The value of `tone` in a request.', examples: [...TONE_NAMES] }),
      description: Type.String({ description: 'The meaning of the value, in a sentence.' }),
    }),
  },
  { title: 'Tone' },
);

const Topic = Type.Object(
  {
    topic: Type.Object({
      name: Type.String({ description: 'A value of `topics` in a request.', examples: [...TOPIC_NAMES] }),
    }),
  },
  { title: 'Topic' },
);

export const listTones: FastifySchema = {
  operationId: 'listTones',
  summary: 'List the tones',
  description: 'Lists the values of `tone` in a request.',
  tags: ['Context'],
  response: {
    200: answer('The tones.', listOf(Tone, 'Tones'), { objects: TONES.map((tone) => ({ tone })) }),
    ...errorResponses(),
  },
};

export const listTopics: FastifySchema = {
  operationId: 'listTopics',
  summary: 'List the topics',
  description: 'Lists the values of `topics` in a request.',
  tags: ['Context'],
  response: {
    200: answer('The topics.', listOf(Topic, 'Topics'), { objects: TOPICS.map((topic) => ({ topic })) }),
    ...errorResponses(),
  },
};

const Term = Type.Object(
  {
    source: Type.String(),
    target: Type.Optional(Type.String({ description: 'Absent if the term is not translated.' })),
    case_sensitive: Type.Optional(Type.Boolean()),
    forbidden: Type.Optional(
      Type.Boolean({ description: 'Whether `target` must not be used as the translation.' }),
    ),
    do_not_translate: Type.Optional(Type.Boolean()),
    note: Type.Optional(Type.String()),
  },
  { title: 'Term' },
);

const TermList = Type.Object(
  {
    brand: Type.Optional(
      Type.String({ description: 'The external identifier of the brand; absent if there is none.' }),
    ),
    tone: Type.Optional(Type.String({ description: 'The tone of the brand for the target language.' })),
    total_count: Type.Integer({ minimum: 0, description: 'The number of terms that were found.' }),
    objects: Type.Array(Term, { description: 'The first of them.' }),
  },
  { title: 'TermList' },
);

export const listTermsSchema = {
  operationId: 'listTerms',
  summary: 'Look up terms of a glossary',
  description: 'Lists the terms of a brand that apply to a target language, and the tone of the brand.',
  tags: ['Context'],
  querystring: Type.Object({
    target_language: LANGUAGE,
    brand: Type.Optional(
      Type.String({
        description: 'The external identifier of a brand; the account’s default brand when absent.',
      }),
    ),
    q: Type.Optional(
      Type.String({
        maxLength: 500,
        description: 'A part of the source or the target, in any letter case. Without it, all terms.',
      }),
    ),
    limit: Type.Integer({
      minimum: 1,
      maximum: 1000,
      default: 100,
      description: 'The maximum number of terms.',
    }),
  }),
  response: {
    200: answer('The terms.', TermList, {
      brand: 'shop',
      tone: 'Formal',
      total_count: 1,
      objects: [{ source: 'shopping cart', target: 'carrito' }],
    }),
    ...errorResponses('invalid_request'),
  },
} satisfies FastifySchema;

function listOf(item: TSchema, title: string): TSchema {
  return Type.Object({ objects: Type.Array(item) }, { title });
}

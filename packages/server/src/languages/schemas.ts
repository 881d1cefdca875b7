/** Schemas of the list of language pairs. */
import type { FastifySchema } from 'fastify';
import Type from 'typebox';
import { answer, errorResponses } from '../http/schemas.ts';

const Language = Type.Object(
  {
    name: Type.String({ description: 'The English name.', examples: ['Portuguese (Brazil)'] }),
    shortname: Type.String({
      description: 'The code for `source_language` and `target_language` of a job.',
      examples: ['pt-br'],
    }),
  },
  { title: 'Language' },
);

export const LANGUAGE_PAIR = Type.Object(
  { lang_pair: Type.Object({ source_language: Language, target_language: Language }) },
  { title: 'LanguagePair' },
);

export const listPairsSchema: FastifySchema = {
  operationId: 'listLanguagePairs',
  summary: 'List the offered language pairs',
  description:
    'Sorted by source and target. The list changes when engines change or an operator disables a pair.',
  tags: ['Languages'],
  response: {
    200: answer(
      'The pairs.',
      Type.Object({ objects: Type.Array(LANGUAGE_PAIR) }, { title: 'LanguagePairs' }),
      {
        objects: [
          {
            lang_pair: {
              source_language: { name: 'English', shortname: 'en' },
              target_language: { name: 'Spanish', shortname: 'es' },
            },
          },
        ],
      },
    ),
    ...errorResponses(),
  },
};

/** The list of language pairs, described. */
import type { FastifySchema } from 'fastify';
import Type from 'typebox';
import { answer, errorResponses } from '../schemas.ts';

const Language = Type.Object(
  {
    name: Type.String({ description: 'In English.', examples: ['Portuguese (Brazil)'] }),
    shortname: Type.String({
      description: 'What `source_language` and `target_language` of a job take.',
      examples: ['pt-br'],
    }),
  },
  { title: 'Language' },
);

export const LanguagePair = Type.Object(
  { lang_pair: Type.Object({ source_language: Language, target_language: Language }) },
  { title: 'LanguagePair' },
);

export const listPairsSchema: FastifySchema = {
  operationId: 'listLanguagePairs',
  summary: 'List the language pairs that jobs can have',
  description: 'Sorted by source and target; each once. It changes when an engine or an operator changes it.',
  tags: ['Languages'],
  response: {
    200: answer(
      'The pairs.',
      Type.Object({ objects: Type.Array(LanguagePair) }, { title: 'LanguagePairs' }),
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

/** Schemas of the routes that list tones and topics. */
import type { FastifySchema } from 'fastify';
import Type, { type TSchema } from 'typebox';
import { answer, errorResponses } from '../http/schemas.ts';
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

function listOf(item: TSchema, title: string): TSchema {
  return Type.Object({ objects: Type.Array(item) }, { title });
}

/** Tones and topics, described. */
import type { FastifySchema } from 'fastify';
import Type, { type TSchema } from 'typebox';
import { answer, errorResponses } from '../schemas.ts';
import { TONE_NAMES, TONES, TOPIC_NAMES, TOPICS } from './tones.ts';

const Tone = Type.Object(
  {
    tone: Type.Object({
      name: Type.String({ description: 'What a request names as `tone`.', examples: [...TONE_NAMES] }),
      description: Type.String({ description: 'What it means, in a sentence.' }),
    }),
  },
  { title: 'Tone' },
);

const Topic = Type.Object(
  {
    topic: Type.Object({
      name: Type.String({ description: 'What a request names in `topics`.', examples: [...TOPIC_NAMES] }),
    }),
  },
  { title: 'Topic' },
);

export const listTones: FastifySchema = {
  operationId: 'listTones',
  summary: 'List the tones',
  description: 'What `tone` of a request may be.',
  tags: ['Context'],
  response: {
    200: answer('The tones.', listOf(Tone, 'Tones'), { objects: TONES.map((tone) => ({ tone })) }),
    ...errorResponses(),
  },
};

export const listTopics: FastifySchema = {
  operationId: 'listTopics',
  summary: 'List the topics',
  description: 'What `topics` of a request may be.',
  tags: ['Context'],
  response: {
    200: answer('The topics.', listOf(Topic, 'Topics'), { objects: TOPICS.map((topic) => ({ topic })) }),
    ...errorResponses(),
  },
};

function listOf(item: TSchema, title: string): TSchema {
  return Type.Object({ objects: Type.Array(item) }, { title });
}

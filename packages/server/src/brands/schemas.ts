/** Tones and topics, described. */
import type { FastifySchema } from 'fastify';
import Type, { type TSchema } from 'typebox';
import { TONE_NAMES, TOPIC_NAMES } from './tones.ts';

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
  response: { 200: described('The tones.', Tone) },
};

export const listTopics: FastifySchema = {
  operationId: 'listTopics',
  summary: 'List the topics',
  description: 'What `topics` of a request may be.',
  tags: ['Context'],
  response: { 200: described('The topics.', Topic) },
};

function described(description: string, item: TSchema): object {
  return {
    description,
    content: { 'application/json': { schema: Type.Object({ objects: Type.Array(item) }) } },
  };
}

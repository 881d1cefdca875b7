/** `/tapi/v2/wordcount/`: how many words a job of a text would be paid by, without creating one. */
import type { FastifyInstance, FastifySchema } from 'fastify';
import Type from 'typebox';
import { fieldError } from '../errors.ts';
import { resource } from '../http.ts';
import type { Scanner } from '../scanning/scanner.ts';
import { answer, errorResponses } from '../schemas.ts';
import { readCreateRequest, TEXT_FORMATS } from './request.ts';

const countWordsSchema: FastifySchema = {
  operationId: 'countWords',
  summary: 'Count the words that a job of a text is paid by',
  description: 'Reads the text as a create does, and refuses it as a create does. Nothing is created.',
  tags: ['Jobs'],
  body: Type.Object(
    {
      text: Type.String({ minLength: 1, examples: ['The house is big.'] }),
      text_format: Type.Optional(Type.Enum([...TEXT_FORMATS], { default: 'text' })),
      source_language: Type.Optional(
        Type.String({
          description: 'Sentences in other languages are left out as in a job; without it they are counted.',
        }),
      ),
    },
    { title: 'WordCountRequest', description: '`null` is the same as absent; unknown fields are ignored.' },
  ),
  response: {
    201: answer(
      'The count.',
      Type.Object({ word_count: Type.Integer({ minimum: 0 }) }, { title: 'WordCount' }),
      { word_count: 4 },
    ),
    ...errorResponses('invalid_request', 'read_only_key', 'too_large'),
  },
};

export function wordCountRoutes(
  app: FastifyInstance,
  { scanner, settings }: { scanner: Scanner; settings: { maxTextBytes: number } },
): void {
  resource(app, '/tapi/v2/wordcount/', {
    POST: {
      schema: countWordsSchema,
      bodyLimit: 'texts',
      async handler(request, reply) {
        const { text, textFormat, sourceLanguage } = readWordCount(request.body, settings.maxTextBytes);
        // `request.signal` aborts as soon as the body is read; the response closes with the connection.
        const client = new AbortController();
        reply.raw.once('close', () => client.abort());
        const task = { text, format: textFormat, sourceLanguage };
        const counted = await scanner.count(request.caller.account, task, client.signal);
        if (counted.kind === 'unsound') throw fieldError(counted.field, counted.sentence);
        return reply.code(201).send({ word_count: counted.words });
      },
    },
  });
}

/** What counts of a create, with the same checks; whatever else a create may carry is ignored. */
function readWordCount(body: unknown, maxTextBytes: number) {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    return readCreateRequest(body, 'machine', maxTextBytes); // refuses it
  }
  const { text, text_format, source_language } = body as Record<string, unknown>;
  const counted = { text, text_format, source_language, target_language: 'any' };
  return readCreateRequest(counted, 'machine', maxTextBytes);
}

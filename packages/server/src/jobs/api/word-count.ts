/** `/tapi/v2/wordcount/`: counts the words that a job with the text would be charged for. */
import { FORMATS } from '@dragoman/documents';
import type { FastifyInstance, FastifySchema } from 'fastify';
import Type from 'typebox';
import { fieldError, tooLarge } from '../../base/errors.ts';
import { settingsOfBrand } from '../../brands/document-settings.ts';
import type { Database } from '../../database/database.ts';
import { resource } from '../../http/http.ts';
import { answer, errorResponses, IGNORED } from '../../http/schemas.ts';
import type { Scanner } from '../../scanning/scanner.ts';

const WordCountRequest = Type.Object(
  {
    text: Type.String({ pattern: '\\S' }),
    text_format: Type.Optional(
      Type.Enum([...FORMATS], { description: 'The format of `text`; plain text when absent.' }),
    ),
    source_language: Type.Optional(
      Type.String({
        description:
          'The source language. Sentences in other languages are then not counted, as in a job. Without it they are counted.',
      }),
    ),
  },
  {
    title: 'WordCountRequest',
    description: IGNORED,
    examples: [{ text: 'The house is big.', text_format: 'text', source_language: 'en' }],
  },
);

const countWordsSchema = {
  operationId: 'countWords',
  summary: 'Count the words that a job would be charged for',
  description:
    'Checks the text like a create, with the same errors. Nothing is created. The patterns of the default brand ' +
    'apply; a quote also counts by the brand of its request.',
  tags: ['Jobs'],
  body: WordCountRequest,
  response: {
    201: answer(
      'The count.',
      Type.Object({ word_count: Type.Integer({ minimum: 0 }) }, { title: 'WordCount' }),
      { word_count: 4 },
    ),
    ...errorResponses('invalid_request', 'read_only_key', 'too_large'),
  },
} satisfies FastifySchema;

export function wordCountRoutes(
  app: FastifyInstance,
  {
    database,
    scanner,
    settings,
  }: { database: Database; scanner: Scanner; settings: { maxTextBytes: number } },
): void {
  resource(app, '/tapi/v2/wordcount/', {
    POST: {
      schema: countWordsSchema,
      scope: 'machine',
      bodyLimit: 'texts',
      emptyIsAbsent: true,
      async handler(request, reply) {
        const { text, text_format: format = 'text', source_language } = request.body;
        if (Buffer.byteLength(text) > settings.maxTextBytes) throw tooLarge('text', settings.maxTextBytes);
        // `request.signal` aborts as soon as the body is read, so it cannot show that the client has
        // disconnected. The `close` event of the response can.
        const client = new AbortController();
        reply.raw.once('close', () => client.abort());
        const { account, defaultBrand } = request.caller;
        const documentSettings = await settingsOfBrand(database, account, defaultBrand);
        const task = { text, format, sourceLanguage: source_language, settings: documentSettings };
        const counted = await scanner.count(account, task, client.signal);
        if (counted.kind === 'invalid') throw fieldError(counted.field, counted.sentence);
        return reply.code(201).send({ word_count: counted.words });
      },
    },
  });
}

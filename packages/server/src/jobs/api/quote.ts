/** `/api/v1/quote/`: what a job would cost, without creating it. */
import type { FastifyInstance, FastifySchema } from 'fastify';
import Type from 'typebox';
import { resource } from '../../http/http.ts';
import { answer, errorResponses } from '../../http/schemas.ts';
import { COUNTED, DiscountBody } from '../../ledger/price-list.ts';
import type { JobCreator } from '../create/create.ts';
import { JobRequest } from '../schemas.ts';

const PRICE = Type.Integer({ minimum: 0, description: 'Cents.' });
const Quote = Type.Object(
  {
    word_count: Type.Integer({ minimum: 0, description: 'The words that a job would be charged for.' }),
    source_language: Type.String({ description: 'The language of the request, or the detected language.' }),
    target_language: Type.String(),
    human_price: PRICE,
    machine_price: PRICE,
    discounts: Type.Array(DiscountBody, {
      description:
        'The matched words of the text, with their share of the price in both tiers; the prices contain them.',
    }),
    counted: COUNTED,
  },
  { title: 'Quote', description: 'The prices of a job in both tiers. They are not reserved.' },
);

const quoteSchema: FastifySchema = {
  operationId: 'quoteJob',
  summary: 'Find out the price of a job',
  description: 'Takes the body of a create and checks it in the same way. Nothing is created or charged.',
  tags: ['Jobs'],
  body: JobRequest,
  response: {
    200: answer('The words and the prices.', Quote, {
      word_count: 4,
      source_language: 'en',
      target_language: 'es',
      human_price: 48,
      machine_price: 0,
      discounts: [],
    }),
    ...errorResponses('invalid_request', 'read_only_key', 'too_large'),
  },
};

export function quoteRoutes(app: FastifyInstance, { creator }: { creator: JobCreator }): void {
  resource(app, '/api/v1/quote/', {
    POST: {
      schema: quoteSchema,
      scope: 'machine',
      bodyLimit: 'texts',
      unchecked: true,
      async handler({ caller, body }) {
        const { words, sourceLanguage, price, counted } = await creator.quote(caller, 'human', body);
        const { human, machine } = price;
        return {
          word_count: words,
          source_language: sourceLanguage,
          target_language: (body as { target_language: string }).target_language,
          human_price: human.cents,
          machine_price: machine.cents,
          // A tier without a price has no discounts.
          discounts: human.discounts.length > 0 ? human.discounts : machine.discounts,
          ...(counted === undefined ? {} : { counted }),
        };
      },
    },
  });
}

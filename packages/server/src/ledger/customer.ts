/**
 * The routes for the transfers of the signed-in customer's account, as JSON and CSV: `/api/account/ledger`.
 */
import type { FastifyInstance, FastifySchema } from 'fastify';
import Type from 'typebox';
import { accountOf } from '../access/session-auth.ts';
import type { Database } from '../database/database.ts';
import { resource } from '../http/http.ts';
import { CENTS, describedOwn, EditedWords, ENVIRONMENT, MOMENT, OPTIONAL_TEXT } from '../http/schemas.ts';
import { statementAsCsv } from './csv.ts';
import { joinByJob } from './entries.ts';
import { readStatement } from './ledger.ts';
import { PERIOD, periodOf } from './period.ts';
import { DiscountBody } from './price-list.ts';

/** The maximum number of entries in the JSON answer. The CSV file has all transfers. */
const MAX_SHOWN = 1000;

const Entry = Type.Object(
  {
    at: Type.String({ ...MOMENT, description: 'The time of the last transfer.' }),
    kind: Type.String({ description: 'The kind of the last transfer.', examples: ['capture'] }),
    uid: OPTIONAL_TEXT,
    memo: OPTIONAL_TEXT,
    on_hold: CENTS,
    charged: Type.Integer({ description: 'The charges less the refunds, in US cents.' }),
    change: Type.Integer({ description: 'The change of the balance.' }),
    discounts: Type.Array(DiscountBody),
    edited_words: EditedWords,
  },
  { title: 'LedgerEntry', description: 'All transfers of a job, or one transfer without a job.' },
);
const Ledger = Type.Object(
  {
    environment: ENVIRONMENT,
    from: MOMENT,
    until: MOMENT,
    opening: CENTS,
    closing: CENTS,
    charged: Type.Integer({ description: 'The charges of the period less its refunds, in US cents.' }),
    entries: Type.Array(Entry, { description: `The latest ${MAX_SHOWN}, oldest first.` }),
    left_out: Type.Integer({ description: 'The number of earlier entries that are left out.' }),
  },
  { title: 'Ledger' },
);

const csvSchema = {
  operationId: 'downloadLedger',
  summary: 'The whole statement as CSV',
  description: 'Cells that a spreadsheet would read as formulas begin with an apostrophe.',
  tags: ['Own account'],
  querystring: PERIOD,
  response: {
    200: { description: 'A CSV file.', content: { 'text/csv': { schema: Type.String() } } },
  },
} satisfies FastifySchema;

export function ledgerOfCustomer(app: FastifyInstance, { database }: { database: Database }): void {
  resource(app, '/api/account/ledger', {
    GET: {
      schema: describedOwn('readOwnLedger', 'Changes of the own balance, one entry for each job', Ledger, {
        querystring: PERIOD,
      }),
      async handler(request) {
        const { ref } = accountOf(request);
        const { environment } = request.query;
        const period = periodOf(request.query);
        const { opening, closing, lines } = await readStatement(database, ref, environment, period);
        const entries = joinByJob(lines);
        return {
          environment,
          ...period,
          opening,
          closing,
          charged: entries.reduce((sum, { charged }) => sum + charged, 0),
          entries: entries.slice(-MAX_SHOWN).map(({ onHold, ...entry }) => ({ ...entry, on_hold: onHold })),
          left_out: Math.max(0, entries.length - MAX_SHOWN),
        };
      },
    },
  });
  resource(app, '/api/account/ledger.csv', {
    GET: {
      schema: csvSchema,
      async handler(request, reply) {
        const { ref, username } = accountOf(request);
        const { environment } = request.query;
        const period = periodOf(request.query);
        const statement = await readStatement(database, ref, environment, period);
        const day = (at: Date) => at.toISOString().slice(0, 10);
        const name = `${username}-${environment}-${day(period.from)}-${day(period.until)}.csv`;
        return reply
          .type('text/csv; charset=utf-8')
          .header('content-disposition', `attachment; filename="${name.replace(/[^\w.@+-]/g, '_')}"`)
          .send(statementAsCsv(statement));
      },
    },
  });
}

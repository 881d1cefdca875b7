/** The movements of a customer's own balance: `/api/account/ledger`, also for a spreadsheet. */
import type { FastifyInstance, FastifyRequest, FastifySchema } from 'fastify';
import Type from 'typebox';
import type { Environment } from '../account.ts';
import { accountOf } from '../accounts/door.ts';
import {
  CENTS,
  describedOwn,
  ENVIRONMENT,
  environment,
  MOMENT,
  moment,
  OPTIONAL_TEXT,
  readForm,
} from '../console.ts';
import type { Database } from '../database/database.ts';
import { reason } from '../errors.ts';
import { resource } from '../http.ts';
import { statementAsCsv } from './csv.ts';
import { readStatement } from './ledger.ts';

const DAY_MILLISECONDS = 86_400_000;
const MAX_DAYS = 400;
/** A page shows no more; the spreadsheet has them all. */
const MAX_SHOWN = 1000;

const Line = Type.Object(
  {
    at: MOMENT,
    kind: Type.String({ examples: ['hold'] }),
    uid: OPTIONAL_TEXT,
    memo: OPTIONAL_TEXT,
    amount: CENTS,
    change: Type.Integer({ description: 'What it does to what can be spent.' }),
    balance: Type.Integer({ description: 'What can be spent after it.' }),
  },
  { title: 'LedgerLine' },
);
const Ledger = Type.Object(
  {
    environment: ENVIRONMENT,
    from: MOMENT,
    until: MOMENT,
    opening: CENTS,
    closing: CENTS,
    lines: Type.Array(Line, { description: `The latest ${MAX_SHOWN}, oldest first.` }),
    left_out: Type.Integer({ description: 'How many lines came before these.' }),
  },
  { title: 'Ledger' },
);

const period = Type.Object({
  environment: Type.Optional(ENVIRONMENT),
  from: Type.Optional(Type.String({ description: 'A date; 30 days before the end where not given.' })),
  until: Type.Optional(Type.String({ description: 'A date, which is not in it; now where not given.' })),
});

const csvSchema: FastifySchema = {
  operationId: 'downloadLedger',
  summary: 'The same as CSV, whole',
  description: 'A cell that a spreadsheet would take for a formula begins with an apostrophe.',
  tags: ['Own account'],
  querystring: period,
  response: {
    200: { description: 'A file.', content: { 'text/csv': { schema: Type.String() } } },
  },
};

export function ledgerOfCustomer(app: FastifyInstance, { database }: { database: Database }): void {
  resource(app, '/api/account/ledger', {
    GET: {
      schema: describedOwn('readOwnLedger', 'The movements of one’s balance', Ledger, {
        querystring: period,
      }),
      async handler(request) {
        const { ref } = accountOf(request);
        const wanted = readPeriod(request);
        const { opening, closing, lines } = await readStatement(database, ref, wanted.environment, wanted);
        return {
          ...wanted,
          opening,
          closing,
          lines: lines.slice(-MAX_SHOWN),
          left_out: Math.max(0, lines.length - MAX_SHOWN),
        };
      },
    },
  });
  resource(app, '/api/account/ledger.csv', {
    GET: {
      schema: csvSchema,
      async handler(request, reply) {
        const { ref, username } = accountOf(request);
        const wanted = readPeriod(request);
        const statement = await readStatement(database, ref, wanted.environment, wanted);
        const day = (at: Date) => at.toISOString().slice(0, 10);
        const name = `${username}-${wanted.environment}-${day(wanted.from)}-${day(wanted.until)}.csv`;
        return reply
          .type('text/csv; charset=utf-8')
          .header('content-disposition', `attachment; filename="${name.replace(/[^\w.@+-]/g, '_')}"`)
          .send(statementAsCsv(statement));
      },
    },
  });
}

function readPeriod(request: FastifyRequest): { environment: Environment; from: Date; until: Date } {
  const form = readForm(request.query);
  const wanted = form.optional('environment', environment) ?? 'production';
  const until = form.optional('until', moment) ?? new Date();
  const from = form.optional('from', moment) ?? new Date(until.getTime() - 30 * DAY_MILLISECONDS);
  if (from > until) form.complain('from', reason('before_the_end'));
  if (until.getTime() - from.getTime() > MAX_DAYS * DAY_MILLISECONDS) {
    form.complain('from', reason('days_before_the_end', { most: MAX_DAYS }));
  }
  form.done();
  return { environment: wanted, from, until };
}

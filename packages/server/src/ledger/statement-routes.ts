/** The operations of statements: the transfers of an account, as JSON (`…/ledger`, `…/statement`) and CSV. */
import type { FastifyInstance, FastifySchema } from 'fastify';
import Type from 'typebox';
import { type Audience, only, share } from '../access/audiences.ts';
import type { Database } from '../database/database.ts';
import { CENTS, describing, EditedWords, ENVIRONMENT, MOMENT, OPTIONAL_TEXT } from '../http/schemas.ts';
import { statementAsCsv } from './csv.ts';
import { joinByJob } from './entries.ts';
import { readStatement, type StatementLine } from './ledger.ts';
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
    amount: only(CENTS, 'operator'),
    balance: only(CENTS, 'operator'),
    on_hold: only(CENTS, 'customer'),
    charged: only(Type.Integer({ description: 'The charges less the refunds, in US cents.' }), 'customer'),
    change: Type.Integer({ description: 'The change of the balance.' }),
    discounts: Type.Array(DiscountBody),
    edited_words: EditedWords,
  },
  { title: 'LedgerEntry', description: 'For customers, all transfers of a job; else one transfer.' },
);
const Ledger = Type.Object(
  {
    environment: ENVIRONMENT,
    from: MOMENT,
    until: MOMENT,
    opening: CENTS,
    closing: CENTS,
    charged: only(
      Type.Integer({ description: 'The charges of the period less its refunds, in US cents.' }),
      'customer',
    ),
    entries: Type.Array(Entry, { description: `The latest ${MAX_SHOWN}, oldest first.` }),
    left_out: Type.Integer({ description: 'The number of earlier entries that are left out.' }),
    days: only(
      Type.Array(Type.Object({ day: Type.String(), put: CENTS, spent: CENTS }), {
        description: 'Amounts added and spent on each day of the period.',
      }),
      'operator',
    ),
  },
  { title: 'Ledger' },
);

const described = describing('Ledger');
const csvSchema = {
  operationId: 'downloadLedger',
  summary: 'The whole statement as CSV',
  description: 'Cells that a spreadsheet would read as formulas begin with an apostrophe.',
  querystring: PERIOD,
  response: {
    200: { description: 'A CSV file.', content: { 'text/csv': { schema: Type.String() } } },
  },
} satisfies FastifySchema;

export function statementRoutes(
  app: FastifyInstance,
  { database }: { database: Database },
  audience: Audience,
): void {
  share(app, database, audience, audience.name === 'operator' ? '/statement' : '/ledger', {
    GET: {
      who: { customer: true, operator: true },
      schema: described('readLedger', 'Changes of the balance', Ledger, { querystring: PERIOD }),
      async handler({ query }, { account, audience }) {
        const { environment } = query;
        const period = periodOf(query);
        const { opening, closing, lines } = await readStatement(database, account, environment, period);
        const joined = joinByJob(lines).map(({ onHold, ...entry }) => ({ ...entry, on_hold: onHold }));
        const entries = audience === 'customer' ? joined : lines;
        return {
          environment,
          ...period,
          opening,
          closing,
          charged: joined.reduce((sum, { charged }) => sum + charged, 0),
          entries: entries.slice(-MAX_SHOWN),
          left_out: Math.max(0, entries.length - MAX_SHOWN),
          days: daysOf(lines, period),
        };
      },
    },
  });
  share(app, database, audience, '/ledger.csv', {
    GET: {
      who: { customer: true },
      schema: csvSchema,
      async handler({ query }, { account, username }, reply) {
        const { environment } = query;
        const period = periodOf(query);
        const statement = await readStatement(database, account, environment, period);
        const name = `${username}-${environment}-${dayOf(period.from)}-${dayOf(period.until)}.csv`;
        return reply
          .type('text/csv; charset=utf-8')
          .header('content-disposition', `attachment; filename="${name.replace(/[^\w.@+-]/g, '_')}"`)
          .send(statementAsCsv(statement));
      },
    },
  });
}

const DAY_MILLISECONDS = 86_400_000;

/** Returns the amounts added and spent on each day of a period. */
function daysOf(lines: readonly StatementLine[], period: { from: Date; until: Date }) {
  const days = new Map<string, { day: string; put: number; spent: number }>();
  const last = dayOf(new Date(period.until.getTime() - 1));
  for (let at = period.from.getTime(); ; at += DAY_MILLISECONDS) {
    const day = dayOf(new Date(at));
    if (day > last) break;
    days.set(day, { day, put: 0, spent: 0 });
  }
  for (const { at, kind, change } of lines) {
    const day = days.get(dayOf(at));
    if (day === undefined) continue;
    // A release, a void and a refund reduce the spent amount, because the customer got that money back.
    if (kind === 'top_up' || kind === 'adjustment') day.put += change;
    else day.spent -= change;
  }
  return [...days.values()];
}

function dayOf(at: Date): string {
  return at.toISOString().slice(0, 10);
}

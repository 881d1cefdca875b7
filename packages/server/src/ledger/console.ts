/**
 * The operator's console for money: top-ups, adjustments, refunds and statements of an account. A request names an
 * `Idempotency-Key`; sent again it moves nothing, and gets the answer of the first.
 */
import { createHash } from 'node:crypto';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import Type, { type Static } from 'typebox';
import type { AccountRef, Environment } from '../account.ts';
import type { Account } from '../accounts/accounts.ts';
import { requestedAccount } from '../accounts/console.ts';
import {
  accountParameters,
  CENTS,
  described,
  ENVIRONMENT,
  environment,
  flag,
  integer,
  MOMENT,
  moment,
  OPTIONAL_TEXT,
  oneOf,
  open,
  readForm,
  text,
} from '../console.ts';
import type { Database, Transaction } from '../database/database.ts';
import { fieldError, reason } from '../errors.ts';
import { resource } from '../http.ts';
import { recordAudit } from '../operations/audit.ts';
import { adjust, LedgerError, readStatement, refundWithin, topUp } from './ledger.ts';
import * as store from './store.ts';

const MAX_CENTS = 100_000_000_000;
const KINDS = ['top_up', 'adjustment', 'refund'] as const;
const DAY_MILLISECONDS = 86_400_000;

const Moved = Type.Object(
  {
    kind: Type.Enum([...KINDS]),
    environment: ENVIRONMENT,
    cents: Type.Integer({ description: 'What is put on the balance; below zero, what is taken off it.' }),
    before: CENTS,
    after: CENTS,
    dry_run: Type.Boolean(),
  },
  { title: 'MovedMoney' },
);
type MovedBody = Static<typeof Moved>;

const Line = Type.Object(
  {
    at: MOMENT,
    kind: Type.String(),
    uid: OPTIONAL_TEXT,
    memo: OPTIONAL_TEXT,
    amount: CENTS,
    change: CENTS,
    balance: CENTS,
  },
  { title: 'ConsoleStatementLine' },
);
const StatementBody = Type.Object(
  {
    opening: CENTS,
    closing: CENTS,
    lines: Type.Array(Line, { description: 'The latest 500, oldest first.' }),
    days: Type.Array(Type.Object({ day: Type.String(), put: CENTS, spent: CENTS }), {
      description: 'For each day of the period, what was put on the balance and what was spent.',
    }),
  },
  { title: 'ConsoleStatement' },
);

const schemas = {
  move: described('moveMoney', 'Top up, adjust or refund', Moved, {
    description:
      'With `dry_run` it says what would become of the balance. Else the header `Idempotency-Key` is required: a ' +
      'request that is sent again moves nothing.',
    params: accountParameters,
    body: Type.Object(
      {
        kind: Type.Enum([...KINDS]),
        environment: ENVIRONMENT,
        cents: Type.Optional(
          Type.Integer({ description: 'Not for a refund, which is of all that was charged.' }),
        ),
        uid: Type.Optional(Type.String({ description: 'Of the job that is refunded.' })),
        memo: Type.String({ description: 'Why, as the customer’s statement shows it.' }),
        dry_run: Type.Optional(Type.Boolean()),
      },
      open,
    ),
  }),
  statement: described('readStatement', 'The movements of a balance', StatementBody, {
    params: accountParameters,
    querystring: Type.Object({
      environment: Type.Optional(ENVIRONMENT),
      from: Type.Optional(Type.String({ description: 'A date; 30 days ago where not given.' })),
      until: Type.Optional(Type.String({ description: 'A date; now where not given.' })),
    }),
  }),
};

export function ledgerConsole(app: FastifyInstance, { database }: { database: Database }): void {
  resource(app, '/api/console/accounts/:username/transfers', {
    POST: {
      schema: schemas.move,
      async handler(request) {
        return moveMoney(database, await requestedAccount(database, request), request);
      },
    },
  });
  resource(app, '/api/console/accounts/:username/statement', {
    GET: {
      schema: schemas.statement,
      async handler(request) {
        const { ref } = await requestedAccount(database, request);
        const form = readForm(request.query);
        const wanted = form.optional('environment', environment) ?? 'production';
        const until = form.optional('until', moment) ?? new Date();
        const from = form.optional('from', moment) ?? new Date(until.getTime() - 30 * DAY_MILLISECONDS);
        if (from > until) form.complain('from', reason('before_the_end'));
        if (until.getTime() - from.getTime() > 400 * DAY_MILLISECONDS) {
          form.complain('from', reason('days_before_the_end', { most: 400 }));
        }
        form.done();
        return presentStatement(database, ref, wanted, { from, until });
      },
    },
  });
}

const MAX_SHOWN = 500;

async function presentStatement(
  database: Database,
  account: AccountRef,
  wanted: Environment,
  period: { from: Date; until: Date },
): Promise<Static<typeof StatementBody>> {
  const { opening, lines, closing } = await readStatement(database, account, wanted, period);
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
    // What is given back of a hold was never spent.
    if (kind === 'hold' || kind === 'void' || kind === 'refund') day.spent -= change;
    else day.put += change;
  }
  return {
    opening,
    closing,
    lines: lines.slice(-MAX_SHOWN).map((line) => ({ ...line, at: line.at.toISOString() })),
    days: [...days.values()],
  };
}

function dayOf(at: Date): string {
  return at.toISOString().slice(0, 10);
}

interface Wanted {
  kind: (typeof KINDS)[number];
  environment: Environment;
  cents: number;
  uid: string;
  memo: string;
}

/** Thrown to leave a transaction without its changes. */
class Rehearsed extends Error {
  readonly moved: MovedBody;
  constructor(moved: MovedBody) {
    super('rehearsed');
    this.moved = moved;
  }
}

async function moveMoney(database: Database, account: Account, request: FastifyRequest): Promise<MovedBody> {
  const { wanted, dryRun } = readWanted(request.body);
  const key = request.headers['idempotency-key'];
  if (!dryRun && (typeof key !== 'string' || key === '' || key.length > 255)) {
    throw fieldError('Idempotency-Key', 'This header is required, of 1 to 255 characters.');
  }
  const { ref } = account;
  const hash = createHash('sha256').update(JSON.stringify(wanted)).digest();
  try {
    return await database.transaction(async (transaction) => {
      if (!dryRun && !(await store.takeRequest(transaction, ref, key as string, hash))) {
        const first = await store.readRequest(transaction, ref, key as string);
        if (first?.request_hash.equals(hash)) return first.answer as MovedBody;
        throw fieldError('Idempotency-Key', 'was used for another request.');
      }
      const moved = await move(transaction, ref, wanted, dryRun);
      if (dryRun) throw new Rehearsed(moved);
      await store.answerRequest(transaction, ref, key as string, moved);
      await recordAudit(transaction, request.person, {
        ...{ action: `money.${wanted.kind}`, account: ref, subject: account.username },
        detail: {
          ...{ environment: wanted.environment, cents: moved.cents, memo: wanted.memo, balance: moved.after },
          ...(wanted.kind === 'refund' ? { uid: wanted.uid } : {}),
        },
      });
      return moved;
    });
  } catch (error) {
    if (error instanceof Rehearsed) return error.moved;
    if (error instanceof LedgerError)
      throw fieldError(wanted.kind === 'refund' ? 'uid' : 'cents', error.message);
    throw error;
  }
}

/** A dry run does all of it and rolls back: its refusals are those of the real one. */
async function move(
  transaction: Transaction,
  account: AccountRef,
  { kind, environment, cents, uid, memo }: Wanted,
  dry_run: boolean,
): Promise<MovedBody> {
  await store.lockBalance(transaction, account, environment);
  const before = (await store.readBalance(transaction, account, environment))!.available_cents;
  const entry = { environment, cents, memo };
  const after =
    kind === 'refund'
      ? (await refundWithin(transaction, account, { environment, uid, memo })).balance
      : await (kind === 'top_up' ? topUp : adjust)(transaction, account, entry);
  return { kind, environment, cents: after - before, before, after, dry_run };
}

function readWanted(body: unknown): { wanted: Wanted; dryRun: boolean } {
  const form = readForm(body);
  const kind = form.required('kind', oneOf(...KINDS));
  const isRefund = kind === 'refund';
  const wanted = {
    kind,
    environment: form.required('environment', environment),
    cents: isRefund ? 0 : form.required('cents', integer(kind === 'top_up' ? 1 : -MAX_CENTS, MAX_CENTS)),
    uid: isRefund ? form.required('uid', text(128)) : '',
    memo: form.required('memo', text(500)),
  };
  if (wanted.cents === 0 && kind === 'adjustment') form.complain('cents', 'must not be zero.');
  const dryRun = form.optional('dry_run', flag) ?? false;
  form.done();
  return { wanted, dryRun };
}

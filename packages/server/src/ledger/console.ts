/**
 * The console's routes for top-ups, adjustments, refunds and statements. Requests need an `Idempotency-Key`,
 * so that a repeated request transfers nothing and gets the first answer.
 */
import { createHash } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import Type, { type Static } from 'typebox';
import type { Account } from '../access/accounts.ts';
import { requestedAccount } from '../access/accounts.ts';
import { recordAudit } from '../audit/audit.ts';
import type { AccountRef, Environment } from '../base/account.ts';
import { fieldError, reason } from '../base/errors.ts';
import type { Database, Transaction } from '../database/database.ts';
import { type Checked, resource } from '../http/http.ts';
import {
  accountParameters,
  CENTS,
  described,
  EditedWords,
  ENVIRONMENT,
  MOMENT,
  OPTIONAL_TEXT,
  textOf,
} from '../http/schemas.ts';
import { adjust, LedgerError, readStatement, refund, topUp } from './ledger.ts';
import { PERIOD, periodOf } from './period.ts';
import { DiscountBody } from './price-list.ts';
import { answerRequest, readRequest, takeRequest } from './request-store.ts';
import * as store from './store.ts';

const MAX_CENTS = 100_000_000_000;
const KINDS = ['top_up', 'adjustment', 'refund'] as const;
const DAY_MILLISECONDS = 86_400_000;

const Moved = Type.Object(
  {
    kind: Type.Enum([...KINDS]),
    environment: ENVIRONMENT,
    cents: Type.Integer({ description: 'The amount; negative to take it off the balance.' }),
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
    discounts: Type.Array(DiscountBody),
    edited_words: EditedWords,
  },
  { title: 'ConsoleStatementLine' },
);
const StatementBody = Type.Object(
  {
    opening: CENTS,
    closing: CENTS,
    lines: Type.Array(Line, { description: 'The latest 500, oldest first.' }),
    days: Type.Array(Type.Object({ day: Type.String(), put: CENTS, spent: CENTS }), {
      description: 'Amounts added and spent on each day of the period.',
    }),
  },
  { title: 'ConsoleStatement' },
);

const Movement = Type.Object({
  kind: Type.Enum([...KINDS]),
  environment: ENVIRONMENT,
  cents: Type.Optional(
    Type.Integer({
      minimum: -MAX_CENTS,
      maximum: MAX_CENTS,
      description: 'Required except for a refund, which always returns the whole charge.',
    }),
  ),
  uid: Type.Optional(textOf(128, 1, 'The job to refund.')),
  memo: textOf(500, 1, 'The reason, shown on the customer’s statement.'),
  dry_run: Type.Boolean({ default: false }),
});
const schemas = {
  move: described('moveMoney', 'Top up, adjust or refund', Moved, {
    description:
      'With `dry_run` it says what would become of the balance. Else the header `Idempotency-Key` is required: a ' +
      'repeated request transfers nothing.',
    params: accountParameters,
    body: Movement,
  }),
  statement: described('readStatement', 'The transfers of a balance', StatementBody, {
    params: accountParameters,
    querystring: PERIOD,
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
        return presentStatement(database, ref, request.query.environment, periodOf(request.query));
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
    // A release, a void and a refund reduce the spent amount, because the customer got that money back.
    if (kind === 'top_up' || kind === 'adjustment') day.put += change;
    else day.spent -= change;
  }
  return {
    opening,
    closing,
    lines: lines.slice(-MAX_SHOWN),
    days: [...days.values()],
  };
}

function dayOf(at: Date): string {
  return at.toISOString().slice(0, 10);
}

type Wanted = ReturnType<typeof wantedOf>;

/** Thrown to roll back the transaction of a dry run. Carries the answer. */
class DryRun extends Error {
  readonly moved: MovedBody;
  constructor(moved: MovedBody) {
    super('rehearsed');
    this.moved = moved;
  }
}

async function moveMoney(
  database: Database,
  account: Account,
  request: Checked<typeof schemas.move>,
): Promise<MovedBody> {
  const wanted = wantedOf(request.body);
  const { dry_run: dryRun } = request.body;
  const key = request.headers['idempotency-key'];
  if (!dryRun && (typeof key !== 'string' || key === '' || key.length > 255)) {
    throw fieldError('Idempotency-Key', 'This header is required, of 1 to 255 characters.');
  }
  const { ref } = account;
  const hash = createHash('sha256').update(JSON.stringify(wanted)).digest();
  try {
    return await database.transaction(async (transaction) => {
      if (
        !dryRun &&
        !(await takeRequest(transaction, { account: ref, key: key as string, requestHash: hash }))
      ) {
        const first = await readRequest(transaction, { account: ref, key: key as string });
        if (first?.request_hash.equals(hash)) return first.answer as MovedBody;
        throw fieldError('Idempotency-Key', 'was used for another request.');
      }
      const moved = await transferMoney(transaction, ref, wanted, dryRun);
      if (dryRun) throw new DryRun(moved);
      await answerRequest(transaction, ref, key as string, moved);
      await recordAudit(transaction, request.person, {
        action: `money.${wanted.kind}`,
        account: ref,
        subject: account.username,
        detail: {
          environment: wanted.environment,
          cents: moved.cents,
          memo: wanted.memo,
          balance: moved.after,
          ...(wanted.kind === 'refund' ? { uid: wanted.uid } : {}),
        },
      });
      return moved;
    });
  } catch (error) {
    if (error instanceof DryRun) return error.moved;
    if (error instanceof LedgerError)
      throw fieldError(wanted.kind === 'refund' ? 'uid' : 'cents', error.message);
    throw error;
  }
}

/**
 * Makes a transfer. A dry run also makes the transfer and then rolls it back, so it fails for the same
 * reasons as a real transfer.
 */
async function transferMoney(
  transaction: Transaction,
  account: AccountRef,
  { kind, environment, cents, uid, memo }: Wanted,
  dry_run: boolean,
): Promise<MovedBody> {
  await store.lockBalance(transaction, { account, environment });
  const before = (await store.readBalance(transaction, { account, environment }))!.available_cents;
  const entry = { environment, cents, memo };
  const after =
    kind === 'refund'
      ? (await refund(transaction, account, { environment, uid, memo })).balance
      : await (kind === 'top_up' ? topUp : adjust)(transaction, account, entry);
  return { kind, environment, cents: after - before, before, after, dry_run };
}

/**
 * Returns the requested transfer. A refund needs a job, the other kinds need an amount. @throws ApiError
 * `invalid_request`
 */
function wantedOf({ kind, environment, cents, uid, memo }: Static<typeof Movement>) {
  if (kind === 'refund') {
    if (uid === undefined) throw fieldError('uid', reason('required'));
    return { kind, environment, cents: 0, uid, memo };
  }
  const least = kind === 'top_up' ? 1 : -MAX_CENTS;
  if (cents === undefined) throw fieldError('cents', reason('required'));
  if (cents < least) throw fieldError('cents', reason('whole_number', { least, most: MAX_CENTS }));
  if (cents === 0) throw fieldError('cents', 'must not be zero.');
  return { kind, environment, cents, uid: '', memo };
}

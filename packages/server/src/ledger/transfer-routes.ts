/**
 * The operation of top-ups, adjustments and refunds: `…/transfers`. Requests need an `Idempotency-Key`,
 * so that a repeated request transfers nothing and gets the first answer.
 */
import { createHash } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import Type, { type Static } from 'typebox';
import { type Audience, type Subject, share } from '../access/audiences.ts';
import { recordAudit } from '../audit/audit.ts';
import type { AccountRef } from '../base/account.ts';
import { fieldError, reason } from '../base/errors.ts';
import type { Database, Transaction } from '../database/database.ts';
import type { Checked } from '../http/http.ts';
import { CENTS, describing, ENVIRONMENT, textOf } from '../http/schemas.ts';
import { adjust, LedgerError, refund, topUp } from './ledger.ts';
import { answerRequest, readRequest, takeRequest } from './request-store.ts';
import * as store from './store.ts';

const MAX_CENTS = 100_000_000_000;
const KINDS = ['top_up', 'adjustment', 'refund'] as const;

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
const moveSchema = describing('Ledger')('moveMoney', 'Top up, adjust or refund', Moved, {
  description:
    'With `dry_run` it says what would become of the balance. Else the header `Idempotency-Key` is required: a ' +
    'repeated request transfers nothing.',
  body: Movement,
});

export function transferRoutes(
  app: FastifyInstance,
  { database }: { database: Database },
  audience: Audience,
): void {
  share(app, database, audience, '/transfers', {
    POST: {
      who: { operator: true },
      schema: moveSchema,
      handler: (request, subject) => moveMoney(database, subject, request),
    },
  });
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
  { account: ref, username }: Subject,
  request: Checked<typeof moveSchema>,
): Promise<MovedBody> {
  const wanted = wantedOf(request.body);
  const { dry_run: dryRun } = request.body;
  const key = request.headers['idempotency-key'];
  if (!dryRun && (typeof key !== 'string' || key === '' || key.length > 255)) {
    throw fieldError('Idempotency-Key', 'This header is required, of 1 to 255 characters.');
  }
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
        subject: username,
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

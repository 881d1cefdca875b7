/** The console's routes for accounts: `/api/console/accounts…`. */

import { createHash } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import Type, { type Static } from 'typebox';
import {
  ACCOUNT_STATUSES,
  type Account,
  AccountError,
  KEYS_CHANNEL,
  lockAccount,
  MAX_KEY_REQUESTS,
  moveAccount,
  requestedAccount,
  setKeyRequests,
} from '../access/accounts.ts';
import { listKeys } from '../access/keys.ts';
import type { Vault } from '../access/secrets.ts';
import { createAccount } from '../accounts/accounts.ts';
import { recordAudit } from '../audit/audit.ts';
import type { AccountRef, Environment } from '../base/account.ts';
import { ApiError, fieldError } from '../base/errors.ts';
import { notifyDefaultBrandChange, requireBrand, writeDefaultBrand } from '../brands/brands.ts';
import { subscribe } from '../chats/chats.ts';
import type { Database, Queryable } from '../database/database.ts';
import { createProjector } from '../http/answers.ts';
import { type Checked, resource } from '../http/http.ts';
import {
  accountParameters,
  CENTS,
  described,
  ENVIRONMENT,
  ID,
  MOMENT,
  OPTIONAL_GIVEN_MOMENT,
  OPTIONAL_MOMENT,
  OPTIONAL_TEXT,
  PAGE,
  textOf,
  USERNAME,
} from '../http/schemas.ts';
import { countJobsByStatus } from '../jobs/list/overview.ts';
import { isOverdrawn, readBalances, setCreditLimit } from '../ledger/ledger.ts';
import * as store from './accounts-store.ts';
import { DIALECT, Key } from './credential-routes.ts';

export { listAccounts, listOverdrawn } from './accounts-store.ts';

export interface AccountConsoleOptions {
  database: Database;
  vault: Vault;
}

export const MAX_CENTS = 100_000_000_000;

const ACCOUNT_STATUS = Type.Enum([...ACCOUNT_STATUSES], { title: 'AccountStatus' });
const ListedAccount = Type.Object(
  {
    id: ID,
    username: Type.String(),
    status: ACCOUNT_STATUS,
    email: OPTIONAL_TEXT,
    chat: Type.Boolean(),
    created_at: MOMENT,
    balance: CENTS,
    credit_limit: Type.Union([CENTS, Type.Null()], {
      description: 'The credit limit in cents; null if there is none.',
    }),
    sandbox_balance: CENTS,
  },
  { title: 'ListedAccount' },
);
const AccountList = Type.Object(
  { accounts: Type.Array(ListedAccount), next: OPTIONAL_TEXT },
  { title: 'ListedAccounts' },
);

const Balance = Type.Object({
  environment: ENVIRONMENT,
  balance: CENTS,
  credit_limit: Type.Union([CENTS, Type.Null()]),
});

const Subscription = Type.Object(
  {
    pairs: Type.Union([Type.Array(Type.String()), Type.Null()], {
      description: 'The language pairs of the subscription; null for every pair.',
    }),
    from: OPTIONAL_MOMENT,
    until: OPTIONAL_MOMENT,
  },
  { title: 'ChatSubscription' },
);

const Detail = Type.Object(
  {
    username: Type.String(),
    status: ACCOUNT_STATUS,
    email: OPTIONAL_TEXT,
    created_at: MOMENT,
    version: Type.String({
      description: 'The version of the fields that can be changed. A change must contain it.',
    }),
    default_brand: OPTIONAL_TEXT,
    chat: Type.Union([Subscription, Type.Null()]),
    key_requests: Type.Union([Type.Integer(), Type.Null()], {
      description: 'The requests a second that each key may send; 0 for no limit, null for the usual limit.',
    }),
    balances: Type.Array(Balance),
    keys: Type.Array(Key),
    jobs: Type.Array(
      Type.Object({
        environment: ENVIRONMENT,
        tier: Type.String(),
        status: Type.String(),
        jobs: Type.Integer(),
      }),
    ),
  },
  { title: 'ConsoleAccount' },
);
type DetailBody = Static<typeof Detail>;
const projectDetail = createProjector(Detail);

const Credentials = Type.Object(
  {
    username: Type.String(),
    production_key: Type.String(),
    sandbox_key: Type.String(),
    webhook_secret_production: Type.String(),
    webhook_secret_sandbox: Type.String(),
  },
  {
    title: 'AccountCredentials',
    description: 'The credentials of a new account. Only this answer contains them.',
  },
);

const GIVEN_EMAIL = Type.Union([
  Type.String({
    maxLength: 254,
    pattern: '^[^\\s@]+@[^\\s@]+$',
    'x-trim': true,
    'x-fault': 'must be an e-mail address.',
  }),
  Type.Null(),
]);
const CREDIT_LIMIT = Type.Union([Type.Integer({ minimum: 0, maximum: MAX_CENTS }), Type.Null()]);
const PAIR = Type.String({ pattern: '^[a-z]{2,3}(-[a-z0-9]{2,8})+$' });
const GivenSubscription = Type.Object(
  {
    pairs: Type.Optional(
      Type.Union([Type.Array(PAIR, { minItems: 1, maxItems: 10_000 }), Type.Null()], {
        description: 'The language pairs of the subscription; null for every pair.',
      }),
    ),
    from: Type.Optional(OPTIONAL_GIVEN_MOMENT),
    until: Type.Optional(OPTIONAL_GIVEN_MOMENT),
  },
  {
    'x-fault':
      'must have one or more pairs such as en-es, or null for every pair, and dates for from and until.',
  },
);
const schemas = {
  list: described('listAccounts', 'List accounts by user name', AccountList, {
    querystring: Type.Object({
      q: Type.Optional(textOf(200, 1, 'A part of the user name or e-mail address.')),
      overdrawn: Type.Boolean({ default: false, description: 'Only accounts with a negative balance.' }),
      after: Type.Optional(USERNAME),
      limit: PAGE,
    }),
  }),
  create: described(
    'createAccount',
    'Create an account with a key and a secret for each environment',
    Credentials,
    {
      status: 201,
      body: Type.Object({
        username: USERNAME,
        email: Type.Optional(GIVEN_EMAIL),
        balance_cents: Type.Integer({ minimum: 0, maximum: MAX_CENTS, default: 0 }),
        dialect: DIALECT,
        chat: Type.Boolean({ default: false }),
      }),
    },
  ),
  read: described('readAccount', 'Read an account', Detail, { params: accountParameters }),
  change: described('changeAccount', 'Change an account', Detail, {
    description: 'Fields that are not given stay as they are. `conflict` when `version` is not current.',
    params: accountParameters,
    body: Type.Object({
      version: textOf(100),
      email: Type.Optional(GIVEN_EMAIL),
      default_brand: Type.Optional(Type.Union([textOf(128), Type.Null()])),
      chat: Type.Optional(Type.Union([GivenSubscription, Type.Null()])),
      credit_limit: Type.Optional(CREDIT_LIMIT),
      sandbox_credit_limit: Type.Optional(CREDIT_LIMIT),
      key_requests: Type.Optional(
        Type.Union([Type.Integer({ minimum: 0, maximum: MAX_KEY_REQUESTS }), Type.Null()]),
      ),
    }),
  }),
  suspend: described('suspendAccount', 'Suspend an account', Detail, {
    description:
      'Its keys get the error `account_suspended`, its users can only read, and its jobs, tasks and callbacks wait. Nothing is deleted.',
    params: accountParameters,
  }),
  resume: described('resumeAccount', 'Resume a suspended account', Detail, { params: accountParameters }),
};

export function accountConsole(app: FastifyInstance, { database, vault }: AccountConsoleOptions): void {
  resource(app, '/api/console/accounts', {
    GET: {
      schema: schemas.list,
      async handler(request) {
        const { q, after, overdrawn, limit } = request.query;
        const filter = { part: q?.toLowerCase(), after, overdrawn };
        const rows = await database.read((reader) => store.listAccounts(reader, filter, limit + 1));
        const accounts = rows.slice(0, limit);
        return { accounts, next: rows.length > limit ? accounts.at(-1)!.username : null };
      },
    },
    POST: {
      schema: schemas.create,
      async handler(request, reply) {
        const { username, email, balance_cents: balanceCents, dialect, chat } = request.body;
        const wanted = { username, email: email ?? undefined, balanceCents, dialect, chat };
        let credentials: Static<typeof Credentials>;
        try {
          credentials = await createAccount(database, vault, request.person, wanted);
        } catch (error) {
          throw error instanceof AccountError ? fieldError('username', error.message) : error;
        }
        return reply.code(201).send(credentials);
      },
    },
  });

  resource(app, '/api/console/accounts/:username', {
    GET: {
      schema: schemas.read,
      async handler(request) {
        return database.read(async (reader) => readDetail(reader, await requestedAccount(reader, request)));
      },
    },
    PATCH: {
      schema: schemas.change,
      async handler(request) {
        const account = await requestedAccount(database, request);
        await changeAccount(database, account, request);
        return readDetail(database, account);
      },
    },
  });

  for (const trigger of ['suspend', 'resume'] as const) {
    resource(app, `/api/console/accounts/:username/${trigger}`, {
      POST: {
        schema: schemas[trigger],
        async handler(request) {
          const account = await requestedAccount(database, request);
          await moveAccount(database, request.person, account, trigger);
          return readDetail(database, account);
        },
      },
    });
  }
}

/**
 * Returns the language pairs and the period for which an account may use chats, as a request describes them.
 * @throws ApiError `invalid_request`
 */
function subscriptionOf({ pairs = null, from = null, until = null }: Static<typeof GivenSubscription>) {
  if (from !== null && until !== null && Date.parse(until) <= Date.parse(from)) {
    throw fieldError('chat', 'must end after its start.');
  }
  return {
    pairs: pairs === null ? null : [...new Set(pairs)],
    from: from === null ? null : new Date(from),
    until: until === null ? null : new Date(until),
  };
}

async function changeAccount(
  database: Database,
  account: Account,
  request: Checked<typeof schemas.change>,
): Promise<void> {
  const { version, email, default_brand, chat, credit_limit, sandbox_credit_limit, key_requests } =
    request.body;
  const subscription = chat == null ? undefined : subscriptionOf(chat);
  if (default_brand != null) {
    const found = await requireBrand(database, account.ref, default_brand).catch(() => undefined);
    if (found === undefined) throw fieldError('default_brand', 'is not a published brand of the account.');
  }
  try {
    await database.transaction(async (transaction) => {
      const { ref } = account;
      await lockAccount(transaction, ref);
      const before = await readEditable(transaction, ref);
      if (versionOf(before) !== version) {
        const message = 'The account was changed in the meantime.';
        const now = projectDetail(await readDetail(transaction, account));
        throw new ApiError('conflict', message, {}, { account: now });
      }
      if (email !== undefined) await store.setEmail(transaction, { account: ref, email });
      if (chat !== undefined) await subscribe(transaction, ref, subscription);
      if (credit_limit !== undefined) await setCreditLimit(transaction, ref, 'production', credit_limit);
      if (sandbox_credit_limit !== undefined) {
        await setCreditLimit(transaction, ref, 'sandbox', sandbox_credit_limit);
      }
      if (key_requests !== undefined)
        await setKeyRequests(transaction, { account: ref, limit: key_requests });
      if (default_brand !== undefined) await writeDefaultBrand(transaction, ref, default_brand ?? undefined);
      const after = await readEditable(transaction, ref);
      const changed = Object.entries(after).filter(
        ([name, value]) => JSON.stringify(value) !== JSON.stringify(before[name as keyof Editable]),
      );
      if (changed.length > 0) {
        await recordAudit(transaction, request.person, {
          action: 'account.changed',
          account: ref,
          subject: account.username,
          detail: Object.fromEntries(changed),
        });
      }
    });
  } catch (error) {
    if (!isOverdrawn(error)) throw error;
    throw fieldError('credit_limit', 'The account owes more than that. Top up its balance first.');
  }
  if (default_brand !== undefined) await notifyDefaultBrandChange(database);
  if (key_requests !== undefined) await database.notify(KEYS_CHANNEL);
}

/** The fields of an account that an operator can change. */
interface Editable {
  email: string | null;
  default_brand: string | null;
  chat: Static<typeof Subscription> | null;
  key_requests: number | null;
  balances: { environment: Environment; credit_limit: number | null }[];
}

async function readEditable(on: Queryable, account: AccountRef): Promise<Editable> {
  const row = await store.readAccount(on, account);
  const balances = await readBalances(on, account);
  return {
    email: row.email,
    default_brand: row.default_brand,
    chat: row.chat
      ? {
          pairs: row.chat_pairs,
          from: row.chat_from,
          until: row.chat_until,
        }
      : null,
    key_requests: row.key_requests,
    balances: balances.map(({ environment, credit_limit }) => ({ environment, credit_limit })),
  };
}

/** Returns a hash of the fields that an operator can change. Transfers do not change the hash. */
function versionOf(editable: Editable): string {
  return createHash('sha256').update(JSON.stringify(editable)).digest('base64url').slice(0, 22);
}

async function readDetail(on: Queryable, { ref, username }: Account): Promise<DetailBody> {
  const editable = await readEditable(on, ref);
  const { created_at, status } = await store.readAccount(on, ref);
  const balances = await readBalances(on, ref);
  const keys = await listKeys(on, ref);
  return {
    username,
    status,
    email: editable.email,
    created_at,
    version: versionOf(editable),
    default_brand: editable.default_brand,
    chat: editable.chat,
    key_requests: editable.key_requests,
    balances,
    keys,
    jobs: await countJobsByStatus(on, { account: ref }),
  };
}

/** The operator's console for accounts: `/api/console/accounts…`. */
import { createHash } from 'node:crypto';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import Type, { type Static } from 'typebox';
import type { AccountRef, Environment } from '../account.ts';
import { requireBrand, setDefaultBrand } from '../brands/brands.ts';
import { subscribe } from '../chats/chats.ts';
import {
  accountParameters,
  CENTS,
  type Check,
  described,
  ENVIRONMENT,
  environment,
  flag,
  integer,
  listOf,
  MOMENT,
  moment,
  OPTIONAL_MOMENT,
  OPTIONAL_TEXT,
  oneOf,
  open,
  parameter,
  readForm,
  text,
} from '../console.ts';
import type { Database, Queryable } from '../database/database.ts';
import { ApiError, notFound } from '../errors.ts';
import { resource } from '../http.ts';
import { countByStatus } from '../jobs/overview.ts';
import { isOverdrawn, readBalances, setCreditLimit } from '../ledger/ledger.ts';
import { recordAudit } from '../operations/audit.ts';
import { type Account, AccountError, accountNamed, createAccount } from './accounts.ts';
import * as store from './console-store.ts';
import { listKeys, makeKey, revokeKey } from './keys.ts';
import type { Vault } from './secrets.ts';
import { lockAccount } from './store.ts';

export interface AccountConsoleOptions {
  database: Database;
  vault: Vault;
}

export const MAX_CENTS = 100_000_000_000;

const ListedAccount = Type.Object(
  {
    username: Type.String(),
    email: OPTIONAL_TEXT,
    chat: Type.Boolean(),
    created_at: MOMENT,
    balance: CENTS,
    credit_limit: Type.Union([CENTS, Type.Null()], { description: 'Null: it may owe without limit.' }),
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
    pairs: Type.Union([Type.Array(Type.String()), Type.Null()], { description: 'Null: every pair.' }),
    from: OPTIONAL_MOMENT,
    until: OPTIONAL_MOMENT,
  },
  { title: 'ChatSubscription' },
);

const Key = Type.Object(
  {
    key_id: Type.String({ description: 'The part of a key that is not secret: what it begins with.' }),
    environment: ENVIRONMENT,
    name: Type.String(),
    dialect: Type.Enum(['spec', 'legacy']),
    read_only: Type.Boolean(),
    created_at: MOMENT,
    last_used_at: OPTIONAL_MOMENT,
    expires_at: OPTIONAL_MOMENT,
    revoked_at: OPTIONAL_MOMENT,
    live: Type.Boolean(),
    made_by: Type.Union([Type.String(), Type.Null()], {
      description:
        'The e-mail of the person who made it. Null: a command made it, or a link to a sandbox did.',
    }),
  },
  { title: 'ConsoleKey' },
);

const Detail = Type.Object(
  {
    username: Type.String(),
    email: OPTIONAL_TEXT,
    created_at: MOMENT,
    version: Type.String({ description: 'Of what can be changed; goes with every change.' }),
    default_brand: OPTIONAL_TEXT,
    chat: Type.Union([Subscription, Type.Null()]),
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

const Credentials = Type.Object(
  {
    username: Type.String(),
    production_key: Type.String(),
    sandbox_key: Type.String(),
    webhook_secret_production: Type.String(),
    webhook_secret_sandbox: Type.String(),
  },
  { title: 'AccountCredentials', description: 'Shown this once.' },
);

const MadeKey = Type.Object(
  { key_id: Type.String(), environment: ENVIRONMENT, name: Type.String(), key: Type.String() },
  { title: 'ConsoleMadeKey', description: 'The key is shown this once.' },
);

const schemas = {
  list: described('listAccounts', 'Accounts, by username', AccountList, {
    querystring: Type.Object({
      q: Type.Optional(Type.String({ description: 'A part of the username or e-mail.' })),
      overdrawn: Type.Optional(Type.Boolean({ description: 'Only those that owe.' })),
      after: Type.Optional(Type.String()),
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 200, default: 50 })),
    }),
  }),
  create: described(
    'createAccount',
    'Make an account with a key and a secret for each environment',
    Credentials,
    {
      status: 201,
      body: Type.Object(
        {
          username: Type.String(),
          email: Type.Optional(OPTIONAL_TEXT),
          balance_cents: Type.Optional(Type.Integer({ minimum: 0 })),
          dialect: Type.Optional(Type.Enum(['spec', 'legacy'])),
          chat: Type.Optional(Type.Boolean()),
        },
        open,
      ),
    },
  ),
  read: described('readAccount', 'One account', Detail, { params: accountParameters }),
  change: described('changeAccount', 'Change what is given of an account', Detail, {
    description: '`version` is that of the account as it was read; another one is refused with `conflict`.',
    params: accountParameters,
    body: Type.Object(
      {
        version: Type.String(),
        email: Type.Optional(OPTIONAL_TEXT),
        default_brand: Type.Optional(OPTIONAL_TEXT),
        chat: Type.Optional(Type.Union([Subscription, Type.Null()])),
        credit_limit: Type.Optional(Type.Union([Type.Integer({ minimum: 0 }), Type.Null()])),
        sandbox_credit_limit: Type.Optional(Type.Union([Type.Integer({ minimum: 0 }), Type.Null()])),
      },
      open,
    ),
  }),
  makeKey: described('makeAccountKey', 'Make another key', MadeKey, {
    status: 201,
    params: accountParameters,
    body: Type.Object(
      {
        name: Type.String(),
        environment: ENVIRONMENT,
        dialect: Type.Optional(Type.Enum(['spec', 'legacy'])),
        read_only: Type.Optional(Type.Boolean()),
      },
      open,
    ),
  }),
  revokeKey: described('revokeAccountKey', 'End a key at once', Detail, {
    params: Type.Object({ username: Type.String(), key: Type.String() }),
  }),
};

export function accountConsole(app: FastifyInstance, { database, vault }: AccountConsoleOptions): void {
  resource(app, '/api/console/accounts', {
    GET: {
      schema: schemas.list,
      async handler(request) {
        const form = readForm(request.query);
        const part = form.optional('q', text(200))?.toLowerCase();
        const after = form.optional('after', text(64));
        const overdrawn = form.optional('overdrawn', flag) ?? false;
        const limit = form.optional('limit', integer(1, 200)) ?? 50;
        form.done();
        const rows = await store.listAccounts(database, { part, after, overdrawn }, limit + 1);
        const accounts = rows
          .slice(0, limit)
          .map((row) => ({ ...row, created_at: row.created_at.toISOString() }));
        return { accounts, next: rows.length > limit ? accounts.at(-1)!.username : null };
      },
    },
    POST: {
      schema: schemas.create,
      async handler(request, reply) {
        const form = readForm(request.body);
        const username = form.required('username', text(64));
        const wanted = {
          username,
          email: form.optional('email', email),
          balanceCents: form.optional('balance_cents', integer(0, MAX_CENTS)) ?? 0,
          dialect: form.optional('dialect', oneOf('spec', 'legacy')) ?? ('spec' as const),
          chat: form.optional('chat', flag) ?? false,
        };
        form.done();
        let credentials: Static<typeof Credentials>;
        try {
          credentials = await createAccount(database, vault, wanted, request.person.userId);
        } catch (error) {
          if (!(error instanceof AccountError)) throw error;
          form.complain('username', error.message);
          form.done();
          throw error;
        }
        const { ref } = await accountNamed(database, username);
        await recordAudit(database, request.person, {
          ...{ action: 'account.created', account: ref, subject: username },
          detail: { email: wanted.email ?? null, balance_cents: wanted.balanceCents, chat: wanted.chat },
        });
        return reply.code(201).send(credentials);
      },
    },
  });

  resource(app, '/api/console/accounts/:username', {
    GET: {
      schema: schemas.read,
      async handler(request) {
        return readDetail(database, await requestedAccount(database, request));
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

  resource(app, '/api/console/accounts/:username/keys', {
    POST: {
      schema: schemas.makeKey,
      async handler(request, reply) {
        const account = await requestedAccount(database, request);
        const form = readForm(request.body);
        const wanted = {
          name: form.required('name', text(100)),
          environment: form.required('environment', environment),
          dialect: form.optional('dialect', oneOf('spec', 'legacy')) ?? ('spec' as const),
          readOnly: form.optional('read_only', flag) ?? false,
          expiresAt: undefined,
          madeBy: request.person.userId,
        };
        form.done();
        const made = await database.transaction(async (transaction) => {
          const key = await makeKey(transaction, account, wanted);
          await recordAudit(transaction, request.person, {
            ...{ action: 'key.made', account: account.ref, subject: key.key_id },
            detail: { environment: key.environment, name: key.name },
          });
          return key;
        });
        return reply.code(201).send(made);
      },
    },
  });

  resource(app, '/api/console/accounts/:username/keys/:key', {
    DELETE: {
      schema: schemas.revokeKey,
      async handler(request) {
        const account = await requestedAccount(database, request);
        const key = parameter(request, 'key');
        const live = (await listKeys(database, account.ref)).some((one) => one.key_id === key && one.live);
        if (!live) throw notFound();
        await revokeKey(database, account.ref, key, 0);
        await recordAudit(database, request.person, {
          ...{ action: 'key.revoked', account: account.ref, subject: key, detail: {} },
        });
        return readDetail(database, account);
      },
    },
  });
}

/** Accounts that owe in production, those that owe most first. */
export function listOverdrawn(
  on: Queryable,
  limit: number,
): Promise<{ username: string; balance: number }[]> {
  return store.listOverdrawn(on, limit);
}

/** The account that a path names. @throws ApiError `not_found` */
export async function requestedAccount(on: Queryable, request: FastifyRequest): Promise<Account> {
  try {
    return await accountNamed(on, parameter(request, 'username'));
  } catch (error) {
    if (error instanceof AccountError) throw notFound();
    throw error;
  }
}

/** The account that a form or query names by its username; undefined where it names none. */
export async function accountOfField(
  on: Queryable,
  form: ReturnType<typeof readForm>,
  name: string,
): Promise<Account | undefined> {
  const username = form.optional(name, text(64));
  if (username === undefined) return undefined;
  try {
    return await accountNamed(on, username);
  } catch (error) {
    if (!(error instanceof AccountError)) throw error;
    form.complain(name, error.message);
    return undefined;
  }
}

const email: Check<string> = (given) => {
  const value = text(254)(given);
  if (!/^[^\s@]+@[^\s@]+$/.test(value)) throw new Error('an e-mail address');
  return value;
};

const pair: Check<string> = (given) => {
  if (typeof given !== 'string' || !/^[a-z]{2,3}(-[a-z0-9]{2,8})+$/.test(given)) {
    throw new Error('a list of pairs such as en-es');
  }
  return given;
};

interface SubscriptionForm {
  pairs: string[] | null;
  from: Date | null;
  until: Date | null;
}

const subscription: Check<SubscriptionForm> = (given) => {
  const form = readForm(given);
  const pairs = form.optional('pairs', listOf(pair, 10_000)) ?? null;
  const from = form.optional('from', moment) ?? null;
  const until = form.optional('until', moment) ?? null;
  if (pairs !== null && pairs.length === 0) throw new Error('for one pair or more, or for every pair (null)');
  if (from !== null && until !== null && until <= from) throw new Error('over after it begins');
  try {
    form.done();
  } catch (error) {
    throw new Error(`right: ${(error as Error).message.replace(/\.$/, '')}`);
  }
  return { pairs: pairs === null ? null : [...new Set(pairs)], from, until };
};

async function changeAccount(database: Database, account: Account, request: FastifyRequest): Promise<void> {
  const form = readForm(request.body);
  const version = form.required('version', text(100));
  const wanted = {
    email: form.optional('email', email) ?? null,
    chat: form.optional('chat', subscription),
    default_brand: form.optional('default_brand', text(128)),
  };
  const limit = (name: string) => form.optional(name, integer(0, MAX_CENTS)) ?? null;
  const limits: Record<Environment, number | null> = {
    production: limit('credit_limit'),
    sandbox: limit('sandbox_credit_limit'),
  };
  if (wanted.default_brand !== undefined) {
    const found = await requireBrand(database, account.ref, wanted.default_brand).catch(() => undefined);
    if (found === undefined) form.complain('default_brand', 'is no published brand of the account.');
  }
  form.done();
  try {
    await database.transaction(async (transaction) => {
      const { ref } = account;
      await lockAccount(transaction, ref);
      const before = await readEditable(transaction, ref);
      if (versionOf(before) !== version) {
        throw new ApiError(
          'conflict',
          'The account has been changed since it was read.',
          {},
          {
            account: await readDetail(transaction, account),
          },
        );
      }
      if (form.has('email')) await store.setEmail(transaction, ref, wanted.email);
      if (form.has('chat')) await subscribe(transaction, ref, wanted.chat);
      if (form.has('credit_limit')) await setCreditLimit(transaction, ref, 'production', limits.production);
      if (form.has('sandbox_credit_limit')) await setCreditLimit(transaction, ref, 'sandbox', limits.sandbox);
      const after = await readEditable(transaction, ref);
      const changed = Object.entries(after).filter(
        ([name, value]) => JSON.stringify(value) !== JSON.stringify(before[name as keyof Editable]),
      );
      if (form.has('default_brand')) changed.push(['default_brand', wanted.default_brand ?? null]);
      await recordAudit(transaction, request.person, {
        ...{ action: 'account.changed', account: ref, subject: account.username },
        detail: Object.fromEntries(changed),
      });
    });
  } catch (error) {
    if (!isOverdrawn(error)) throw error;
    form.complain('credit_limit', 'The account owes more than that; top it up first.');
    form.done();
  }
  // After the rest, and alone: every process is told to forget what it knows of the account.
  if (form.has('default_brand')) await setDefaultBrand(database, account.ref, wanted.default_brand);
}

/** What an operator can change of an account. */
interface Editable {
  email: string | null;
  default_brand: string | null;
  chat: Static<typeof Subscription> | null;
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
          from: row.chat_from?.toISOString() ?? null,
          until: row.chat_until?.toISOString() ?? null,
        }
      : null,
    balances: balances.map(({ environment, credit_limit }) => ({ environment, credit_limit })),
  };
}

/** Whoever changes an account, from here or by command, makes another version of it; money that moves does not. */
function versionOf(editable: Editable): string {
  return createHash('sha256').update(JSON.stringify(editable)).digest('base64url').slice(0, 22);
}

async function readDetail(on: Queryable, { ref, username }: Account): Promise<DetailBody> {
  const editable = await readEditable(on, ref);
  const { created_at } = await store.readAccount(on, ref);
  const balances = await readBalances(on, ref);
  const keys = await listKeys(on, ref);
  return {
    username,
    email: editable.email,
    created_at: created_at.toISOString(),
    version: versionOf(editable),
    default_brand: editable.default_brand,
    chat: editable.chat,
    balances,
    keys: keys.map(({ made_by_operator: _, ...key }) => ({
      ...key,
      created_at: key.created_at.toISOString(),
      last_used_at: key.last_used_at?.toISOString() ?? null,
      expires_at: key.expires_at?.toISOString() ?? null,
      revoked_at: key.revoked_at?.toISOString() ?? null,
    })),
    jobs: await countByStatus(on, ref),
  };
}

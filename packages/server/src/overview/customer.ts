/** The routes for the signed-in customer's account, its keys and its webhook secrets: `/api/account…`. */
import type { FastifyInstance } from 'fastify';
import Type, { type Static } from 'typebox';
import { accountNamed, listOrigins, MAX_ORIGINS, setOrigins } from '../access/accounts.ts';
import { listKeys, makeKey, revokeKey, rollKey } from '../access/keys.ts';
import type { Vault } from '../access/secrets.ts';
import { accountOf } from '../access/session-auth.ts';
import { limitCredentials } from '../access/sessions.ts';
import { listWebhookSecrets, rollWebhookSecret } from '../access/webhook-secrets.ts';
import { readQuota } from '../accounts/sandbox-words.ts';
import type { AccountRef, Person } from '../base/account.ts';
import { ApiError, notFound } from '../base/errors.ts';
import type { Database } from '../database/database.ts';
import { countFailedEndpoints } from '../deliveries/deliveries.ts';
import { countDeadDeliveries } from '../deliveries/log.ts';
import { resource } from '../http/http.ts';
import {
  CENTS,
  DAILY_CENTS,
  describedOwn,
  ENVIRONMENT,
  GIVEN_SCOPES,
  ID,
  KEY_SCOPES,
  MOMENT,
  ONE_LINE,
  OPTIONAL_MOMENT,
  OPTIONAL_TEXT,
  ORDERED_CENTS,
  OVERLAP_BODY,
  OVERLAP_SECONDS,
} from '../http/schemas.ts';
import { listLatestJobs, OwnJob } from '../jobs/list/customer.ts';
import { countJobsByDay, countJobsByStatus, countJobsSince } from '../jobs/list/overview.ts';
import { readBalances, readHeld } from '../ledger/ledger.ts';
import type { Settings } from '../settings/settings.ts';

export interface CustomerOptions {
  database: Database;
  vault: Vault;
  settings: Pick<Settings, 'sandboxWords'>;
}

const COUNT = Type.Integer({ minimum: 0 });

const Day = Type.Object(
  { day: Type.String({ format: 'date' }), jobs: COUNT, cents: CENTS },
  { title: 'OwnDay', description: 'The jobs of a day and their price.' },
);

const Overview = Type.Object(
  {
    username: Type.String(),
    email: OPTIONAL_TEXT,
    chat: Type.Boolean({ description: 'Whether the account has a chat subscription.' }),
    balances: Type.Array(
      Type.Object({
        environment: ENVIRONMENT,
        balance: CENTS,
        credit_limit: Type.Union([CENTS, Type.Null()], { description: 'Null: no limit.' }),
        on_hold: Type.Integer({ description: 'What unfinished jobs hold, in US cents.' }),
      }),
    ),
    jobs: Type.Array(
      Type.Object({
        environment: ENVIRONMENT,
        tier: Type.Enum(['human', 'machine']),
        status: Type.String(),
        jobs: COUNT,
      }),
      { description: 'The number of jobs by status.' },
    ),
    last_30_days: Type.Array(
      Type.Object({
        environment: ENVIRONMENT,
        tier: Type.Enum(['human', 'machine']),
        jobs: COUNT,
        words: COUNT,
        cents: CENTS,
      }),
    ),
    days: Type.Object(
      { production: Type.Array(Day), sandbox: Type.Array(Day) },
      { description: 'The last 30 days in UTC, earliest first.' },
    ),
    failed_deliveries: Type.Object(
      { production: COUNT, sandbox: COUNT },
      { description: 'The number of deliveries that failed in the last 30 days, counted up to 1,000.' },
    ),
    failed_endpoints: Type.Object(
      { production: COUNT, sandbox: COUNT },
      { description: 'The number of webhook endpoints that were disabled because their deliveries failed.' },
    ),
    sandbox_words: Type.Union(
      [
        Type.Object(
          { used: COUNT, limit: COUNT, resets_at: MOMENT },
          { title: 'SandboxWords', description: 'The words used today (UTC) in the sandbox.' },
        ),
        Type.Null(),
      ],
      { description: 'Null if the sandbox has no limit.' },
    ),
    latest_jobs: Type.Object({ production: Type.Array(OwnJob), sandbox: Type.Array(OwnJob) }),
  },
  { title: 'OwnAccount' },
);

const Key = Type.Object(
  {
    key_id: Type.String({ description: 'The public part of the key.' }),
    environment: ENVIRONMENT,
    name: Type.String(),
    dialect: Type.Enum(['spec', 'legacy']),
    read_only: Type.Boolean(),
    scopes: KEY_SCOPES,
    daily_cents: DAILY_CENTS,
    ordered_cents: ORDERED_CENTS,
    created_at: MOMENT,
    last_used_at: OPTIONAL_MOMENT,
    expires_at: OPTIONAL_MOMENT,
    revoked_at: Type.Union([MOMENT, Type.Null()], { description: 'When the key was or will be revoked.' }),
    live: Type.Boolean({ description: 'Whether the key is active now.' }),
    made_by: Type.Union([Type.String(), Type.Null()], {
      description: 'The e-mail address of the user who created the key; null if the operator created it.',
    }),
  },
  { title: 'OwnKey' },
);
const madeKey = {
  key_id: Type.String(),
  environment: ENVIRONMENT,
  name: Type.String(),
  key: Type.String({ description: 'The key in the form `user:key`. Only this answer contains it.' }),
};
const MadeKey = Type.Object(madeKey, { title: 'OwnMadeKey' });
const RolledKey = Type.Object({ ...madeKey, previous_ends: MOMENT }, { title: 'OwnRolledKey' });

const Secret = Type.Object(
  {
    secret_id: ID,
    environment: ENVIRONMENT,
    created_at: MOMENT,
    expires_at: Type.Union([MOMENT, Type.Null()], {
      description: 'When the secret expires; null until it is rolled.',
    }),
  },
  { title: 'OwnWebhookSecret', description: 'An active webhook secret, without its value.' },
);
const RolledSecret = Type.Object(
  {
    environment: ENVIRONMENT,
    webhook_secret: Type.String({ description: 'The new secret. Only this answer contains it.' }),
    previous_ends: Type.String({
      format: 'date-time',
      description: 'The moment until which the previous secrets sign.',
    }),
  },
  { title: 'OwnRolledSecret' },
);

const Origins = Type.Object(
  { origins: Type.Array(Type.String({ examples: ['https://app.example.com'] })) },
  {
    title: 'OwnOrigins',
    description: 'The origins whose pages may call the API of the account from a browser.',
  },
);

const keyParameters = Type.Object({ key_id: Type.String() });
const schemas = {
  overview: describedOwn('readOwnAccount', 'Read an overview of your account', Overview),
  listKeys: describedOwn('listOwnKeys', 'List your keys, including ended ones', objectsOf(Key)),
  makeKey: describedOwn('makeOwnKey', 'Create a key', MadeKey, {
    status: 201,
    description: '`conflict` when 50 keys of the environment are active.',
    body: Type.Object({
      name: Type.String({ minLength: 1, maxLength: 100, pattern: ONE_LINE, 'x-trim': true }),
      environment: ENVIRONMENT,
      read_only: Type.Boolean({ default: false }),
      scopes: GIVEN_SCOPES,
      daily_cents: Type.Optional(DAILY_CENTS),
      expires_at: Type.Optional(Type.Union([Type.String({ format: 'future' }), Type.Null()])),
    }),
  }),
  rollKey: describedOwn('rollOwnKey', 'Replace a key', RolledKey, {
    status: 201,
    description: '`conflict` when the key has ended or 50 keys of the environment are active.',
    params: keyParameters,
    body: OVERLAP_BODY,
  }),
  revokeKey: describedOwn('revokeOwnKey', 'Revoke a key', objectsOf(Key), { params: keyParameters }),
  listOrigins: describedOwn('listOwnOrigins', 'List the origins of your web pages', Origins),
  setOrigins: describedOwn('setOwnOrigins', 'Replace the origins of your web pages', Origins, {
    body: Type.Object({
      origins: Type.Array(Type.String({ format: 'origin', 'x-trim': true }), { maxItems: MAX_ORIGINS }),
    }),
  }),
  listSecrets: describedOwn('listOwnWebhookSecrets', 'List your webhook secrets', objectsOf(Secret)),
  rollSecret: describedOwn('rollOwnWebhookSecret', 'Create a new webhook secret', RolledSecret, {
    status: 201,
    description:
      '`conflict` when 5 secrets of the environment would sign; the message says when each ends. None ends early.',
    params: Type.Object({ environment: ENVIRONMENT }),
    body: OVERLAP_BODY,
  }),
};

function objectsOf<T extends Parameters<typeof Type.Array>[0]>(item: T) {
  return Type.Object({ objects: Type.Array(item) });
}

const DAYS = 30;
const MILLISECONDS_30_DAYS = DAYS * 86_400_000;
const LATEST_JOBS = 5;

export function customerRoutes(app: FastifyInstance, options: CustomerOptions): void {
  const { database, settings } = options;
  resource(app, '/api/account', {
    GET: {
      schema: schemas.overview,
      handler: async (request) => readOverview(database, settings, accountOf(request)),
    },
  });
  keyRoutes(app, options);
  webhookSecretRoutes(app, options);
  originRoutes(app, options);
}

function keyRoutes(app: FastifyInstance, { database, vault }: CustomerOptions): void {
  resource(app, '/api/account/keys', {
    GET: {
      schema: schemas.listKeys,
      handler: async (request) => presentKeys(database, accountOf(request).ref),
    },
    POST: {
      schema: schemas.makeKey,
      async handler(request, reply) {
        const account = accountOf(request);
        const { name, environment, read_only, scopes, daily_cents, expires_at } = request.body;
        const wanted = {
          name,
          environment,
          dialect: 'spec' as const,
          readOnly: read_only,
          scopes: scopes ?? undefined,
          dailyCents: daily_cents ?? undefined,
          expiresAt: expires_at == null ? undefined : new Date(expires_at),
        };
        await limitCredentials(database, vault, account.ref);
        const created = await database.transaction((transaction) =>
          makeKey(transaction, request.person, account, wanted),
        );
        return reply.code(201).send(created);
      },
    },
  });

  resource(app, '/api/account/keys/:key_id/roll', {
    POST: {
      schema: schemas.rollKey,
      async handler(request, reply) {
        const account = accountOf(request);
        const seconds = OVERLAP_SECONDS[request.body.overlap];
        const keyId = await requireActiveKey(database, account.ref, request.params.key_id);
        await limitCredentials(database, vault, account.ref);
        return reply.code(201).send(await rollKey(database, request.person, account, keyId, seconds));
      },
    },
  });

  resource(app, '/api/account/keys/:key_id/revoke', {
    POST: {
      schema: schemas.revokeKey,
      async handler(request) {
        const { ref } = accountOf(request);
        const keyId = await requireActiveKey(database, ref, request.params.key_id);
        await revokeKey(database, request.person, ref, keyId, 0);
        return presentKeys(database, ref);
      },
    },
  });
}

function webhookSecretRoutes(app: FastifyInstance, { database, vault }: CustomerOptions): void {
  resource(app, '/api/account/webhook-secrets', {
    GET: {
      schema: schemas.listSecrets,
      handler: async (request) => ({ objects: await listWebhookSecrets(database, accountOf(request).ref) }),
    },
  });

  resource(app, '/api/account/webhook-secrets/:environment/roll', {
    POST: {
      schema: schemas.rollSecret,
      async handler(request, reply) {
        const { ref } = accountOf(request);
        const { environment } = request.params;
        const seconds = OVERLAP_SECONDS[request.body.overlap];
        await limitCredentials(database, vault, ref);
        const secret = await rollWebhookSecret(database, vault, request.person, ref, environment, seconds);
        return reply.code(201).send({
          environment,
          webhook_secret: secret,
          previous_ends: new Date(Date.now() + seconds * 1000),
        });
      },
    },
  });
}

function originRoutes(app: FastifyInstance, { database }: CustomerOptions): void {
  resource(app, '/api/account/origins', {
    GET: {
      schema: schemas.listOrigins,
      handler: async (request) => ({ origins: await listOrigins(database, accountOf(request).ref) }),
    },
    PUT: {
      schema: schemas.setOrigins,
      async handler(request) {
        const { origins } = request.body;
        return { origins: await setOrigins(database, request.person, accountOf(request), origins) };
      },
    },
  });
}

/** Returns the API keys as customers see them, without e-mail addresses of operators. */
async function presentKeys(database: Database, account: AccountRef) {
  const keys = await listKeys(database, account);
  return {
    objects: keys.map(({ made_by_operator: byOperator, ...key }) => ({
      ...key,
      made_by: byOperator ? null : key.made_by,
    })),
  };
}

/**
 * Returns the id of an active key of the account.
 * @throws ApiError `not_found` for unknown keys and keys of other accounts; `conflict` for ended keys
 */
async function requireActiveKey(database: Database, account: AccountRef, wanted: string): Promise<string> {
  const key = (await listKeys(database, account)).find((one) => one.key_id === wanted);
  if (key === undefined) throw notFound();
  if (!key.live) throw new ApiError('conflict', 'This key has ended.');
  return key.key_id;
}

async function readOverview(
  database: Database,
  settings: CustomerOptions['settings'],
  { ref, username }: NonNullable<Person['account']>,
): Promise<Static<typeof Overview>> {
  const since = new Date(Date.now() - MILLISECONDS_30_DAYS);
  const [
    { email, chat },
    balances,
    held,
    jobs,
    lately,
    days,
    failed,
    endpoints,
    sandboxWords,
    production,
    sandbox,
  ] = await Promise.all([
    accountNamed(database, username),
    readBalances(database, ref),
    readHeld(database, ref),
    countJobsByStatus(database, { account: ref }),
    countJobsSince(database, ref, since),
    countJobsByDay(database, ref, DAYS, new Date()),
    countDeadDeliveries(database, ref, since),
    countFailedEndpoints(database, ref),
    readQuota(database, settings, ref),
    listLatestJobs(database, ref, 'production', LATEST_JOBS),
    listLatestJobs(database, ref, 'sandbox', LATEST_JOBS),
  ]);
  return {
    username,
    email,
    chat,
    balances: balances.map((one) => ({ ...one, on_hold: held[one.environment] })),
    jobs,
    last_30_days: lately,
    days,
    failed_deliveries: failed,
    failed_endpoints: endpoints,
    sandbox_words: sandboxWords,
    latest_jobs: { production, sandbox },
  };
}

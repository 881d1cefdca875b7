/** The operations of API keys, webhook secrets and origins of an account. */
import type { FastifyInstance } from 'fastify';
import Type from 'typebox';
import { listOrigins, MAX_ORIGINS, setOrigins } from '../access/accounts.ts';
import { type Audience, only, type SharedOperation, type Subject, share } from '../access/audiences.ts';
import { listKeys, makeKey, revokeKey, rollKey } from '../access/keys.ts';
import type { Vault } from '../access/secrets.ts';
import { limitCredentials } from '../access/sessions.ts';
import { listWebhookSecrets, rollWebhookSecret } from '../access/webhook-secrets.ts';
import type { AccountRef } from '../base/account.ts';
import { ApiError, notFound } from '../base/errors.ts';
import type { Database } from '../database/database.ts';
import {
  DAILY_CENTS,
  describing,
  ENVIRONMENT,
  GIVEN_SCOPES,
  ID,
  KEY_SCOPES,
  MOMENT,
  ONE_LINE,
  OPTIONAL_MOMENT,
  ORDERED_CENTS,
  OVERLAP_BODY,
  OVERLAP_SECONDS,
} from '../http/schemas.ts';

interface CredentialOptions {
  database: Database;
  vault: Vault;
}

/** An API key of an account, without its secret. */
export const Key = Type.Object(
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
      description:
        'The e-mail address of the user who created the key; null for a command or a sandbox link. Customers do not see addresses of operators.',
    }),
  },
  { title: 'ApiKey' },
);
const madeKey = {
  key_id: Type.String(),
  environment: ENVIRONMENT,
  name: Type.String(),
  key: Type.String({ description: 'The key in the form `user:key`. Only this answer contains it.' }),
};
const MadeKey = Type.Object(madeKey, { title: 'MadeKey' });
const RolledKey = Type.Object({ ...madeKey, previous_ends: MOMENT }, { title: 'RolledKey' });

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

export const DIALECT = Type.Enum(['spec', 'legacy'], { default: 'spec' });
const described = describing('Credentials');
const keyParameters = Type.Object({
  key_id: only(Type.String(), 'customer'),
  key: only(Type.String(), 'operator'),
});
const schemas = {
  listKeys: described('listOwnKeys', 'List your keys, including ended ones', objectsOf(Key)),
  makeKey: described('makeKey', 'Create a key', MadeKey, {
    status: 201,
    description: '`conflict` when 50 keys of the environment are active.',
    body: Type.Object({
      name: Type.String({ minLength: 1, maxLength: 100, pattern: ONE_LINE, 'x-trim': true }),
      environment: ENVIRONMENT,
      dialect: only(DIALECT, 'operator'),
      read_only: Type.Boolean({ default: false }),
      scopes: GIVEN_SCOPES,
      daily_cents: Type.Optional(DAILY_CENTS),
      expires_at: Type.Optional(
        only(Type.Union([Type.String({ format: 'future' }), Type.Null()]), 'customer'),
      ),
    }),
  }),
  rollKey: described('rollOwnKey', 'Replace a key', RolledKey, {
    status: 201,
    description: '`conflict` when the key has ended or 50 keys of the environment are active.',
    params: Type.Object({ key_id: Type.String() }),
    body: OVERLAP_BODY,
  }),
  revokeKey: described('revokeKey', 'Revoke a key', objectsOf(Key), { params: keyParameters }),
  listOrigins: described('listOwnOrigins', 'List the origins of your web pages', Origins),
  setOrigins: described('setOwnOrigins', 'Replace the origins of your web pages', Origins, {
    body: Type.Object({
      origins: Type.Array(Type.String({ format: 'origin', 'x-trim': true }), { maxItems: MAX_ORIGINS }),
    }),
  }),
  listSecrets: described('listOwnWebhookSecrets', 'List your webhook secrets', objectsOf(Secret)),
  rollSecret: described('rollOwnWebhookSecret', 'Create a new webhook secret', RolledSecret, {
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

const who = { customer: true } as const;

export function credentialRoutes(app: FastifyInstance, options: CredentialOptions, audience: Audience): void {
  keyRoutes(app, options, audience);
  webhookSecretRoutes(app, options, audience);
  originRoutes(app, options, audience);
}

function keyRoutes(app: FastifyInstance, { database, vault }: CredentialOptions, audience: Audience): void {
  const both = { customer: true, operator: true } as const;
  share(app, database, audience, '/keys', {
    GET: { who, schema: schemas.listKeys, handler: (_, subject) => presentKeys(database, subject) },
    POST: {
      who: both,
      schema: schemas.makeKey,
      async handler({ person, body }, { account: ref, username, audience }, reply) {
        const { name, environment, dialect = 'spec', read_only, scopes, daily_cents, expires_at } = body;
        const wanted = {
          name,
          environment,
          dialect,
          readOnly: read_only,
          scopes: scopes ?? undefined,
          dailyCents: daily_cents ?? undefined,
          expiresAt: expires_at == null ? undefined : new Date(expires_at),
        };
        if (audience === 'customer') await limitCredentials(database, vault, ref);
        const made = await database.transaction((transaction) =>
          makeKey(transaction, person, { ref, username }, wanted),
        );
        return reply.code(201).send(made);
      },
    },
  });

  share(app, database, audience, '/keys/:key_id/roll', {
    POST: {
      who,
      schema: schemas.rollKey,
      async handler({ person, params, body }, { account: ref, username }, reply) {
        const seconds = OVERLAP_SECONDS[body.overlap];
        const keyId = await requireActiveKey(database, ref, params.key_id);
        await limitCredentials(database, vault, ref);
        return reply.code(201).send(await rollKey(database, person, { ref, username }, keyId, seconds));
      },
    },
  });

  const revoke: SharedOperation<typeof schemas.revokeKey> = {
    who: both,
    schema: schemas.revokeKey,
    async handler({ person, params }, subject) {
      const keyId = await requireActiveKey(database, subject.account, params.key_id ?? params.key);
      await revokeKey(database, person, subject.account, keyId, 0);
      return presentKeys(database, subject);
    },
  };
  if (audience.name === 'customer') share(app, database, audience, '/keys/:key_id/revoke', { POST: revoke });
  else share(app, database, audience, '/keys/:key', { DELETE: revoke });
}

function webhookSecretRoutes(
  app: FastifyInstance,
  { database, vault }: CredentialOptions,
  audience: Audience,
): void {
  share(app, database, audience, '/webhook-secrets', {
    GET: {
      who,
      schema: schemas.listSecrets,
      handler: async (_, { account }) => ({ objects: await listWebhookSecrets(database, account) }),
    },
  });

  share(app, database, audience, '/webhook-secrets/:environment/roll', {
    POST: {
      who,
      schema: schemas.rollSecret,
      async handler({ person, params: { environment }, body }, { account }, reply) {
        const seconds = OVERLAP_SECONDS[body.overlap];
        await limitCredentials(database, vault, account);
        const secret = await rollWebhookSecret(database, vault, person, account, environment, seconds);
        return reply.code(201).send({
          environment,
          webhook_secret: secret,
          previous_ends: new Date(Date.now() + seconds * 1000),
        });
      },
    },
  });
}

function originRoutes(app: FastifyInstance, { database }: CredentialOptions, audience: Audience): void {
  share(app, database, audience, '/origins', {
    GET: {
      who,
      schema: schemas.listOrigins,
      handler: async (_, { account }) => ({ origins: await listOrigins(database, account) }),
    },
    PUT: {
      who,
      schema: schemas.setOrigins,
      async handler({ person, body }, { account: ref, username }) {
        return { origins: await setOrigins(database, person, { ref, username }, body.origins) };
      },
    },
  });
}

/** Returns the API keys. Customers do not see e-mail addresses of operators. */
async function presentKeys(database: Database, { account, audience }: Subject) {
  const keys = await listKeys(database, account);
  return {
    objects: keys.map(({ made_by_operator: byOperator, ...key }) => ({
      ...key,
      made_by: byOperator && audience === 'customer' ? null : key.made_by,
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

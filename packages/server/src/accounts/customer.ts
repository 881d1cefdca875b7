/** A customer's own account: `/api/account`, its keys, its webhook secrets. Always that of who is signed in. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import Type, { type Static } from 'typebox';
import type { AccountRef, Person } from '../account.ts';
import {
  CENTS,
  type Check,
  describedOwn,
  ENVIRONMENT,
  environment,
  flag,
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
import type { Database } from '../database/database.ts';
import { countDead } from '../deliveries/log.ts';
import { ApiError, notFound, reason, WrongValue } from '../errors.ts';
import { resource } from '../http.ts';
import { latestJobs, OwnJob } from '../jobs/customer.ts';
import { countByStatus, countSince, listDays } from '../jobs/overview.ts';
import { readBalances } from '../ledger/ledger.ts';
import { recordAudit } from '../operations/audit.ts';
import { accountNamed, ENVIRONMENTS, listWebhookSecrets, rollWebhookSecret } from './accounts.ts';
import { accountOf } from './door.ts';
import { type Alongside, listKeys, makeKey, revokeKey, rollKey } from './keys.ts';
import type { Vault } from './secrets.ts';
import { admit } from './sessions.ts';

/** Keys and webhook secrets that one account makes or rolls in a day; then one a second, three, seven …, one an hour. */
const CREDENTIALS = { free: 100, mostSeconds: 3600 };

export interface CustomerOptions {
  database: Database;
  vault: Vault;
}

const COUNT = Type.Integer({ minimum: 0 });

const Day = Type.Object(
  { day: Type.String({ format: 'date' }), jobs: COUNT, cents: CENTS },
  { title: 'OwnDay', description: 'What was asked for on a day, and what it costs.' },
);

const Overview = Type.Object(
  {
    username: Type.String(),
    email: OPTIONAL_TEXT,
    chat: Type.Boolean({ description: 'Whether it has a chat subscription.' }),
    balances: Type.Array(
      Type.Object({
        environment: ENVIRONMENT,
        balance: CENTS,
        credit_limit: Type.Union([CENTS, Type.Null()], { description: 'Null: it may owe without limit.' }),
      }),
    ),
    jobs: Type.Array(
      Type.Object({
        environment: ENVIRONMENT,
        tier: Type.Enum(['human', 'machine']),
        status: Type.String(),
        jobs: COUNT,
      }),
      { description: 'How many there are, by status.' },
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
      { description: 'Each of the last 30, in UTC, the earliest first.' },
    ),
    failed_deliveries: Type.Object(
      { production: COUNT, sandbox: COUNT },
      { description: 'Of the last 30 days, up to a thousand.' },
    ),
    latest_jobs: Type.Object({ production: Type.Array(OwnJob), sandbox: Type.Array(OwnJob) }),
  },
  { title: 'OwnAccount' },
);

const Key = Type.Object(
  {
    key_id: Type.String({ description: 'The part of a key that is not secret.' }),
    environment: ENVIRONMENT,
    name: Type.String(),
    dialect: Type.Enum(['spec', 'legacy']),
    read_only: Type.Boolean(),
    created_at: MOMENT,
    last_used_at: OPTIONAL_MOMENT,
    expires_at: OPTIONAL_MOMENT,
    revoked_at: Type.Union([MOMENT, Type.Null()], { description: 'When it was or will be ended by hand.' }),
    live: Type.Boolean({ description: 'Whether it opens now.' }),
    made_by: Type.Union([Type.String(), Type.Null()], {
      description: 'The e-mail of the person of the account who made it. Null: the operator made it.',
    }),
  },
  { title: 'OwnKey' },
);
const madeKey = {
  key_id: Type.String(),
  environment: ENVIRONMENT,
  name: Type.String(),
  key: Type.String({ description: 'As `user:key`. Shown this once.' }),
};
const MadeKey = Type.Object(madeKey, { title: 'OwnMadeKey' });
const RolledKey = Type.Object({ ...madeKey, previous_ends: MOMENT }, { title: 'OwnRolledKey' });

const Secret = Type.Object(
  {
    secret_id: Type.String({ format: 'uuid' }),
    environment: ENVIRONMENT,
    created_at: MOMENT,
    expires_at: Type.Union([MOMENT, Type.Null()], { description: 'Null: until it is rolled.' }),
  },
  { title: 'OwnWebhookSecret', description: 'One that signs now. What it is, nobody is shown again.' },
);
const RolledSecret = Type.Object(
  {
    environment: ENVIRONMENT,
    webhook_secret: Type.String({ description: 'Shown this once.' }),
    previous_ends: Type.String({ format: 'date-time', description: 'Until then, those before sign too.' }),
  },
  { title: 'OwnRolledSecret' },
);

const Overlap = Type.Enum(['now', '1h', '24h'], {
  title: 'Overlap',
  description: 'How long what was there before goes on.',
});
const OVERLAP_SECONDS = { now: 0, '1h': 3600, '24h': 86_400 } as const;
const overlapBody = Type.Object({ overlap: Overlap }, { title: 'OverlapRequest', ...open });

const keyParameters = Type.Object({ key_id: Type.String() });
const schemas = {
  overview: describedOwn('readOwnAccount', 'One’s account at a glance', Overview),
  listKeys: describedOwn('listOwnKeys', 'One’s keys, also those that ended', objectsOf(Key)),
  makeKey: describedOwn('makeOwnKey', 'Make a key', MadeKey, {
    status: 201,
    description: '`conflict`: 50 of the environment open already.',
    body: Type.Object(
      {
        name: Type.String({ description: '1 to 100 characters.' }),
        environment: ENVIRONMENT,
        read_only: Type.Optional(Type.Boolean()),
        expires_at: Type.Optional(OPTIONAL_MOMENT),
      },
      open,
    ),
  }),
  rollKey: describedOwn('rollOwnKey', 'Make a key like another one, which then ends', RolledKey, {
    status: 201,
    description: '`conflict`: it has ended, or 50 of the environment open already.',
    params: keyParameters,
    body: overlapBody,
  }),
  revokeKey: describedOwn('revokeOwnKey', 'End a key at once', objectsOf(Key), { params: keyParameters }),
  listSecrets: describedOwn('listOwnWebhookSecrets', 'What signs one’s deliveries', objectsOf(Secret)),
  rollSecret: describedOwn('rollOwnWebhookSecret', 'Sign with a new secret', RolledSecret, {
    status: 201,
    description:
      '`conflict`: 5 secrets of the environment sign already; the message says when each ends. None ends early.',
    params: Type.Object({ environment: ENVIRONMENT }),
    body: overlapBody,
  }),
};

function objectsOf<T extends Parameters<typeof Type.Array>[0]>(item: T) {
  return Type.Object({ objects: Type.Array(item) });
}

const DAYS = 30;
const MILLISECONDS_30_DAYS = DAYS * 86_400_000;
const LATEST_JOBS = 5;

export function customerRoutes(app: FastifyInstance, { database, vault }: CustomerOptions): void {
  const admitCredential = ({ accountId }: AccountRef) =>
    admit(database, vault.mark(`credentials of ${accountId}`), CREDENTIALS);

  resource(app, '/api/account', {
    GET: {
      schema: schemas.overview,
      handler: async (request) => readOverview(database, accountOf(request)),
    },
  });

  resource(app, '/api/account/keys', {
    GET: {
      schema: schemas.listKeys,
      handler: async (request) => presentKeys(accountOf(request).ref),
    },
    POST: {
      schema: schemas.makeKey,
      async handler(request, reply) {
        const account = accountOf(request);
        const form = readForm(request.body);
        const wanted = {
          name: form.required('name', keyName),
          environment: form.required('environment', environment),
          dialect: 'spec' as const,
          readOnly: form.optional('read_only', flag) ?? false,
          expiresAt: form.optional('expires_at', moment),
          madeBy: request.person.userId,
        };
        if (wanted.expiresAt !== undefined && wanted.expiresAt <= new Date()) {
          form.complain('expires_at', reason('in_the_future'));
        }
        form.done();
        await admitCredential(account.ref);
        const made = await database.transaction(async (transaction) => {
          const key = await makeKey(transaction, account, wanted);
          const { environment: where, readOnly: read_only } = wanted;
          const detail = { environment: where, name: wanted.name, read_only };
          await audited(request, 'key.made', detail)(transaction, key.key_id);
          return key;
        });
        return reply.code(201).send(made);
      },
    },
  });

  resource(app, '/api/account/keys/:key_id/roll', {
    POST: {
      schema: schemas.rollKey,
      async handler(request, reply) {
        const account = accountOf(request);
        const { overlap, seconds } = readOverlap(request);
        const keyId = await liveKey(account.ref, request);
        await admitCredential(account.ref);
        const write = audited(request, 'key.rolled', { previous: keyId, overlap });
        return reply
          .code(201)
          .send(await rollKey(database, account, keyId, seconds, write, request.person.userId));
      },
    },
  });

  resource(app, '/api/account/keys/:key_id/revoke', {
    POST: {
      schema: schemas.revokeKey,
      async handler(request) {
        const { ref } = accountOf(request);
        await revokeKey(database, ref, await liveKey(ref, request), 0, audited(request, 'key.revoked', {}));
        return presentKeys(ref);
      },
    },
  });

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
        const wanted = parameter(request, 'environment');
        const where = ENVIRONMENTS.find((one) => one === wanted);
        if (where === undefined) throw notFound();
        const { overlap, seconds } = readOverlap(request);
        await admitCredential(ref);
        const write = audited(request, 'webhook_secret.rolled', { environment: where, overlap });
        const secret = await rollWebhookSecret(database, vault, ref, where, seconds, write);
        return reply.code(201).send({
          environment: where,
          webhook_secret: secret,
          previous_ends: new Date(Date.now() + seconds * 1000),
        });
      },
    },
  });

  /** An operator's e-mail is not for customers. */
  async function presentKeys(account: AccountRef) {
    const keys = await listKeys(database, account);
    return {
      objects: keys.map(({ made_by_operator: byOperator, ...key }) => ({
        ...key,
        made_by: byOperator ? null : key.made_by,
      })),
    };
  }

  /** Of this account, and it has not ended. What there is not, and what is another's, are alike. */
  async function liveKey(account: AccountRef, request: FastifyRequest): Promise<string> {
    const wanted = parameter(request, 'key_id');
    const key = (await listKeys(database, account)).find((one) => one.key_id === wanted);
    if (key === undefined) throw notFound();
    if (!key.live) throw new ApiError('conflict', 'This key has ended.');
    return key.key_id;
  }
}

/** Writes who did it, in the transaction in which it is done. */
function audited(request: FastifyRequest, action: string, detail: object): Alongside {
  const { person } = request;
  const { ref: account } = accountOf(request);
  return (transaction, subject) => recordAudit(transaction, person, { action, account, subject, detail });
}

async function readOverview(
  database: Database,
  { ref, username }: NonNullable<Person['account']>,
): Promise<Static<typeof Overview>> {
  const since = new Date(Date.now() - MILLISECONDS_30_DAYS);
  const [{ email, chat }, balances, jobs, lately, days, failed, production, sandbox] = await Promise.all([
    accountNamed(database, username),
    readBalances(database, ref),
    countByStatus(database, ref),
    countSince(database, ref, since),
    listDays(database, ref, DAYS, new Date()),
    countDead(database, ref, since),
    latestJobs(database, ref, 'production', LATEST_JOBS),
    latestJobs(database, ref, 'sandbox', LATEST_JOBS),
  ]);
  return {
    ...{ username, email, chat, balances, jobs },
    last_30_days: lately,
    days,
    failed_deliveries: failed,
    latest_jobs: { production, sandbox },
  };
}

const keyName: Check<string> = (given) => {
  const name = text(100)(given);
  if (/\p{C}/u.test(name)) throw new WrongValue('one_line');
  return name;
};

function readOverlap(request: FastifyRequest): { overlap: keyof typeof OVERLAP_SECONDS; seconds: number } {
  const form = readForm(request.body);
  const overlap = form.required('overlap', oneOf('now', '1h', '24h'));
  form.done();
  return { overlap, seconds: OVERLAP_SECONDS[overlap] };
}

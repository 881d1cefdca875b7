/** The routes for a user's own second factor: `/api/me/second-factor…`. */
import type { FastifyInstance } from 'fastify';
import Type from 'typebox';
import { requirePassword } from '../access/people.ts';
import {
  beginSecondFactor,
  confirmSecondFactor,
  readSecondFactor,
  removeSecondFactor,
  renewRecoveryCodes,
  requireCode,
} from '../access/second-factor.ts';
import type { Vault } from '../access/secrets.ts';
import { limitAttempts } from '../access/sessions.ts';
import type { Person } from '../base/account.ts';
import { ApiError, reason } from '../base/errors.ts';
import type { Database } from '../database/database.ts';
import { resource } from '../http/http.ts';
import { describing, MOMENT } from '../http/schemas.ts';
import type { Settings } from '../settings/settings.ts';
import { PASSWORD_ATTEMPTS, SMALL_BODY } from './people-schemas.ts';

const describedMine = describing('People');
const State = Type.Object(
  {
    enabled_at: Type.Union([MOMENT, Type.Null()], { description: 'Null without a second factor.' }),
    recovery_codes: Type.Integer({ description: 'The number of unused recovery codes.' }),
  },
  { title: 'SecondFactor' },
);
const Secret = Type.Object(
  {
    secret: Type.String({ description: 'In base32, to type into an authenticator app.' }),
    uri: Type.String({ description: 'The `otpauth:` URI, for a QR code.' }),
  },
  { title: 'SecondFactorSecret' },
);
const RecoveryCodes = Type.Object(
  { recovery_codes: Type.Array(Type.String()) },
  { title: 'RecoveryCodes', description: 'Each code works once. They cannot be shown again.' },
);
const Code = Type.Object(
  {
    code: Type.String({
      minLength: 1,
      'x-fault': reason('required'),
      description: 'A code of the authenticator app or a recovery code.',
    }),
  },
  { title: 'SecondFactorCode' },
);

const schemas = {
  read: describedMine('readSecondFactor', 'Read your second factor', State),
  begin: describedMine('beginSecondFactor', 'Create the secret of a second factor', Secret, {
    status: 201,
    description: 'The second factor is off until it is confirmed. `conflict` if it is already on.',
    body: Type.Object({ current_password: Type.Optional(Type.String()) }, { title: 'SecondFactorBegin' }),
  }),
  confirm: describedMine(
    'confirmSecondFactor',
    'Turn the second factor on with the first code of the app',
    RecoveryCodes,
    { description: 'Your other sessions end.', body: Code },
  ),
  renew: describedMine('renewRecoveryCodes', 'Replace your recovery codes', RecoveryCodes, { body: Code }),
  disable: describedMine('disableSecondFactor', 'Turn the second factor off', State, {
    description: '`conflict` if operators must have a second factor.',
    body: Code,
  }),
};

export interface SecondFactorOptions {
  database: Database;
  vault: Vault;
  settings: Pick<Settings, 'operatorSecondFactor'>;
}

export function secondFactorRoutes(app: FastifyInstance, options: SecondFactorOptions): void {
  const { database, vault, settings } = options;
  const path = '/api/me/second-factor';

  async function present(userId: string) {
    const found = await readSecondFactor(database, userId);
    return {
      enabled_at: found?.enabledAt ?? null,
      recovery_codes: found?.recoveryCodes ?? 0,
    };
  }
  /** Checks a code of the user's second factor. @throws ApiError `conflict` when the user has no second factor */
  async function check(person: Person, code: string): Promise<void> {
    if (!person.secondFactor) throw new ApiError('conflict', 'You have no second factor.');
    await requireCode(database, vault, { ...person, user_id: person.userId, account: person.account }, code);
  }

  resource(app, path, {
    GET: { schema: schemas.read, handler: ({ person }) => present(person.userId) },
    POST: {
      schema: schemas.begin,
      ...SMALL_BODY,
      async handler({ person, body }, reply) {
        await limitAttempts(database, vault.mark(`password ${person.userId}`), PASSWORD_ATTEMPTS);
        await requirePassword(database, person.userId, body.current_password);
        return reply.code(201).send(await beginSecondFactor(database, vault, person));
      },
    },
  });
  resource(app, `${path}/confirm`, {
    POST: {
      schema: schemas.confirm,
      ...SMALL_BODY,
      handler: async ({ person, body }) => ({
        recovery_codes: await confirmSecondFactor(database, vault, person, body.code),
      }),
    },
  });
  resource(app, `${path}/recovery-codes`, {
    POST: {
      schema: schemas.renew,
      ...SMALL_BODY,
      async handler({ person, body }) {
        await check(person, body.code);
        return { recovery_codes: await renewRecoveryCodes(database, vault, person) };
      },
    },
  });
  resource(app, `${path}/disable`, {
    POST: {
      schema: schemas.disable,
      ...SMALL_BODY,
      async handler({ person, body }) {
        if (settings.operatorSecondFactor === 'required' && person.role === 'operator') {
          throw new ApiError('conflict', 'Operators of this server must have a second factor.');
        }
        await check(person, body.code);
        const user = { user_id: person.userId, email: person.email, account: person.account };
        await removeSecondFactor(database, person, user, { keepSession: person.sessionId });
        return present(person.userId);
      },
    },
  });
}

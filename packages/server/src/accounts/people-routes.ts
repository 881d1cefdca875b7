/**
 * The routes for signing in and out and for the user's own profile: `/api/session`, `/api/sessions`,
 * `/api/me`, `/api/invitations/…`, `/api/password-resets`.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { acceptInvitation, readInvitation } from '../access/invitations.ts';
import { normalEmail } from '../access/names.ts';
import { changePassword, changeProfile, hasOperator, readPerson } from '../access/people.ts';
import {
  clearSessionCookie,
  clientOf,
  cookieOf,
  isSecondFactorMissing,
  requireSession,
  type SessionAuthOptions,
  setSessionCookie,
} from '../access/session-auth.ts';
import {
  authenticateSession,
  endSession,
  endSessions,
  limitAttempts,
  listSessions,
  type StartedSession,
  signOut,
} from '../access/sessions.ts';
import { signIn } from '../access/sign-in.ts';
import type { Person } from '../base/account.ts';
import { notFound, notSignedIn } from '../base/errors.ts';
import type { Database } from '../database/database.ts';
import { resource } from '../http/http.ts';
import { mailPasswordChanged } from './links.ts';
import { canResetByMail, type PasswordResetOptions, requestPasswordReset } from './password-reset.ts';
import { type Me, PASSWORD_ATTEMPTS, peopleSchemas, SMALL_BODY } from './people-schemas.ts';
import { type ProviderRouteOptions, providerRoutes } from './provider-routes.ts';
import { secondFactorRoutes } from './second-factor-routes.ts';

export type PeopleOptions = SessionAuthOptions & PasswordResetOptions & ProviderRouteOptions;

export function peopleRoutes(app: FastifyInstance, options: PeopleOptions): void {
  void app.register(async (open) => {
    signInRoutes(open, options);
    invitationRoutes(open, options);
    resetRoutes(open, options);
    providerRoutes(open, options);
  });
  void app.register(async (own) => {
    requireSession(own, options);
    sessionRoutes(own, options);
    profileRoutes(own, options);
    secondFactorRoutes(own, options);
  });
}

function signInRoutes(app: FastifyInstance, options: PeopleOptions): void {
  const { database, settings, vault } = options;
  const cookie = cookieOf(settings);
  resource(app, '/api/session', {
    GET: { schema: peopleSchemas.whoAmI, handler: (request) => readMe(options, request) },
    POST: {
      schema: peopleSchemas.signIn,
      ...SMALL_BODY,
      async handler(request, reply) {
        const { email, password, code } = request.body;
        const credentials = { email: normalEmail(email) ?? email.toLowerCase(), password, code };
        const started = await signIn(database, vault, settings, credentials, clientOf(request, cookie));
        return answerSignedIn(options, reply, started);
      },
    },
    DELETE: {
      schema: peopleSchemas.signOut,
      async handler(request, reply) {
        await signOut(database, request.cookies[cookie.name]);
        clearSessionCookie(reply, cookie);
        return reply.code(204).send();
      },
    },
  });
}

function invitationRoutes(app: FastifyInstance, options: PeopleOptions): void {
  const { database, vault, settings, mailer } = options;
  resource(app, '/api/invitations/:token', {
    GET: {
      schema: peopleSchemas.readInvitation,
      async handler(request) {
        const { purpose, user, expires_at } = await readInvitation(database, request.params.token);
        if (user === undefined) return { purpose, role: 'operator', second_factor: false, expires_at };
        const { email, name, role } = user;
        const account = user.account === undefined ? {} : { account: user.account.username };
        return { purpose, email, name, role, ...account, second_factor: user.second_factor, expires_at };
      },
    },
    POST: {
      schema: peopleSchemas.acceptInvitation,
      ...SMALL_BODY,
      async handler(request, reply) {
        const { token } = request.params;
        const client = clientOf(request, cookieOf(settings));
        const started = await acceptInvitation(database, vault, settings, token, request.body, client);
        if (started.purpose === 'reset') {
          const by = started.requested ? undefined : (started.made_by ?? 'the operator');
          void mailPasswordChanged(mailer, started.user, by);
        }
        return answerSignedIn(options, reply.code(201), started);
      },
    },
  });
}

function resetRoutes(app: FastifyInstance, options: PeopleOptions): void {
  resource(app, '/api/sign-in-options', {
    GET: {
      schema: peopleSchemas.readSignInOptions,
      handler: async () => ({
        reset_by_mail: canResetByMail(options.settings),
        passwords: options.settings.passwordUsers === 'everybody',
        provider: options.provider?.name ?? null,
        has_operator: await hasOperator(options.database),
      }),
    },
  });
  resource(app, '/api/password-resets', {
    POST: {
      schema: peopleSchemas.requestPasswordReset,
      ...SMALL_BODY,
      async handler(request, reply) {
        await requestPasswordReset(options, request.clientAddress, normalEmail(request.body.email)!);
        return reply.code(202).send({ status: 'received' });
      },
    },
  });
}

function sessionRoutes(app: FastifyInstance, { database, settings }: PeopleOptions): void {
  resource(app, '/api/sessions', {
    GET: {
      schema: peopleSchemas.listSessions,
      async handler({ person }) {
        const sessions = await listSessions(database, person, settings);
        return {
          objects: sessions.map((one) => ({ ...one, current: one.session_id === person.sessionId })),
        };
      },
    },
    DELETE: {
      schema: peopleSchemas.endSessions,
      async handler({ person }, reply) {
        await endSessions(database, person.userId, person.sessionId);
        return reply.code(204).send();
      },
    },
  });
  resource(app, '/api/sessions/:session_id', {
    DELETE: {
      schema: peopleSchemas.endSession,
      async handler({ person, params }, reply) {
        const { session_id: sessionId } = params;
        if (!(await endSession(database, person, sessionId))) throw notFound();
        if (sessionId === person.sessionId) clearSessionCookie(reply, cookieOf(settings));
        return reply.code(204).send();
      },
    },
  });
}

function profileRoutes(app: FastifyInstance, options: PeopleOptions): void {
  const { database, settings, vault } = options;
  resource(app, '/api/me', {
    GET: {
      schema: { ...peopleSchemas.whoAmI, operationId: 'readMe' },
      handler: (request) => readMe(options, request),
    },
    PATCH: {
      schema: peopleSchemas.changeMe,
      ...SMALL_BODY,
      async handler(request) {
        await changeProfile(database, request.person.userId, request.body);
        return readMe(options, request);
      },
    },
  });
  resource(app, '/api/me/password', {
    POST: {
      schema: peopleSchemas.changePassword,
      ...SMALL_BODY,
      async handler(request, reply) {
        const { current_password: current, password: wanted } = request.body;
        await limitAttempts(database, vault.mark(`password ${request.person.userId}`), PASSWORD_ATTEMPTS);
        const started = await changePassword(database, request.person, { current, wanted });
        setSessionCookie(reply, cookieOf(settings), started);
        return reply.code(204).send();
      },
    },
  });
}

async function readMe({ database, settings }: PeopleOptions, { cookies }: FastifyRequest): Promise<Me> {
  const person = await authenticateSession(database, settings, cookies[cookieOf(settings).name]);
  if (person === undefined) throw notSignedIn();
  return presentMe(database, settings, person.userId, person);
}

/** Sets the cookie of a session that has just started, and answers with its user. */
async function answerSignedIn(
  { database, settings }: PeopleOptions,
  reply: FastifyReply,
  started: StartedSession,
): Promise<FastifyReply> {
  const person = await authenticateSession(database, settings, started.token);
  if (person === undefined) throw notSignedIn();
  setSessionCookie(reply, cookieOf(settings), started);
  return reply.send(await presentMe(database, settings, person.userId, person));
}

async function presentMe(
  database: Database,
  settings: PeopleOptions['settings'],
  userId: string,
  session: Pick<Person, 'sessionId' | 'byProvider' | 'account'> & { endsAt: Date },
): Promise<Me> {
  const user = await readPerson(database, userId);
  if (user === undefined) throw notSignedIn();
  const { user_id, email, name, role, locale, theme, languages, second_factor } = user;
  return {
    user_id,
    email,
    name,
    role,
    locale,
    theme,
    languages,
    second_factor,
    has_password: user.has_password,
    second_factor_missing: isSecondFactorMissing(settings, {
      role,
      secondFactor: second_factor,
      byProvider: session.byProvider,
    }),
    ...(user.account === undefined
      ? {}
      : {
          account: user.account.username,
          account_status: session.account?.suspended ? 'suspended' : 'active',
          owner: user.owner,
        }),
    session: {
      session_id: session.sessionId,
      by_provider: session.byProvider,
      ends_at: session.endsAt,
      idle_seconds: settings.sessionIdleSeconds,
    },
  };
}

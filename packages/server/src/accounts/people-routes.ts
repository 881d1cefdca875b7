/** Signing in and out, and oneself: `/api/session`, `/api/sessions`, `/api/me`, `/api/invitations/…`. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Database } from '../database/database.ts';
import { notFound, notSignedIn, reason, wrongFields } from '../errors.ts';
import { resource } from '../http.ts';
import { cookieOf, type DoorOptions, giveCookie, requirePerson, takeCookie, visitorOf } from './door.ts';
import { mailPasswordChanged } from './links.ts';
import type { Mailer } from './mail.ts';
import {
  acceptInvitation,
  changePassword,
  changeProfile,
  normalEmail,
  ROLES,
  readInvitation,
  readPerson,
} from './people.ts';
import { type Me, schemas } from './people-schemas.ts';
import type { Vault } from './secrets.ts';
import {
  admit,
  type Begun,
  endSession,
  endSessions,
  listSessions,
  recognisePerson,
  type SessionLimits,
  signIn,
  signOut,
} from './sessions.ts';

export type PeopleOptions = DoorOptions & { vault: Vault; mailer: Mailer };

/** Whoever is not signed in sends no more. */
const SMALL_BODY = { bodyLimit: 16 * 1024 };
/** Of who is signed in and tries passwords. */
const BY_PERSON = { free: 5, mostSeconds: 900 };

export function peopleRoutes(app: FastifyInstance, options: PeopleOptions): void {
  const { database, settings, vault } = options;
  const cookie = cookieOf(settings);

  void app.register(async (anybody) => {
    resource(anybody, '/api/session', {
      GET: {
        schema: schemas.whoAmI,
        async handler(request) {
          const person = await recognisePerson(database, settings, request.cookies[cookie.name]);
          if (person === undefined) throw notSignedIn();
          return presentMe(database, settings, person.userId, person);
        },
      },
      POST: {
        schema: schemas.signIn,
        ...SMALL_BODY,
        async handler(request, reply) {
          const { email, password } = texts(request, 'email', 'password');
          const wanted = { email: normalEmail(email!) ?? email!.toLowerCase(), password: password! };
          const begun = await signIn(database, vault, settings, wanted, visitorOf(request, cookie));
          return welcome(reply, begun);
        },
      },
      DELETE: {
        schema: schemas.signOut,
        async handler(request, reply) {
          await signOut(database, request.cookies[cookie.name]);
          takeCookie(reply, cookie);
          return reply.code(204).send();
        },
      },
    });
    resource(anybody, '/api/invitations/:token', {
      GET: {
        schema: schemas.readInvitation,
        async handler(request) {
          const { purpose, user, expires_at } = await readInvitation(database, tokenOf(request));
          const { email, name, role } = user;
          const account = user.account === undefined ? {} : { account: user.account.username };
          return { purpose, email, name, role, ...account, expires_at };
        },
      },
      POST: {
        schema: schemas.acceptInvitation,
        ...SMALL_BODY,
        async handler(request, reply) {
          const { password } = texts(request, 'password');
          const { name } = bodyOf(request);
          const given = { name: typeof name === 'string' ? name : undefined, password: password! };
          const visitor = visitorOf(request, cookie);
          const begun = await acceptInvitation(database, settings, tokenOf(request), given, visitor);
          if (begun.purpose === 'reset') {
            void mailPasswordChanged(options.mailer, begun.user, begun.madeBy ?? 'the operator');
          }
          return welcome(reply.code(201), begun);
        },
      },
    });
  });

  void app.register(async (own) => {
    requirePerson(own, options, ...ROLES);
    resource(own, '/api/sessions', {
      GET: {
        schema: schemas.listSessions,
        async handler({ person }) {
          const sessions = await listSessions(database, person, settings);
          return {
            objects: sessions.map((one) => ({ ...one, current: one.session_id === person.sessionId })),
          };
        },
      },
      DELETE: {
        schema: schemas.endSessions,
        async handler({ person }, reply) {
          await endSessions(database, person.userId, person.sessionId);
          return reply.code(204).send();
        },
      },
    });
    resource(own, '/api/sessions/:session_id', {
      DELETE: {
        schema: schemas.endSession,
        async handler({ person, params }, reply) {
          const { session_id: sessionId } = params as { session_id: string };
          const had = isUuid(sessionId) && (await endSession(database, person, sessionId));
          if (!had) throw notFound();
          if (sessionId === person.sessionId) takeCookie(reply, cookie);
          return reply.code(204).send();
        },
      },
    });
    resource(own, '/api/me', {
      GET: {
        schema: { ...schemas.whoAmI, operationId: 'readMe' },
        handler: async (request) => me(request),
      },
      PATCH: {
        schema: schemas.changeMe,
        ...SMALL_BODY,
        async handler(request) {
          await changeProfile(database, request.person.userId, bodyOf(request));
          return me(request);
        },
      },
    });
    resource(own, '/api/me/password', {
      POST: {
        schema: schemas.changePassword,
        ...SMALL_BODY,
        async handler(request, reply) {
          const { current_password, password } = texts(request, 'current_password', 'password');
          await admit(database, vault.mark(`password ${request.person.userId}`), BY_PERSON);
          const passwords = { current: current_password!, wanted: password! };
          giveCookie(reply, cookie, await changePassword(database, request.person, passwords));
          return reply.code(204).send();
        },
      },
    });
  });

  async function me({ cookies, person }: FastifyRequest): Promise<Me> {
    const seen = await recognisePerson(database, settings, cookies[cookie.name]);
    if (seen === undefined) throw notSignedIn();
    return presentMe(database, settings, person.userId, seen);
  }

  async function welcome(reply: FastifyReply, begun: Begun): Promise<FastifyReply> {
    const person = await recognisePerson(database, settings, begun.token);
    if (person === undefined) throw notSignedIn();
    giveCookie(reply, cookie, begun);
    return reply.send(await presentMe(database, settings, person.userId, begun));
  }
}

async function presentMe(
  database: Database,
  { sessionIdleSeconds }: SessionLimits,
  userId: string,
  session: { sessionId: string; endsAt: Date },
): Promise<Me> {
  const user = await readPerson(database, userId);
  if (user === undefined) throw notSignedIn();
  const { user_id, email, name, role, locale, theme, languages } = user;
  return {
    ...{ user_id, email, name, role, locale, theme, languages },
    ...(user.account === undefined ? {} : { account: user.account.username, owner: user.owner }),
    session: {
      session_id: session.sessionId,
      ends_at: session.endsAt.toISOString(),
      idle_seconds: sessionIdleSeconds,
    },
  };
}

function bodyOf({ body }: FastifyRequest): Record<string, unknown> {
  return typeof body === 'object' && body !== null ? (body as Record<string, unknown>) : {};
}

/** Fields that must be texts and not empty. @throws ApiError that names every one that is not */
function texts(request: FastifyRequest, ...names: string[]): Record<string, string> {
  const body = bodyOf(request);
  const wrong = names.filter((name) => typeof body[name] !== 'string' || body[name] === '');
  if (wrong.length > 0)
    throw wrongFields(Object.fromEntries(wrong.map((name) => [name, reason('required')])));
  return body as Record<string, string>;
}

function tokenOf({ params }: FastifyRequest): string {
  return (params as { token: string }).token;
}

function isUuid(written: string): boolean {
  return /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(written);
}

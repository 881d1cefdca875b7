/**
 * Session authentication of the web app's routes, `/api/…`. The routes `/api/v1/…` are for customers'
 * programs and ignore cookies.
 *
 * Three measures prevent cross-site request forgery:
 * - The cookie has `SameSite=Lax`.
 * - Requests that change data are refused when `Sec-Fetch-Site`, or `Origin` in older browsers, names another
 *   site.
 * - A body must be JSON. A form cannot send JSON, and a page of another site can send it only after a CORS
 *   preflight.
 *
 * A request that has neither header does not come from a browser.
 */
import fastifyCookie, { type CookieSerializeOptions } from '@fastify/cookie';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import ipaddr from 'ipaddr.js';
import type { Person, PersonRole } from '../base/account.ts';
import { ApiError, accountSuspended, notFound, notSignedIn } from '../base/errors.ts';
import type { Log } from '../base/log.ts';
import type { Database } from '../database/database.ts';
import { answerWith, presentWebError } from '../http/http.ts';
import { publicRoot, type Settings } from '../settings/settings.ts';
import {
  authenticateSession,
  type SessionClient,
  type SessionLimits,
  type StartedSession,
} from './sessions.ts';
import type { PasswordSettings } from './sign-in.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The signed-in user. `requirePerson` sets it before the handler runs. */
    person: Person;
  }
}

export interface SessionAuthOptions {
  database: Database;
  settings: SessionLimits &
    PasswordSettings &
    Pick<Settings, 'publicUrl' | 'host' | 'port' | 'operatorSecondFactor'>;
  log: Log;
}

/** Sets up cookies, same-site and JSON-only checks, and error answers for the web app's routes. */
export function protectWebRoutes(
  app: FastifyInstance,
  { settings, log }: Pick<SessionAuthOptions, 'settings' | 'log'>,
): void {
  void app.register(fastifyCookie);
  answerWith(app, log, presentWebError);
  const publicHost = settings.publicUrl === undefined ? undefined : new URL(settings.publicUrl).host;
  app.addHook('onRequest', async (request) => {
    if (request.method === 'GET' || request.method === 'HEAD') return;
    if (!isSameSite(request, publicHost)) {
      throw new ApiError('cross_site', 'Pages of other sites may not make changes.');
    }
    const type = request.bodyType?.replace(/;.*/s, '').trim().toLowerCase();
    if (type !== undefined && type !== 'application/json') {
      throw new ApiError('unsupported_type', 'The body must be application/json.');
    }
    if (type === undefined && hasBody(request)) {
      throw new ApiError('unsupported_type', 'The body must be application/json.');
    }
  });
}

function hasBody({ headers }: FastifyRequest): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

/** @param publicHost the host of the public address; a proxy may have replaced the `Host` header */
function isSameSite({ headers }: FastifyRequest, publicHost: string | undefined): boolean {
  const site = headers['sec-fetch-site'];
  if (site !== undefined) return site === 'same-origin' || site === 'none';
  const { origin } = headers;
  if (origin === undefined) return true;
  const host = URL.canParse(origin) ? new URL(origin).host : undefined;
  return host !== undefined && (host === headers.host || host === publicHost);
}

/**
 * Refuses all requests from pages of other sites, including GET. Used for routes that hold a connection open.
 */
export function requireSameOrigin(app: FastifyInstance, settings: Pick<Settings, 'publicUrl'>): void {
  const publicHost = settings.publicUrl === undefined ? undefined : new URL(settings.publicUrl).host;
  app.addHook('onRequest', async (request) => {
    if (!isSameSite(request, publicHost)) {
      throw new ApiError('cross_site', 'Pages of other sites may not subscribe.');
    }
  });
}

/** Requires a signed-in user with any role. */
export function requireSession(
  app: FastifyInstance,
  { database, settings }: Pick<SessionAuthOptions, 'database' | 'settings'>,
): void {
  const cookie = cookieOf(settings);
  app.addHook('onRequest', async (request) => {
    const person = await authenticateSession(database, settings, request.cookies[cookie.name]);
    if (person === undefined) throw notSignedIn();
    request.person = person;
  });
}

/**
 * Requires a session of a user with one of these roles. Users of other roles get 404, like for an unknown
 * path. Operators without a second factor get 403 if the settings require one.
 */
export function requirePerson(
  app: FastifyInstance,
  options: Pick<SessionAuthOptions, 'database' | 'settings'>,
  ...roles: PersonRole[]
): void {
  requireSession(app, options);
  app.addHook('onRequest', async ({ person, method }) => {
    if (!roles.includes(person.role)) throw notFound();
    if (person.account?.suspended && method !== 'GET' && method !== 'HEAD') throw accountSuspended();
    if (isSecondFactorMissing(options.settings, person)) {
      throw new ApiError('second_factor_missing', 'Set up a second factor first: operators must have one.');
    }
  });
}

/**
 * Returns whether this user must set up a second factor first. Users who signed in with the provider need none, because
 * the provider checks second factors itself.
 */
export function isSecondFactorMissing(
  { operatorSecondFactor }: Pick<Settings, 'operatorSecondFactor'>,
  { role, secondFactor, byProvider }: Pick<Person, 'role' | 'secondFactor' | 'byProvider'>,
): boolean {
  return operatorSecondFactor === 'required' && role === 'operator' && !secondFactor && !byProvider;
}

/** Returns the customer's account. Every user who passed `requirePerson(…, 'customer')` has one. */
export function accountOf({ person }: FastifyRequest): NonNullable<Person['account']> {
  if (person.account === undefined) throw notFound();
  return person.account;
}

/** Returns the customer's account if they are an owner of it. @throws ApiError `owner_only` */
export function requireOwner(request: FastifyRequest): NonNullable<Person['account']> {
  const account = accountOf(request);
  if (!account.owner) throw new ApiError('owner_only', 'Only an owner of the account may do this.');
  return account;
}

export interface SessionCookie {
  name: string;
  /** Whether the cookie has the `Secure` attribute. */
  secure: boolean;
}

/**
 * Returns the name of the session cookie. Browsers bind a cookie with the prefix `__Host-` to one host, but
 * send it only over https or to the loopback interface. An installation that is reached over plain http
 * therefore uses a name without the prefix.
 */
export function cookieOf(settings: Pick<Settings, 'publicUrl' | 'host' | 'port'>): SessionCookie {
  const url = new URL(publicRoot(settings));
  const secure = url.protocol === 'https:' || isLoopback(url.hostname);
  return { name: secure ? '__Host-dragoman' : 'dragoman', secure };
}

function isLoopback(hostname: string): boolean {
  const bare = hostname.replace(/^\[|\]$/g, '');
  if (ipaddr.isValid(bare)) return ipaddr.process(bare).range() === 'loopback';
  return bare === 'localhost' || bare.endsWith('.localhost');
}

/** Returns the data about the client (address and user agent) that a new session stores. */
export function clientOf(request: FastifyRequest, cookie: SessionCookie): SessionClient {
  return {
    address: request.clientAddress,
    userAgent: request.headers['user-agent'],
    token: request.cookies[cookie.name],
  };
}

function cookieOptions({ secure }: SessionCookie): CookieSerializeOptions {
  return { path: '/', httpOnly: true, sameSite: 'lax', secure };
}

/** Sets the cookie of a started session, until the session ends. */
export function setSessionCookie(reply: FastifyReply, cookie: SessionCookie, started: StartedSession): void {
  reply.setCookie(cookie.name, started.token, { ...cookieOptions(cookie), expires: started.endsAt });
}

/** Removes the session cookie from the browser. */
export function clearSessionCookie(reply: FastifyReply, cookie: SessionCookie): void {
  reply.clearCookie(cookie.name, cookieOptions(cookie));
}

/**
 * The door of the web app: `/api/…`, but not `/api/v1/…`, which belongs to customers' programs and knows no cookies.
 *
 * Three walls stand between another site and a person's session: the cookie is not sent along (`SameSite=Lax`), a
 * browser says where a request comes from (`Sec-Fetch-Site`, else `Origin`), and a body must be JSON, which no form
 * can send and no page of another site without being asked first. A request with neither header is no browser's.
 */
import fastifyCookie, { type CookieSerializeOptions } from '@fastify/cookie';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import ipaddr from 'ipaddr.js';
import type { Person, PersonRole } from '../account.ts';
import type { Database } from '../database/database.ts';
import { ApiError, notFound, notSignedIn } from '../errors.ts';
import { answerWith, presentWebError } from '../http.ts';
import type { Log } from '../log.ts';
import { publicRoot, type Settings } from '../settings.ts';
import { type Begun, recognisePerson, type SessionLimits, type Visitor } from './sessions.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Set before any handler runs that is behind `requirePerson`. */
    person: Person;
  }
}

export interface DoorOptions {
  database: Database;
  settings: SessionLimits & Pick<Settings, 'publicUrl' | 'host' | 'port'>;
  log: Log;
}

/** Puts the walls around the routes of an app: cookies, same site, JSON alone, errors as the web app reads them. */
export function openDoor(
  app: FastifyInstance,
  { settings, log }: Pick<DoorOptions, 'settings' | 'log'>,
): void {
  void app.register(fastifyCookie);
  answerWith(app, log, presentWebError);
  const publicHost = settings.publicUrl === undefined ? undefined : new URL(settings.publicUrl).host;
  app.addHook('onRequest', async (request) => {
    if (request.method === 'GET' || request.method === 'HEAD') return;
    if (!isSameSite(request, publicHost)) {
      throw new ApiError('cross_site', 'A page of another site may not change anything here.');
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

/** @param publicHost a proxy may have changed what the request says of its host */
function isSameSite({ headers }: FastifyRequest, publicHost: string | undefined): boolean {
  const site = headers['sec-fetch-site'];
  if (site !== undefined) return site === 'same-origin' || site === 'none';
  const { origin } = headers;
  if (origin === undefined) return true;
  const host = URL.canParse(origin) ? new URL(origin).host : undefined;
  return host !== undefined && (host === headers.host || host === publicHost);
}

/** Refuses what pages elsewhere ask, for routes that hold something while they are read. */
export function requireSameOrigin(app: FastifyInstance, settings: Pick<Settings, 'publicUrl'>): void {
  const publicHost = settings.publicUrl === undefined ? undefined : new URL(settings.publicUrl).host;
  app.addHook('onRequest', async (request) => {
    if (!isSameSite(request, publicHost)) {
      throw new ApiError('cross_site', 'A page of another site may not look on here.');
    }
  });
}

/** Lets only people of these roles in. Another role is told what it would be told were there nothing. */
export function requirePerson(
  app: FastifyInstance,
  { database, settings }: Pick<DoorOptions, 'database' | 'settings'>,
  ...roles: PersonRole[]
): void {
  const cookie = cookieOf(settings);
  app.addHook('onRequest', async (request) => {
    const person = await recognisePerson(database, settings, request.cookies[cookie.name]);
    if (person === undefined) throw notSignedIn();
    if (!roles.includes(person.role)) throw notFound();
    request.person = person;
  });
}

/** The customer's account. Behind `requirePerson(…, 'customer')` there always is one. */
export function accountOf({ person }: FastifyRequest): NonNullable<Person['account']> {
  if (person.account === undefined) throw notFound();
  return person.account;
}

/** @throws ApiError `owner_only` */
export function requireOwner(request: FastifyRequest): NonNullable<Person['account']> {
  const account = accountOf(request);
  if (!account.owner) throw new ApiError('owner_only', 'Only an owner of the account may do that.');
  return account;
}

export interface SessionCookie {
  name: string;
  /** Whether browsers keep it from plain http to other hosts. */
  secure: boolean;
}

/**
 * `__Host-` says to the browser: of this host alone, for all of it, and over nothing but https (or to the loopback).
 * Where people come by plain http from elsewhere, there can be no such cookie.
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

/** What a request brings that sessions are told by. */
export function visitorOf(request: FastifyRequest, cookie: SessionCookie): Visitor {
  return {
    address: request.ip,
    userAgent: request.headers['user-agent'],
    token: request.cookies[cookie.name],
  };
}

function cookieOptions({ secure }: SessionCookie): CookieSerializeOptions {
  return { path: '/', httpOnly: true, sameSite: 'lax', secure };
}

export function giveCookie(reply: FastifyReply, cookie: SessionCookie, begun: Begun): void {
  reply.setCookie(cookie.name, begun.token, { ...cookieOptions(cookie), expires: begun.endsAt });
}

export function takeCookie(reply: FastifyReply, cookie: SessionCookie): void {
  reply.clearCookie(cookie.name, cookieOptions(cookie));
}

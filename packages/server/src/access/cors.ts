/**
 * Calls of the API from web pages (CORS). An account lists the origins whose pages may use its keys.
 *
 * A preflight request has no key, so the account is not known yet. It is allowed if any account lists the
 * origin. The request that follows has a key, and is refused if the account of that key does not list the
 * origin. Cookies and other credentials of the browser are never allowed (`Access-Control-Allow-Credentials`).
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { ApiError } from '../base/errors.ts';
import { addVary } from '../http/http.ts';

const METHODS = 'GET, HEAD, POST, PATCH, DELETE';
const REQUEST_HEADERS = 'authorization, content-type, idempotency-key, quoted-price';
/** The headers of an answer that scripts may read, in addition to those that browsers always let them read. */
const ANSWER_HEADERS = 'ratelimit, ratelimit-policy, retry-after, www-authenticate, x-request-id';
/** The seconds for which a browser may remember a preflight answer. */
const PREFLIGHT_SECONDS = 600;

/** Finds out whether any account allows API calls from web pages of an origin. */
interface Origins {
  isListedOrigin(origin: string): Promise<boolean>;
}

/**
 * Answers preflight requests, and lets the pages of listed origins read the answers. Must be called before
 * `requireCaller`, so that the pages can also read the 401 answer to a wrong key.
 */
export function allowOrigins(app: FastifyInstance, origins: Origins): void {
  app.addHook('onRequest', async (request, reply) => {
    const { origin } = request.headers;
    if (origin === undefined || !isCrossOrigin(request)) return;
    addVary(reply, 'origin');
    if (!(await origins.isListedOrigin(origin))) return;
    reply.headers({
      'access-control-allow-origin': origin,
      'access-control-expose-headers': ANSWER_HEADERS,
    });
    const isPreflight = request.headers['access-control-request-method'] !== undefined;
    if (request.method !== 'OPTIONS' || !isPreflight) return;
    return reply
      .code(204)
      .headers({
        'access-control-allow-methods': METHODS,
        'access-control-allow-headers': REQUEST_HEADERS,
        'access-control-max-age': String(PREFLIGHT_SECONDS),
      })
      .send();
  });
}

/** Refuses a request from a page that the caller's account does not list. @throws ApiError `origin_not_allowed` */
export function requireOrigin(request: FastifyRequest, reply: FastifyReply): void {
  const { origin } = request.headers;
  if (origin === undefined || !isCrossOrigin(request)) return;
  if (request.caller.allowedOrigins.includes(origin)) return;
  // Without this header the browser also hides the refusal from the page.
  reply.removeHeader('access-control-allow-origin');
  throw new ApiError('origin_not_allowed', 'The account does not allow requests from pages of this origin.');
}

/**
 * Returns whether a browser sent the request for a page of another origin. Other programs may send an `Origin`
 * header too, but only browsers send `Sec-Fetch-Site`.
 */
function isCrossOrigin({ headers }: FastifyRequest): boolean {
  const site = headers['sec-fetch-site'];
  return site === 'cross-site' || site === 'same-site';
}

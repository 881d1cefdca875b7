/** What every route of the job interface shares: JSON as it comes, errors as the interface shows them. */
import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance, FastifyReply, FastifyRequest, FastifySchema, HTTPMethods } from 'fastify';
import type { Caller, Environment } from './account.ts';
import type { Doorkeeper } from './accounts/accounts.ts';
import { CommitUnknown, isConnectionLoss } from './database/database.ts';
import { ApiError, ERRORS, fieldError, notFound, OperatorError } from './errors.ts';
import type { Log } from './log.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Set before any handler of the interface runs. */
    caller: Caller;
    /** The `Content-Type` as it came. */
    bodyType: string | undefined;
  }
}

type Handler = (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>;
/** What a path does for a method, and how that is described to the world (`/openapi.json`). */
export interface Operation {
  schema: FastifySchema;
  handler: Handler;
  /** Bytes of the longest body; without it, as long as the longest text. */
  bodyLimit?: number;
}
type Method = 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE';
const METHODS: HTTPMethods[] = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];
const LATE = 'The request did not arrive in time.';
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: false });

/**
 * Parses every body as JSON, whatever its `Content-Type` says; its UTF-8 must be valid. A `__proto__` in it is a
 * name like any other (`JSON.parse` makes it an own property), and unknown names are ignored.
 */
export function acceptJson(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  // A type that cannot be parsed would be refused before our parser is asked.
  app.decorateRequest('bodyType');
  app.addHook('onRequest', async (request) => {
    request.bodyType = request.headers['content-type'];
    request.headers['content-type'] = 'application/json';
  });
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (request, body, done) => {
    if (request.method === 'GET' || request.method === 'HEAD' || body.length === 0)
      return done(null, undefined);
    try {
      done(null, JSON.parse(utf8.decode(body as Buffer)));
    } catch {
      done(fieldError('body', 'must be valid JSON in UTF-8.'), undefined);
    }
  });
}

/** Answers every error with its status and `{"error": "…"}`; what is not expected becomes a 500 and a log line. */
export function answerErrors(app: FastifyInstance, log: Log): void {
  answerWith(app, log, (error) => ({ error: error.message }));
  app.setNotFoundHandler((request, reply) =>
    reply.code(404).send(isWebPath(request.url) ? presentWebError(notFound()) : { error: 'Not found' }),
  );
}

/** How the web app reads an error. */
export function presentWebError({ code, message, more }: ApiError): object {
  return { error: { code, message, ...more } };
}

/** The routes of our own web app; what is below `/api/v1/` belongs to customers' programs. */
export function isWebPath(path: string): boolean {
  return /^\/api\/(?!v1\/)/.test(path);
}

/** The same with bodies of another shape. @param bodyOf an error's body; undefined for an empty one */
export function answerWith(
  app: FastifyInstance,
  log: Log,
  bodyOf: (error: ApiError) => object | undefined,
): void {
  app.setErrorHandler((error, request, reply) => {
    let expected = toApiError(error);
    if (expected === undefined) {
      log.error({ error, request: request.id, route: routeOf(request) }, 'a request met a fault');
      expected = new ApiError('server_error', 'Server error; the request can be sent again.');
    }
    return reply.code(expected.status).headers(expected.headers).send(bodyOf(expected));
  });
}

function toApiError(error: unknown): ApiError | undefined {
  if (error instanceof ApiError) return error;
  if (error instanceof OperatorError) return new ApiError('invalid_request', error.message);
  if (error instanceof CommitUnknown || isConnectionLoss(error)) {
    return new ApiError('unavailable', 'The database does not answer now; the request can be sent again.', {
      'retry-after': '1',
    });
  }
  const status = (error as { statusCode?: number }).statusCode;
  if (status === 413) return new ApiError('too_large', 'body: too large.');
  if (status === 408) return new ApiError('request_timeout', LATE);
  if (status !== undefined && status >= 400 && status < 500) return fieldError('body', 'could not be read.');
  return undefined;
}

/**
 * Answers what could not be read as a request, in the words of the interface: nobody knows yet which room it was for.
 * Fastify would say it in words of its own.
 */
export function answerUnreadable(
  headers: Record<string, string>,
): (error: NodeJS.ErrnoException, socket: Socket) => void {
  return ({ code }, socket) => {
    if (code === 'ECONNRESET' || !socket.writable) return void socket.destroy();
    const { status, message } = toUnreadable(code);
    const body = JSON.stringify({ error: message });
    const head = {
      ...headers,
      'content-type': 'application/json; charset=utf-8',
      'content-length': Buffer.byteLength(body),
      connection: 'close',
    };
    const lines = Object.entries(head).map(([name, value]) => `${name}: ${value}\r\n`);
    socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${body}`, () =>
      socket.destroy(),
    );
  };
}

function toUnreadable(code: string | undefined): ApiError {
  if (code === 'HPE_HEADER_OVERFLOW') {
    return new ApiError('headers_too_large', ERRORS.headers_too_large.meaning);
  }
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return new ApiError('request_timeout', LATE);
  return new ApiError('invalid_request', 'The request is no valid HTTP.');
}

/** The pattern of the route, never the address itself: that carries a customer's uid. */
export function routeOf(request: FastifyRequest): string {
  return request.routeOptions.url ?? 'unknown';
}

/** Lets only known callers in, at the door of one environment. */
export function requireCaller(app: FastifyInstance, doorkeeper: Doorkeeper, environment: Environment): void {
  app.addHook('onRequest', async (request) => {
    request.caller = await doorkeeper.recognise(request.headers.authorization, environment);
    if (request.caller.readOnly && request.method !== 'GET' && request.method !== 'HEAD') {
      throw new ApiError('read_only_key', 'This key may read but not change.');
    }
  });
}

/**
 * One path with what it does for each method; any other method is answered with 405 and `Allow`, as soon as it is known
 * who asks: what its body says, or how long it is, matters to nobody. An operation without a schema is none of the
 * described interface.
 */
export function resource(
  app: FastifyInstance,
  path: string,
  operations: Partial<Record<Method, Operation | Handler>>,
): void {
  const allowed = Object.keys(operations).flatMap((method) =>
    method === 'GET' ? ['GET', 'HEAD'] : [method],
  );
  for (const [method, operation] of Object.entries(operations)) {
    const { schema, handler, bodyLimit } = (
      typeof operation === 'function' ? { schema: { hide: true }, handler: operation } : operation
    ) as Operation;
    const limit = bodyLimit === undefined ? {} : { bodyLimit };
    app.route({ method: method as HTTPMethods, url: path, schema, handler, ...limit });
  }
  const refuse = async () => {
    throw new ApiError('method_not_allowed', `This path takes ${allowed.join(', ')}.`, {
      allow: allowed.join(', '),
    });
  };
  app.route({
    method: METHODS.filter((method) => !allowed.includes(method as string)),
    url: path,
    schema: { hide: true },
    onRequest: refuse, // after those of the door, which are the app's
    handler: refuse,
  });
}

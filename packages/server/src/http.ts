/** What every route shares: which bodies are read, and how long they may be; JSON; errors as the interface shows them. */
import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance, FastifyReply, FastifyRequest, FastifySchema, HTTPMethods } from 'fastify';
import type { Caller, Environment } from './account.ts';
import type { Doorkeeper } from './accounts/accounts.ts';
import { isOutOfResources, isUnavailable } from './database/database.ts';
import { ApiError, ERRORS, fieldError, notFound, OperatorError } from './errors.ts';
import { JsonError, parseJson } from './json.ts';
import type { Log } from './log.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Set before any handler of the interface runs. */
    caller: Caller;
    /** The `Content-Type` as it came. */
    bodyType: string | undefined;
  }
  interface FastifyInstance {
    /** Bytes of the longest body of a route that takes texts. */
    textBodyLimit: number;
  }
}

type Handler = (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>;
/** What a path does for a method, and how that is described to the world (`/openapi.json`). */
export interface Operation {
  schema: FastifySchema;
  handler: Handler;
  /** Bytes of the longest body, or `texts` for as long as the longest texts; without it `BODY_LIMIT`. */
  bodyLimit?: number | 'texts';
}
type Method = 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE';
const METHODS: HTTPMethods[] = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];
const LATE = 'The request did not arrive in time.';
/** Bytes of the longest body of a route that takes no texts: 2,000 characters as JSON may write them, and room. */
export const BODY_LIMIT = 64 * 1024;

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
      done(null, parseJson(body as Buffer));
    } catch (error) {
      done(error instanceof JsonError ? fieldError('body', error.message) : (error as Error), undefined);
    }
  });
}

/** Answers every error with its status and `{"error": "…"}`; what is not expected becomes a 500 and a log line. */
export function answerErrors(app: FastifyInstance, log: Log): void {
  answerWith(app, log, (error) => ({ error: error.message }));
  const tellNotFound = (request: FastifyRequest, reply: FastifyReply) =>
    reply.code(404).send(isWebPath(request.url) ? presentWebError(notFound()) : { error: 'Not found' });
  app.setNotFoundHandler(tellNotFound);
  // The handler comes after the body was read and parsed: the address alone says enough.
  app.addHook('onRequest', async (request, reply) => {
    if (request.is404) return tellNotFound(request, reply);
  });
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
    // Fastify would close the connection, and its caller, who still sends, might read a reset in place of the answer.
    // Node throws away the rest of the body.
    if (expected.status === 413) reply.removeHeader('connection');
    return reply.code(expected.status).headers(expected.headers).send(bodyOf(expected));
  });
}

/** SQLSTATE of a text that PostgreSQL cannot keep: in a column, and in JSON. Requests are the only source of such texts. */
const UNKEPT_CHARACTERS = new Set(['22021', '22P05']);

function toApiError(error: unknown): ApiError | undefined {
  if (error instanceof ApiError) return error;
  if (error instanceof OperatorError) return new ApiError('invalid_request', error.message);
  if (isUnavailable(error)) {
    const why = isOutOfResources(error) ? 'has no room' : 'does not answer';
    const message = `The database ${why} now; the request can be sent again.`;
    return new ApiError('unavailable', message, { 'retry-after': isOutOfResources(error) ? '5' : '1' });
  }
  const status = (error as { statusCode?: number }).statusCode;
  if (UNKEPT_CHARACTERS.has((error as { code?: string }).code ?? '')) {
    return new ApiError('invalid_request', 'A text of the request holds a NUL character.');
  }
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

/** The parameters of the address as they were written, in their order. */
export function parametersOf({ url }: FastifyRequest): URLSearchParams {
  const begin = url.indexOf('?');
  return new URLSearchParams(begin < 0 ? '' : url.slice(begin + 1));
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
 * described interface. The body of an operation that is described without one is never read.
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
    app.route({
      method: method as HTTPMethods,
      url: path,
      schema,
      handler,
      bodyLimit: bodyLimit === 'texts' ? app.textBodyLimit : (bodyLimit ?? BODY_LIMIT),
      ...(schema.body === undefined ? { onRequest: leaveBodyUnread } : {}),
    });
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

/** Says that there is no body. Node throws away what comes of it once the answer is sent. */
async function leaveBodyUnread({ headers }: FastifyRequest): Promise<void> {
  for (const name of ['content-type', 'content-length', 'transfer-encoding']) delete headers[name];
}

/**
 * The HTTP code that all routes share: body limits, JSON bodies, error answers, and operations with their
 * schemas.
 */
import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest, FastifySchema, HTTPMethods } from 'fastify';
import type { Static, TObject, TSchema } from 'typebox';
import type { Caller, KeyScope } from '../base/account.ts';
import { ApiError, ERRORS, fieldError, notFound, notSignedIn, OperatorError } from '../base/errors.ts';
import { JsonError, parseJson } from '../base/json.ts';
import type { Log } from '../base/log.ts';
import { constraintOf, isLockTimeout, isOutOfResources, isUnavailable } from '../database/database.ts';
import { createReader } from './input.ts';
import type { WebError } from './schemas.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The authenticated caller. `requireCaller` sets it before the handler runs. */
    caller: Caller;
    /** The `Content-Type` header as the client sent it. */
    bodyType: string | undefined;
  }
  interface FastifyContextConfig {
    /** The scopes that the operation needs, or `any` if every valid key may use it. Only routes for keys have it. */
    scope?: KeyScope | readonly KeyScope[] | 'any';
    /** Whether a read-only key may use the operation although its method is not GET. */
    readOnlyKeys?: boolean;
  }
  interface FastifyInstance {
    /** The body limit in bytes of routes that receive texts. */
    textBodyLimit: number;
  }
}

type Handler = (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>;
type Part<S, Name extends string> = S extends { [K in Name]: infer T extends TSchema } ? Static<T> : unknown;
/** A request whose body, query and path parameters were checked by the schema of its operation. */
export type Checked<S> = FastifyRequest & {
  body: Part<S, 'body'>;
  query: Part<S, 'querystring'>;
  params: Part<S, 'params'>;
};
/** An operation: a method of a path, with its description for `/openapi.json`. */
export interface Operation<S extends FastifySchema = FastifySchema> {
  schema: S;
  handler(request: Checked<S>, reply: FastifyReply): Promise<unknown>;
  /** The body limit in bytes, or `texts` for `textBodyLimit`. The default is `BODY_LIMIT`. */
  bodyLimit?: number | 'texts';
  /** The scopes that a key needs, or `any` if every valid key may use it. Required for the routes for keys. */
  scope?: KeyScope | readonly KeyScope[] | 'any';
  /** Whether a read-only key may use the operation although its method is not GET. */
  readOnlyKeys?: boolean;
  /** Throws for callers that may not use the operation. Runs before the body is read. */
  allow?(request: FastifyRequest): unknown;
  /** Whether an empty string counts as absent when its field is optional. */
  emptyIsAbsent?: boolean;
  /** Whether the handler gets the unchecked body and query, because its module checks them. */
  unchecked?: boolean;
}
export type Method = 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE';
const METHODS: HTTPMethods[] = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];
const LATE = 'The request did not arrive in time.';
/** The body limit in bytes of routes without texts. It is enough for 2,000 escaped characters. */
export const BODY_LIMIT = 64 * 1024;

/**
 * Parses every body as JSON in UTF-8 and ignores its `Content-Type`. `JSON.parse` makes `__proto__` an
 * ordinary property, so it is ignored like other unknown names.
 */
export function acceptJson(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  // The `Content-Type` header is replaced, because Fastify would refuse a malformed one before it calls the
  // parser.
  app.decorateRequest('bodyType');
  app.addHook('onRequest', async (request) => {
    request.bodyType = request.headers['content-type'];
    request.headers['content-type'] = 'application/json';
  });
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (request, body, done) => {
    if (request.method === 'GET' || request.method === 'HEAD' || body.length === 0)
      return done(null, undefined);
    const coding = request.headers['content-encoding'] ?? 'identity';
    if (coding.toLowerCase() !== 'identity') return done(compressedBody(), undefined);
    try {
      done(null, parseJson(body as Buffer));
    } catch (error) {
      done(error instanceof JsonError ? fieldError('body', error.message) : (error as Error), undefined);
    }
  });
}

/** The answer to a body with `Content-Encoding` (RFC 9110, 15.5.16). */
const compressedBody = () =>
  new ApiError('unsupported_type', 'body: must not be compressed.', { 'accept-encoding': 'identity' });

/**
 * Answers every error with its status and `{"error": "…"}`. An unexpected error becomes a 500 and is logged.
 */
export function answerErrors(app: FastifyInstance, log: Log): void {
  answerWith(app, log, (error) => ({ error: error.message }));
  // A stream that fails after its headers were sent ends the connection, and no error handler is called.
  app.addHook('onSend', async (request, _, payload) => {
    if (!(payload instanceof Readable)) return;
    payload.once('error', (error) =>
      log.error({ error, request: request.id, route: routeOf(request) }, 'an answer broke off'),
    );
  });
  const answerNotFound = (request: FastifyRequest, reply: FastifyReply) =>
    reply.code(404).send(isWebPath(request.url) ? presentWebError(notFound()) : { error: 'Not found' });
  app.setNotFoundHandler(answerNotFound);
  // Answers unknown paths before their body is read. Fastify's not-found handler would run after parsing the
  // body.
  app.addHook('onRequest', async (request, reply) => {
    if (request.is404) return answerNotFound(request, reply);
  });
}

/** Returns the body of an error in the format of the web app's API. */
export function presentWebError({ code, message, more }: ApiError): Static<typeof WebError> {
  return { error: { code, message, ...more } };
}

/**
 * Returns whether a path belongs to the web app's API. `/api/v1/` belongs to the API for customers' programs.
 */
export function isWebPath(path: string): boolean {
  return /^\/api\/(?!v1\/)/.test(path);
}

/**
 * Like `answerErrors`, with another format of the error body.
 * @param bodyOf a function that returns the error body, or undefined for an empty body
 */
export function answerWith(
  app: FastifyInstance,
  log: Log,
  bodyOf: (error: ApiError) => object | undefined,
): void {
  app.setErrorHandler((error, request, reply) => {
    let expected = toApiError(error);
    if (expected === undefined) {
      log.error({ error, request: request.id, route: routeOf(request) }, 'request failed');
      expected = new ApiError('server_error', 'Server error; the request can be sent again.');
    } else if (isLockTimeout(error)) {
      log.warn({ error, request: request.id, route: routeOf(request) }, 'waited too long for a lock');
    }
    // Keeps the connection open. Fastify would close it, and a client that is still sending could get a reset
    // instead of the answer. Node discards the rest of the body.
    if (expected.status === 413) reply.removeHeader('connection');
    return reply.code(expected.status).headers(expected.headers).send(bodyOf(expected));
  });
}

/**
 * Returns whether PostgreSQL refuses a NUL character, in a column or in JSON. Only requests contain it. Texts in another
 * encoding have the same codes, and each language of the server's messages names the character in the same way.
 */
function isAboutNul(error: unknown): boolean {
  const {
    code = '',
    message = '',
    detail = '',
  } = error as { code?: string; message?: string; detail?: string };
  return (code === '22021' && message.endsWith('0x00')) || (code === '22P05' && detail.includes('\\u0000'));
}

/**
 * The foreign keys to the user who makes a change. They are violated only if the user was erased before the
 * change was committed.
 */
const CALLER_REFERENCES = new Set(['audit_user_id_fkey', 'keys_made_by_fkey', 'invitations_invited_by_fkey']);

function whyUnavailable(error: unknown): string {
  if (isOutOfResources(error)) return 'The database has no room';
  return isLockTimeout(error) ? 'Other changes are using this data' : 'The database does not answer';
}

function toApiError(error: unknown): ApiError | undefined {
  if (error instanceof ApiError) return error;
  if (CALLER_REFERENCES.has(constraintOf(error) ?? '')) return notSignedIn();
  if (error instanceof OperatorError) return new ApiError('invalid_request', error.message);
  if (isUnavailable(error)) {
    const message = `${whyUnavailable(error)} now; the request can be sent again.`;
    return new ApiError('unavailable', message, { 'retry-after': isOutOfResources(error) ? '5' : '1' });
  }
  const status = (error as { statusCode?: number }).statusCode;
  if (isAboutNul(error)) {
    return new ApiError('invalid_request', 'A text of the request contains a NUL character.');
  }
  if (status === 413) return new ApiError('too_large', 'body: too large.');
  if (status === 408) return new ApiError('request_timeout', LATE);
  if (status !== undefined && status >= 400 && status < 500) return fieldError('body', 'could not be read.');
  return undefined;
}

/**
 * Answers requests that are not valid HTTP. The answer has the error format of the API, unlike the answer of
 * Fastify.
 */
export function answerUnreadable(
  headers: Record<string, string>,
): (error: NodeJS.ErrnoException, socket: Socket) => void {
  return (error: NodeJS.ErrnoException & { rawPacket?: Buffer }, socket) => {
    const { code, rawPacket } = error;
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
    // An answer to HEAD has no body. The method is read from the start of the last packet, which is the start
    // of the request unless the request arrived in several packets.
    const sent = rawPacket?.subarray(0, 5).toString('latin1') === 'HEAD ' ? '' : body;
    socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${sent}`, () =>
      socket.destroy(),
    );
  };
}

function toUnreadable(code: string | undefined): ApiError {
  if (code === 'HPE_HEADER_OVERFLOW') {
    return new ApiError('headers_too_large', ERRORS.headers_too_large.meaning);
  }
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return new ApiError('request_timeout', LATE);
  return new ApiError('invalid_request', 'The request is not valid HTTP.');
}

/** Returns the pattern of the request's route, for logs. The URL itself may contain a customer's uid. */
export function routeOf(request: FastifyRequest): string {
  return request.routeOptions.url ?? 'unknown';
}

/** Adds a name to the `Vary` header of an answer. */
export function addVary(reply: FastifyReply, name: string): void {
  const given = reply.getHeader('vary');
  reply.header('vary', given === undefined ? name : `${given}, ${name}`);
}

/** Returns the unchecked query parameters in their original order. */
export function parametersOf({ url }: FastifyRequest): URLSearchParams {
  const begin = url.indexOf('?');
  return new URLSearchParams(begin < 0 ? '' : url.slice(begin + 1));
}

/**
 * Registers a path with its operations. Requests with other methods get 405 with an `Allow` header, after
 * authentication and before their body is read. The operation's schema checks requests; an invalid path
 * parameter gets 404. A body is read only if the schema has one. An operation without a schema is not part of
 * the documented API.
 */
export function resource<T extends Partial<Record<Method, FastifySchema>>>(
  app: FastifyInstance,
  path: string,
  operations: { [M in keyof T]: Operation<T[M] & FastifySchema> | Handler },
): void {
  const allowed = Object.keys(operations).flatMap((method) =>
    method === 'GET' ? ['GET', 'HEAD'] : [method],
  );
  for (const [method, operation] of Object.entries(operations)) {
    const { schema, handler, bodyLimit, scope, readOnlyKeys, allow, ...options } = (
      typeof operation === 'function' ? { schema: { hide: true }, handler: operation } : operation
    ) as Operation;
    app.route({
      method: method as HTTPMethods,
      url: path,
      schema,
      config: {
        ...(scope === undefined ? {} : { scope }),
        ...(readOnlyKeys === undefined ? {} : { readOnlyKeys }),
      },
      handler: handler as Handler,
      bodyLimit: bodyLimit === 'texts' ? app.textBodyLimit : (bodyLimit ?? BODY_LIMIT),
      validatorCompiler: ({ schema, httpPart }) => checkerOf(schema as TObject, httpPart, options),
      async onRequest(request) {
        await allow?.(request);
        if (schema.body === undefined) leaveBodyUnread(request);
      },
    });
  }
  const refuse = async () => {
    throw new ApiError('method_not_allowed', `This path supports ${allowed.join(', ')}.`, {
      allow: allowed.join(', '),
    });
  };
  app.route({
    method: METHODS.filter((method) => !allowed.includes(method as string)),
    url: path,
    schema: { hide: true },
    config: scopeOf(operations),
    onRequest: refuse, // This hook runs after those of the app, which authenticate the caller.
    handler: refuse,
  });
}

/** Returns the scope of a path, which all its operations share. */
function scopeOf(operations: object): Pick<Operation, 'scope'> {
  const all = Object.values(operations as Record<string, Partial<Operation>>);
  const scope = all.find((operation) => operation.scope !== undefined)?.scope;
  return scope === undefined ? {} : { scope };
}

type Checker = (given: unknown) => { value: unknown } | { error: Error } | true;

/**
 * Returns the check of one part of a request. The check is compiled at its first use, because most processes
 * serve few operations.
 */
function checkerOf(
  schema: TObject,
  part: string | undefined,
  { unchecked = false, emptyIsAbsent = false }: Pick<Operation, 'unchecked' | 'emptyIsAbsent'>,
): Checker {
  if (part === 'headers' || (unchecked && part !== 'params')) return () => true;
  let read: ReturnType<typeof createReader> | undefined;
  return (given) => {
    read ??= createReader(schema, { emptyIsAbsent, fromText: part !== 'body' });
    try {
      // If the body is missing, the API for customers' programs reports the missing body, and the web app's
      // API reports each missing field.
      return { value: read(emptyIsAbsent ? given : (given ?? {})) };
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      return { error: part === 'params' ? notFound() : error };
    }
  };
}

/**
 * Removes the headers that announce a body, so that Fastify does not read it. Node discards the body after
 * the answer.
 */
function leaveBodyUnread({ headers }: FastifyRequest): void {
  for (const name of ['content-type', 'content-length', 'transfer-encoding']) delete headers[name];
}

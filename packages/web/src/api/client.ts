/**
 * Calls operations of `/api/…` by name. Their paths, inputs and answers are generated from the server's
 * OpenAPI description (`generated.ts`). An error answer throws a `CallError` with a code.
 */
import { type QueryKey, queryOptions } from '@tanstack/react-query';
import { OPERATIONS, type Operations, type WebError } from './generated.ts';

export type OperationName = keyof Operations & keyof typeof OPERATIONS;

/** The input of an operation: those of `path`, `query` and `body` that the operation has. */
export type Input<Name extends OperationName> = Given<'path', Operations[Name]['path']> &
  Given<'query', Operations[Name]['query']> &
  Given<'body', Operations[Name]['body']>;
export type Answer<Name extends OperationName> = Operations[Name]['answer'];

type Given<Part extends string, Value> = [Value] extends [undefined]
  ? { [K in Part]?: undefined }
  : Record<never, never> extends Value
    ? { [K in Part]?: Value | undefined }
    : { [K in Part]: Value };
/** The input may be omitted when all of its parts are optional. */
type Arguments<Name extends OperationName> =
  Record<never, never> extends Input<Name> ? [input?: Input<Name>] : [input: Input<Name>];

/** The error code when the server could not be reached. */
export const OFFLINE = 'offline';

/** Why a field is wrong: a code of the server's closed list, with the values of its message. */
export type Reason = { code: string } & Record<string, unknown>;

export class CallError extends Error {
  override name = 'CallError';
  /** A code of the server's closed list of errors, or `offline`. */
  readonly code: string;
  readonly status: number;
  /** The server's English message for each wrong field. */
  readonly fields: Readonly<Record<string, string>>;
  /** The code and the values of the message for each wrong field whose error has a code. */
  readonly reasons: Readonly<Record<string, Reason>>;
  /** The request id in the server's log. */
  readonly requestId: string | undefined;
  /** The seconds after which the request can be repeated, if the server named them. */
  readonly retryAfter: number | undefined;
  /** Further fields of the error answer, such as the current segment after a conflict. */
  readonly details: Readonly<Record<string, unknown>>;

  constructor(
    code: string,
    message: string,
    options: {
      status?: number;
      fields?: Record<string, string>;
      reasons?: Record<string, Reason>;
      requestId?: string | undefined;
      retryAfter?: number | undefined;
      details?: Record<string, unknown>;
    } = {},
  ) {
    super(message);
    this.code = code;
    this.status = options.status ?? 0;
    this.fields = options.fields ?? {};
    this.reasons = options.reasons ?? {};
    this.requestId = options.requestId;
    this.retryAfter = options.retryAfter;
    this.details = options.details ?? {};
  }
}

/**
 * The longest `Retry-After` in seconds for which a page waits. The quota of the sandbox, for example, can name the
 * next day.
 */
const MAX_WAIT_SECONDS = 60;

/**
 * Returns the milliseconds after which a page repeats a request that a busy server refused; undefined if the
 * refusal is final.
 */
export function retryDelayOf(error: Error | null): number | undefined {
  if (!(error instanceof CallError) || (error.status !== 429 && error.status !== 503)) return undefined;
  const { retryAfter } = error;
  if (retryAfter === undefined || retryAfter > MAX_WAIT_SECONDS) return undefined;
  return Math.max(1, retryAfter) * 1000;
}

let signedOut: () => void = () => {};

/** Sets the listener for answers with status 401. */
export function onSignedOut(listener: () => void): void {
  signedOut = listener;
}

interface CallOptions {
  signal?: AbortSignal;
  /** The idempotency key. The server executes requests with the same key only once. */
  idempotencyKey?: string;
  /** Lets the request finish after the user has left the page. */
  keepalive?: boolean;
  /** Called while the body is sent, with the sent part from 0 to 1. */
  onProgress?: (sent: number) => void;
}

/**
 * Calls an operation and returns its answer.
 *
 * @throws CallError for a refusal, or when the server could not be reached
 */
export async function call<Name extends OperationName>(
  name: Name,
  input: Input<Name> = {} as Input<Name>,
  { idempotencyKey, ...options }: CallOptions = {},
): Promise<Answer<Name>> {
  const [method, path] = OPERATIONS[name] as readonly [string, string];
  const sent: Sent = input as object;
  const response = await request(addressOf(path, sent), {
    method,
    ...options,
    headers: {
      accept: 'application/json',
      ...(sent.body === undefined ? {} : JSON_BODY),
      ...(idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }),
    },
    ...(sent.body === undefined ? {} : { body: JSON.stringify(sent.body) }),
  });
  const text = await response.text().catch(() => '');
  if (response.ok) return (text === '' ? undefined : JSON.parse(text)) as Answer<Name>;
  if (response.status === 401) signedOut();
  throw refusal(response, text);
}

interface Sent {
  path?: object;
  query?: object;
  body?: unknown;
}

const JSON_BODY = { 'content-type': 'application/json' };

async function send(address: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(address, init);
  } catch (error) {
    if (init.signal?.aborted) throw error;
    throw new CallError(OFFLINE, 'The server could not be reached.');
  }
}

/** Sends a request. Its progress is only known with `XMLHttpRequest`. */
function request(
  address: string,
  { onProgress, ...init }: RequestInit & Pick<CallOptions, 'onProgress'>,
): Promise<Response> {
  if (onProgress === undefined) return send(address, init);
  return new Promise((resolve, reject) => {
    const transfer = new XMLHttpRequest();
    transfer.open(init.method ?? 'GET', address);
    new Headers(init.headers).forEach((value, name) => {
      transfer.setRequestHeader(name, value);
    });
    transfer.upload.onprogress = ({ loaded, total }) => onProgress(loaded / total);
    transfer.onload = () => {
      const { status, statusText, responseText } = transfer;
      const headers = ['x-request-id', 'retry-after'].flatMap((name): [string, string][] => {
        const value = transfer.getResponseHeader(name);
        return value === null ? [] : [[name, value]];
      });
      resolve(new Response(responseText, { status, statusText, headers }));
    };
    transfer.onerror = () => reject(new CallError(OFFLINE, 'The server could not be reached.'));
    transfer.send(init.body as string);
  });
}

/**
 * Downloads a streamed answer.
 * @param onProgress called with the number of lines and bytes so far
 * @returns the parts of the whole answer
 * @throws CallError for a refusal, or when the connection was lost
 */
export async function download<Name extends OperationName>(
  name: Name,
  signal: AbortSignal,
  onProgress: (lines: number, bytes: number) => void,
): Promise<Uint8Array<ArrayBuffer>[]> {
  const [method, path] = OPERATIONS[name] as readonly [string, string];
  const response = await send(path, { method, signal });
  if (response.status === 401) signedOut();
  if (!response.ok || response.body === null) throw refusal(response, await response.text().catch(() => ''));
  const parts: Uint8Array<ArrayBuffer>[] = [];
  let [lines, bytes] = [0, 0];
  const reader = response.body.getReader();
  try {
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      parts.push(part.value);
      bytes += part.value.byteLength;
      lines += countLines(part.value);
      onProgress(lines, bytes);
    }
  } catch (error) {
    if (signal.aborted) throw error;
    throw new CallError(OFFLINE, 'The connection was lost.');
  }
  return parts;
}

const LINE_END = 10;

function countLines(part: Uint8Array): number {
  let lines = 0;
  for (const byte of part) if (byte === LINE_END) lines++;
  return lines;
}

/** Fills in the path parameters and appends the query. */
function addressOf(
  path: string,
  { path: parameters = {}, query = {} }: { path?: object; query?: object },
): string {
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(String((parameters as Record<string, unknown>)[name])),
  );
  const entries = Object.entries(query).filter(([, value]) => value !== undefined && value !== '');
  if (entries.length === 0) return filled;
  return `${filled}?${new URLSearchParams(entries.map(([name, value]) => [name, String(value)]))}`;
}

/** Returns the address of an operation for a link, a download or an event stream. */
export function hrefOf<Name extends OperationName>(name: Name, ...[input]: Arguments<Name>): string {
  return addressOf(OPERATIONS[name]![1], (input ?? {}) as object);
}

function refusal(response: Response, text: string): CallError {
  const requestId = response.headers.get('x-request-id') ?? undefined;
  const { status } = response;
  const seconds = response.headers.get('retry-after') ?? '';
  const sent = { status, requestId, retryAfter: /^\d{1,9}$/.test(seconds) ? Number(seconds) : undefined };
  try {
    return refusalOf(JSON.parse(text) as WebError, sent);
  } catch {
    return new CallError('server_error', response.statusText, sent);
  }
}

/** Returns the error of an error answer, or of a part of an answer that was refused. */
export function refusalOf(
  { error }: WebError,
  sent: { status?: number; requestId?: string | undefined; retryAfter?: number | undefined } = {},
): CallError {
  const { code, message, fields = {}, reasons = {}, ...details } = error;
  return new CallError(code, message, {
    ...sent,
    fields: fields as Record<string, string>,
    reasons: reasons as Record<string, Reason>,
    details,
  });
}

/** Returns the query of an operation, for `useQuery`, `useSuspenseQuery` and page loaders. */
export function query<Name extends OperationName>(name: Name, ...[input]: Arguments<Name>) {
  return queryOptions<Answer<Name>, CallError, Answer<Name>, QueryKey>({
    queryKey: input === undefined ? [name] : [name, input],
    queryFn: ({ signal }) => call(name, (input ?? {}) as Input<Name>, { signal }),
  });
}

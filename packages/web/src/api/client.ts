/**
 * Calls of `/api/…`, by the name of the operation: path, method, what is sent and what comes back are those of the
 * description of the server's routes (`generated.ts`). A refusal is a `CallError`, told apart by its code.
 */
import { type QueryKey, queryOptions } from '@tanstack/react-query';
import { OPERATIONS, type Operations } from './generated.ts';

export type OperationName = keyof Operations & keyof typeof OPERATIONS;

/** What an operation is sent, without the parts that it does not have. */
export type Input<Name extends OperationName> = Given<'path', Operations[Name]['path']> &
  Given<'query', Operations[Name]['query']> &
  Given<'body', Operations[Name]['body']>;
export type Answer<Name extends OperationName> = Operations[Name]['answer'];

type Given<Part extends string, Value> = [Value] extends [undefined]
  ? { [K in Part]?: undefined }
  : Record<never, never> extends Value
    ? { [K in Part]?: Value | undefined }
    : { [K in Part]: Value };
/** Nothing need be given where nothing is asked for. */
type Arguments<Name extends OperationName> =
  Record<never, never> extends Input<Name> ? [input?: Input<Name>] : [input: Input<Name>];

/** The server does not answer: it is down, or the line is. */
export const OFFLINE = 'offline';

/** What is wrong with a field, by a code of the list that the server has, with the values of its sentence. */
export type Reason = { code: string } & Record<string, unknown>;

export class CallError extends Error {
  override name = 'CallError';
  /** One of the closed list of errors, or `offline`. */
  readonly code: string;
  readonly status: number;
  /** What is wrong with what was sent, by the name of the field. */
  readonly fields: Readonly<Record<string, string>>;
  /** The same by code, where it has one, with the values of its sentence. */
  readonly reasons: Readonly<Record<string, Reason>>;
  /** By which the operator finds it in the log. */
  readonly requestId: string | undefined;
  /** What else the refusal says: the segment as it is now, the positions that stand in the way. */
  readonly more: Readonly<Record<string, unknown>>;

  constructor(
    code: string,
    message: string,
    more: {
      status?: number;
      fields?: Record<string, string>;
      reasons?: Record<string, Reason>;
      requestId?: string | undefined;
      more?: Record<string, unknown>;
    } = {},
  ) {
    super(message);
    this.code = code;
    this.status = more.status ?? 0;
    this.fields = more.fields ?? {};
    this.reasons = more.reasons ?? {};
    this.requestId = more.requestId;
    this.more = more.more ?? {};
  }
}

/** Told of every call that finds nobody signed in. */
let signedOut: () => void = () => {};
export function onSignedOut(tell: () => void): void {
  signedOut = tell;
}

interface CallOptions {
  signal?: AbortSignal;
  /** A request that is sent again under the same key is done once. */
  idempotencyKey?: string;
  /** Finish it also when the page is left. */
  keepalive?: boolean;
}

/** @throws CallError */
export async function call<Name extends OperationName>(
  name: Name,
  input: Input<Name> = {} as Input<Name>,
  { idempotencyKey, ...options }: CallOptions = {},
): Promise<Answer<Name>> {
  const [method, path] = OPERATIONS[name] as readonly [string, string];
  const given: Sent = input as object;
  const response = await send(addressOf(path, given), {
    method,
    ...options,
    headers: {
      accept: 'application/json',
      ...(given.body === undefined ? {} : JSON_BODY),
      ...(idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }),
    },
    ...(given.body === undefined ? {} : { body: JSON.stringify(given.body) }),
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
    throw new CallError(OFFLINE, 'The server does not answer.');
  }
}

/**
 * The lines of an answer that comes as a stream, as they come.
 * @param tell how many lines and bytes there are so far
 * @returns all of it, once it is whole
 * @throws CallError also where it breaks off
 */
export async function download<Name extends OperationName>(
  name: Name,
  signal: AbortSignal,
  tell: (lines: number, bytes: number) => void,
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
      tell(lines, bytes);
    }
  } catch (error) {
    if (signal.aborted) throw error;
    throw new CallError(OFFLINE, 'The answer broke off.');
  }
  return parts;
}

const LINE_END = 10;

function countLines(part: Uint8Array): number {
  let lines = 0;
  for (const byte of part) if (byte === LINE_END) lines++;
  return lines;
}

/** The address of an operation, for a link or a download as well. */
export function addressOf(
  path: string,
  { path: names = {}, query = {} }: { path?: object; query?: object },
): string {
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(String((names as Record<string, unknown>)[name])),
  );
  const asked = Object.entries(query).filter(([, value]) => value !== undefined && value !== '');
  if (asked.length === 0) return filled;
  return `${filled}?${new URLSearchParams(asked.map(([name, value]) => [name, String(value)]))}`;
}

/** Where an operation is that the browser fetches by itself. */
export function hrefOf<Name extends OperationName>(name: Name, ...[input]: Arguments<Name>): string {
  return addressOf(OPERATIONS[name]![1], (input ?? {}) as object);
}

function refusal(response: Response, text: string): CallError {
  const requestId = response.headers.get('x-request-id') ?? undefined;
  const { status } = response;
  try {
    const { error } = JSON.parse(text) as { error: ErrorSaid };
    const { code, message, fields = {}, reasons = {}, ...more } = error;
    return new CallError(code, message, { status, fields, reasons, requestId, more });
  } catch {
    return new CallError('server_error', response.statusText, { status, requestId });
  }
}

interface ErrorSaid {
  code: string;
  message: string;
  fields?: Record<string, string>;
  reasons?: Record<string, Reason>;
}

/** What a page reads, for `useQuery`, `useSuspenseQuery` and its loader. */
export function query<Name extends OperationName>(name: Name, ...[input]: Arguments<Name>) {
  return queryOptions<Answer<Name>, CallError, Answer<Name>, QueryKey>({
    queryKey: input === undefined ? [name] : [name, input],
    queryFn: ({ signal }) => call(name, (input ?? {}) as Input<Name>, { signal }),
  });
}

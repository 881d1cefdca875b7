/**
 * Sends requests and retries those that are safe to repeat: reads, requests that the service recognizes as repeated
 * (by `uid` or idempotency key), and requests that it rejected before processing them (429).
 */
import { DragomanError, refusal } from './errors.ts';
import { OPERATIONS, type Operations } from './generated.ts';

export interface TransportOptions {
  /** The URL of the service, such as `https://translate.example.com`. */
  baseUrl: string;
  /** The API key in the form `USERNAME:KEY`, as shown when it was created. */
  key: string;
  /** If true, requests go to the sandbox, which has separate API keys. Default: false. */
  sandbox?: boolean | undefined;
  /** The maximum number of retries. Default: 4. */
  retries?: number | undefined;
  /** The timeout of one attempt in milliseconds. Default: 60,000. */
  timeoutMs?: number | undefined;
  /** The function that sends requests. Default: the platform's `fetch`. */
  fetch?: typeof fetch | undefined;
  /**
   * The function that waits between attempts. It must reject with the signal's reason when the signal is aborted.
   * Default: a timer.
   */
  pause?: ((milliseconds: number, signal: AbortSignal | undefined) => Promise<void>) | undefined;
}

export interface CallOptions {
  /** Aborts the request, or the wait before the next attempt. */
  signal?: AbortSignal | undefined;
}

type Operation = keyof Operations;

interface Given<K extends Operation> extends CallOptions {
  path?: Operations[K]['path'];
  query?: Operations[K]['query'] | undefined;
  body?: Operations[K]['body'];
  /** The idempotency key, with which the service recognizes a repeated request. */
  idempotencyKey?: string | undefined;
  /** The only price, in cents, at which a job is created. */
  quotedPrice?: number | undefined;
  /** True if repeating the request is safe. */
  repeatable: boolean;
}

export interface Transport {
  /**
   * Sends a request.
   *
   * @throws DragomanError if the service rejects the request or does not respond; the signal's abort reason when it
   * is aborted
   */
  call<K extends Operation>(operation: K, given: Given<K>): Promise<Operations[K]['answer']>;
  pause(milliseconds: number, signal: AbortSignal | undefined): Promise<void>;
}

const RETRIES = 4;
const TIMEOUT_MILLISECONDS = 60_000;
const FIRST_WAIT_MILLISECONDS = 500;
const LONGEST_WAIT_MILLISECONDS = 8_000;
/** If `Retry-After` is longer than this, the client throws the error instead of waiting. */
const LONGEST_RETRY_AFTER_SECONDS = 60;
/**
 * Statuses that are likely to be temporary: timeouts, overload, internal errors, a proxy that cannot reach its server.
 */
const PASSING = [408, 425, 429, 500, 502, 503, 504];

export function createTransport(options: TransportOptions): Transport {
  const root = `${options.baseUrl.replace(/(?<!\/)\/+$/, '')}${options.sandbox ? '/sandbox' : ''}`;
  const send = options.fetch ?? globalThis.fetch;
  const pause = options.pause ?? sleep;
  const retries = options.retries ?? RETRIES;

  return {
    pause,
    async call(operation, given) {
      const [method, template] = OPERATIONS[operation];
      const address = `${root}${fill(template, given.path)}${printQuery(given.query)}`;
      const headers: Record<string, string> = { authorization: `ApiKey ${options.key}` };
      if (given.body !== undefined) headers['content-type'] = 'application/json';
      if (given.idempotencyKey !== undefined) headers['idempotency-key'] = given.idempotencyKey;
      if (given.quotedPrice !== undefined) headers['quoted-price'] = String(given.quotedPrice);
      const init = {
        method,
        headers,
        redirect: 'manual',
        ...(given.body === undefined ? {} : { body: JSON.stringify(given.body) }),
      } as const;
      for (let attempt = 0; ; attempt++) {
        const outcome = await tryOnce(address, init, given.signal);
        if (outcome.kind === 'answered') return outcome.body as Operations[typeof operation]['answer'];
        const { error, retryAfterSeconds = 0 } = outcome;
        const may = given.repeatable
          ? error.status === undefined || PASSING.includes(error.status)
          : error.status === 429;
        if (!may || attempt >= retries || retryAfterSeconds > LONGEST_RETRY_AFTER_SECONDS) throw error;
        await pause(Math.max(backoff(attempt), retryAfterSeconds * 1000), given.signal);
      }
    },
  };

  async function tryOnce(
    address: string,
    init: RequestInit,
    signal: AbortSignal | undefined,
  ): Promise<Outcome> {
    const timeout = AbortSignal.timeout(options.timeoutMs ?? TIMEOUT_MILLISECONDS);
    try {
      const either = signal === undefined ? timeout : AbortSignal.any([signal, timeout]);
      const response = await send(address, { ...init, signal: either });
      const text = await response.text();
      if (response.ok) return { kind: 'answered', body: text === '' ? undefined : JSON.parse(text) };
      const retryAfterSeconds = readRetryAfter(response.headers.get('retry-after'));
      return { kind: 'refused', error: refusal(response.status, text), retryAfterSeconds };
    } catch (cause) {
      signal?.throwIfAborted();
      return { kind: 'refused', error: new DragomanError('The service did not respond.', { cause }) };
    }
  }
}

type Outcome =
  | { kind: 'answered'; body: unknown }
  | { kind: 'refused'; error: DragomanError; retryAfterSeconds?: number | undefined };

/**
 * Returns the delay before the next attempt: exponential backoff with jitter. Half of the delay is random, so that
 * many clients do not retry at the same time.
 */
function backoff(attempt: number): number {
  const full = Math.min(FIRST_WAIT_MILLISECONDS * 2 ** attempt, LONGEST_WAIT_MILLISECONDS);
  return full / 2 + (Math.random() * full) / 2;
}

/** Returns the seconds in a `Retry-After` header, which may have seconds or a date. */
function readRetryAfter(header: string | null): number | undefined {
  if (header === null) return undefined;
  if (/^\d+$/.test(header)) return Number(header);
  const until = Date.parse(header);
  return Number.isNaN(until) ? undefined : Math.max(0, (until - Date.now()) / 1000);
}

function fill(template: string, parameters: object | undefined): string {
  return template.replace(/\{(\w+)\}/g, (_, name) => {
    const value = (parameters as Record<string, string>)[name];
    if (!value) throw new TypeError(`${name} must not be empty`);
    // `.` and `..` are rejected: HTTP clients treat them as relative path segments, even if they are encoded.
    if (/^\.\.?$/.test(value)) throw new TypeError(`${name} must not be ${value}`);
    return encodeURIComponent(value);
  });
}

/** Writes a query string. A list becomes one value with commas. */
function printQuery(query: object | undefined): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query ?? {})) {
    if (value !== undefined) parameters.set(name, String(value));
  }
  return parameters.size === 0 ? '' : `?${parameters}`;
}

function sleep(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const give = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', give);
      resolve();
    }, milliseconds);
    signal?.addEventListener('abort', give, { once: true });
  });
}

/**
 * Requests to the service, tried again where that can do no harm: reads; whatever the service recognises when it
 * comes a second time (a `uid`, an idempotency key); and what it refused before doing anything (429).
 */
import { DragomanError, refusal } from './errors.ts';
import { OPERATIONS, type Operations } from './generated.ts';

export interface TransportOptions {
  /** Where the service is, such as `https://translate.example.com`. */
  baseUrl: string;
  /** `USERNAME:KEY`, as the operator gave it. */
  key: string;
  /** Whether to use the sandbox; it has keys of its own. */
  sandbox?: boolean | undefined;
  /** How often to try again; 4 by default. */
  retries?: number | undefined;
  /** Milliseconds that one try may take; 60,000 by default. */
  timeoutMs?: number | undefined;
  /** Sends the requests; the platform's own by default. */
  fetch?: typeof fetch | undefined;
  /** Waits between tries; a timer by default. Rejects with the signal's reason when that is aborted. */
  pause?: ((milliseconds: number, signal: AbortSignal | undefined) => Promise<void>) | undefined;
}

export interface CallOptions {
  /** Ends the request, or the wait for the next try. */
  signal?: AbortSignal | undefined;
}

type Operation = keyof Operations;

interface Given<K extends Operation> extends CallOptions {
  path?: Operations[K]['path'];
  query?: Operations[K]['query'] | undefined;
  body?: Operations[K]['body'];
  /** Makes the service recognise a request that comes again. */
  idempotencyKey?: string | undefined;
  /** Whether a second arrival of the same request can do no harm. */
  repeatable: boolean;
}

export interface Transport {
  /** @throws DragomanError when the service refuses, or does not answer; the signal's reason when it is aborted */
  call<K extends Operation>(operation: K, given: Given<K>): Promise<Operations[K]['answer']>;
  pause(milliseconds: number, signal: AbortSignal | undefined): Promise<void>;
}

const RETRIES = 4;
const TIMEOUT_MILLISECONDS = 60_000;
const FIRST_WAIT_MILLISECONDS = 500;
const LONGEST_WAIT_MILLISECONDS = 8_000;
/** A service that wants to be left alone for longer than this is reported, not waited for. */
const LONGEST_RETRY_AFTER_SECONDS = 60;
/** Statuses that another try may change: too slow, too busy, a fault, a proxy without its server. */
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
      return { kind: 'refused', error: new DragomanError('The service did not answer.', { cause }) };
    }
  }
}

type Outcome =
  | { kind: 'answered'; body: unknown }
  | { kind: 'refused'; error: DragomanError; retryAfterSeconds?: number | undefined };

/** Half of it is chance, so that many clients do not come back at once. */
function backoff(attempt: number): number {
  const full = Math.min(FIRST_WAIT_MILLISECONDS * 2 ** attempt, LONGEST_WAIT_MILLISECONDS);
  return full / 2 + (Math.random() * full) / 2;
}

/** Seconds, or the date until which to wait. */
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
    // However it is encoded, every client of HTTP reads it as a step in the path, and asks for another one.
    if (/^\.\.?$/.test(value)) throw new TypeError(`${name} must not be ${value}`);
    return encodeURIComponent(value);
  });
}

/** Lists are written as one value with commas. */
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

/**
 * The HTTP client for translation services. It has one deadline over all attempts, a size limit for responses, and two
 * retries after 429, 5xx and broken connections. It does not retry other 4xx or redirects.
 *
 * The operator sets the base URL, which may be a private address. Redirects are not followed, because the API key would
 * be sent to the new address. Keys and texts are never logged: errors contain the status and a short message, never the
 * response body.
 */

import { setTimeout as sleep } from 'node:timers/promises';
import { Agent, request } from 'undici';
import { Breaker } from '../breaker.ts';
import type { Lane } from '../engine.ts';

export interface HttpOptions {
  /** Base URL of the service, with its path if it has one, such as `https://api.deepl.com`. */
  baseUrl: string;
  /** Deadline in ms for a call including all its attempts. Default: 30 s. */
  deadlineMs?: number;
  /** Maximum number of concurrent calls. Default: 4. */
  concurrency?: number;
  /**
   * Delay before the first retry without `Retry-After`, in ms; the delay before the second is twice as long.
   * Default: 500.
   */
  retryMs?: number;
  /** Maximum size of a response body in bytes. Default: 8 MiB. */
  maxResponseBytes?: number;
}

export interface Call {
  method: 'GET' | 'POST';
  path: string;
  headers: Readonly<Record<string, string>>;
  body?: unknown;
  lane: Lane;
  signal: AbortSignal;
}

export type HttpFault = 'unavailable' | 'timeout' | 'refused' | 'too large' | 'garbled';

export type HttpResult =
  | { ok: true; json: unknown }
  /** A failed call. `status` is null if no response came. */
  | { ok: false; fault: HttpFault; detail: string; status: number | null };

type AttemptResult =
  | HttpResult
  | {
      ok: false;
      retry: true;
      fault: HttpFault;
      detail: string;
      status: number | null;
      afterMs: number | null;
    };

const MAX_ATTEMPTS = 3;
const DEFAULT_DEADLINE_MS = 30_000;
const DEFAULT_MAX_BYTES = 8 * 1024 * 1024;

/** DeepL's HTTP status for an exhausted quota. */
const QUOTA = 456;
/**
 * HTTP statuses for an invalid key, an unpaid bill or an exhausted quota. The text is not the cause, so the
 * service counts as unavailable.
 */
const CONFIGURATION_FAULTS: ReadonlySet<number> = new Set([401, 402, 403, QUOTA]);
/** HTTP statuses of a proxy whose server is down, or of a server that is still loading its model. */
const SERVER_DOWN: ReadonlySet<number> = new Set([502, 503, 504]);

export class HttpClient {
  readonly #base: string;
  readonly #options: HttpOptions;
  readonly #agent: Agent;
  readonly #deadlineMs: number;
  readonly #maxBytes: number;
  /** Without the breaker, each queued call to a service that does not respond would wait 30 s. */
  readonly #breaker = new Breaker({ loopCount: 5, loopMs: 120_000, firstOpenMs: 1_000, maxOpenMs: 60_000 });
  #free: number;
  #unreachable = false;
  readonly #waiting: Record<Lane, (() => void)[]> = { interactive: [], bulk: [] };

  constructor(options: HttpOptions) {
    const url = new URL(options.baseUrl);
    if (url.protocol !== 'https:' && url.protocol !== 'http:') {
      throw new Error(`the URL of an engine must be http or https, not ${url.protocol}`);
    }
    if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '') {
      throw new Error('the URL of an engine must not have a user, query or fragment; set its key separately');
    }
    this.#base = url.href.replace(/(?<!\/)\/+$/, '');
    this.#options = options;
    this.#deadlineMs = options.deadlineMs ?? DEFAULT_DEADLINE_MS;
    this.#maxBytes = options.maxResponseBytes ?? DEFAULT_MAX_BYTES;
    this.#free = options.concurrency ?? 4;
    this.#agent = new Agent({
      connections: this.#free,
      // undici's own timeouts are off, because #withRetries has a deadline over all attempts.
      headersTimeout: 0,
      bodyTimeout: 0,
      connect: { timeout: Math.min(10_000, this.#deadlineMs) },
    });
  }

  get base(): string {
    return this.#base;
  }

  /**
   * True when the last call reached no running service: no response came, or the response came from a proxy
   * or from a server that is still starting.
   */
  get unreachable(): boolean {
    return this.#unreachable;
  }

  /** Makes a call including its retries. Rejects only with the abort reason of `signal`. */
  async send(call: Call): Promise<HttpResult> {
    call.signal.throwIfAborted();
    await this.#acquire(call.lane, call.signal);
    try {
      if (this.#breaker.isOpen) {
        const seconds = Math.ceil(this.#breaker.remainingMs / 1_000);
        return unavailable(`disabled for ${seconds} s because it did not respond`);
      }
      const result = await this.#withRetries(call);
      this.#unreachable = !result.ok && (result.status === null || SERVER_DOWN.has(result.status));
      if (result.ok || (result.fault !== 'unavailable' && result.fault !== 'timeout')) {
        this.#breaker.succeeded();
      } else this.#breaker.failed();
      return result;
    } finally {
      this.#release();
    }
  }

  async stop(): Promise<void> {
    await this.#agent.destroy();
  }

  async #withRetries(call: Call): Promise<HttpResult> {
    const deadline = AbortSignal.timeout(this.#deadlineMs);
    const signal = AbortSignal.any([call.signal, deadline]);
    const until = performance.now() + this.#deadlineMs;
    let pauseMs = this.#options.retryMs ?? 500;
    for (let attempt = 1; ; attempt++) {
      const result = await this.#attempt(call, signal, deadline);
      if (!('retry' in result)) return result;
      const { ok, fault, detail, status, afterMs } = result;
      // Half of the delay is random, so that many workers do not retry at the same time.
      const waitMs = afterMs ?? pauseMs * (0.5 + Math.random() / 2);
      if (attempt === MAX_ATTEMPTS || performance.now() + waitMs > until)
        return { ok, fault, detail, status };
      await sleep(waitMs, undefined, { signal }).catch(() => call.signal.throwIfAborted());
      pauseMs *= 2;
    }
  }

  async #attempt(call: Call, signal: AbortSignal, deadline: AbortSignal): Promise<AttemptResult> {
    try {
      const response = await request(this.#base + call.path, {
        method: call.method,
        dispatcher: this.#agent,
        signal,
        headers: {
          accept: 'application/json',
          'user-agent': 'dragoman',
          ...(call.body === undefined ? {} : { 'content-type': 'application/json' }),
          ...call.headers,
        },
        body: call.body === undefined ? null : JSON.stringify(call.body),
      });
      const status = response.statusCode;
      if (status >= 200 && status < 300) return await read(response.body, this.#maxBytes);
      // Reads the rest of the body (up to 64 KiB), so that the connection can be reused.
      await response.body.dump({ limit: 64 * 1024, signal }).catch(() => {});
      if (status === 429 || status >= 500) {
        const afterMs = retryAfter(response.headers['retry-after']);
        return { ...unavailable(`it responded with ${status}`), status, retry: true, afterMs };
      }
      const detail = refusal(status);
      if (CONFIGURATION_FAULTS.has(status)) return { ...unavailable(detail), status };
      return { ok: false, fault: 'refused', detail, status };
    } catch (error) {
      call.signal.throwIfAborted();
      if (deadline.aborted) {
        const detail = `no response within ${this.#deadlineMs} ms`;
        return { ok: false, fault: 'timeout', detail, status: null };
      }
      return { ...unavailable(`no response (${codeOf(error)})`), retry: true, afterMs: null };
    }
  }

  /** Waits for a free connection. The interactive lane comes before the bulk lane. */
  async #acquire(lane: Lane, signal: AbortSignal): Promise<void> {
    if (this.#free > 0) {
      this.#free--;
      return;
    }
    const turn = Promise.withResolvers<void>();
    const onAbort = (): void => {
      const queue = this.#waiting[lane];
      const at = queue.indexOf(turn.resolve);
      if (at >= 0) queue.splice(at, 1);
      turn.reject(signal.reason);
    };
    this.#waiting[lane].push(turn.resolve);
    signal.addEventListener('abort', onAbort, { once: true });
    await turn.promise.finally(() => signal.removeEventListener('abort', onAbort));
  }

  #release(): void {
    const next = this.#waiting.interactive.shift() ?? this.#waiting.bulk.shift();
    if (next === undefined) this.#free++;
    else next();
  }
}

const unavailable = (detail: string): Extract<HttpResult, { ok: false }> => ({
  ok: false,
  fault: 'unavailable',
  detail,
  status: null,
});

async function read(body: AsyncIterable<Buffer>, maxBytes: number): Promise<HttpResult> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.length;
    // The `return` leaves the loop, so Node closes the body and its connection.
    if (size > maxBytes) {
      return {
        ok: false,
        fault: 'too large',
        detail: `a response of more than ${maxBytes} bytes`,
        status: 200,
      };
    }
    chunks.push(chunk);
  }
  try {
    return { ok: true, json: JSON.parse(Buffer.concat(chunks).toString('utf8')) };
  } catch {
    return { ok: false, fault: 'garbled', detail: 'a response that is not JSON', status: 200 };
  }
}

/** Returns the delay of a `Retry-After` header in ms, or null if it is missing or invalid. */
export function retryAfter(header: string | string[] | undefined, now: number = Date.now()): number | null {
  if (typeof header !== 'string' || header.trim() === '') return null;
  if (/^\s*\d{1,6}(\.\d+)?\s*$/.test(header)) return Number(header) * 1_000;
  const at = Date.parse(header);
  return Number.isNaN(at) ? null : Math.max(0, at - now);
}

function refusal(status: number): string {
  if (status < 400) return `it redirects (${status}), and redirects are not followed`;
  if (status === 401 || status === 403) return `it rejects the key (${status})`;
  if (status === QUOTA) return `its quota is exhausted (${status})`;
  return `it rejects the request (${status})`;
}

function codeOf(error: unknown): string {
  const { code, name } = error as { code?: unknown; name?: unknown };
  return typeof code === 'string' ? code : typeof name === 'string' ? name : 'unknown';
}

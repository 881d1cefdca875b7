/**
 * Calls to a translation service over HTTP: one deadline over all tries, a bounded answer, two more tries where a try
 * may help (429, 5xx, a broken connection), none where it cannot (every other 4xx, a redirect).
 *
 * The base address is the operator's and may be private; redirects are not followed, because the key would go along.
 * Nothing here ever writes a key or a text anywhere: errors carry the status and a word, never the answer's body.
 */

import { setTimeout as sleep } from 'node:timers/promises';
import { Agent, request } from 'undici';
import { Breaker } from '../breaker.ts';
import type { Lane } from '../engine.ts';

export interface HttpOptions {
  /** The service's address, with a path where it has one: `https://api.deepl.com`. */
  baseUrl: string;
  /** For one call with all its tries, in ms. Default: 30 s. */
  deadlineMs?: number;
  /** Calls in flight at once. Default: 4. */
  concurrency?: number;
  /** The wait before the second try where the service names none, in ms; the third waits twice as long. */
  retryMs?: number;
  /** A longer answer is refused. Default: 8 MiB. */
  maxAnswerBytes?: number;
}

export interface Call {
  method: 'GET' | 'POST';
  /** Below the base address, with the query. */
  path: string;
  headers: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  body?: unknown;
  lane: Lane;
  signal: AbortSignal;
}

export type HttpFault = 'unavailable' | 'timeout' | 'refused' | 'too large' | 'garbled';

export type Answer =
  | { ok: true; json: unknown }
  /** `status` where there was one. */
  | { ok: false; fault: HttpFault; detail: string; status: number | null };

type Try =
  | Answer
  | {
      ok: false;
      again: true;
      fault: HttpFault;
      detail: string;
      status: number | null;
      afterMs: number | null;
    };

const TRIES = 3;
const DEFAULT_DEADLINE_MS = 30_000;
const DEFAULT_MAX_BYTES = 8 * 1024 * 1024;

/** DeepL's word for a used-up quota. It is below 500 and not tried again, like every other 4xx. */
const QUOTA = 456;
/** No fault of a text: a wrong key, a bill that is not paid, a used-up quota. The service is away until it is mended. */
const OURS_TO_MEND: ReadonlySet<number> = new Set([401, 402, 403, QUOTA]);
/** What a proxy says of a server that is down, and a server of one's own while it reads its model. */
const NOBODY_THERE: ReadonlySet<number> = new Set([502, 503, 504]);

export class Http {
  readonly #base: string;
  readonly #options: HttpOptions;
  readonly #agent: Agent;
  readonly #deadlineMs: number;
  readonly #maxBytes: number;
  /** A service that does not answer is left alone, so that a queue does not wait 30 s for each of its calls. */
  readonly #breaker = new Breaker({ loopCount: 5, loopMs: 120_000, firstClosedMs: 1_000, closedMs: 60_000 });
  #free: number;
  #away = false;
  readonly #waiting: Record<Lane, (() => void)[]> = { live: [], bulk: [] };

  constructor(options: HttpOptions) {
    const url = new URL(options.baseUrl);
    if (url.protocol !== 'https:' && url.protocol !== 'http:') {
      throw new Error(`the address of an engine is http or https, not ${url.protocol}`);
    }
    if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '') {
      throw new Error('the address of an engine has no user, query or fragment; its key is given apart');
    }
    this.#base = url.href.replace(/(?<!\/)\/+$/, '');
    this.#options = options;
    this.#deadlineMs = options.deadlineMs ?? DEFAULT_DEADLINE_MS;
    this.#maxBytes = options.maxAnswerBytes ?? DEFAULT_MAX_BYTES;
    this.#free = options.concurrency ?? 4;
    this.#agent = new Agent({
      connections: this.#free,
      // The deadline is ours, over all tries; undici's own would only be a second one.
      headersTimeout: 0,
      bodyTimeout: 0,
      connect: { timeout: Math.min(10_000, this.#deadlineMs) },
    });
  }

  get base(): string {
    return this.#base;
  }

  /** The last call that was made found nobody there: no answer at all, or that of a proxy or a server that starts. */
  get away(): boolean {
    return this.#away;
  }

  /** Never rejects, except with the reason of `signal`. */
  async ask(call: Call): Promise<Answer> {
    call.signal.throwIfAborted();
    await this.#enter(call.lane, call.signal);
    try {
      if (this.#breaker.closed) {
        const seconds = Math.ceil(this.#breaker.remainingMs / 1_000);
        return away(`left alone for ${seconds} s after it did not answer`);
      }
      const answer = await this.#withTries(call);
      this.#away = !answer.ok && (answer.status === null || NOBODY_THERE.has(answer.status));
      if (answer.ok || (answer.fault !== 'unavailable' && answer.fault !== 'timeout')) {
        this.#breaker.succeeded();
      } else this.#breaker.failed();
      return answer;
    } finally {
      this.#leave();
    }
  }

  async stop(): Promise<void> {
    await this.#agent.destroy();
  }

  async #withTries(call: Call): Promise<Answer> {
    const deadline = AbortSignal.timeout(this.#deadlineMs);
    const signal = AbortSignal.any([call.signal, deadline]);
    const until = performance.now() + this.#deadlineMs;
    let pauseMs = this.#options.retryMs ?? 500;
    for (let count = 1; ; count++) {
      const result = await this.#try(call, signal, deadline);
      if (!('again' in result)) return result;
      const { ok, fault, detail, status, afterMs } = result;
      // Half of the pause at random, so that many workers do not come back together.
      const waitMs = afterMs ?? pauseMs * (0.5 + Math.random() / 2);
      if (count === TRIES || performance.now() + waitMs > until) return { ok, fault, detail, status };
      await sleep(waitMs, undefined, { signal }).catch(() => call.signal.throwIfAborted());
      pauseMs *= 2;
    }
  }

  async #try(call: Call, signal: AbortSignal, deadline: AbortSignal): Promise<Try> {
    try {
      const answer = await request(this.#base + call.path, {
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
      const status = answer.statusCode;
      if (status >= 200 && status < 300) return await read(answer.body, this.#maxBytes);
      // What is left of the answer is read (up to 64 KiB) so that the connection can be used again.
      await answer.body.dump({ limit: 64 * 1024, signal }).catch(() => {});
      if (status === 429 || status >= 500) {
        const afterMs = retryAfter(answer.headers['retry-after']);
        return { ...away(`it answered ${status}`), status, again: true, afterMs };
      }
      const detail = refusal(status);
      if (OURS_TO_MEND.has(status)) return { ...away(detail), status };
      return { ok: false, fault: 'refused', detail, status };
    } catch (error) {
      call.signal.throwIfAborted();
      if (deadline.aborted) {
        const detail = `no answer within ${this.#deadlineMs} ms`;
        return { ok: false, fault: 'timeout', detail, status: null };
      }
      return { ...away(`no answer (${codeOf(error)})`), again: true, afterMs: null };
    }
  }

  /** Whoever waits for an answer goes before what is done in bulk. */
  async #enter(lane: Lane, signal: AbortSignal): Promise<void> {
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

  #leave(): void {
    const next = this.#waiting.live.shift() ?? this.#waiting.bulk.shift();
    if (next === undefined) this.#free++;
    else next();
  }
}

const away = (detail: string): Extract<Answer, { ok: false }> => ({
  ok: false,
  fault: 'unavailable',
  detail,
  status: null,
});

async function read(body: AsyncIterable<Buffer>, maxBytes: number): Promise<Answer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.length;
    // Leaving the loop closes the connection.
    if (size > maxBytes) {
      return {
        ok: false,
        fault: 'too large',
        detail: `an answer of more than ${maxBytes} bytes`,
        status: 200,
      };
    }
    chunks.push(chunk);
  }
  try {
    return { ok: true, json: JSON.parse(Buffer.concat(chunks).toString('utf8')) };
  } catch {
    return { ok: false, fault: 'garbled', detail: 'an answer that is not JSON', status: 200 };
  }
}

/** @returns ms, or null where there is no such header or it makes no sense */
export function retryAfter(header: string | string[] | undefined, now: number = Date.now()): number | null {
  if (typeof header !== 'string' || header.trim() === '') return null;
  if (/^\s*\d{1,6}(\.\d+)?\s*$/.test(header)) return Number(header) * 1_000;
  const at = Date.parse(header);
  return Number.isNaN(at) ? null : Math.max(0, at - now);
}

function refusal(status: number): string {
  if (status < 400) return `it redirects (${status}), which is not followed`;
  if (status === 401 || status === 403) return `it refuses the key (${status})`;
  if (status === QUOTA) return `its quota is used up (${status})`;
  return `it refuses the request (${status})`;
}

function codeOf(error: unknown): string {
  const { code, name } = error as { code?: unknown; name?: unknown };
  return typeof code === 'string' ? code : typeof name === 'string' ? name : 'unknown';
}

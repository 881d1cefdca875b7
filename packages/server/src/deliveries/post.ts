/**
 * Sends one HTTP POST to a receiver that may be slow, broken or hostile. Returns the outcome, and throws no
 * network or receiver errors.
 *
 * Uses undici `request`, because `fetch` has 0.22 times the speed and follows redirects. There is one pool per
 * origin with keep-alive. Redirects are not followed, and proxy variables of the environment are ignored (an
 * `Agent` does not read them). Every connection goes through the checking connector.
 *
 * Known limits: undici treats an unexpected `100 Continue` as a broken connection (`reset`), although RFC 9110
 * §15.2 asks clients to accept it; other 1xx answers are skipped. When a connection is cut or times out, undici
 * opens one more connection, finds nothing to send and closes it. It never sends a second POST.
 */
import { Agent, type Dispatcher, errors } from 'undici';
import type { AddressGuard } from './addresses.ts';
import {
  AddressRefused,
  type Connect,
  codeOf,
  createConnector,
  type Resolver,
  TRY_NEXT,
} from './connector.ts';
import { readRetryAfter } from './retry-after.ts';

export type FailureReason = 'timeout' | 'refused address' | 'connect' | 'reset' | 'tls' | 'other';

/**
 * `answered`: the status line and the headers arrived; the body may be incomplete. `failed`: they did not
 * arrive; the receiver may or may not have processed the POST.
 */
export type PostOutcome =
  | {
      kind: 'answered';
      status: number;
      /** The value of `Retry-After`, at most 72 hours; absent if the header is absent or unreadable. */
      retryAfterSeconds?: number;
      /** The headers of the answer; names in lower case, repeated ones joined by `, `. Untrusted. */
      headers: Record<string, string>;
      /**
       * The first 4 KiB of the body as UTF-8. Invalid bytes and NUL become U+FFFD, because PostgreSQL text
       * cannot contain NUL.
       */
      body: string;
      /** False if the body was cut at the limit, broke off, or did not end in time. */
      bodyComplete: boolean;
      /** Milliseconds from the call until the status line arrived. */
      latencyMs: number;
    }
  | {
      kind: 'failed';
      reason: FailureReason;
      /** One sentence with at most an error code: no URL, no customer data, and an address only with its note. */
      detail: string;
      /** Milliseconds from the call until the failure. */
      latencyMs: number;
    };

export interface Poster {
  /** Sends one POST. @throws only undici errors for headers that HTTP cannot carry */
  post(url: string, headers: Record<string, string>, body: Buffer | string): Promise<PostOutcome>;
  /** Waits for POSTs in progress, then closes every connection. Later POSTs fail. May be called twice. */
  close(): Promise<void>;
  /** Closes every connection now. POSTs in progress and later POSTs fail. May be called twice. */
  cut(): Promise<void>;
}

export interface PosterSettings {
  guard: AddressGuard;
  resolver?: Resolver;
  connect?: Connect;
  /** The time limit for one whole POST: waiting for a connection, resolving, sending and reading. */
  timeoutMs?: number;
  /** The time limit for resolving and connecting, part of `timeoutMs`. Default: at most 10,000. */
  connectTimeoutMs?: number;
  /** The maximum number of bytes read from the body of an answer. After that the connection is cut. */
  maxResponseBytes?: number;
  /**
   * The maximum number of connections to one origin. Further POSTs wait, and their time limits include the
   * wait.
   */
  connectionsPerOrigin?: number;
  /** The clock for `Retry-After` dates. */
  now?: () => Date;
}

const KEPT_BODY_BYTES = 4096;

export function createPoster(settings: PosterSettings): Poster {
  const { guard, timeoutMs = 15_000, maxResponseBytes = 65_536, connectionsPerOrigin = 16 } = settings;
  const now = settings.now ?? (() => new Date());
  const agent = new Agent({
    connect: createConnector({
      guard,
      timeoutMs: settings.connectTimeoutMs ?? Math.min(timeoutMs, 10_000),
      ...(settings.resolver ? { resolver: settings.resolver } : {}),
      ...(settings.connect ? { connect: settings.connect } : {}),
    }),
    connections: connectionsPerOrigin,
    pipelining: 1,
    // undici's own time limits are turned off, because each restarts with every chunk of the answer. One
    // limit for the whole POST is set below.
    headersTimeout: 0,
    bodyTimeout: 0,
    maxHeaderSize: 16_384,
  });

  async function post(
    text: string,
    headers: Record<string, string>,
    body: Buffer | string,
  ): Promise<PostOutcome> {
    const started = performance.now();
    const latencyMs = () => Math.round(performance.now() - started);
    const failed = (reason: FailureReason, detail: string): PostOutcome => {
      return { kind: 'failed', reason, detail, latencyMs: latencyMs() };
    };
    // Every attempt checks the URL again, because the rules may have changed since it was stored.
    const checked = guard.checkUrl(text);
    if (!checked.ok) return failed('refused address', checked.reason);
    const { origin, pathname, search } = checked.url;

    const limit = new AbortController();
    const late = Promise.withResolvers<'late'>();
    const timer = setTimeout(() => {
      limit.abort();
      late.resolve('late');
    }, timeoutMs);
    try {
      const request = agent.request({
        origin,
        path: pathname + search,
        method: 'POST',
        headers,
        body,
        signal: limit.signal,
      });
      // undici notices the abort signal only once it has a connection, so the timeout must race with the
      // request. A request that loses is dropped before a byte is sent.
      const answer = await Promise.race([request, late.promise]);
      if (answer === 'late') {
        request.catch(() => {});
        return failed('timeout', `no answer within ${timeoutMs} ms`);
      }
      const answeredMs = latencyMs();
      const read = await readBody(answer.body, maxResponseBytes);
      const retryAfterSeconds = retryAfterOf(answer.headers, now());
      return {
        kind: 'answered',
        status: answer.statusCode,
        ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
        headers: flat(answer.headers),
        ...read,
        latencyMs: answeredMs,
      };
    } catch (error) {
      if (OUR_MISTAKES.has(codeOf(error))) throw error;
      if (limit.signal.aborted) return failed('timeout', `no answer within ${timeoutMs} ms`);
      return failed(...explain(error));
    } finally {
      clearTimeout(timer);
    }
  }

  let closing: Promise<void> | undefined;
  return {
    post,
    close() {
      closing ??= agent.close();
      return closing;
    },
    cut: () => agent.destroy(),
  };
}

type Body = Dispatcher.ResponseData['body'];

/**
 * Reads a body to its end or the limit. Leaving the loop at the limit destroys the connection. Never throws.
 */
async function readBody(body: Body, most: number): Promise<{ body: string; bodyComplete: boolean }> {
  const kept: Buffer[] = [];
  let read = 0;
  let keptBytes = 0;
  let bodyComplete = true;
  // Destroying a body emits an error, which would end the process without this listener.
  body.on('error', () => {});
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      read += chunk.length;
      if (keptBytes < KEPT_BODY_BYTES) {
        const piece = chunk.subarray(0, KEPT_BODY_BYTES - keptBytes);
        kept.push(piece);
        keptBytes += piece.length;
      }
      if (read > most) {
        bodyComplete = false;
        break;
      }
    }
  } catch {
    // The body was reset, badly chunked or late. The error is ignored: the status line has arrived, and the
    // body is only stored for debugging.
    bodyComplete = false;
  }
  // With `stream`, the decoder drops a character that the limit cut in two, instead of adding U+FFFD.
  const text = new TextDecoder().decode(Buffer.concat(kept), { stream: read > keptBytes || !bodyComplete });
  return { body: text.replaceAll('\u0000', '\ufffd'), bodyComplete };
}

function retryAfterOf(headers: Dispatcher.ResponseData['headers'], now: Date): number | undefined {
  const value = [headers['retry-after']].flat()[0];
  return value === undefined ? undefined : readRetryAfter(value, now);
}

function flat(headers: Dispatcher.ResponseData['headers']): Record<string, string> {
  const entries = Object.entries(headers).filter((entry) => entry[1] !== undefined);
  return Object.fromEntries(entries.map(([name, value]) => [name, [value].flat().join(', ')]));
}

/** No receiver can cause these errors, so they are bugs and are thrown. */
const OUR_MISTAKES = new Set(['UND_ERR_INVALID_ARG', 'UND_ERR_NOT_SUPPORTED', 'ERR_INVALID_ARG_TYPE']);

const RESET = new Set(['ECONNRESET', 'EPIPE', 'ECONNABORTED', 'UND_ERR_SOCKET']);

const CONNECT = new Set([
  ...TRY_NEXT,
  'EACCES',
  'ENOTFOUND',
  'ENODATA',
  'EAI_AGAIN',
  'EAI_FAIL',
  'EAI_NODATA',
  'EAI_NONAME',
  'ESERVFAIL',
  'ETIMEOUT',
  'EPERM',
]);

/**
 * Error codes of OpenSSL and of Node's certificate checks (Node's documentation of `tls`, "X509 certificate
 * error codes").
 */
const TLS =
  /^(ERR_TLS_|ERR_SSL_|ERR_OSSL_|CERT_|CRL_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|INVALID_|HOSTNAME_)|^EPROTO$/;

/**
 * Returns the note for operators in the detail of a refused name. It names the address that is not allowed, which may be
 * one of the operator's network.
 */
function noteFor({ address }: AddressRefused): string {
  return address === undefined ? '' : ` (${address} is not in DRAGOMAN_ALLOWED_NETWORKS)`;
}

/** Removes the note for operators from a detail, for customers. */
export function withoutNote(detail: string): string {
  return detail.replace(/ \(\S+ is not in DRAGOMAN_ALLOWED_NETWORKS\)$/, '');
}

/** Explains an error by its code, because messages of Node and OpenSSL can contain names and addresses. */
function explain(error: unknown): [FailureReason, string] {
  if (error instanceof AddressRefused) return ['refused address', error.message + noteFor(error)];
  if (error instanceof errors.HTTPParserError) {
    // The parser's own words, such as `Missing expected CR after response line`. They quote nothing of the answer.
    const [, fault] = /\(([\w ,./'`-]{1,100})\)$/.exec(error.message) ?? [];
    return ['other', `the answer was not valid HTTP${fault === undefined ? '' : `: ${fault}`}`];
  }
  const code = codeOf(error);
  if (TLS.test(code)) return ['tls', `the TLS connection failed (${code})`];
  if (RESET.has(code)) return ['reset', `the connection was closed before an answer (${code})`];
  if (CONNECT.has(code)) return ['connect', `no connection to the host (${code})`];
  if (code === 'UND_ERR_HEADERS_OVERFLOW')
    return ['other', `the headers of the answer are too large (${code})`];
  return ['other', `the delivery failed (${/^[A-Z0-9_]{1,60}$/.test(code) ? code : 'unknown error'})`];
}

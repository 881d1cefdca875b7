/** An engine for tests. It translates by upper-casing, fails on demand, and records every request. */

import type { Confidence } from './confidence.ts';
import type { Direction, Draft, DraftRequest, Engine, FailureReason, Piece, Segment } from './engine.ts';

export interface FakeOptions {
  /** The offered directions, as `from>to`. Default: `en>es` and `es>en`. */
  directions?: readonly string[];
}

export interface FakeEngine extends Engine {
  /** All requests that the engine has received, in order. */
  readonly requests: DraftRequest[];
  /** Makes segments fail whose visible text contains `text`, until it is called with null. */
  failOn(text: string | null, reason?: FailureReason): void;
  dropCodes(drop: boolean): void;
  /** Reports this confidence for segments whose visible text contains `text`. */
  rate(text: string, confidence: Confidence): void;
  /** Makes the next `times` calls of `draft` reject. */
  crash(times?: number): void;
  /** Suspends all calls of `draft` until `resume` is called. */
  stall(): void;
  resume(): void;
  /** Resolves when the engine has received `count` requests in total. */
  waitForRequests(count: number): Promise<void>;
}

export function createFake(options: FakeOptions = {}): FakeEngine {
  return new Fake(options);
}

class Fake implements FakeEngine {
  readonly name = 'fake';
  readonly capabilities = {
    codes: 'kept',
    terms: false,
    tone: false,
    instructions: false,
    context: false,
    remote: false,
    deterministic: true,
  } as const;
  readonly requests: DraftRequest[] = [];
  readonly #directions: readonly string[];
  #failOn: { text: string; reason: FailureReason } | null = null;
  #dropCodes = false;
  readonly #ratings: { text: string; confidence: Confidence }[] = [];
  #crashes = 0;
  #gate: { promise: Promise<void>; open: () => void } | null = null;
  #stopped = false;
  readonly #stopping = Promise.withResolvers<void>();
  #watchers: { count: number; resolve: () => void }[] = [];

  constructor(options: FakeOptions) {
    this.#directions = options.directions ?? ['en>es', 'es>en'];
  }

  failOn(text: string | null, reason: FailureReason = 'crashed'): void {
    this.#failOn = text === null ? null : { text, reason };
  }

  dropCodes(drop: boolean): void {
    this.#dropCodes = drop;
  }

  rate(text: string, confidence: Confidence): void {
    this.#ratings.push({ text, confidence });
  }

  crash(times = 1): void {
    this.#crashes = times;
  }

  stall(): void {
    if (this.#gate !== null) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#gate = { promise, open: resolve };
  }

  resume(): void {
    this.#gate?.open();
    this.#gate = null;
  }

  waitForRequests(count: number): Promise<void> {
    if (this.requests.length >= count) return Promise.resolve();
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#watchers.push({ count, resolve });
    return promise;
  }

  async version(): Promise<string> {
    return '1';
  }

  async directions(): Promise<Direction[]> {
    return this.#directions.map((key) => {
      const [from = '', to = ''] = key.split('>');
      return { from, to, route: `fake:${from}-${to}`, hops: 1 };
    });
  }

  async draft(request: DraftRequest): Promise<Draft[]> {
    if (this.#stopped) throw new Error('the fake engine is stopped');
    request.signal?.throwIfAborted();
    this.requests.push(request);
    this.#watchers = this.#watchers.filter(({ count, resolve }) => {
      if (this.requests.length >= count) resolve();
      return this.requests.length < count;
    });
    if (this.#crashes > 0) {
      this.#crashes--;
      throw new Error('the fake engine crashed on demand');
    }
    await Promise.resolve();
    request.signal?.throwIfAborted();
    if (this.#gate !== null) await this.#wait(this.#gate.promise, request.signal);
    if (this.#stopped) {
      return request.segments.map(({ id }) => ({
        id,
        status: 'failed',
        reason: 'stopped',
        detail: 'stopped',
      }));
    }
    return request.segments.map((segment) => this.#one(segment, request));
  }

  async health(): Promise<{ ok: boolean; detail: string }> {
    return this.#stopped ? { ok: false, detail: 'stopped' } : { ok: true, detail: 'a fake' };
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#stopping.resolve();
  }

  async #wait(gate: Promise<void>, signal: AbortSignal | undefined): Promise<void> {
    const aborted = Promise.withResolvers<never>();
    const onAbort = (): void => aborted.reject(signal?.reason);
    signal?.addEventListener('abort', onAbort, { once: true });
    await Promise.race([gate, this.#stopping.promise, aborted.promise]).finally(() =>
      signal?.removeEventListener('abort', onAbort),
    );
  }

  #one({ id, pieces }: Segment, { from, to }: DraftRequest): Draft {
    if (!this.#directions.includes(`${from}>${to}`)) {
      return { id, status: 'unsupported', detail: `the fake engine has no direction from ${from} to ${to}` };
    }
    const text = pieces.map((piece) => ('text' in piece ? piece.text : '')).join('');
    if (text.length > 10_000) return { id, status: 'failed', reason: 'too long', detail: 'over 10,000' };
    if (this.#failOn !== null && text.includes(this.#failOn.text)) {
      return { id, status: 'failed', reason: this.#failOn.reason, detail: 'failed on demand' };
    }
    const target = pieces
      .map(
        (piece): Piece =>
          'text' in piece && !('keep' in piece) ? { text: upper(piece.text) } : { ...piece },
      )
      .filter((piece) => !this.#dropCodes || 'text' in piece);
    const confidence = this.#ratings.find((one) => text.includes(one.text))?.confidence;
    return { id, status: 'translated', pieces: target, route: `fake:${from}-${to}`, confidence };
  }
}

/**
 * Converts each letter to upper case, except letters whose length would change (such as `ß`). Replaces NUL and lone
 * surrogates, as real engines do.
 */
const upper = (text: string): string =>
  [...text.replaceAll('\0', ' ').toWellFormed()]
    .map((letter) => (letter.toUpperCase().length === letter.length ? letter.toUpperCase() : letter))
    .join('');

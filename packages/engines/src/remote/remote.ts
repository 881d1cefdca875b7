/**
 * The common part of all services over HTTP: languages, batches, reading and checking replies, a second
 * attempt for each segment whose reply is no translation, and the self-test. A {@link ServiceAdapter} in
 * this folder describes only the requests and responses of its service.
 */

import { createHash } from 'node:crypto';
import { isReordered, serviceFaultOf } from '../check.ts';
import type { Confidence } from '../confidence.ts';
import type {
  Capabilities,
  Context,
  Direction,
  Draft,
  DraftRequest,
  Engine,
  FailureReason,
  Lane,
  Language,
  Piece,
  Segment,
  SelfTestObserver,
} from '../engine.ts';
import type { CodeTable, Notation } from '../markup.ts';
import { Garbled, hasLetters, read, write } from '../markup.ts';
import type { Call, HttpFault, HttpOptions, HttpResult } from './http.ts';
import { HttpClient } from './http.ts';

/** Maximum length of a segment in UTF-16 code units; a longer segment fails. */
export const MAX_SEGMENT_LENGTH = 10_000;

export interface RemoteOptions extends HttpOptions {
  /** Name of the engine in drafts and logs, in lower-case letters. Default: the name of the service. */
  name?: string;
  /** Offered directions, as `en>es`. Default: all directions that the service lists. */
  directions?: readonly string[];
  /** Whether the engine translates one sentence before it offers directions. Default: true. */
  selfTest?: boolean;
}

/** A direction that the service offers, with the service's own codes for its languages. */
export interface OfferedDirection {
  from: Language;
  to: Language;
  source: string;
  target: string;
}

/** Makes one call with the headers and limits of the service. */
export type SendRequest = (call: Pick<Call, 'method' | 'path'> & { body?: unknown }) => Promise<HttpResult>;

/** Segments of one call. They have the same direction and format. */
export interface Batch {
  offer: OfferedDirection;
  texts: readonly string[];
  /** Whether the texts have tags or markers for their codes; otherwise they are plain text. */
  marked: boolean;
  sources: readonly { segment: Segment; table: CodeTable }[];
  context: Context;
  /** The number of the attempt: 2 if the reply to the first attempt was no translation. */
  attempt: 1 | 2;
}

export type Reply =
  /** The replies in the order of the batch; null for a missing reply. */
  | { ok: true; texts: readonly (string | null)[]; confidences?: readonly (Confidence | undefined)[] }
  /** A failed batch. With `divide`, each half of the batch is sent again, because a half may succeed. */
  | { ok: false; reason: FailureReason; detail: string; divide?: boolean };

export interface ServiceAdapter {
  name: string;
  capabilities: Capabilities;
  notation: Notation;
  /**
   * Maximum number of segments and characters of one call. `lengthOf` returns the length of a text that counts for the
   * limit; by default its UTF-16 code units.
   */
  limits: { segments: number; characters: number; lengthOf?(text: string): number };
  /** Settings that affect drafts. They are part of the engine's version and never contain keys. */
  settings: Readonly<Record<string, unknown>>;
  /** The name of the model, which becomes part of the route that is recorded in drafts. */
  model?: string;
  /**
   * True when the operator declares the directions. They are offered untested while the service cannot be
   * reached.
   */
  declared?: true;
  headers: Readonly<Record<string, string>>;
  /** Returns the directions that the service lists. */
  list(send: SendRequest): Promise<OfferedDirection[] | Extract<HttpResult, { ok: false }>>;
  /** Makes a cheap call that shows that the service runs and accepts the key. */
  health(send: SendRequest): Promise<HttpResult>;
  translate(send: SendRequest, batch: Batch): Promise<Reply>;
  /** Returns why a reply cannot be a translation, or null. Default: {@link serviceFaultOf}. */
  faultOf?: typeof serviceFaultOf;
}

/** A fault found by a self-test. `unreachable` means that the service could not be reached. */
interface Fault {
  detail: string;
  unreachable: boolean;
}

const LIST_MS = 3_600_000;
const RETEST_MS = 30_000;
const SELF_TEST: Readonly<Record<Language, string>> = {
  en: 'The big house has two windows and a red door.',
  es: 'La casa grande tiene dos ventanas y una puerta roja.',
  fr: 'La grande maison a deux fenêtres et une porte rouge.',
  de: 'Das große Haus hat zwei Fenster und eine rote Tür.',
};

export class RemoteEngine implements Engine {
  readonly name: string;
  readonly capabilities: Capabilities;
  readonly #service: ServiceAdapter;
  readonly #options: RemoteOptions;
  readonly #client: HttpClient;
  readonly #stopping = new AbortController();
  #list: { at: number; offers: Promise<Map<string, OfferedDirection> | string> } | null = null;
  #test: { fault: Promise<Fault | null> } | null = null;

  constructor(service: ServiceAdapter, options: RemoteOptions) {
    this.name = options.name ?? service.name;
    if (!/^[a-z]+(:[a-z\d]+)?$/.test(this.name)) {
      throw new Error(`an engine must be named like deepl or llm:gemma, not ${this.name}`);
    }
    for (const key of options.directions ?? []) parse(key);
    this.capabilities = service.capabilities;
    this.#service = service;
    this.#options = options;
    this.#client = new HttpClient(options);
  }

  async version(): Promise<string> {
    const { settings, model } = this.#service;
    // A self-test's result is valid for a day and for one version. The version includes the language pairs, so that
    // changed pairs are tested at once.
    const pairs = this.#options.directions?.toSorted() ?? null;
    const all = JSON.stringify([this.#client.base, model ?? '', settings, pairs, NOTATION_VERSION]);
    const hash = createHash('sha256').update(all).digest('hex').slice(0, 12);
    return `${model ?? this.#service.name} ${hash}`;
  }

  async directions(observer?: SelfTestObserver): Promise<Direction[]> {
    this.#throwIfStopped();
    const offers = await this.#offers('bulk');
    if (typeof offers === 'string') return [];
    const offered = [...offers.values()].map(
      ({ from, to }): Direction => ({ from, to, route: this.#route(from, to), hops: 1 }),
    );
    observer?.begun(offered);
    const fault = (this.#options.selfTest ?? true) ? await this.#selfTest(offers) : null;
    if (fault === null) return offered;
    if (!(fault.unreachable && this.#service.declared)) return [];
    return offered.map((direction) => ({ ...direction, untested: true }));
  }

  async draft(request: DraftRequest): Promise<Draft[]> {
    this.#throwIfStopped();
    request.signal?.throwIfAborted();
    const signals = [this.#stopping.signal, ...(request.signal === undefined ? [] : [request.signal])];
    const signal = AbortSignal.any(signals);
    const drafts = new Map<string, Draft>();
    try {
      await this.#draftAll(request, signal, (draft) => drafts.set(draft.id, draft));
    } catch (error) {
      request.signal?.throwIfAborted();
      if (!this.#stopping.signal.aborted) throw error;
    }
    request.signal?.throwIfAborted();
    const stopped = { status: 'failed', reason: 'stopped', detail: 'the engine was stopped' } as const;
    return request.segments.map(({ id }) => drafts.get(id) ?? { id, ...stopped });
  }

  async health(): Promise<{ ok: boolean; detail: string }> {
    if (this.#stopping.signal.aborted) return { ok: false, detail: 'stopped' };
    const result = await this.#service
      .health(this.#sender('interactive', this.#stopping.signal))
      .catch(() => null);
    if (result === null) return { ok: false, detail: 'stopped' };
    if (!result.ok) return { ok: false, detail: `${this.name}: ${result.detail}` };
    const fault = this.#test === null ? null : await this.#test.fault;
    if (fault !== null) return { ok: false, detail: `${this.name} failed its self-test: ${fault.detail}` };
    return { ok: true, detail: `${this.name} answers` };
  }

  async stop(): Promise<void> {
    this.#stopping.abort(new Error(`the engine ${this.name} is stopped`));
    await this.#client.stop();
  }

  #throwIfStopped(): void {
    this.#stopping.signal.throwIfAborted();
  }

  #sender(lane: Lane, signal: AbortSignal): SendRequest {
    return (call) => this.#client.send({ ...call, headers: this.#service.headers, lane, signal });
  }

  #route(from: Language, to: Language): string {
    const { model } = this.#service;
    return `${this.name}:${from}-${to}${model === undefined ? '' : `@${model}`}`;
  }

  /**
   * Returns the directions that the service lists, cached for an hour, or the reason why they are not known.
   */
  #offers(lane: Lane): Promise<Map<string, OfferedDirection> | string> {
    const now = performance.now();
    if (this.#list === null || now - this.#list.at > LIST_MS) {
      const offers = this.#readOffers(lane);
      const list = { at: now, offers };
      this.#list = list;
      // A failure is not cached, so the next call tries again if the circuit breaker allows it.
      const forget = (): void => {
        if (this.#list === list) this.#list = null;
      };
      offers.then((result) => typeof result === 'string' && forget(), forget);
    }
    return this.#list.offers;
  }

  async #readOffers(lane: Lane): Promise<Map<string, OfferedDirection> | string> {
    const listed = await this.#service.list(this.#sender(lane, this.#stopping.signal));
    if (!Array.isArray(listed)) return listed.detail;
    const wanted = this.#options.directions === undefined ? null : new Set(this.#options.directions);
    const offers = new Map<string, OfferedDirection>();
    for (const offer of listed) {
      const key = `${offer.from}>${offer.to}`;
      if (offer.from === offer.to || (wanted !== null && !wanted.has(key))) continue;
      if (!offers.has(key)) offers.set(key, offer);
    }
    return offers;
  }

  /** Translates one sentence to test the key, the format and the codes. Returns the fault, or null. */
  #selfTest(offers: ReadonlyMap<string, OfferedDirection>): Promise<Fault | null> {
    if (this.#test === null) {
      const fault = this.#runSelfTest(offers);
      const test = { fault };
      this.#test = test;
      const forget = (): void => {
        if (this.#test === test) this.#test = null;
      };
      fault.then((result) => {
        // An unreachable service was not tested, so the next call tries again if the circuit breaker allows
        // it.
        if (result?.unreachable) forget();
        else if (result !== null) setTimeout(forget, RETEST_MS).unref();
      }, forget);
    }
    return this.#test.fault;
  }

  async #runSelfTest(offers: ReadonlyMap<string, OfferedDirection>): Promise<Fault | null> {
    const offer = [...offers.values()].find(({ from }) => SELF_TEST[from] !== undefined);
    if (offer === undefined) return null;
    const text = SELF_TEST[offer.from]!;
    const segments = [{ id: 'self-test', pieces: [{ open: 1 }, { text }, { close: 1 }] }];
    const { from, to } = offer;
    const [draft] = await this.draft({ from, to, segments, lane: 'bulk' });
    if (draft?.status !== 'translated')
      return { detail: draft?.detail ?? 'no draft', unreachable: this.#client.unreachable };
    const same = draft.pieces.some((piece) => 'text' in piece && piece.text === text);
    return same ? { detail: 'it changes nothing', unreachable: false } : null;
  }

  async #draftAll(request: DraftRequest, signal: AbortSignal, done: (draft: Draft) => void): Promise<void> {
    const { from, to, segments, lane } = request;
    const offers = await this.#offers(lane);
    signal.throwIfAborted();
    const fail = (id: string, reason: FailureReason, detail: string): void =>
      done({ id, status: 'failed', reason, detail: `${this.name}: ${detail}` });
    if (typeof offers === 'string') {
      for (const { id } of segments) fail(id, 'unavailable', offers);
      return;
    }
    const offer = offers.get(`${from}>${to}`);
    if (offer === undefined) {
      const detail = `${this.name} has no direction from ${from} to ${to}`;
      for (const { id } of segments) done({ id, status: 'unsupported', detail });
      return;
    }
    const route = this.#route(from, to);
    const items: Item[] = [];
    for (const segment of segments) {
      const { id, pieces } = segment;
      const length = lengthOf(pieces);
      if (length > MAX_SEGMENT_LENGTH) {
        const detail = `the segment has ${length} characters, more than ${MAX_SEGMENT_LENGTH}`;
        fail(id, 'too long', detail);
      } else if (!hasLetters(pieces)) {
        // A text without letters (digits, emoji, punctuation, codes) is the same in every language, so it is
        // not sent.
        done({ id, status: 'translated', pieces: [...pieces], route });
      } else items.push({ segment, ...write(pieces, this.#service.notation) });
    }
    const send = this.#sender(lane, signal);
    const context = request.context ?? {};
    const settle = async (group: readonly Item[], marked: boolean, attempt: 1 | 2): Promise<void> => {
      const texts = group.map(({ text }) => text);
      const sources = group.map(({ segment, table }) => ({ segment, table }));
      const reply = await this.#service.translate(send, { offer, texts, marked, sources, context, attempt });
      if (!reply.ok) {
        const { reason, detail, divide } = reply;
        if (divide === true && group.length > 1) {
          const half = Math.ceil(group.length / 2);
          const parts = [group.slice(0, half), group.slice(half)];
          // A half with a single segment gets its second attempt: the segment was already sent with the whole batch. A
          // batch that was `too long` was not sent.
          const wasSent = reason !== 'too long';
          await Promise.all(parts.map((part) => settle(part, marked, part.length === 1 && wasSent ? 2 : 1)));
        } else if (reason === 'garbled' && group.length === 1 && attempt === 1)
          await settle(group, marked, 2);
        else for (const { segment } of group) fail(segment.id, reason, detail);
        return;
      }
      const again: Item[] = [];
      const results = group.map((item, index) =>
        readReply(reply.texts[index] ?? null, item, this.#service, request),
      );
      const found = results.map((result) => (result.ok ? result.pieces : []));
      const inOtherOrder = isReordered(
        group.map(({ segment }) => segment.pieces),
        found,
      );
      group.forEach((item, index) => {
        const { id } = item.segment;
        const result = results[index]!;
        const confidence = reply.confidences?.[index];
        if (inOtherOrder && attempt === 1) again.push(item);
        else if (result.ok) done({ id, status: 'translated', pieces: result.pieces, route, confidence });
        else if (attempt === 1) again.push(item);
        else fail(id, 'garbled', result.fault);
      });
      await Promise.all(again.map((item) => settle([item], marked, 2)));
    };
    const marked = this.#service.notation.kind === 'markers';
    const groups = marked
      ? [{ marked, items }]
      : [true, false].map((marked) => ({
          marked,
          items: items.filter(({ table }) => table.plain !== marked),
        }));
    const work = groups.flatMap(({ marked, items }) =>
      batches(items, this.#service.limits).map((group) => settle(group, marked, 1)),
    );
    // All calls are awaited, so that one failed call does not lose the results of the others.
    const ends = await Promise.allSettled(work);
    for (const end of ends) if (end.status === 'rejected') throw end.reason;
  }
}

/**
 * A part of the engine's version. Increase the number after a change to how segments are sent or replies are checked.
 */
const NOTATION_VERSION = 3;

interface Item {
  segment: Segment;
  text: string;
  table: CodeTable;
}

function parse(key: string): void {
  if (!/^[a-z]{2,3}(-[a-z\d]{2,8})*>[a-z]{2,3}(-[a-z\d]{2,8})*$/.test(key)) {
    throw new Error(`a direction must be written like en>es, not ${key}`);
  }
}

const lengthOf = (pieces: readonly Piece[]): number =>
  pieces.reduce((sum, piece) => sum + ('text' in piece && !('keep' in piece) ? piece.text.length : 0), 0);

function batches(items: readonly Item[], limits: ServiceAdapter['limits']): Item[][] {
  const out: Item[][] = [];
  let size = 0;
  for (const item of items) {
    const length = limits.lengthOf?.(item.text) ?? item.text.length;
    const last = out.at(-1);
    if (last !== undefined && last.length < limits.segments && size + length <= limits.characters) {
      last.push(item);
      size += length;
    } else {
      out.push([item]);
      size = length;
    }
  }
  return out;
}

function readReply(
  text: string | null,
  item: Item,
  { notation, faultOf = serviceFaultOf }: ServiceAdapter,
  direction: { from: Language; to: Language },
): { ok: true; pieces: Piece[] } | { ok: false; fault: string } {
  if (text === null) return { ok: false, fault: 'no reply for this segment' };
  if (text.includes('\0')) return { ok: false, fault: 'the reply has control characters' };
  try {
    const pieces = read(text, item.table, notation);
    const fault = faultOf(pieces, item.segment.pieces, direction);
    return fault === null ? { ok: true, pieces } : { ok: false, fault };
  } catch (error) {
    if (!(error instanceof Garbled)) throw error;
    return { ok: false, fault: error.message };
  }
}

/**
 * HTTP statuses with which a service may refuse a whole batch because of a single segment: it is too long, malformed or
 * rejected by a filter. Dividing such a batch takes at most two requests for each halving per refused segment.
 */
const REFUSALS_OF_TEXT: ReadonlySet<number | null> = new Set([400, 413, 414, 422, 451]);

/** Returns the failure of a batch whose call failed. */
export function failure({ fault, detail, status }: Extract<HttpResult, { ok: false }>): Reply {
  const divide = REFUSALS_OF_TEXT.has(status) || fault === 'too large';
  return { ok: false, reason: REASONS[fault], detail, divide };
}

const REASONS: Readonly<Record<HttpFault, FailureReason>> = {
  unavailable: 'unavailable',
  timeout: 'timeout',
  refused: 'refused',
  'too large': 'garbled',
  garbled: 'garbled',
};

/** Returns the failure of a batch whose response lacks the expected structure. */
export const malformed = (what: string, divide = false): Reply => ({
  ok: false,
  reason: 'garbled',
  detail: `the response has ${what}`,
  divide,
});

/**
 * Returns replies without ids, which are matched to the texts by position. If there are too many or too few replies,
 * none is used.
 */
export function positional(texts: (string | null)[] | null, count: number): Reply {
  if (texts === null) return malformed('no list of translations');
  if (texts.length === count) return { ok: true, texts };
  const detail = `${texts.length} translations for ${count} texts`;
  return { ok: false, reason: 'garbled', detail, divide: true };
}

/** Returns all directions from any source to any target language. */
export function allPairs(
  sources: Iterable<readonly [Language, string]>,
  targets: Iterable<readonly [Language, string]>,
): OfferedDirection[] {
  const all = [...targets];
  return [...sources].flatMap(([from, source]) => all.map(([to, target]) => ({ from, to, source, target })));
}

export function field(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined;
}

/** Returns the string field `name` of each object of a list; null if the value is no list. */
export function strings(list: unknown, name: string): (string | null)[] | null {
  if (!Array.isArray(list)) return null;
  return list.map((each) => {
    const text = field(each, name);
    return typeof text === 'string' ? text : null;
  });
}

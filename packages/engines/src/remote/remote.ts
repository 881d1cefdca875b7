/**
 * What every service reached over HTTP has in common: its languages, batches, the reading and checking of replies, a
 * second try alone for a segment whose reply is no translation, and the self-test. A {@link Service} beside this file
 * says only how its own requests and answers look.
 */

import { createHash } from 'node:crypto';
import { serviceFaultOf } from '../check.ts';
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
} from '../engine.ts';
import type { Notation, Sheet } from '../markup.ts';
import { Garbled, hasLetters, read, write } from '../markup.ts';
import type { Answer, Call, HttpFault, HttpOptions } from './http.ts';
import { Http } from './http.ts';

/** A longer segment fails, as with the engine of this machine. Split at sentences. */
export const MAX_SEGMENT_LENGTH = 10_000;

export interface RemoteOptions extends HttpOptions {
  /** What drafts and logs call it. Default: the service's own name. Lower-case letters. */
  name?: string;
  /** `en>es`: only these are offered. Default: all that the service lists. */
  directions?: readonly string[];
  /** Sends one sentence through before directions are offered. Default: yes. */
  selfTest?: boolean;
}

/** A direction with the service's own names for its languages. */
export interface Offer {
  from: Language;
  to: Language;
  source: string;
  target: string;
}

/** Makes one call; the service's part of it. */
export type Ask = (call: Pick<Call, 'method' | 'path'> & { body?: unknown }) => Promise<Answer>;

/** Segments that go in one call: same direction, same format. */
export interface Batch {
  offer: Offer;
  texts: readonly string[];
  /** The texts are in the service's notation; else plain. */
  marked: boolean;
  sources: readonly { segment: Segment; sheet: Sheet }[];
  context: Context;
  /** 2 when the first reply was no translation. */
  attempt: 1 | 2;
}

export type Reply =
  /** By position in the batch; null where there is none. */
  | { ok: true; texts: readonly (string | null)[] }
  /** `divide`: half of the batch may do. */
  | { ok: false; reason: FailureReason; detail: string; divide?: boolean };

export interface Service {
  name: string;
  capabilities: Capabilities;
  notation: Notation;
  /** Segments and characters of one call. */
  limits: { segments: number; characters: number };
  /** What distinguishes its drafts from those of another model or setting; keys are no part of it. */
  settings: Readonly<Record<string, unknown>>;
  /** Shown after the direction in the route. */
  model?: string;
  /** Its directions are the operator's word: where it is away they are offered, untested. */
  declared?: true;
  headers: Readonly<Record<string, string>>;
  /** The directions it lists. */
  list(ask: Ask): Promise<Offer[] | Extract<Answer, { ok: false }>>;
  /** A cheap call that shows that it is there and takes the key. */
  health(ask: Ask): Promise<Answer>;
  translate(ask: Ask, batch: Batch): Promise<Reply>;
}

/** What a self-test found. `away`: nobody was there to be tested. */
interface Fault {
  detail: string;
  away: boolean;
}

const LIST_MS = 3_600_000;
const RETEST_MS = 30_000;
const SELF_TEST: Readonly<Record<Language, string>> = {
  en: 'The big house has two windows and a red door.',
  es: 'La casa grande tiene dos ventanas y una puerta roja.',
  fr: 'La grande maison a deux fenêtres et une porte rouge.',
  de: 'Das große Haus hat zwei Fenster und eine rote Tür.',
};

export class Remote implements Engine {
  readonly name: string;
  readonly capabilities: Capabilities;
  readonly #service: Service;
  readonly #options: RemoteOptions;
  readonly #http: Http;
  readonly #stopping = new AbortController();
  #list: { at: number; offers: Promise<Map<string, Offer> | string> } | null = null;
  #test: { fault: Promise<Fault | null> } | null = null;

  constructor(service: Service, options: RemoteOptions) {
    this.name = options.name ?? service.name;
    if (!/^[a-z]+$/.test(this.name)) throw new Error('the name of an engine is lower-case letters');
    for (const key of options.directions ?? []) parse(key);
    this.capabilities = service.capabilities;
    this.#service = service;
    this.#options = options;
    this.#http = new Http(options);
  }

  async version(): Promise<string> {
    const { settings, model } = this.#service;
    // The pairs too: what was published of this version holds for a day.
    const pairs = this.#options.directions?.toSorted() ?? null;
    const all = JSON.stringify([this.#http.base, model ?? '', settings, pairs, NOTATION_VERSION]);
    const hash = createHash('sha256').update(all).digest('hex').slice(0, 12);
    return `${model ?? this.#service.name} ${hash}`;
  }

  async directions(): Promise<Direction[]> {
    this.#throwIfStopped();
    const offers = await this.#offers('bulk');
    if (typeof offers === 'string') return [];
    const fault = (this.#options.selfTest ?? true) ? await this.#selfTest(offers) : null;
    if (fault !== null && !(fault.away && this.#service.declared)) return [];
    const untested = fault === null ? {} : { untested: true as const };
    return [...offers.values()].map(({ from, to }) => ({
      from,
      to,
      route: this.#route(from, to),
      hops: 1,
      ...untested,
    }));
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
    const answer = await this.#service.health(this.#ask('live', this.#stopping.signal)).catch(() => null);
    if (answer === null) return { ok: false, detail: 'stopped' };
    if (!answer.ok) return { ok: false, detail: `${this.name}: ${answer.detail}` };
    const fault = this.#test === null ? null : await this.#test.fault;
    if (fault !== null) return { ok: false, detail: `${this.name} failed its self-test: ${fault.detail}` };
    return { ok: true, detail: `${this.name} answers` };
  }

  async stop(): Promise<void> {
    this.#stopping.abort(new Error(`the engine ${this.name} is stopped`));
    await this.#http.stop();
  }

  #throwIfStopped(): void {
    this.#stopping.signal.throwIfAborted();
  }

  #ask(lane: Lane, signal: AbortSignal): Ask {
    return (call) => this.#http.ask({ ...call, headers: this.#service.headers, lane, signal });
  }

  #route(from: Language, to: Language): string {
    const { model } = this.#service;
    return `${this.name}:${from}-${to}${model === undefined ? '' : `@${model}`}`;
  }

  /** What the service lists, asked once an hour. @returns or why it is not known */
  #offers(lane: Lane): Promise<Map<string, Offer> | string> {
    const now = performance.now();
    if (this.#list === null || now - this.#list.at > LIST_MS) {
      const offers = this.#readOffers(lane);
      const list = { at: now, offers };
      this.#list = list;
      // A failure is not remembered: the next who asks tries again, as often as the breaker lets it.
      const forget = (): void => {
        if (this.#list === list) this.#list = null;
      };
      offers.then((result) => typeof result === 'string' && forget(), forget);
    }
    return this.#list.offers;
  }

  async #readOffers(lane: Lane): Promise<Map<string, Offer> | string> {
    const listed = await this.#service.list(this.#ask(lane, this.#stopping.signal));
    if (!Array.isArray(listed)) return listed.detail;
    const wanted = this.#options.directions === undefined ? null : new Set(this.#options.directions);
    const offers = new Map<string, Offer>();
    for (const offer of listed) {
      const key = `${offer.from}>${offer.to}`;
      if (offer.from === offer.to || (wanted !== null && !wanted.has(key))) continue;
      if (!offers.has(key)) offers.set(key, offer);
    }
    return offers;
  }

  /** One sentence through one direction: the key, the format and the codes. @returns what is wrong, or null */
  #selfTest(offers: ReadonlyMap<string, Offer>): Promise<Fault | null> {
    if (this.#test === null) {
      const fault = this.#runSelfTest(offers);
      const test = { fault };
      this.#test = test;
      const forget = (): void => {
        if (this.#test === test) this.#test = null;
      };
      fault.then((result) => {
        // Who was away has not been tested: the next who asks tries again, as often as the breaker lets it.
        if (result?.away) forget();
        else if (result !== null) setTimeout(forget, RETEST_MS).unref();
      }, forget);
    }
    return this.#test.fault;
  }

  async #runSelfTest(offers: ReadonlyMap<string, Offer>): Promise<Fault | null> {
    const offer = [...offers.values()].find(({ from }) => SELF_TEST[from] !== undefined);
    if (offer === undefined) return null;
    const text = SELF_TEST[offer.from]!;
    const segments = [{ id: 'self-test', pieces: [{ open: 1 }, { text }, { close: 1 }] }];
    const { from, to } = offer;
    const [draft] = await this.draft({ from, to, segments, lane: 'bulk' });
    if (draft?.status !== 'translated') return { detail: draft?.detail ?? 'no draft', away: this.#http.away };
    const same = draft.pieces.some((piece) => 'text' in piece && piece.text === text);
    return same ? { detail: 'it changes nothing', away: false } : null;
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
        // Digits, emoji, punctuation, codes and white space are the same in every language.
        done({ id, status: 'translated', pieces: [...pieces], route });
      } else items.push({ segment, ...write(pieces, this.#service.notation) });
    }
    const ask = this.#ask(lane, signal);
    const context = request.context ?? {};
    const settle = async (group: readonly Item[], marked: boolean, attempt: 1 | 2): Promise<void> => {
      const texts = group.map(({ text }) => text);
      const sources = group.map(({ segment, sheet }) => ({ segment, sheet }));
      const reply = await this.#service.translate(ask, { offer, texts, marked, sources, context, attempt });
      if (!reply.ok) {
        const { reason, detail, divide } = reply;
        if (divide === true && group.length > 1) {
          const half = Math.ceil(group.length / 2);
          const parts = [group.slice(0, half), group.slice(half)];
          // Alone by division is already the second try.
          await Promise.all(parts.map((part) => settle(part, marked, part.length === 1 ? 2 : 1)));
        } else if (reason === 'garbled' && group.length === 1 && attempt === 1)
          await settle(group, marked, 2);
        else for (const { segment } of group) fail(segment.id, reason, detail);
        return;
      }
      const again: Item[] = [];
      group.forEach((item, index) => {
        const { id } = item.segment;
        const result = judge(reply.texts[index] ?? null, item, this.#service.notation, request);
        if (result.ok) done({ id, status: 'translated', pieces: result.pieces, route });
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
          items: items.filter(({ sheet }) => sheet.plain !== marked),
        }));
    const work = groups.flatMap(({ marked, items }) =>
      batches(items, this.#service.limits).map((group) => settle(group, marked, 1)),
    );
    // All are waited for: what one call failed with must not outrun what the others still bring.
    const ends = await Promise.allSettled(work);
    for (const end of ends) if (end.status === 'rejected') throw end.reason;
  }
}

/** Changes when we write or judge texts in another way. */
const NOTATION_VERSION = 1;

interface Item {
  segment: Segment;
  text: string;
  sheet: Sheet;
}

function parse(key: string): void {
  if (!/^[a-z]{2,3}(-[a-z\d]{2,8})*>[a-z]{2,3}(-[a-z\d]{2,8})*$/.test(key)) {
    throw new Error(`a direction is written en>es, not ${key}`);
  }
}

const lengthOf = (pieces: readonly Piece[]): number =>
  pieces.reduce((sum, piece) => sum + ('text' in piece && !('keep' in piece) ? piece.text.length : 0), 0);

function batches(items: readonly Item[], limits: Service['limits']): Item[][] {
  const out: Item[][] = [];
  let size = 0;
  for (const item of items) {
    const last = out.at(-1);
    if (last !== undefined && last.length < limits.segments && size + item.text.length <= limits.characters) {
      last.push(item);
      size += item.text.length;
    } else {
      out.push([item]);
      size = item.text.length;
    }
  }
  return out;
}

function judge(
  text: string | null,
  item: Item,
  notation: Notation,
  direction: { from: Language; to: Language },
): { ok: true; pieces: Piece[] } | { ok: false; fault: string } {
  if (text === null) return { ok: false, fault: 'no reply for this segment' };
  try {
    const pieces = read(text, item.sheet, notation);
    const fault = serviceFaultOf(pieces, item.segment.pieces, direction);
    return fault === null ? { ok: true, pieces } : { ok: false, fault };
  } catch (error) {
    if (!(error instanceof Garbled)) throw error;
    return { ok: false, fault: error.message };
  }
}

/** How a call that failed is told, as the reason of its drafts. */
export function failure(answer: Extract<Answer, { ok: false }>, divideOn: readonly number[] = [413]): Reply {
  const { fault, detail, status } = answer;
  const divide = (status !== null && divideOn.includes(status)) || fault === 'too large';
  return { ok: false, reason: REASONS[fault], detail, divide };
}

const REASONS: Readonly<Record<HttpFault, FailureReason>> = {
  unavailable: 'unavailable',
  timeout: 'timeout',
  refused: 'refused',
  'too large': 'garbled',
  garbled: 'garbled',
};

/** An answer of another shape than the service's. */
export const misshapen = (what: string, divide = false): Reply => ({
  ok: false,
  reason: 'garbled',
  detail: `the answer has ${what}`,
  divide,
});

/** Replies that are told apart by position only: a wrong number of them means that none can be trusted. */
export function positional(texts: (string | null)[] | null, count: number): Reply {
  if (texts === null) return misshapen('no list of translations');
  if (texts.length === count) return { ok: true, texts };
  const detail = `${texts.length} translations came for ${count} texts`;
  return { ok: false, reason: 'garbled', detail, divide: true };
}

/** Every source with every target. */
export function cross(
  sources: Iterable<readonly [Language, string]>,
  targets: Iterable<readonly [Language, string]>,
): Offer[] {
  const all = [...targets];
  return [...sources].flatMap(([from, source]) => all.map(([to, target]) => ({ from, to, source, target })));
}

/** One field of an object of unknown shape. */
export function field(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined;
}

/** The strings `name` of a list of objects; null where it is no list. */
export function strings(list: unknown, name: string): (string | null)[] | null {
  if (!Array.isArray(list)) return null;
  return list.map((each) => {
    const text = field(each, name);
    return typeof text === 'string' ? text : null;
  });
}

/**
 * From segments to drafts: memory → what engines said lately → the engines of the route, one after another → codes
 * put right, glossary, checks. A segment that is not in the source language is kept as it is. It knows accounts and engines, and neither jobs nor chats: both come here.
 *
 * A sentence that comes several times in a text is translated once. A text is drafted in slices that take turns with
 * those of others. What an engine cannot do, or does badly, goes to the next engine of the route, and only that;
 * what none can do is failed. The source is never passed off as a translation.
 */
import { isRight, type Piece, repair, type Segment } from '@dragoman/documents';
import { type Context, type Draft, type Engine, faultOf, type Lane, type Term } from '@dragoman/engines';
import type { AccountRef } from '../account.ts';
import type { Log } from '../log.ts';
import { type Cache, createCache, keyOf } from './cache.ts';
import { type Canonical, canonical } from './canonical.ts';
import { chainFor, type RouteRule, type RouteTier } from './routes.ts';
import { createStation, type EngineLimits, type EngineObserver, type Station } from './stations.ts';
import { createGlossary, type Glossary } from './terms.ts';
import { type Drafted, keep, type Retry } from './translate.ts';

export { listRoutes, removeRoute, setRoute } from './store.ts';

export interface Ask {
  /** Undefined for a command, which belongs to none. */
  account: AccountRef | undefined;
  tier: RouteTier;
  brand: string | undefined;
  from: string;
  to: string;
  lane: Lane;
  /** Tone, instructions, terms: engines get what they take, the rest is done here. */
  context?: Context;
  /** What was said before the first segment, for engines that read it. */
  before?: string;
  /** An operator's choice: this engine alone is asked, whatever the routes say, and the memory is not. */
  engine?: string;
  signal: AbortSignal;
  /** Told as the work goes on: how many of the segments have a draft. */
  progress?(drafted: number): void;
}

export interface Translator {
  /** One a segment, in order. Rejects only when `signal` aborts, or the database is lost. */
  draft(segments: readonly Segment[], ask: Ask): Promise<Drafted[]>;
  readonly stations: readonly Station[];
  /** Ends the engines. */
  stop(): Promise<void>;
}

export interface TranslatorOptions {
  /** The operator's routes. */
  rules(): Promise<readonly RouteRule[]>;
  /** What the account has translated before, to the letter, for the segments of a text in their order; see the memory. */
  recall(ask: Ask, sources: readonly (readonly Piece[])[]): Promise<readonly (Recalled | undefined)[]>;
  /** What the account has translated before and is like a sentence, nearest first, for engines that go by examples. */
  examples?(ask: Ask, source: readonly Piece[]): Promise<readonly Example[]>;
  /** In the order in which they are tried where no route says otherwise. */
  engines: readonly Engine[];
  limitsOf(engine: string): EngineLimits;
  observer: EngineObserver;
  cacheBytes: number;
  /** Where an engine that throws is told of. */
  log?: Log;
}

/** @param score how near it is, up to 100 */
export interface Example {
  source: string;
  target: string;
  score: number;
}

/** A translation out of the memory, in the numbers of its segment. */
export interface Recalled {
  memoryId: string;
  kind: 'context' | 'exact';
  pieces: Piece[];
}

/** A slice: so many characters and segments at most, so that it is a turn and not a stay. */
const SLICE_CHARACTERS = 1024;
const SLICE_SEGMENTS = 16;
/** Between two breaths of the event loop. */
const CHUNK_SEGMENTS = 500;
/** Of what stands before a segment, for engines that read it. */
const BEFORE_CHARACTERS = 600;
const RULES_MILLISECONDS = 2_000;
const NO_TERMS: readonly never[] = [];

/** One sentence of a text, wherever it comes. */
interface Sentence {
  id: string;
  canonical: Canonical;
  key: string;
  length: number;
  before: string | undefined;
  /** How it ended; undefined while it is open. */
  done?: { pieces: Piece[]; route: string; notes: string[] };
  /** Why it is open still: what the last engine said that has the pair. */
  reason: string;
  /** The most hopeful of what engines that have the pair left open; `wait` where none has it. */
  retry: Retry;
}

/** Where a sentence comes: with the numbers that its codes have there. */
interface Place {
  sentence: Sentence;
  own: Canonical;
  /** Between other neighbours the same sentence may have been translated otherwise. */
  recalled: Recalled | undefined;
  /** Its draft where it is not in the source language: nobody is asked. */
  kept: Drafted | undefined;
}

export function createTranslator(options: TranslatorOptions): Translator {
  const { observer } = options;
  const stations = options.engines.map((engine) =>
    createStation(engine, options.limitsOf(engine.name), observer, options.log),
  );
  const names = stations.map(({ name }) => name);
  const cache = createCache(options.cacheBytes);
  const rulesNow = remember(options.rules, RULES_MILLISECONDS);

  async function draft(segments: readonly Segment[], ask: Ask): Promise<Drafted[]> {
    if (segments.length === 0) return [];
    const { from, to, tier, brand, account } = ask;
    const question = { from, to, tier, brand, accountId: account?.accountId };
    const chain = ask.engine === undefined ? chainFor(await rulesNow(), question, names) : [ask.engine];
    const engines = chain.flatMap((name) => stations.find((station) => station.name === name) ?? []);
    const glossary = createGlossary(ask.context?.terms ?? NO_TERMS, from, to);
    const { sentences, places } = await gather(segments, ask);
    const sources = segments.map(({ pieces }) => pieces);
    const recalled = ask.engine === undefined ? await options.recall(ask, sources) : [];
    for (const [index, place] of places.entries()) place.recalled = recalled[index];
    const told = ask.progress && tellProgress(places, ask.progress);
    const asked = new Set(places.flatMap((place) => (isDrafted(place) ? [] : [place.sentence])));
    for (const station of engines) {
      const open = sentences.filter((sentence) => asked.has(sentence) && sentence.done === undefined);
      if (open.length === 0) break;
      await draftAt(station, open, ask, glossary, cache, options, told);
    }
    return segments.map((segment, index) => conclude(segment, places[index]!, glossary));
  }

  return {
    draft,
    stations,
    stop: async () => {
      await Promise.all(stations.map(({ engine }) => engine.stop()));
    },
  };
}

/** Every sentence once, with the sentence of each segment. */
async function gather(
  segments: readonly Segment[],
  ask: Ask,
): Promise<{ sentences: Sentence[]; places: Place[] }> {
  const byKey = new Map<string, Sentence>();
  const places: Place[] = [];
  let before = ask.before ?? '';
  for (const [index, segment] of segments.entries()) {
    if (index > 0 && index % CHUNK_SEGMENTS === 0) await breathe(ask.signal);
    const made = canonical(segment.pieces);
    const key = JSON.stringify(made.pieces);
    const text = visible(made.pieces);
    let sentence = byKey.get(key);
    if (sentence === undefined) {
      sentence = {
        id: segment.id,
        canonical: made,
        key,
        length: text.length,
        before: before === '' ? undefined : before,
        reason: UNSUPPORTED,
        retry: 'wait',
      };
      byKey.set(key, sentence);
    }
    places.push({ sentence, own: made, recalled: undefined, kept: keep(segment) });
    before = `${before} ${text}`.slice(-BEFORE_CHARACTERS).trimStart();
  }
  return { sentences: [...byKey.values()], places };
}

/** Whether it has a draft before any engine is asked. */
const isDrafted = ({ recalled, kept }: Place): boolean => recalled !== undefined || kept !== undefined;

/** Counts the segments that have a draft: kept and recalled ones, and each sentence as often as it comes. */
function tellProgress(
  places: readonly Place[],
  progress: (drafted: number) => void,
): (sentence: Sentence) => void {
  const comes = new Map<Sentence, number>();
  let drafted = 0;
  for (const place of places) {
    const { sentence } = place;
    if (isDrafted(place)) drafted++;
    else comes.set(sentence, (comes.get(sentence) ?? 0) + 1);
  }
  return (sentence) => {
    drafted += comes.get(sentence) ?? 0;
    progress(drafted);
  };
}

async function draftAt(
  station: Station,
  open: readonly Sentence[],
  ask: Ask,
  glossary: Glossary,
  cache: Cache,
  { observer, examples }: Pick<TranslatorOptions, 'observer' | 'examples'>,
  told: ((sentence: Sentence) => void) | undefined,
): Promise<void> {
  const { capabilities } = station.engine;
  const version = await station.version();
  if (version === undefined) {
    for (const sentence of open) fail(sentence, UNAVAILABLE, station, observer);
    return;
  }
  const context = contextFor(station.engine, ask);
  const common = [accountOf(ask), station.name, version, ask.from, ask.to, nameOf(context ?? {})];
  const near = capabilities.context && examples ? await nearTo(open, ask, examples) : [];
  const slices = createSlices();
  for (const [index, sentence] of open.entries()) {
    if (index > 0 && index % CHUNK_SEGMENTS === 0) await breathe(ask.signal);
    const before = capabilities.context ? sentence.before : undefined;
    const placed = capabilities.terms || glossary.empty ? undefined : glossary.put(sentence.canonical.pieces);
    const terms = placed === undefined ? '' : JSON.stringify([placed.pieces, placed.take(placed.pieces)]);
    const own = near[index] ?? [];
    const key = keyOf([
      ...common,
      sentence.key,
      before ?? '',
      terms,
      ...(own.length > 0 ? [JSON.stringify(own)] : []),
    ]);
    const cached = cache.get(key);
    observer.cached(station.name, cached !== undefined);
    if (cached !== undefined) {
      sentence.done = cached;
      told?.(sentence);
    } else slices.add({ sentence, key, placed, before, examples: own });
  }
  const request = {};
  await Promise.all(
    slices.made.map(async (slice) => {
      const segments = slice.map(({ sentence, placed, before }) => ({
        id: sentence.id,
        pieces: placed?.pieces ?? sentence.canonical.pieces,
        ...(before === undefined ? {} : { before }),
      }));
      const said = withExamples(context, slice);
      const weight = slice.reduce((sum, { sentence }) => sum + sentence.length, 1);
      const { drafts, away } = await station.draft(
        {
          from: ask.from,
          to: ask.to,
          segments,
          lane: ask.lane,
          signal: ask.signal,
          ...(said === undefined ? {} : { context: said }),
        },
        { account: accountOf(ask), request, weight, signal: ask.signal },
      );
      let characters = 0;
      let words = 0;
      for (const [index, wanted] of slice.entries()) {
        const judged =
          drafts === undefined ? UNAVAILABLE : judge(wanted, drafts[index], away, ask, capabilities);
        const { sentence } = wanted;
        characters += sentence.length;
        if (judged.status === 'failed') {
          fail(sentence, judged, station, observer);
          continue;
        }
        sentence.done = judged;
        told?.(sentence);
        words += countWords(sentence.canonical.pieces);
        cache.set(wanted.key, judged);
      }
      const cents = drafts === undefined ? 0 : (characters * station.limits.centsPerMillion) / 1_000_000;
      observer.translated(station.name, words, drafts === undefined ? 0 : characters, cents);
    }),
  );
}

interface Wanted {
  sentence: Sentence;
  key: string;
  placed: ReturnType<Glossary['put']> | undefined;
  before: string | undefined;
  examples: readonly Example[];
}

/** Questions to the memory at once: it is asked for each sentence. */
const EXAMPLES_AT_ONCE = 4;

/** The examples of each sentence, in their order. */
async function nearTo(
  open: readonly Sentence[],
  ask: Ask,
  examples: NonNullable<TranslatorOptions['examples']>,
): Promise<(readonly Example[])[]> {
  const near: (readonly Example[])[] = [];
  for (let start = 0; start < open.length; start += EXAMPLES_AT_ONCE) {
    ask.signal.throwIfAborted();
    const some = open.slice(start, start + EXAMPLES_AT_ONCE);
    near.push(...(await Promise.all(some.map(({ canonical }) => examples(ask, canonical.pieces)))));
  }
  return near;
}

/** An engine reads a few, for all of a slice. */
const EXAMPLES_A_SLICE = 3;

/** What an engine is told with a slice: the nearest examples of its sentences besides, each once. */
function withExamples(context: Context | undefined, slice: readonly Wanted[]): Context | undefined {
  const all = slice.flatMap(({ examples }) => examples);
  const once = new Map(all.map((one) => [JSON.stringify([one.source, one.target]), one]));
  const nearest = [...once.values()].sort((a, b) => b.score - a.score).slice(0, EXAMPLES_A_SLICE);
  if (nearest.length === 0) return context;
  return { ...context, examples: nearest.map(({ source, target }) => ({ source, target })) };
}

function createSlices(): { made: Wanted[][]; add(wanted: Wanted): void } {
  const made: Wanted[][] = [];
  let characters = 0;
  return {
    made,
    add(wanted) {
      const last = made.at(-1);
      const { length } = wanted.sentence;
      if (last === undefined || last.length >= SLICE_SEGMENTS || characters + length > SLICE_CHARACTERS) {
        made.push([wanted]);
        characters = length;
      } else {
        last.push(wanted);
        characters += length;
      }
    },
  };
}

type Failed = { status: 'failed'; reason: string; retry: Retry };
type Judged = { status: 'translated'; pieces: Piece[]; route: string; notes: string[] } | Failed;

const UNAVAILABLE = { status: 'failed', reason: 'unavailable', retry: 'wait' } as const;
const UNSUPPORTED = 'unsupported';

/** From the least hope to the most. */
const HOPES: readonly Retry[] = ['never', 'soon', 'wait'];

/**
 * Another time may be better as long as an engine could not be asked, whatever another made of the sentence. Who
 * lacks the pair will lack it then: that counts only where all of them do.
 */
function fail(
  sentence: Sentence,
  { reason, retry }: Failed,
  station: Station,
  observer: EngineObserver,
): void {
  observer.failed(station.name, reason);
  if (reason === UNSUPPORTED) return;
  const isFirst = sentence.reason === UNSUPPORTED;
  if (isFirst || HOPES.indexOf(retry) > HOPES.indexOf(sentence.retry)) sentence.retry = retry;
  sentence.reason = reason;
}

/** Whether a draft is a translation of what was asked. */
function judge(
  { sentence, placed }: Wanted,
  draft: Draft | undefined,
  away: boolean,
  { from, to }: Pick<Ask, 'from' | 'to'>,
  { deterministic }: Engine['capabilities'],
): Judged {
  if (draft === undefined || draft.id !== sentence.id)
    return { status: 'failed', reason: 'lost', retry: 'soon' };
  if (draft.status === 'unsupported') return { status: 'failed', reason: UNSUPPORTED, retry: 'wait' };
  const garbled: Failed = {
    status: 'failed',
    reason: 'garbled',
    retry: deterministic ? 'never' : 'soon',
  };
  if (draft.status === 'failed') {
    const { reason } = draft;
    if (away || reason === 'stopped' || reason === 'unavailable')
      return { status: 'failed', reason, retry: 'wait' };
    if (reason === 'garbled') return garbled;
    return { status: 'failed', reason, retry: reason === 'too long' ? 'never' : 'soon' };
  }
  const asked = placed?.pieces ?? sentence.canonical.pieces;
  const { pieces, notes } = repair(asked, draft.pieces);
  const taken = placed === undefined ? pieces : placed.take(pieces);
  if (!isRight(sentence.canonical.pieces, taken)) return garbled;
  if (faultOf(taken, sentence.canonical.pieces, { from, to }) !== null) return garbled;
  return {
    status: 'translated',
    pieces: joinText(taken),
    route: draft.route,
    notes: [...notes, ...(placed?.notes ?? [])],
  };
}

function conclude(segment: Segment, { sentence, own, recalled, kept }: Place, glossary: Glossary): Drafted {
  if (kept !== undefined) return kept;
  const { done } = sentence;
  if (recalled !== undefined) {
    const { kind, memoryId, pieces } = recalled;
    const notes = glossary.empty ? [] : glossary.check(segment.pieces, pieces);
    return { segment, status: 'translated', pieces, route: `memory:${kind}`, notes, memoryId };
  }
  if (done === undefined) {
    return { segment, status: 'failed', reason: sentence.reason, retry: sentence.retry };
  }
  const notes = glossary.empty ? done.notes : [...done.notes, ...glossary.check(own.pieces, done.pieces)];
  return { segment, status: 'translated', pieces: own.back(done.pieces), route: done.route, notes };
}

/** What of the context an engine takes. */
function contextFor({ capabilities }: Engine, { context }: Ask): Context | undefined {
  if (context === undefined) return undefined;
  const { tone, instructions, terms, examples, format } = context;
  const taken: Context = {
    ...(capabilities.tone && tone !== undefined ? { tone } : {}),
    ...(capabilities.instructions && instructions !== undefined ? { instructions } : {}),
    ...(capabilities.terms && terms !== undefined && terms.length > 0 ? { terms } : {}),
    ...(capabilities.context && examples !== undefined ? { examples } : {}),
  };
  if (Object.keys(taken).length === 0) return undefined;
  return format === undefined ? taken : { ...taken, format };
}

/** What stands for the terms of a brand in keys: they are the same array for all its jobs, until it changes. */
const namesOfTerms = new WeakMap<readonly Term[], string>();

/** A context as a part of a key. A glossary may be megabytes, and its key is made for every sentence. */
function nameOf({ terms, ...rest }: Context): string {
  if (terms === undefined) return JSON.stringify(rest);
  let name = namesOfTerms.get(terms);
  if (name === undefined) {
    name = keyOf([JSON.stringify(terms)]);
    namesOfTerms.set(terms, name);
  }
  return `${JSON.stringify(rest)} ${name}`;
}

/** Nobody's texts are apart from every account's. */
const accountOf = ({ account }: Ask): string => account?.accountId ?? '';

/** Lets others have the event loop. */
async function breathe(signal: AbortSignal): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
  signal.throwIfAborted();
}

function joinText(pieces: readonly Piece[]): Piece[] {
  const out: Piece[] = [];
  for (const piece of pieces) {
    const last = out.at(-1);
    const isText = 'text' in piece && !('keep' in piece);
    if (isText && last !== undefined && 'text' in last && !('keep' in last)) {
      out[out.length - 1] = { text: last.text + piece.text };
    } else out.push(piece);
  }
  return out;
}

function visible(pieces: readonly Piece[]): string {
  return pieces.map((piece) => ('text' in piece ? piece.text : '')).join('');
}

/** Near enough for a figure: words between white space. */
function countWords(pieces: readonly Piece[]): number {
  return visible(pieces).match(/\S+/g)?.length ?? 0;
}

/** Asks again after `milliseconds`; an error is not remembered. */
function remember<T>(ask: () => Promise<T>, milliseconds: number): () => Promise<T> {
  let asked: Promise<T> | undefined;
  let until = 0;
  return () => {
    if (asked === undefined || performance.now() >= until) {
      const own = ask();
      asked = own;
      until = performance.now() + milliseconds;
      own.catch(() => {
        if (asked === own) asked = undefined;
      });
    }
    return asked;
  };
}

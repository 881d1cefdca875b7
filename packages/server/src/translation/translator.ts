/**
 * Drafts the segments of a text. Segments that need no translation keep their source text. The others get a
 * draft from the memory, the cache, or the engines of the engine route, one after another. Codes are
 * repaired, and the glossary is applied and checked. This file depends on accounts and engines, but not on
 * jobs or chats, which both use it.
 *
 * A text is drafted in slices, which take turns with the slices of other texts. The next engine gets only the
 * sentences that an engine could not translate or translated badly. A sentence that no engine can translate
 * fails and has no draft; jobs and chats decide what its text becomes.
 */
import type { Piece, Segment } from '@dragoman/documents';
import type { Context, Engine, Term } from '@dragoman/engines';
import type { Log } from '../base/log.ts';
import { createTurns } from '../base/turns.ts';
import { cacheKeyOf, createDraftCache, type DraftCache } from './cache.ts';
import { checkDraft, type FailedDraft, recordFailure } from './draft-check.ts';
import type { Drafted } from './drafts.ts';
import { type EngineRoute, enginesFor } from './engine-routes.ts';
import {
  createEngineRunner,
  type EngineLimits,
  type EngineObserver,
  type EngineRunner,
} from './engine-runner.ts';
import type { MemoryMatch, TranslationRequest } from './request.ts';
import {
  countProgress,
  draftOf,
  findSentences,
  needsNoEngine,
  type Sentence,
  visibleText,
} from './sentences.ts';
import { createGlossary, type Glossary, type PlacedTerms } from './terms.ts';

export { listEngineRoutes } from './engine-route-store.ts';
export type { MemoryMatch, TranslationRequest } from './request.ts';

export interface Translator {
  /**
   * Returns one draft for each segment, in order. @throws only when `signal` is aborted or the database is
   * lost
   */
  draft(segments: readonly Segment[], request: TranslationRequest): Promise<Drafted[]>;
  readonly runners: readonly EngineRunner[];
  stop(): Promise<void>;
}

export interface TranslatorOptions {
  engineRoutes(): Promise<readonly EngineRoute[]>;
  /** Returns the exact and in-context memory matches of the segments of a text, in their order. */
  recall(
    request: TranslationRequest,
    sources: readonly (readonly Piece[])[],
  ): Promise<readonly (MemoryMatch | undefined)[]>;
  /** Returns similar translations from the memory, nearest first, for engines that use examples. */
  examples?(request: TranslationRequest, source: readonly Piece[]): Promise<readonly TranslationExample[]>;
  /** The engines in the order of preference that applies when no engine route matches. */
  engines: readonly Engine[];
  limitsOf(engine: string): EngineLimits;
  /** Whether an engine may translate texts of the sandbox, whatever the engine routes say. */
  inSandbox(engine: string): boolean;
  observer: EngineObserver;
  cacheBytes: number;
  /** The log to which the errors of engines are written. */
  log?: Log;
}

export interface TranslationExample {
  source: string;
  target: string;
  /** Similarity of the source texts in percent. */
  score: number;
}

/**
 * The maximum number of characters of a slice, the part of a text that is sent to an engine at once. With
 * small slices, other texts wait less for their turns.
 */
const SLICE_CHARACTERS = 1024;
const SLICE_SEGMENTS = 16;
const ROUTES_MILLISECONDS = 2_000;
const NO_TERMS: readonly never[] = [];
const UNAVAILABLE: FailedDraft = { status: 'failed', reason: 'unavailable', retry: 'wait' };

/** Creates the translator of a worker, with one runner for each engine and one cache. */
export function createTranslator(options: TranslatorOptions): Translator {
  const { observer } = options;
  const runners = options.engines.map((engine) =>
    createEngineRunner(engine, options.limitsOf(engine.name), observer, options.log),
  );
  const names = runners.map(({ name }) => name);
  const cache = createDraftCache(options.cacheBytes);
  const readRoutes = memoize(options.engineRoutes, ROUTES_MILLISECONDS);

  async function enginesOf(request: TranslationRequest): Promise<EngineRunner[]> {
    const { from, to, tier, brand, account } = request;
    const query = { from, to, tier, brand, accountId: account?.accountId };
    const chosen =
      request.engine === undefined ? enginesFor(await readRoutes(), query, names) : [request.engine];
    const allowed = request.environment === 'sandbox' ? chosen.filter(options.inSandbox) : chosen;
    const found = allowed.flatMap((name) => runners.find((runner) => runner.name === name) ?? []);
    const serving = await Promise.all(found.map(({ engine }) => engine.serves?.(from, to) ?? true));
    return found.filter((_, index) => serving[index]);
  }

  return {
    async draft(segments, request) {
      if (segments.length === 0) return [];
      const engines = await enginesOf(request);
      const glossary = createGlossary(request.context?.terms ?? NO_TERMS, request.from, request.to);
      const { sentences, occurrences } = await findSentences(segments, request);
      const sources = segments.map(({ pieces }) => pieces);
      const matches = request.engine === undefined ? await options.recall(request, sources) : [];
      for (const [index, occurrence] of occurrences.entries()) occurrence.match = matches[index];
      const onTranslated = request.progress && countProgress(occurrences, request.progress);
      const wanted = new Set(occurrences.flatMap((one) => (needsNoEngine(one) ? [] : [one.sentence])));
      for (const runner of engines) {
        const open = sentences.filter((sentence) => wanted.has(sentence) && sentence.done === undefined);
        if (open.length === 0) break;
        await draftWith(runner, open, {
          request,
          glossary,
          cache: request.account && cache,
          options,
          onTranslated,
        });
      }
      const turn = createTurns(request.signal);
      const drafts: Drafted[] = [];
      for (const [index, segment] of segments.entries()) {
        await turn(segment.pieces.length + 1);
        drafts.push(draftOf(segment, occurrences[index]!, glossary));
      }
      return drafts;
    },
    runners,
    async stop() {
      await Promise.all(runners.map(({ engine }) => engine.stop()));
    },
  };
}

/** The data for drafting one text, whichever engine drafts it. */
interface Drafting {
  request: TranslationRequest;
  glossary: Glossary;
  cache: DraftCache | undefined;
  options: Pick<TranslatorOptions, 'observer' | 'examples'>;
  onTranslated: ((sentence: Sentence) => void) | undefined;
}

/** A sentence that is about to be sent to an engine. */
interface PendingSentence {
  sentence: Sentence;
  /** The sentence's key in the draft cache. */
  key: string;
  placed: PlacedTerms | undefined;
  before: string | undefined;
  examples: readonly TranslationExample[];
}

/** Translates sentences with one engine. A sentence that fails gets the reason of its failure. */
async function draftWith(runner: EngineRunner, open: readonly Sentence[], drafting: Drafting): Promise<void> {
  const version = await runner.version();
  if (version === undefined) {
    for (const sentence of open) fail(sentence, UNAVAILABLE, runner, drafting);
    return;
  }
  const context = contextFor(runner.engine, drafting.request);
  const slices = await sliceUncached(runner, version, context, open, drafting);
  const work = {};
  await Promise.all(slices.map((slice) => draftSlice(runner, slice, context, work, drafting)));
}

/**
 * Uses the cached translations, and groups the other sentences into slices, each of which is sent to an
 * engine at once.
 */
async function sliceUncached(
  { name, engine }: EngineRunner,
  version: string,
  context: Context | undefined,
  open: readonly Sentence[],
  { request, glossary, cache, options, onTranslated }: Drafting,
): Promise<PendingSentence[][]> {
  const { capabilities } = engine;
  const common = [accountOf(request), name, version, request.from, request.to, nameOf(context ?? {})];
  const similar =
    capabilities.context && options.examples ? await findExamples(open, request, options.examples) : [];
  const slices = createSlices();
  const turn = createTurns(request.signal);
  for (const [index, sentence] of open.entries()) {
    await turn(sentence.canonical.pieces.length + 1);
    const before = capabilities.context ? sentence.before : undefined;
    const placed = capabilities.terms || glossary.empty ? undefined : glossary.put(sentence.canonical.pieces);
    const terms = placed === undefined ? '' : JSON.stringify([placed.pieces, placed.take(placed.pieces)]);
    const examples = similar[index] ?? [];
    const key = cacheKeyOf([
      ...common,
      sentence.key,
      before ?? '',
      terms,
      ...(examples.length > 0 ? [JSON.stringify(examples)] : []),
    ]);
    const cached = cache?.get(key);
    if (cache !== undefined) options.observer.cached(name, cached !== undefined);
    if (cached !== undefined) {
      sentence.done = cached;
      onTranslated?.(sentence);
    } else slices.add({ sentence, key, placed, before, examples });
  }
  return slices.made;
}

/**
 * Drafts the sentences of one slice with one engine.
 * @param work an object that identifies the text for the fair scheduler
 */
async function draftSlice(
  runner: EngineRunner,
  slice: readonly PendingSentence[],
  context: Context | undefined,
  work: object,
  drafting: Drafting,
): Promise<void> {
  const { request, cache, options, onTranslated } = drafting;
  const { from, to, lane, signal } = request;
  const segments = slice.map(({ sentence, placed, before }) => ({
    id: sentence.id,
    pieces: placed?.pieces ?? sentence.canonical.pieces,
    ...(before === undefined ? {} : { before }),
  }));
  const sliceContext = withExamples(context, slice);
  const weight = slice.reduce((sum, { sentence }) => sum + sentence.length, 1);
  const { drafts, away } = await runner.draft(
    { from, to, segments, lane, signal, ...(sliceContext === undefined ? {} : { context: sliceContext }) },
    { account: accountOf(request), request: work, weight, signal },
  );
  let characters = 0;
  let words = 0;
  let segmentsDone = 0;
  for (const [index, pending] of slice.entries()) {
    const { sentence } = pending;
    const checked =
      drafts === undefined
        ? UNAVAILABLE
        : checkDraft(pending, drafts[index], away, request, runner.engine.capabilities);
    characters += sentence.length;
    if (checked.status === 'failed') {
      fail(sentence, checked, runner, drafting);
      continue;
    }
    sentence.done = checked;
    onTranslated?.(sentence);
    segmentsDone += 1;
    words += countWords(sentence.canonical.pieces);
    cache?.set(pending.key, checked);
  }
  const cents = drafts === undefined ? 0 : (characters * runner.limits.centsPerMillion) / 1_000_000;
  const sent = drafts === undefined ? 0 : characters;
  options.observer.translated(runner.name, words, sent, cents, segmentsDone);
  request.charged?.(cents);
}

function fail(sentence: Sentence, failed: FailedDraft, { name }: EngineRunner, { options }: Drafting): void {
  options.observer.failed(name, failed.reason);
  recordFailure(sentence, failed);
}

/** Number of concurrent memory queries. Each sentence needs one query. */
const CONCURRENT_EXAMPLES = 4;

/** Returns the examples of each sentence, in their order. */
async function findExamples(
  open: readonly Sentence[],
  request: TranslationRequest,
  examples: NonNullable<TranslatorOptions['examples']>,
): Promise<(readonly TranslationExample[])[]> {
  const found: (readonly TranslationExample[])[] = [];
  for (let start = 0; start < open.length; start += CONCURRENT_EXAMPLES) {
    request.signal.throwIfAborted();
    const some = open.slice(start, start + CONCURRENT_EXAMPLES);
    found.push(...(await Promise.all(some.map(({ canonical }) => examples(request, canonical.pieces)))));
  }
  return found;
}

/** Maximum number of examples that an engine gets with one slice of a text. */
const EXAMPLES_PER_SLICE = 3;

/** Adds the nearest examples of all sentences in a slice to the context, without repetitions. */
function withExamples(context: Context | undefined, slice: readonly PendingSentence[]): Context | undefined {
  const all = slice.flatMap(({ examples }) => examples);
  const distinct = new Map(all.map((one) => [JSON.stringify([one.source, one.target]), one]));
  const nearest = [...distinct.values()].sort((a, b) => b.score - a.score).slice(0, EXAMPLES_PER_SLICE);
  if (nearest.length === 0) return context;
  return { ...context, examples: nearest.map(({ source, target }) => ({ source, target })) };
}

function createSlices(): { made: PendingSentence[][]; add(pending: PendingSentence): void } {
  const made: PendingSentence[][] = [];
  let characters = 0;
  return {
    made,
    add(pending) {
      const last = made.at(-1);
      const { length } = pending.sentence;
      if (last === undefined || last.length >= SLICE_SEGMENTS || characters + length > SLICE_CHARACTERS) {
        made.push([pending]);
        characters = length;
      } else {
        last.push(pending);
        characters += length;
      }
    },
  };
}

/** Returns the part of a context that an engine supports. */
function contextFor({ capabilities }: Engine, { context }: TranslationRequest): Context | undefined {
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

/**
 * Hashes of glossaries for cache keys. The key of this map is the array of terms, which the jobs of a brand share
 * until the glossary changes.
 */
const termHashes = new WeakMap<readonly Term[], string>();

/** Returns a context as a part of a cache key. Terms are hashed once, because a glossary may be megabytes long. */
function nameOf({ terms, ...rest }: Context): string {
  if (terms === undefined) return JSON.stringify(rest);
  let hash = termHashes.get(terms);
  if (hash === undefined) {
    hash = cacheKeyOf([JSON.stringify(terms)]);
    termHashes.set(terms, hash);
  }
  return `${JSON.stringify(rest)} ${hash}`;
}

/** Returns the account id for a cache key, or '' for a text without an account. */
const accountOf = ({ account }: TranslationRequest): string => account?.accountId ?? '';

/** Counts words by white space. The count is only for metrics, so it need not be exact. */
function countWords(pieces: readonly Piece[]): number {
  return visibleText(pieces).match(/\S+/g)?.length ?? 0;
}

/** Returns a function that reuses the result of `read` for `milliseconds`. Errors are not cached. */
function memoize<T>(read: () => Promise<T>, milliseconds: number): () => Promise<T> {
  let latest: Promise<T> | undefined;
  let until = 0;
  return () => {
    if (latest === undefined || performance.now() >= until) {
      const own = read();
      latest = own;
      until = performance.now() + milliseconds;
      own.catch(() => {
        if (latest === own) latest = undefined;
      });
    }
    return latest;
  };
}

/**
 * One engine as this worker uses it: its scheduler, circuit breaker, statistics and served language pairs. Drafts are
 * returned unchecked; `draft-check.ts` decides whether a draft can be a translation.
 */
import type { Draft, DraftRequest, Engine, Lane } from '@dragoman/engines';
import type { Log } from '../base/log.ts';
import { createBreaker } from './breaker.ts';
import { createFairScheduler, type FairScheduler, type ScheduledTask } from './fair-scheduler.ts';

/** Limits and price of an engine, set by the operator. */
export interface EngineLimits {
  /** Maximum number of concurrent requests to the engine. */
  concurrency: number;
  /** Maximum number of requests per second; undefined means no limit. */
  perSecond: number | undefined;
  /** The engine's price for a million characters, in cents. */
  centsPerMillion: number;
}

/** Receives the events of an engine, for metrics. */
export interface EngineObserver {
  /** Called at the end of each request to an engine, with the outcome `answered` or `failed`. */
  asked(engine: string, lane: Lane, seconds: number, outcome: 'answered' | 'failed'): void;
  /**
   * Called with the translated segments of a request and their words. `characters` and `cents` are those of all
   * segments of the request.
   */
  translated(engine: string, words: number, characters: number, cents: number, segments: number): void;
  /** Called for each segment that an engine failed to translate. */
  failed(engine: string, reason: string): void;
  cached(engine: string, hit: boolean): void;
}

export interface EngineAnswer {
  /** One draft for each segment, in order; undefined when the circuit breaker refused the request. */
  drafts: readonly Draft[] | undefined;
  /** True when the cause of the failure is the engine and not the text. */
  away: boolean;
}

export interface EngineRunner {
  readonly name: string;
  readonly engine: Engine;
  readonly limits: EngineLimits;
  draft(request: DraftRequest & { signal: AbortSignal }, turn: ScheduledTask): Promise<EngineAnswer>;
  /**
   * Returns the engine's version, read at most five minutes ago; undefined if the engine does not return its
   * version.
   */
  version(): Promise<string | undefined>;
  readonly state: 'closed' | 'open' | 'half-open';
  readonly waiting: number;
}

/**
 * The maximum number of characters that one local pipeline has in progress. It keeps the pipeline busy: a window of
 * 64 segments has about 5,000 characters. A new account's request waits for at most this many characters.
 */
const LOCAL_WEIGHT = 6144;
/**
 * The weight limit of a remote engine. It is so high that it is never reached; the number of requests is limited
 * instead.
 */
const REMOTE_WEIGHT = 1024 * 1024;
const VERSION_MILLISECONDS = 300_000;

/** Failure reasons that point to the engine rather than to the text. */
const TROUBLES: ReadonlySet<string> = new Set(['crashed', 'timeout', 'unavailable', 'stopped']);

/** Creates the runner of an engine, with its limits, circuit breaker and fair scheduling over accounts. */
export function createEngineRunner(
  engine: Engine,
  limits: EngineLimits,
  observer: EngineObserver,
  log?: Log,
): EngineRunner {
  const breaker = createBreaker();
  const lines = new Map<string, FairScheduler>();
  let version: { asked: Promise<string | undefined>; until: number } | undefined;

  /**
   * Returns the scheduler for a request. A local engine has separate processes for each pair and lane, so each pair
   * and lane has a scheduler. A remote engine has one scheduler, in which the interactive lane goes first. The
   * scheduler admits no more requests than the engine's HTTP client sends at once, so that further requests wait in
   * the scheduler's fair queue.
   */
  function turnsOf({ from, to, lane }: DraftRequest): FairScheduler {
    const { remote, atOnce = 1 } = engine.capabilities;
    const pipelines = lane === 'bulk' ? atOnce : 1;
    const key = remote ? '' : `${lane} ${from} ${to}`;
    let turns = lines.get(key);
    if (turns === undefined) {
      turns = createFairScheduler({
        maxWeight: remote ? REMOTE_WEIGHT : LOCAL_WEIGHT * pipelines,
        maxRunning: remote ? limits.concurrency : Number.MAX_SAFE_INTEGER,
        perSecond: limits.perSecond,
      });
      lines.set(key, turns);
    }
    return turns;
  }

  async function ask(request: DraftRequest & { signal: AbortSignal }): Promise<EngineAnswer> {
    if (!breaker.enter()) return { drafts: undefined, away: true };
    const started = performance.now();
    const seconds = () => (performance.now() - started) / 1000;
    try {
      const drafts = await engine.draft(request);
      const away = await isAway(drafts);
      if (away) breaker.failed();
      else breaker.succeeded();
      observer.asked(engine.name, request.lane, seconds(), away ? 'failed' : 'answered');
      return { drafts, away };
    } catch (error) {
      if (request.signal.aborted) throw request.signal.reason;
      if (request.segments.length > 1) return askDivided(request, ask);
      breaker.failed();
      observer.asked(engine.name, request.lane, seconds(), 'failed');
      // The error's message may quote the customer's text. The log gets only its name and its place in the code.
      log?.error({ error, name: engine.name }, 'an engine threw');
      const thrown = { status: 'failed', reason: 'crashed', detail: 'the engine threw' } as const;
      // This text may have triggered a bug in the engine, so the next engine gets the sentence.
      const drafts = request.segments.map(({ id }): Draft => ({ id, ...thrown }));
      return { drafts, away: false };
    }
  }

  /**
   * Returns whether the engine rather than the text is failing. A local engine reports its health. A remote
   * engine counts as failing when every draft failed for a reason that points to the engine. So one
   * customer's text cannot stop the engine for other customers.
   */
  async function isAway(drafts: readonly Draft[]): Promise<boolean> {
    const lost = (draft: Draft) => draft.status === 'failed' && TROUBLES.has(draft.reason);
    if (drafts.length === 0 || !drafts.every(lost)) return false;
    return engine.capabilities.remote || !(await engine.health()).ok;
  }

  return {
    name: engine.name,
    engine,
    limits,
    get state() {
      return breaker.state;
    },
    get waiting() {
      return [...lines.values()].reduce((sum, turns) => sum + turns.waiting, 0);
    },
    draft: (request, turn) =>
      turnsOf(request).run({ ...turn, urgent: request.lane === 'interactive' }, () => ask(request)),
    version() {
      if (version === undefined || performance.now() >= version.until) {
        const asked = engine.version().catch((error: unknown) => {
          log?.error({ error, name: engine.name }, 'an engine threw');
          version = undefined;
          return undefined;
        });
        version = { asked, until: performance.now() + VERSION_MILLISECONDS };
      }
      return version.asked;
    },
  };
}

/** Asks for each half of the segments, because a single one may have triggered the error. */
async function askDivided<Request extends DraftRequest>(
  request: Request,
  ask: (half: Request) => Promise<EngineAnswer>,
): Promise<EngineAnswer> {
  const { segments } = request;
  const half = Math.ceil(segments.length / 2);
  const drafts: Draft[] = [];
  let away = false;
  for (const part of [segments.slice(0, half), segments.slice(half)]) {
    const answer = await ask({ ...request, segments: part });
    const refused = { status: 'failed', reason: 'unavailable', detail: 'paused after failures' } as const;
    drafts.push(...(answer.drafts ?? part.map(({ id }): Draft => ({ id, ...refused }))));
    away ||= answer.away;
  }
  return { drafts, away };
}

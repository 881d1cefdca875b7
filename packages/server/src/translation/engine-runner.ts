/**
 * An engine as this worker uses it: its turns, its breaker, its figures, and the directions that it has shown it can
 * do. What an engine answers is taken as it comes; whether it can be a translation is asked elsewhere.
 */
import type { Draft, DraftRequest, Engine, Lane } from '@dragoman/engines';
import type { Log } from '../base/log.ts';
import { createBreaker } from './breaker.ts';
import { createFairScheduler, type FairScheduler, type ScheduledTask } from './fair-scheduler.ts';

/** What an operator may say about an engine. */
export interface EngineLimits {
  /** Requests to it at a time. */
  concurrency: number;
  /** Requests a second; undefined: no limit. */
  perSecond: number | undefined;
  /** What a million characters cost, in cents. */
  centsPerMillion: number;
}

/** What happens at an engine, for metrics. */
export interface EngineObserver {
  /** A request was answered, or was not (`failed`). */
  asked(engine: string, lane: Lane, seconds: number, outcome: 'answered' | 'failed'): void;
  translated(engine: string, words: number, characters: number, cents: number): void;
  failed(engine: string, reason: string): void;
  cached(engine: string, hit: boolean): void;
}

export interface EngineAnswer {
  /** One a segment, in order; undefined where the engine was not asked, for it is left alone at present. */
  drafts: readonly Draft[] | undefined;
  /** The engine is in trouble, rather than a text. */
  away: boolean;
}

export interface EngineRunner {
  readonly name: string;
  readonly engine: Engine;
  readonly limits: EngineLimits;
  draft(request: DraftRequest & { signal: AbortSignal }, turn: ScheduledTask): Promise<EngineAnswer>;
  /** Its version, as of the last minutes; undefined where it cannot say, which is a fault of it. */
  version(): Promise<string | undefined>;
  readonly state: 'closed' | 'open' | 'half-open';
  readonly waiting: number;
}

/**
 * Characters that may be at a local engine at a time, for each pair and each pipeline of it: enough to keep a pipeline busy (its window of 64
 * segments is some 5,000), and what a newcomer waits for at most.
 */
const LOCAL_WEIGHT = 6144;
/** A remote engine is bounded by its requests. */
const REMOTE_WEIGHT = 1024 * 1024;
const VERSION_MILLISECONDS = 300_000;

/** How an engine ends what it is asked when it, rather than the text, is in trouble. */
const TROUBLES: ReadonlySet<string> = new Set(['crashed', 'timeout', 'unavailable', 'stopped']);

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
   * A local engine has processes of their own for each pair and lane, which never meet. A remote one is one place with
   * one rate, where the interactive lane goes first. How many calls it really gets is bounded by its HTTP client, since a
   * request may be more than one; here no more are let through than that, so that those who wait do so in turn.
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
      breaker.failed();
      observer.asked(engine.name, request.lane, seconds(), 'failed');
      // Its words may quote the text: the log keeps name and place alone.
      log?.error({ error, name: engine.name }, 'an engine threw');
      const thrown = { status: 'failed', reason: 'crashed', detail: 'the engine threw' } as const;
      // A bug, perhaps of this text: the next engine has it, and the job's tries bound it.
      const drafts = request.segments.map(({ id }): Draft => ({ id, ...thrown }));
      return { drafts, away: false };
    }
  }

  /**
   * Whether the engine rather than the text is in trouble. A local engine knows; of a remote one it is believed when
   * nothing at all came back. No customer's text can close an engine for the others.
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

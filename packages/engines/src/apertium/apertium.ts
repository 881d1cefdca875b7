/**
 * The Apertium engine. Apertium's modes are chains of programs, each for one language pair. A mode stays
 * loaded as a pipeline of running processes. Each mode has separate pipelines for the two lanes (the
 * priorities `interactive` and `bulk`); the `bulk` lane may have several. A fixed table chooses one or two
 * modes for each direction.
 *
 * Measurements are documented where they are used: encode.ts (stream format), hop.ts (faulty replies), pipeline.ts (protocol and
 * recovery), memory-budget.ts (memory), routes.ts (choice of modes).
 */

import { existsSync } from 'node:fs';
import { totalmem } from 'node:os';
import type {
  Capabilities,
  Direction,
  Draft,
  DraftRequest,
  Engine,
  Lane,
  Segment,
  SelfTestObserver,
} from '../engine.ts';
import { MemoryBudget } from '../memory-budget.ts';
import type { Stage } from './chain.ts';
import { readChain } from './chain.ts';
import { hasLetters } from './encode.ts';
import { findApertium } from './find.ts';
import { hop } from './hop.ts';
import type { Limits } from './limits.ts';
import { LIMITS } from './limits.ts';
import type { Mode } from './modes.ts';
import { modeNamed } from './modes.ts';
import { SELF_TEST, warmUpFor } from './phrases.ts';
import { ProcessPool } from './process-pool.ts';
import type { Route } from './routes.ts';
import { parseDirection, ROUTES, routeName } from './routes.ts';
import type { Tree } from './tree.ts';
import { hasMode, toolPath, treeFor } from './tree.ts';

/**
 * Maximum length of a segment in UTF-16 code units; a longer segment fails. Apertium needed 46 s for one line of 940
 * kB.
 */
export const MAX_SEGMENT_LENGTH = 10_000;

export interface ApertiumOptions {
  /** Folder of a private installation made by {@link installApertium}. Without one, the system's Apertium is used. */
  root?: string;
  /**
   * Memory limit of all pipelines together, in MiB. Default: a quarter of the machine's memory, but at least
   * 700.
   */
  memoryMebibytes?: number;
  /**
   * Maximum number of pipelines for the bulk requests of a mode. Default: 1. The second and later pipelines
   * start only under load, if memory is free.
   */
  bulkPipelines?: number;
  /**
   * Time slice in ms. When another pipeline waits for memory, a busy pipeline is stopped once it has run for
   * this time.
   */
  turnMs?: number;
  /** Replacements for entries of the route table in routes.ts, by direction, such as `en>pt`. */
  routes?: Readonly<Record<string, Route>>;
  limits?: { interactive?: Partial<Limits>; bulk?: Partial<Limits> };
  /** Replaces, in tests, the programs (stages) of a mode. */
  chainOf?: (mode: string) => Promise<readonly Stage[]>;
}

export interface ApertiumEngine extends Engine {
  /** Returns the resident pipelines, for metrics and tests. */
  pipelines(): {
    mode: string;
    lane: Lane;
    /** Whether the pipeline has unanswered segments. */
    busy: boolean;
    pids: readonly number[];
    restarts: number;
    megabytes: number;
  }[];
}

/**
 * The result of a mode's self-test. `permanent` means that the mode itself is faulty, so another test would
 * also fail.
 */
type SelfTestResult = { ok: true } | { ok: false; detail: string; permanent: boolean };

/** Creates the engine. A pipeline starts at its first use; {@link Engine.stop} ends every process. */
export function createApertium(options: ApertiumOptions = {}): ApertiumEngine {
  return new Apertium(options);
}

class Apertium implements ApertiumEngine {
  readonly name = 'apertium';
  readonly capabilities: Capabilities;
  readonly #options: ApertiumOptions;
  readonly #routes: Readonly<Record<string, Route>>;
  readonly #memory: MemoryBudget;
  readonly #chains = new Map<string, Promise<readonly Stage[]>>();
  readonly #pools = new Map<string, { mode: Mode; lane: Lane; pool: ProcessPool }>();
  readonly #selfTests = new Map<string, Promise<SelfTestResult>>();
  #foundTree: Tree | null = null;
  #stopped = false;

  constructor(options: ApertiumOptions) {
    this.#options = options;
    this.capabilities = {
      codes: 'kept',
      terms: false,
      tone: false,
      instructions: false,
      context: false,
      remote: false,
      deterministic: true,
      atOnce: options.bulkPipelines ?? 1,
    };
    this.#routes = { ...ROUTES, ...options.routes };
    const share = Math.max(700, Math.floor(totalmem() / 4 / 1024 / 1024));
    this.#memory = new MemoryBudget(options.memoryMebibytes ?? share, options.turnMs ?? 2_000);
  }

  /** Returns the Debian versions of all installed Apertium packages, in one line. */
  async version(): Promise<string> {
    const { packages } = await findApertium(
      this.#options.root === undefined ? {} : { root: this.#options.root },
    );
    const names = Object.entries(packages).map(([name, version]) => `${name} ${version}`);
    return names.sort().join(', ');
  }

  /**
   * Tests every installed mode once, one after another: about 0.3 s each, or 10 s for the default packages on two cores.
   * Each pipeline is stopped afterwards, so that at most one extra pipeline is resident. Results are cached. Modes whose
   * circuit breaker is open are left out.
   */
  async directions(observer?: SelfTestObserver): Promise<Direction[]> {
    const installed = Object.keys(this.#routes).filter((key) => this.#isInstalled(key));
    observer?.begun(installed.map((key) => this.#direction(key)));
    const passed = new Set<string>();
    let waiting = installed;
    for (const name of new Set(installed.flatMap((key) => this.#routes[key]!))) {
      if (this.#stopped) break;
      const used = this.#pools.get(`${name} bulk`)?.pool.resident ?? false;
      const ready = await this.#ready(name, 'bulk');
      if (ready.ok && !used) ready.pool.stopIfIdle();
      if (!ready.ok || ready.pool.tripped !== null) continue;
      passed.add(name);
      const complete = waiting.filter((key) => this.#routes[key]!.every((mode) => passed.has(mode)));
      waiting = waiting.filter((key) => !complete.includes(key));
      if (complete.length > 0) observer?.passed(complete.map((key) => this.#direction(key)));
    }
    // The test was cut short by `stop()`. A partial list of directions would look complete, so the call rejects.
    if (this.#stopped) throw new Error('the Apertium engine is stopped');
    return installed.filter((key) => !waiting.includes(key)).map((key) => this.#direction(key));
  }

  async draft(request: DraftRequest): Promise<Draft[]> {
    if (this.#stopped) throw new Error('the Apertium engine is stopped');
    request.signal?.throwIfAborted();
    const route = this.#routes[`${request.from}>${request.to}`];
    if (route === undefined) {
      return unsupported(request, `Apertium has no route from ${request.from} to ${request.to}`);
    }
    const hops: ProcessPool[] = [];
    for (const name of route) {
      const ready = await this.#ready(name, request.lane);
      if (!ready.ok && !this.#stopped) return unsupported(request, ready.detail);
      if (ready.ok) hops.push(ready.pool);
    }
    request.signal?.throwIfAborted();
    if (this.#stopped) {
      const detail = 'the engine was stopped';
      return request.segments.map(({ id }) => ({ id, status: 'failed', reason: 'stopped', detail }));
    }
    const work = Promise.all(
      request.segments.map((each) => translate(each, hops, routeName(route), request)),
    );
    if (request.signal === undefined) return work;
    const { signal } = request;
    return new Promise((resolve, reject) => {
      const onAbort = (): void => {
        for (const hop of hops) hop.cancel(request);
        reject(signal.reason);
      };
      signal.addEventListener('abort', onAbort, { once: true });
      work.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
    });
  }

  async health(): Promise<{ ok: boolean; detail: string }> {
    if (this.#stopped) return { ok: false, detail: 'stopped' };
    const tripped = [...this.#pools.values()].filter(({ pool }) => pool.tripped !== null);
    const resident = `${this.#memory.count} pipelines resident, about ${this.#memory.megabytes} MB`;
    if (tripped.length > 0) {
      const names = tripped.map(({ mode, lane, pool }) => `${mode.name} (${lane}): ${pool.tripped}`);
      return { ok: false, detail: `${resident}; disabled: ${names.join('; ')}` };
    }
    const modes = new Set(Object.values(this.#routes).flat());
    if (![...modes].some((name) => hasMode(this.#tree, name))) {
      return { ok: false, detail: 'no language pair of Apertium is installed' };
    }
    return { ok: true, detail: resident };
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await Promise.all([...this.#pools.values()].map(({ pool }) => pool.stop()));
  }

  pipelines() {
    return [...this.#pools.values()]
      .flatMap(({ mode, lane, pool }) => pool.pipelines.map((pipeline) => ({ mode, lane, pipeline })))
      .filter(({ pipeline }) => pipeline.resident)
      .map(({ mode, lane, pipeline }) => ({
        mode: mode.name,
        lane,
        busy: pipeline.busy,
        pids: pipeline.pids,
        restarts: pipeline.restarts,
        megabytes: pipeline.megabytes,
      }));
  }

  /**
   * The locations of Apertium's files. They are cached only when Apertium is found, so that an Apertium that is
   * installed later is found.
   */
  get #tree(): Tree {
    if (this.#foundTree !== null) return this.#foundTree;
    const tree = treeFor(this.#options.root);
    if (existsSync(toolPath(tree, 'lt-proc'))) this.#foundTree = tree;
    return tree;
  }

  #isInstalled(key: string): boolean {
    return (
      this.#options.chainOf !== undefined || this.#routes[key]!.every((mode) => hasMode(this.#tree, mode))
    );
  }

  #direction(key: string): Direction {
    const route = this.#routes[key]!;
    return { ...parseDirection(key), route: routeName(route), hops: route.length };
  }

  /** Returns the process pool of a mode and lane, after the mode has passed its self-test on this machine. */
  async #ready(
    name: string,
    lane: Lane,
  ): Promise<{ ok: true; pool: ProcessPool } | { ok: false; detail: string }> {
    const mode = modeNamed(name);
    if (mode === undefined) return { ok: false, detail: `${name} is not a supported mode` };
    if (this.#options.chainOf === undefined && !hasMode(this.#tree, name)) {
      return { ok: false, detail: `${mode.package} is not installed` };
    }
    let pool: ProcessPool;
    try {
      pool = await this.#pool(mode, lane);
    } catch (error) {
      return { ok: false, detail: `${name} cannot be read: ${String(error)}` };
    }
    let selfTestResult = this.#selfTests.get(name);
    if (selfTestResult === undefined) {
      selfTestResult = selfTest(mode, pool);
      this.#selfTests.set(name, selfTestResult);
      // A crash may have an outside cause, such as lack of memory. So the next call repeats the self-test, if
      // the circuit breaker allows it.
      selfTestResult.then((result) => {
        if (result.ok) return;
        if (result.permanent) setTimeout(() => this.#selfTests.delete(name), LIMITS.maxOpenMs).unref();
        else this.#selfTests.delete(name);
      });
    }
    const result = await selfTestResult;
    return result.ok ? { ok: true, pool } : result;
  }

  async #pool(mode: Mode, lane: Lane): Promise<ProcessPool> {
    const key = `${mode.name} ${lane}`;
    const stages = await this.#chain(mode.name);
    // A pool that is created after stop() would never be stopped.
    if (this.#stopped) throw new Error('the Apertium engine is stopped');
    const known = this.#pools.get(key);
    if (known !== undefined) return known.pool;
    const pool = new ProcessPool(lane === 'bulk' ? (this.#options.bulkPipelines ?? 1) : 1, {
      name: mode.name,
      megabytes: mode.megabytes,
      urgent: lane === 'interactive',
      stages,
      env: this.#tree.env,
      warmUp: warmUpFor(mode.from),
      limits: {
        ...LIMITS,
        ...(lane === 'bulk' ? BULK : {}),
        ...this.#options.limits?.[lane],
      },
      memory: this.#memory,
    });
    this.#pools.set(key, { mode, lane, pool });
    return pool;
  }

  #chain(name: string): Promise<readonly Stage[]> {
    let chain = this.#chains.get(name);
    if (chain === undefined) {
      chain = this.#options.chainOf?.(name) ?? readChain(this.#tree, name);
      chain.catch(() => this.#chains.delete(name));
      this.#chains.set(name, chain);
    }
    return chain;
  }
}

/**
 * Limits of a bulk pipeline: `window` segments may be in flight, and more are sent when fewer than `refill` are.
 * Measured with English-Spanish on 30,000 words and two cores, medians of five: speed relative to one `apertium`
 * process that reads the text as one file. The speeds for `window`, `refill` are 32, 32: 0.91; 32, 16: 0.90; 64, 32:
 * 0.98; 128, 64: 1.02; 256, 128: 0.99. Sending half a window at once wakes each stage less often than sending single
 * segments. A wider window would only delay the next job.
 */
const BULK = { window: 64, refill: 32 };

async function selfTest(mode: Mode, pool: ProcessPool): Promise<SelfTestResult> {
  const text = SELF_TEST[mode.from] ?? '';
  const step = await hop([{ text }], pool, {});
  if (!step.ok) {
    const detail = `${mode.name} failed its self-test: ${step.detail}`;
    return { ok: false, detail, permanent: step.reason === 'garbled' };
  }
  const out = step.pieces.map((piece) => ('text' in piece ? piece.text : '')).join('');
  if (out === text) {
    return { ok: false, detail: `${mode.name} failed its self-test: it changes nothing`, permanent: true };
  }
  return { ok: true };
}

async function translate(
  segment: Segment,
  hops: readonly ProcessPool[],
  route: string,
  group: object,
): Promise<Draft> {
  const { id } = segment;
  let { pieces } = segment;
  const text = pieces.map((piece) => ('text' in piece && !('keep' in piece) ? piece.text : '')).join('');
  if (text.length > MAX_SEGMENT_LENGTH) {
    const detail = `the segment has ${text.length} characters, more than ${MAX_SEGMENT_LENGTH}`;
    return { id, status: 'failed', reason: 'too long', detail };
  }
  // A text without letters is the same in every language, so it is not sent.
  if (hasLetters(text)) {
    for (const pool of hops) {
      const step = await hop(pieces, pool, group);
      if (!step.ok) return { id, status: 'failed', reason: step.reason, detail: step.detail };
      pieces = step.pieces;
    }
  }
  return { id, status: 'translated', pieces: [...pieces], route };
}

const unsupported = (request: DraftRequest, detail: string): Draft[] =>
  request.segments.map(({ id }) => ({ id, status: 'unsupported', detail }));

/**
 * Bergamot: local neural translation with the models of Firefox, or other models in the same format. Each
 * language pair has one thread for each lane (the priority of a request, `interactive` or `bulk`). A
 * translation uses the model of its pair, or two models with English as the pivot language.
 */

import { totalmem } from 'node:os';
import { serviceFaultOf } from '../check.ts';
import { type Confidence, confidenceOf } from '../confidence.ts';
import type {
  Direction,
  Draft,
  DraftRequest,
  Engine,
  Lane,
  Language,
  Piece,
  Segment,
  SelfTestObserver,
} from '../engine.ts';
import { BERGAMOT, Garbled, hasLetters, read, write } from '../markup.ts';
import { MemoryBudget } from '../memory-budget.ts';
import type { Model } from './models.ts';
import { filesOf, findModels } from './models.ts';
import type { ThreadLimits } from './thread.ts';
import { THREAD_LIMITS, Thread } from './thread.ts';

const MAX_SEGMENT_LENGTH = 10_000;

export interface BergamotOptions {
  /**
   * Folder of the models, with one folder per pair; see models.ts. {@link Engine.directions} reads it again
   * at each call.
   */
  folder: string;
  /**
   * Memory limit of all threads together, in MiB. Default: a quarter of the machine's memory, but at least
   * 400.
   */
  memoryMebibytes?: number;
  /**
   * Time slice in ms. When another thread waits for memory, a busy thread is stopped once it has run for this
   * time.
   */
  turnMs?: number;
  limits?: Partial<ThreadLimits>;
  /** Replaces, in tests, the script that each thread runs. */
  script?: URL;
}

export interface BergamotEngine extends Engine {
  /** Returns the resident threads, for metrics. */
  threads(): { pair: string; lane: Lane; restarts: number; megabytes: number }[];
}

const PIVOT = 'en';
const SELF_TEST = 'A 1.';

export function createBergamot(options: BergamotOptions): BergamotEngine {
  return new Bergamot(options);
}

class Bergamot implements BergamotEngine {
  readonly name = 'bergamot';
  readonly capabilities = {
    codes: 'kept',
    terms: false,
    tone: false,
    instructions: false,
    context: false,
    remote: false,
    deterministic: true,
  } as const;
  readonly #options: BergamotOptions;
  readonly #memory: MemoryBudget;
  readonly #threads = new Map<string, { pair: string; lane: Lane; thread: Thread }>();
  /** Models by pair. Only `directions` verifies their checksums, which takes seconds for 50 models. */
  #models: Promise<ReadonlyMap<string, Model>> | null = null;
  /** The search that `directions` began last. */
  #latest: Promise<ReadonlyMap<string, Model>> | null = null;
  #faults: readonly string[] = [];
  #loads = new Map<string, Promise<boolean>>();
  #stopped = false;

  constructor(options: BergamotOptions) {
    this.#options = options;
    const share = Math.max(400, Math.floor(totalmem() / 4 / 1024 / 1024));
    this.#memory = new MemoryBudget(options.memoryMebibytes ?? share, options.turnMs ?? 5_000);
  }

  async version(): Promise<string> {
    const models = [...(await this.#known())].map(([pair, { digest }]) => `${pair} ${digest}`);
    return models.length === 0 ? 'no models' : models.sort().join(', ');
  }

  /** Tests every model by translating a word with it. The results are cached until the model's files change. */
  async directions(observer?: SelfTestObserver): Promise<Direction[]> {
    this.#throwIfStopped();
    // Reading the files of all models takes seconds. Until then, requests use the models that were found before.
    const found = this.#find();
    this.#latest = found;
    this.#models ??= found;
    const models = await found;
    if (this.#latest === found) this.#models = found;
    observer?.begun(directionsOf(models, new Set(models.keys())));
    const loadable = new Set<string>();
    let passed: Direction[] = [];
    for (const [pair, model] of models) {
      this.#throwIfStopped();
      if (!(await this.#loadsOnce(pair, model))) continue;
      loadable.add(pair);
      const before = passed.length;
      passed = directionsOf(models, loadable);
      if (passed.length > before) observer?.passed(passed);
    }
    this.#throwIfStopped();
    return passed;
  }

  async serves(from: Language, to: Language): Promise<boolean> {
    return routeOf(from, to, new Set((await this.#known()).keys())) !== null;
  }

  async draft(request: DraftRequest): Promise<Draft[]> {
    this.#throwIfStopped();
    request.signal?.throwIfAborted();
    const models = await this.#known();
    request.signal?.throwIfAborted();
    const { from, to, segments, lane, signal } = request;
    const route = routeOf(from, to, new Set(models.keys()));
    if (route === null) {
      const detail = `Bergamot has no model from ${from} to ${to}`;
      return segments.map(({ id }) => ({ id, status: 'unsupported', detail }));
    }
    if (this.#stopped) return segments.map(({ id }) => stoppedDraft(id));
    const hops = route.map((pair) => this.#thread(pair, models.get(pair)!, lane));
    const work = Promise.all(segments.map((each) => translate(each, hops, routeName(route), request)));
    if (signal === undefined) return work;
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
    const models = await this.#known();
    const tripped = [...this.#threads.values()].filter(({ thread }) => thread.tripped);
    const faults = [
      ...this.#faults,
      ...tripped.map(({ pair, lane }) => `${pair} (${lane}): its model does not load`),
    ];
    if (faults.length > 0) return { ok: false, detail: faults.join('; ') };
    if (models.size === 0) return { ok: false, detail: 'its folder has no models' };
    const { count, megabytes } = this.#memory;
    return { ok: true, detail: `${models.size} models, ${count} threads resident, about ${megabytes} MB` };
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await Promise.all([...this.#threads.values()].map(({ thread }) => thread.stop()));
  }

  threads() {
    return [...this.#threads.values()]
      .filter(({ thread }) => thread.resident)
      .map(({ pair, lane, thread }) => ({
        pair,
        lane,
        restarts: thread.restarts,
        megabytes: thread.megabytes,
      }));
  }

  #throwIfStopped(): void {
    if (this.#stopped) throw new Error('the Bergamot engine is stopped');
  }

  #known(): Promise<ReadonlyMap<string, Model>> {
    this.#models ??= this.#find();
    return this.#models;
  }

  async #find(): Promise<ReadonlyMap<string, Model>> {
    const { models, faults } = await findModels(this.#options.folder);
    this.#faults = faults;
    return new Map(models.map((model) => [`${model.manifest.from}-${model.manifest.to}`, model]));
  }

  #thread(pair: string, model: Model, lane: Lane): Thread {
    // The key contains a hash of the model, so a changed model gets a new thread. The old thread ends after
    // its idle time.
    const key = `${pair} ${model.digest} ${lane}`;
    const known = this.#threads.get(key);
    if (known !== undefined) return known.thread;
    const thread = new Thread({
      name: pair,
      megabytes: megabytesOf(model),
      urgent: lane === 'interactive',
      script: this.#options.script ?? new URL('./worker.ts', import.meta.url),
      model: model.setup,
      limits: { ...THREAD_LIMITS, ...this.#options.limits },
      memory: this.#memory,
    });
    this.#threads.set(key, { pair, lane, thread });
    return thread;
  }

  #loadsOnce(pair: string, model: Model): Promise<boolean> {
    const key = `${pair} ${model.digest}`;
    let loads = this.#loads.get(key);
    if (loads === undefined) {
      const thread = this.#thread(pair, model, 'bulk');
      const used = thread.resident;
      loads = thread.send(SELF_TEST, {}).then(({ ok }) => {
        if (!ok) this.#loads.delete(key);
        // A thread that was started only for the test is stopped, so that at most one extra thread is
        // resident.
        if (!used) thread.stopIfIdle();
        return ok;
      });
      this.#loads.set(key, loads);
    }
    return loads;
  }
}

/** Estimates the memory of a thread in MB. Threads with a "tiny" model (17 MB) took 290 to 380 MB when measured. */
export function megabytesOf({ manifest }: Model): number {
  const bytes = filesOf(manifest).reduce((sum, file) => sum + file.bytes, 0);
  return 250 + Math.ceil((6 * bytes) / 1_000_000);
}

/** Returns the pair of a direct model, or two pairs with English as the pivot, or null. */
function routeOf(from: Language, to: Language, pairs: ReadonlySet<string>): string[] | null {
  if (from === to) return null;
  if (pairs.has(`${from}-${to}`)) return [`${from}-${to}`];
  const hops = [`${from}-${PIVOT}`, `${PIVOT}-${to}`];
  return hops.every((pair) => pairs.has(pair)) ? hops : null;
}

/** Returns the directions among the languages of all models that the models `pairs` serve. */
function directionsOf(models: ReadonlyMap<string, Model>, pairs: ReadonlySet<string>): Direction[] {
  const languages = new Set([...models.values()].flatMap(({ manifest }) => [manifest.from, manifest.to]));
  return [...languages].flatMap((from) =>
    [...languages].flatMap((to) => {
      const route = routeOf(from, to, pairs);
      return route === null
        ? []
        : [{ from, to, route: routeName(route), hops: route.length === 1 ? (1 as const) : (2 as const) }];
    }),
  );
}

const routeName = (route: readonly string[]): string => `bergamot:${route.join('+')}`;

const stoppedDraft = (id: string): Draft => ({
  id,
  status: 'failed',
  reason: 'stopped',
  detail: 'the engine was stopped',
});

async function translate(
  segment: Segment,
  hops: readonly Thread[],
  route: string,
  request: DraftRequest,
): Promise<Draft> {
  const { id } = segment;
  const length = segment.pieces.reduce(
    (sum, piece) => sum + ('text' in piece && !('keep' in piece) ? piece.text.length : 0),
    0,
  );
  if (length > MAX_SEGMENT_LENGTH) {
    const detail = `the segment has ${length} characters, more than ${MAX_SEGMENT_LENGTH}`;
    return { id, status: 'failed', reason: 'too long', detail };
  }
  let pieces: Piece[] = [...segment.pieces];
  if (!hasLetters(pieces)) return { id, status: 'translated', pieces, route };
  const confidences: (Confidence | undefined)[] = [];
  const garbled = (detail: string): Draft => ({ id, status: 'failed', reason: 'garbled', detail });
  for (const thread of hops) {
    const { text, table } = write(pieces, BERGAMOT);
    const reply = await thread.send(text, request);
    if (!reply.ok) {
      return { id, status: 'failed', reason: reply.reason, detail: `${thread.name}: ${reply.detail}` };
    }
    try {
      pieces = read(reply.html, table, BERGAMOT);
    } catch (error) {
      if (!(error instanceof Garbled)) throw error;
      return garbled(`${thread.name}: ${error.message}`);
    }
    confidences.push(confidenceOf(reply.scores));
  }
  const fault = serviceFaultOf(pieces, segment.pieces, request);
  if (fault !== null) return garbled(fault);
  return { id, status: 'translated', pieces, route, confidence: leastOf(confidences) };
}

/** Returns the lower figures of the hops, because each can lose the meaning; undefined if a hop has no confidence. */
function leastOf(hops: readonly (Confidence | undefined)[]): Confidence | undefined {
  return hops.reduce(
    (least, hop) =>
      least && hop && { mean: Math.min(least.mean, hop.mean), minimum: Math.min(least.minimum, hop.minimum) },
  );
}

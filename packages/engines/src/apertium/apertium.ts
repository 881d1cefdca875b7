/**
 * The Apertium engine: resident pipelines, two lanes a mode, one or two hops by a fixed table. A `bulk` lane may have
 * several pipelines.
 *
 * Everything measured that it follows is in the files beside it: encode.ts (the stream), pipeline.ts (protocol and
 * recovery), residency.ts (memory), routes.ts (hops).
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
  Piece,
  Segment,
} from '../engine.ts';
import { Residency } from '../residency.ts';
import type { Stage } from './chain.ts';
import { readChain } from './chain.ts';
import { faultOf, unmark } from './check.ts';
import { Crew } from './crew.ts';
import { decode, Garbled } from './decode.ts';
import { encode, hasLetters } from './encode.ts';
import { findApertium } from './find.ts';
import type { Limits } from './limits.ts';
import { LIMITS } from './limits.ts';
import type { Mode } from './modes.ts';
import { modeNamed } from './modes.ts';
import { SELF_TEST, warmUpFor } from './phrases.ts';
import type { Route } from './routes.ts';
import { parseDirection, ROUTES, routeName } from './routes.ts';
import type { Tree } from './tree.ts';
import { hasMode, toolPath, treeFor } from './tree.ts';

/** A segment longer than this, in UTF-16 units, fails: one 940 kB line took Apertium 46 s. Split at sentences. */
export const MAX_SEGMENT_LENGTH = 10_000;

export interface ApertiumOptions {
  /** A folder that may hold a private tree made by {@link installApertium}; without one, the system's is used. */
  root?: string;
  /** What all pipelines together may take, in MiB. Default: a quarter of the machine's memory, 700 at least. */
  memoryMebibytes?: number;
  /** Pipelines of a mode's bulk lane, at most; 1 by default. The others start for much work, in memory that is free. */
  bulkPipelines?: number;
  /** How long a busy pipeline keeps its place while others wait for memory, in ms. */
  turnMs?: number;
  /** Lines that replace those of the table (key `en>pt`). */
  routes?: Readonly<Record<string, Route>>;
  limits?: { live?: Partial<Limits>; bulk?: Partial<Limits> };
  /** Tests plant a chain of their own here. */
  chainOf?: (mode: string) => Promise<readonly Stage[]>;
}

export interface ApertiumEngine extends Engine {
  /** Resident pipelines, for metrics and for tests that kill one. */
  pipelines(): {
    mode: string;
    lane: Lane;
    /** It has segments that are not answered yet. */
    busy: boolean;
    pids: readonly number[];
    restarts: number;
    megabytes: number;
  }[];
}

/** `lasting`: the mode's own fault, which will be the same in a second. */
type Soundness = { ok: true } | { ok: false; detail: string; lasting: boolean };
type Step = { ok: true; pieces: Piece[] } | { ok: false; draft: Draft };

/** Nothing is started until it is used. {@link Engine.stop} ends every process. */
export function createApertium(options: ApertiumOptions = {}): ApertiumEngine {
  return new Apertium(options);
}

class Apertium implements ApertiumEngine {
  readonly name = 'apertium';
  readonly capabilities: Capabilities;
  readonly #options: ApertiumOptions;
  readonly #routes: Readonly<Record<string, Route>>;
  readonly #residency: Residency;
  readonly #chains = new Map<string, Promise<readonly Stage[]>>();
  readonly #crews = new Map<string, { mode: Mode; lane: Lane; crew: Crew }>();
  readonly #soundness = new Map<string, Promise<Soundness>>();
  #foundTree: Tree | null = null;
  #testing: Promise<Direction[]> | null = null;
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
    this.#residency = new Residency(options.memoryMebibytes ?? share, options.turnMs ?? 2_000);
  }

  /** Debian's version of every Apertium package here, in one line. */
  async version(): Promise<string> {
    const { packages } = await findApertium(
      this.#options.root === undefined ? {} : { root: this.#options.root },
    );
    const names = Object.entries(packages).map(([name, version]) => `${name} ${version}`);
    return names.sort().join(', ');
  }

  /**
   * Tests every installed mode once (about 0.3 s each, 10 s for the default packages on two cores) and remembers;
   * later calls are quick. A mode closed after a crash loop is left out while it is closed.
   */
  directions(): Promise<Direction[]> {
    this.#testing ??= this.#findDirections().finally(() => {
      this.#testing = null;
    });
    return this.#testing;
  }

  async draft(request: DraftRequest): Promise<Draft[]> {
    if (this.#stopped) throw new Error('the Apertium engine is stopped');
    request.signal?.throwIfAborted();
    const route = this.#routes[`${request.from}>${request.to}`];
    if (route === undefined) {
      return unsupported(request, `Apertium has no route from ${request.from} to ${request.to}`);
    }
    const hops: Crew[] = [];
    for (const name of route) {
      const ready = await this.#ready(name, request.lane);
      if (!ready.ok && !this.#stopped) return unsupported(request, ready.detail);
      if (ready.ok) hops.push(ready.crew);
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
      const giveUp = (): void => {
        for (const hop of hops) hop.cancel(request);
        reject(signal.reason);
      };
      signal.addEventListener('abort', giveUp, { once: true });
      work.then(resolve, reject).finally(() => signal.removeEventListener('abort', giveUp));
    });
  }

  async health(): Promise<{ ok: boolean; detail: string }> {
    if (this.#stopped) return { ok: false, detail: 'stopped' };
    const closed = [...this.#crews.values()].filter(({ crew }) => crew.closed !== null);
    const resident = `${this.#residency.count} pipelines resident, about ${this.#residency.megabytes} MB`;
    if (closed.length > 0) {
      const names = closed.map(({ mode, lane, crew }) => `${mode.name} (${lane}): ${crew.closed}`);
      return { ok: false, detail: `${resident}; closed: ${names.join('; ')}` };
    }
    const modes = new Set(Object.values(this.#routes).flat());
    if (![...modes].some((name) => hasMode(this.#tree, name))) {
      return { ok: false, detail: 'no language pair of Apertium is installed' };
    }
    return { ok: true, detail: resident };
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await Promise.all([...this.#crews.values()].map(({ crew }) => crew.stop()));
  }

  pipelines() {
    return [...this.#crews.values()]
      .flatMap(({ mode, lane, crew }) => crew.pipelines.map((pipeline) => ({ mode, lane, pipeline })))
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

  /** Looked for at first use, so that an engine made before the installation finds what was installed. */
  get #tree(): Tree {
    if (this.#foundTree !== null) return this.#foundTree;
    const tree = treeFor(this.#options.root);
    if (existsSync(toolPath(tree, 'lt-proc'))) this.#foundTree = tree;
    return tree;
  }

  /** Modes are tested one after another and stopped again, so that no more than one extra is ever resident. */
  async #findDirections(): Promise<Direction[]> {
    const sound = new Map<string, boolean>();
    for (const name of new Set(Object.values(this.#routes).flat())) {
      if (this.#stopped) break;
      const used = this.#crews.get(`${name} bulk`)?.crew.resident ?? false;
      const ready = await this.#ready(name, 'bulk');
      sound.set(name, ready.ok && ready.crew.closed === null);
      if (ready.ok && !used) ready.crew.rest();
    }
    // Part of the answer would be believed to be all of it.
    if (this.#stopped) throw new Error('the Apertium engine is stopped');
    return Object.entries(this.#routes)
      .filter(([, route]) => route.every((name) => sound.get(name) === true))
      .map(([key, route]) => ({ ...parseDirection(key), route: routeName(route), hops: route.length }));
  }

  /** The mode's pipelines of that lane, once the mode has passed its self-test on this machine. */
  async #ready(name: string, lane: Lane): Promise<{ ok: true; crew: Crew } | { ok: false; detail: string }> {
    const mode = modeNamed(name);
    if (mode === undefined) return { ok: false, detail: `${name} is not a mode we drive` };
    if (this.#options.chainOf === undefined && !hasMode(this.#tree, name)) {
      return { ok: false, detail: `${mode.package} is not installed` };
    }
    let crew: Crew;
    try {
      crew = await this.#crew(mode, lane);
    } catch (error) {
      return { ok: false, detail: `${name} cannot be read: ${String(error)}` };
    }
    let soundness = this.#soundness.get(name);
    if (soundness === undefined) {
      soundness = selfTest(mode, crew);
      this.#soundness.set(name, soundness);
      // A crash may be the machine's (memory, a kill): the next who asks tries anew, as soon as the breaker lets it.
      soundness.then((result) => {
        if (result.ok) return;
        if (result.lasting) setTimeout(() => this.#soundness.delete(name), LIMITS.closedMs).unref();
        else this.#soundness.delete(name);
      });
    }
    const result = await soundness;
    return result.ok ? { ok: true, crew } : result;
  }

  async #crew(mode: Mode, lane: Lane): Promise<Crew> {
    const key = `${mode.name} ${lane}`;
    const stages = await this.#chain(mode.name);
    // A crew that is made now would be ended by nobody.
    if (this.#stopped) throw new Error('the Apertium engine is stopped');
    const known = this.#crews.get(key);
    if (known !== undefined) return known.crew;
    const crew = new Crew(lane === 'bulk' ? (this.#options.bulkPipelines ?? 1) : 1, {
      name: mode.name,
      megabytes: mode.megabytes,
      urgent: lane === 'live',
      stages,
      env: this.#tree.env,
      warmUp: warmUpFor(mode.from),
      limits: {
        ...LIMITS,
        ...(lane === 'bulk' ? BULK : {}),
        ...this.#options.limits?.[lane],
      },
      gate: this.#residency,
    });
    this.#crews.set(key, { mode, lane, crew });
    return crew;
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
 * English-Spanish, 30,000 words beside one `apertium` process on the same text as one file, in turn on two cores,
 * medians of five (window, sent again below): 32, 32: 0.91; 32, 16: 0.90; 64, 32: 0.98; 128, 64: 1.02; 256, 128:
 * 0.99. Sending half a window at once saves a wake-up of every stage for each segment; wider ones would only keep
 * the next job waiting.
 */
const BULK = { window: 64, refill: 32 };

async function selfTest(mode: Mode, crew: Crew): Promise<Soundness> {
  const text = SELF_TEST[mode.from] ?? '';
  const step = await hop([{ text }], crew, 'self-test', {});
  if (!step.ok) {
    const { reason, detail } = step.draft.status === 'failed' ? step.draft : { reason: null, detail: '' };
    return {
      ok: false,
      detail: `${mode.name} failed its self-test: ${detail}`,
      lasting: reason === 'garbled',
    };
  }
  const out = step.pieces.map((piece) => ('text' in piece ? piece.text : '')).join('');
  if (out === text) {
    return { ok: false, detail: `${mode.name} failed its self-test: it changes nothing`, lasting: true };
  }
  return { ok: true };
}

async function translate(
  segment: Segment,
  hops: readonly Crew[],
  route: string,
  group: object,
): Promise<Draft> {
  const { id } = segment;
  let pieces = [...segment.pieces];
  const text = pieces.map((piece) => ('text' in piece && !('keep' in piece) ? piece.text : '')).join('');
  if (text.length > MAX_SEGMENT_LENGTH) {
    const detail = `the segment has ${text.length} characters, more than ${MAX_SEGMENT_LENGTH}`;
    return { id, status: 'failed', reason: 'too long', detail };
  }
  // Nothing to translate: digits, emoji, punctuation, codes and white space are the same in every language.
  if (hasLetters(text)) {
    for (const crew of hops) {
      const step = await hop(pieces, crew, id, group);
      if (!step.ok) return step.draft;
      pieces = step.pieces;
    }
  }
  return { id, status: 'translated', pieces, route };
}

async function hop(pieces: readonly Piece[], crew: Crew, id: string, group: object): Promise<Step> {
  const { stream, book } = encode(pieces);
  const reply = await crew.send(stream, group);
  if (!reply.ok) {
    const detail = `${crew.name}: ${reply.detail}`;
    return { ok: false, draft: { id, status: 'failed', reason: reply.reason, detail } };
  }
  let fault: string | null;
  try {
    const target = unmark(decode(reply.stream, book), book);
    fault = faultOf(target, book);
    if (fault === null) return { ok: true, pieces: target };
  } catch (error) {
    if (!(error instanceof Garbled)) throw error;
    fault = error.message;
  }
  return {
    ok: false,
    draft: { id, status: 'failed', reason: 'garbled', detail: `${crew.name}: ${fault}` },
  };
}

const unsupported = (request: DraftRequest, detail: string): Draft[] =>
  request.segments.map(({ id }) => ({ id, status: 'unsupported', detail }));

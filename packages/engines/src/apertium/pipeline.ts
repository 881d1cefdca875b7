/**
 * One resident pipeline: the processes of a mode, with a window of segments in flight.
 *
 * Protocol: the pipeline gets `stream + "[@" + id + "]\0"` for each segment. A reply is valid only if it ends in the id
 * of the first unanswered segment. Without the id, the empty strings of a dying `lt-proc -z` would look like
 * translations.
 *
 * States:
 * - `stopped`: no processes run. This is the initial state. The pipeline also stops after `idleMs` without work, after
 *   `stop()`, when it yields its memory, and when its circuit breaker opens. New work makes it request memory.
 * - `waiting`: the pipeline has requested memory.
 * - `running`: the processes run, and segments are sent while the window allows. The warm-up is sent first; the start is
 *   verified when all of the warm-up is answered.
 * - `draining`: a stage died. Nothing is sent. Replies of the stages behind it are accepted until the output ends, or
 *   for `drainMs`. Then the first unanswered segment is certainly the cause. The next state is `running` if there is
 *   work, otherwise `stopped`.
 *
 * The segment that caused a death is retried once, alone, and then fails alone; the other segments are retried together.
 * Only a start without an answer to the warm-up counts for the circuit breaker, so that no customer's text can disable a
 * direction.
 *
 * Several pipelines may share a queue (process-pool.ts). The first pipeline takes segments whenever it has capacity. The
 * other pipelines are spare: they start when more segments are pending than one window holds and memory is free.
 * Segments of a pipeline that cannot work any more go to another pipeline.
 */

import { Breaker } from '../breaker.ts';
import type { FailureReason } from '../engine.ts';
import type { MemoryGate, MemoryUser } from '../memory-budget.ts';
import type { FairQueue } from '../queue.ts';
import type { Stage } from './chain.ts';
import { Framing } from './framing.ts';
import type { Limits } from './limits.ts';
import type { Processes } from './processes.ts';
import { spawnChain } from './processes.ts';

export type Reply = { ok: true; stream: string } | { ok: false; reason: FailureReason; detail: string };

export interface PipelineSetup {
  name: string;
  megabytes: number;
  urgent: boolean;
  stages: readonly Stage[];
  env: Record<string, string>;
  /** Streams that are sent after every start. At least one is needed to verify the start. */
  warmUp: readonly string[];
  limits: Limits;
  memory: MemoryGate;
  pool: PoolView;
  /** Whether the pipeline starts only under load and if memory is free. */
  spare: boolean;
}

/** What a pipeline needs from its process pool. The pipelines of a pool share a queue. */
export interface PoolView {
  readonly queue: FairQueue<object, Item>;
  /** Number of segments of all pipelines that are queued, waiting for a retry, or in flight. */
  readonly pending: number;
  /** Number of pipelines that take segments from the queue. */
  readonly running: number;
  /** Whether the pool has another pipeline than `than`, and this other pipeline can work. */
  hasAlternative(than: Pipeline): boolean;
  /** Gives segments to any pipeline except `from` and wakes all pipelines except `from`. */
  handOver(from: Pipeline, items: Item[]): void;
}

export interface Item {
  stream: string;
  /** The request that the segment belongs to; null for a warm-up sentence. */
  group: object | null;
  tries: number;
  id: string;
  settle: (reply: Reply) => void;
}

/**
 * How long to wait, in ms, for the exit event of a stage that has probably died: the output has ended, or a reply has
 * no id.
 */
const SHORT_DRAIN_MS = 100;
const MAX_REPLY = 1024 * 1024;
/**
 * Niceness of bulk pipelines: they get only CPU time that chat messages and small jobs do not use.
 * docs/decisions/0011 compares this niceness with 5 and 10.
 */
const BULK_NICENESS = 19;

export const STOPPED: Reply = { ok: false, reason: 'stopped', detail: 'the engine was stopped' };

export class Pipeline implements MemoryUser {
  readonly name: string;
  readonly megabytes: number;
  readonly urgent: boolean;
  readonly #setup: PipelineSetup;
  readonly #limits: Limits;
  #state: 'stopped' | 'waiting' | 'running' | 'draining' = 'stopped';
  #processes: Processes | null = null;
  #ended: Promise<void> = Promise.resolve();
  /** Segments to send again after a stage has died, in their original order. They are sent before all others. */
  #retries: Item[] = [];
  #inFlight: Item[] = [];
  #inFlightLength = 0;
  #counter = 0;
  #warmUpsLeft = 0;
  #framing = new Framing();
  #outputEnded = false;
  #faultyExit = false;
  #exits = 0;
  #desynchronised = false;
  /**
   * The only timer of the pipeline. While segments are in flight, it ends at the deadline of the first one;
   * otherwise it ends when the pipeline has been idle for `idleMs`.
   */
  #timer: NodeJS.Timeout | undefined;
  #armedFor: Item | null = null;
  #drainTimer: NodeJS.Timeout | undefined;
  #pumping = false;
  readonly #breaker: Breaker;
  #lastFailure = '';
  restarts = 0;
  /** The times at which the pipeline last had work and last started, by `performance.now()`. */
  lastUsed = 0;
  startedAt = 0;

  constructor(setup: PipelineSetup) {
    this.#setup = setup;
    this.#limits = setup.limits;
    this.#breaker = new Breaker(setup.limits);
    this.name = setup.name;
    this.megabytes = setup.megabytes;
    this.urgent = setup.urgent;
  }

  get pids(): readonly number[] {
    return this.#processes?.pids ?? [];
  }

  get resident(): boolean {
    return this.#processes !== null;
  }

  get busy(): boolean {
    return this.pending + this.#queue.size > 0;
  }

  /** Number of segments in flight or waiting for a retry. */
  get pending(): number {
    return this.#inFlight.length + this.#retries.length;
  }

  get running(): boolean {
    return this.#state === 'running' && this.#warmUpsLeft === 0;
  }

  get #queue(): FairQueue<object, Item> {
    return this.#setup.pool.queue;
  }

  /** The last failure while the circuit breaker is open; null while it is closed. */
  get tripped(): string | null {
    return this.#breaker.isOpen ? this.#lastFailure : null;
  }

  /**
   * Checks the queue in a microtask, so that all segments that arrive in the same tick of the event loop cause one
   * check.
   */
  wake(): void {
    if (this.#pumping) return;
    this.#pumping = true;
    queueMicrotask(() => {
      this.#pumping = false;
      this.#pump();
    });
  }

  accept(items: readonly Item[]): void {
    this.#retries.push(...items);
    this.wake();
  }

  /**
   * Removes and returns the segments of a request that wait for a retry. Replies to its segments in flight
   * are discarded.
   */
  cancel(group: object): Item[] {
    const dropped = this.#retries.filter((item) => item.group === group);
    this.#retries = this.#retries.filter((item) => item.group !== group);
    return dropped;
  }

  /**
   * Ends the processes and fails all segments of the pipeline with `stopped`. Resolves when every process
   * has ended.
   */
  async stop(): Promise<void> {
    const work = [...this.#inFlight, ...this.#retries];
    this.#retries = [];
    this.#shutDown();
    for (const item of work) item.settle(STOPPED);
    await this.#ended;
  }

  stopIfIdle(): void {
    if (!this.busy) this.#shutDown();
  }

  /** Called by the memory budget when the pipeline gets its memory. */
  start(): void {
    if (this.#state !== 'waiting') return;
    this.#launch();
  }

  #launch(): void {
    this.#state = 'running';
    this.startedAt = performance.now();
    this.#inFlight = [];
    this.#inFlightLength = 0;
    this.#framing = new Framing();
    this.#outputEnded = false;
    this.#faultyExit = false;
    this.#exits = 0;
    this.#desynchronised = false;
    let self: Processes | null = null;
    const current = (): boolean => self !== null && this.#processes === self;
    try {
      self = spawnChain(
        this.#setup.stages,
        this.#setup.env,
        {
          onDeath: (detail, clean) => current() && this.#onDeath(detail, clean),
          onOutput: (chunk) => current() && !this.#desynchronised && this.#onOutput(chunk),
          onEnd: () => current() && this.#onEnd(),
        },
        this.#setup.urgent ? 0 : BULK_NICENESS,
      );
    } catch (error) {
      this.#lastFailure = String(error);
      this.#recover('crashed');
      return;
    }
    this.#processes = self;
    this.#ended = Promise.all([this.#ended, self.ended]).then(() => {});
    this.#warmUpsLeft = this.#setup.warmUp.length;
    const warm = this.#setup.warmUp.map(
      (stream): Item => ({ stream, group: null, tries: 0, id: '', settle: () => {} }),
    );
    this.#write(warm);
    this.wake();
  }

  #pump(): void {
    if (this.#state === 'stopped' && this.busy) {
      if (this.tripped !== null) return;
      if (this.#shouldStart()) {
        this.#state = 'waiting';
        this.#setup.memory.request(this);
      } else if (this.#retries.length > 0) this.#handOver();
      return;
    }
    if (this.#state !== 'running') return;
    if (this.#warmUpsLeft > 0 || !this.#setup.memory.shouldYield(this)) this.#fill();
    else if (this.#inFlight.length === 0) {
      this.#yieldMemory();
      return;
    }
    this.#armTimer();
  }

  /**
   * Returns whether the pipeline should start. A spare pipeline starts if no other pipeline can work, or if
   * at least a whole window of segments is pending and memory is free.
   */
  #shouldStart(): boolean {
    const { pool, memory, spare } = this.#setup;
    if (!spare || !pool.hasAlternative(this)) return true;
    return pool.pending >= this.#limits.window && memory.hasSpace(this);
  }

  #handOver(): void {
    this.#setup.pool.handOver(this, this.#retries.splice(0));
  }

  /** Maximum number of segments in flight. Pipelines that run together share the pending segments equally. */
  #maxInFlight(): number {
    const { pool } = this.#setup;
    const part = pool.running > 1 ? Math.ceil(pool.pending / pool.running) : Number.MAX_SAFE_INTEGER;
    return Math.min(this.#limits.window, part) + this.#warmUpsLeft;
  }

  /**
   * Sends segments up to the window. A suspect, the segment that may have caused the death of a stage, is sent alone:
   * if a stage dies again, the suspect is the cause.
   */
  #fill(): void {
    const batch: Item[] = [];
    let { length } = this.#inFlight;
    if (this.#warmUpsLeft === 0 && length >= this.#limits.refill) return;
    const most = this.#maxInFlight();
    let size = this.#inFlightLength;
    let suspect = (this.#inFlight[0]?.tries ?? 0) > 0;
    while (!suspect && length < most && size <= this.#limits.windowLength) {
      suspect = (this.#retries[0]?.tries ?? 0) > 0;
      if (suspect && length > 0) break;
      const item = this.#retries.shift() ?? this.#queue.shift();
      if (item === undefined) break;
      batch.push(item);
      length++;
      size += item.stream.length;
    }
    if (batch.length > 0) this.#write(batch);
  }

  #write(batch: readonly Item[]): void {
    let out = '';
    for (const item of batch) {
      item.id = `${(this.#counter++).toString(36)}`;
      out += `${item.stream}[@${item.id}]\0`;
      this.#inFlight.push(item);
      this.#inFlightLength += item.stream.length;
    }
    this.lastUsed = performance.now();
    this.#processes?.input.write(out);
  }

  #onOutput(chunk: Buffer): void {
    for (const reply of this.#framing.push(chunk)) {
      this.#onReply(reply);
      if (this.#desynchronised) return;
    }
    if (this.#framing.pendingBytes > MAX_REPLY + 32 * (this.#inFlight[0]?.stream.length ?? 0))
      this.#onDesync();
    else this.#pump();
  }

  #onReply(reply: string): void {
    const head = this.#inFlight[0];
    if (head === undefined || !reply.endsWith(`[@${head.id}]`)) {
      // A reply without the id is the output of a stage that is dying.
      if (this.#state !== 'draining') this.#onDesync();
      return;
    }
    this.#inFlight.shift();
    this.#inFlightLength -= head.stream.length;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#warmUpsLeft > 0 && --this.#warmUpsLeft === 0) this.#breaker.succeeded();
    head.settle({ ok: true, stream: reply.slice(0, -(head.id.length + 3)) });
  }

  /** Starts the timer of the first unanswered segment's deadline, or the idle timer. */
  #armTimer(): void {
    const head = this.#inFlight[0];
    if (head === undefined) {
      if (this.#timer === undefined) {
        this.#timer = setTimeout(() => this.stopIfIdle(), this.#limits.idleMs).unref();
        this.#setup.memory.notifyIdle();
      }
      return;
    }
    if (this.#timer !== undefined && this.#armedFor === head) return;
    clearTimeout(this.#timer);
    this.#armedFor = head;
    const deadlineMs =
      this.#warmUpsLeft > 0 ? this.#limits.startMs : this.#limits.deadlineMs(head.stream.length);
    this.#timer = setTimeout(() => {
      this.#lastFailure = `no reply within ${deadlineMs} ms`;
      this.#recover('timeout');
    }, deadlineMs);
  }

  /** Handles an invalid reply. If a stage has died, its exit event follows soon. */
  #onDesync(): void {
    this.#desynchronised = true;
    this.#drain(SHORT_DRAIN_MS);
  }

  #reason(): FailureReason {
    if (this.#faultyExit || !this.#desynchronised) return 'crashed';
    this.#lastFailure = 'a reply without the id of its segment';
    return 'garbled';
  }

  /**
   * Handles the exit of a stage. Exits and the end of the output come in any order; the exit with an error
   * names the cause.
   */
  #onDeath(detail: string, clean: boolean): void {
    if (this.#exits === 0 || (!clean && !this.#faultyExit)) this.#lastFailure = detail;
    this.#exits++;
    this.#faultyExit ||= !clean;
    const allEnded = this.#exits === this.#setup.stages.length;
    if ((this.#faultyExit || allEnded) && (this.#outputEnded || this.#desynchronised))
      this.#recover(this.#reason());
    else if (this.#state === 'running') this.#drain(this.#limits.drainMs);
  }

  #onEnd(): void {
    this.#outputEnded = true;
    if (this.#exits === 0) this.#lastFailure = 'the output ended';
    const allEnded = this.#exits === this.#setup.stages.length;
    if (this.#faultyExit || allEnded) this.#recover(this.#reason());
    else this.#drain(this.#limits.drainMs);
  }

  #drain(ms: number): void {
    this.#state = 'draining';
    clearTimeout(this.#drainTimer);
    this.#drainTimer = setTimeout(() => this.#recover(this.#reason()), ms);
  }

  /**
   * Queues all segments in flight again, the first one as a suspect (the probable cause), and restarts if there is
   * work.
   */
  #recover(reason: FailureReason): void {
    const proven = this.#warmUpsLeft === 0 && this.#processes !== null;
    const idle = this.#inFlight.length === 0;
    const customers = this.#inFlight.filter((item) => item.group !== null);
    const head = this.#inFlight[0];
    this.#endProcesses();
    this.restarts++;
    this.#retries.unshift(...customers);
    if (!proven || idle) this.#breaker.failed();
    else if (head !== undefined && ++head.tries > 1) {
      this.#retries.shift();
      head.settle({ ok: false, reason, detail: this.#lastFailure });
    }
    if (this.tripped !== null) {
      this.#shutDown();
      if (this.#setup.pool.hasAlternative(this)) this.#handOver();
      else this.#failAll();
    } else if (this.busy) this.#launch();
    else this.#shutDown();
  }

  #failAll(): void {
    const work = [...this.#retries.splice(0), ...this.#queue.clear()];
    for (const item of work) item.settle({ ok: false, reason: 'crashed', detail: this.trippedDetail });
  }

  get trippedDetail(): string {
    return `disabled for ${Math.ceil(this.#breaker.remainingMs / 1_000)} s after failed starts: ${this.#lastFailure}`;
  }

  /**
   * Gives up the memory when the time slice is over and another pipeline waits. Queued segments wait for the
   * next slice.
   */
  #yieldMemory(): void {
    this.#shutDown();
    this.wake();
    this.#setup.pool.handOver(this, []);
  }

  #endProcesses(): void {
    clearTimeout(this.#timer);
    clearTimeout(this.#drainTimer);
    this.#timer = undefined;
    this.#processes?.kill();
    this.#processes = null;
    this.#inFlight = [];
    this.#inFlightLength = 0;
  }

  #shutDown(): void {
    this.#endProcesses();
    this.#state = 'stopped';
    this.#setup.memory.release(this);
  }
}

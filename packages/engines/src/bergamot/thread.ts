/**
 * One resident worker thread for a language pair and a lane. It translates batches of texts.
 *
 * States:
 * - `stopped`: no thread runs. This is the initial state. The thread also stops after `idleMs` without work, after
 *   `stop()`, and when it yields its memory.
 * - `waiting`: the thread has requested memory.
 * - `loading`: the thread loads its model.
 * - `running`: the thread translates one batch at a time.
 *
 * A thread that dies or exceeds its deadline is replaced. Each text of its batch is retried alone and without scores, and
 * a text that kills the thread again fails. Only a thread that cannot load its model counts for the circuit breaker.
 */

import { Worker } from 'node:worker_threads';
import { Breaker } from '../breaker.ts';
import type { FailureReason } from '../engine.ts';
import type { MemoryGate, MemoryUser } from '../memory-budget.ts';
import { FairQueue } from '../queue.ts';
import type { ScoredTarget } from './scores.ts';
import type { Order, Report, Setup } from './worker.ts';

export type Reply = ({ ok: true } & ScoredTarget) | { ok: false; reason: FailureReason; detail: string };

export interface ThreadLimits {
  /**
   * Maximum number of texts and characters of a batch. The engine computes 1,024 tokens at a time, so few short texts
   * waste most of its time: texts of four words were translated 1.7 times as fast in batches of 512 as of 32.
   */
  texts: number;
  characters: number;
  deadlineMs: (characters: number) => number;
  startMs: number;
  idleMs: number;
}

/** A thread translated 570 words a second on one core, far faster than the deadline requires. */
export const THREAD_LIMITS: ThreadLimits = {
  texts: 512,
  characters: 8_000,
  deadlineMs: (characters) => 10_000 + 4 * characters,
  startMs: 60_000,
  idleMs: 600_000,
};

interface Item {
  html: string;
  group: object;
  suspect: boolean;
  settle: (reply: Reply) => void;
}

export interface ThreadSetup {
  name: string;
  megabytes: number;
  urgent: boolean;
  script: URL;
  model: Setup;
  limits: ThreadLimits;
  memory: MemoryGate;
}

export class Thread implements MemoryUser {
  readonly name: string;
  readonly megabytes: number;
  readonly urgent: boolean;
  readonly #setup: ThreadSetup;
  readonly #queue = new FairQueue<object, Item>();
  readonly #breaker = new Breaker({ loopCount: 3, loopMs: 60_000, firstOpenMs: 1_000, maxOpenMs: 300_000 });
  #state: 'stopped' | 'waiting' | 'loading' | 'running' = 'stopped';
  #worker: Worker | null = null;
  #ended: Promise<unknown> = Promise.resolve();
  #inFlight: Item[] = [];
  /** Texts that are retried alone, before all other texts. */
  #suspects: Item[] = [];
  #timer: NodeJS.Timeout | undefined;
  #scheduled = false;
  restarts = 0;
  lastUsed = 0;
  startedAt = 0;

  constructor(setup: ThreadSetup) {
    this.#setup = setup;
    this.name = setup.name;
    this.megabytes = setup.megabytes;
    this.urgent = setup.urgent;
  }

  get resident(): boolean {
    return this.#worker !== null;
  }

  get busy(): boolean {
    return this.#inFlight.length + this.#suspects.length + this.#queue.size > 0;
  }

  get tripped(): boolean {
    return this.#breaker.isOpen;
  }

  send(html: string, group: object): Promise<Reply> {
    return new Promise((settle) => {
      if (this.tripped) return settle(this.#trippedReply());
      this.#queue.push(group, { html, group, suspect: false, settle });
      if (this.#scheduled) return;
      this.#scheduled = true;
      // All texts that arrive in the same tick of the event loop share a batch.
      queueMicrotask(() => {
        this.#scheduled = false;
        this.#pump();
      });
    });
  }

  cancel(group: object): void {
    const dropped: Reply = { ok: false, reason: 'stopped', detail: 'the request was aborted' };
    for (const item of this.#queue.remove(group)) item.settle(dropped);
    for (const item of this.#suspects) if (item.group === group) item.settle(dropped);
    this.#suspects = this.#suspects.filter((item) => item.group !== group);
  }

  async stop(): Promise<void> {
    this.#shutDown('stopped', 'the engine was stopped');
    await this.#ended;
  }

  stopIfIdle(): void {
    if (!this.busy) this.#shutDown('stopped', 'the engine was stopped');
  }

  /** Called by the memory budget when the thread gets its memory. */
  start(): void {
    if (this.#state === 'waiting') this.#launch();
  }

  #launch(): void {
    this.#state = 'loading';
    this.startedAt = performance.now();
    const worker = new Worker(this.#setup.script, {
      workerData: this.#setup.model,
      env: {},
      stdin: false,
      // The output of the thread may contain customers' texts, so it is discarded.
      stdout: true,
      stderr: true,
    });
    this.#worker = worker;
    worker.unref();
    worker.stdout.resume();
    worker.stderr.resume();
    const current = (): boolean => this.#worker === worker;
    worker.on('message', (report: Report) => current() && this.#onReport(report));
    // Each `error` event is followed by an `exit` event, which is handled below.
    worker.on('error', () => {});
    const exit = new Promise<void>((resolve) => {
      worker.on('exit', (status) => {
        resolve();
        if (current()) this.#onDeath('crashed', `its thread ended with ${status}`);
      });
    });
    this.#ended = Promise.all([this.#ended, exit]);
    this.#arm(this.#setup.limits.startMs);
  }

  #pump(): void {
    if (this.#state === 'stopped' && this.busy) {
      this.#state = 'waiting';
      this.#setup.memory.request(this);
      return;
    }
    if (this.#state !== 'running' || this.#inFlight.length > 0) return;
    if (!this.busy) {
      clearTimeout(this.#timer);
      this.#timer = setTimeout(() => this.stopIfIdle(), this.#setup.limits.idleMs).unref();
      this.#setup.memory.notifyIdle();
      return;
    }
    // A thread translates at least one batch in each time slice, because loading the model is expensive.
    if (this.lastUsed > this.startedAt && this.#setup.memory.shouldYield(this)) {
      this.#endThread();
      this.#state = 'stopped';
      this.#setup.memory.release(this);
      this.#pump();
      return;
    }
    const batch = this.#next();
    this.#inFlight = batch;
    this.lastUsed = performance.now();
    this.#arm(this.#setup.limits.deadlineMs(batch.reduce((sum, { html }) => sum + html.length, 0)));
    const scores = batch.every(({ suspect }) => !suspect);
    const order: Order = { texts: batch.map(({ html }) => html), scores };
    this.#worker?.postMessage(order);
  }

  #next(): Item[] {
    const suspect = this.#suspects.shift();
    if (suspect !== undefined) return [suspect];
    const batch: Item[] = [];
    const { texts, characters } = this.#setup.limits;
    for (let size = 0; batch.length < texts && size < characters; ) {
      const item = this.#queue.shift();
      if (item === undefined) break;
      batch.push(item);
      size += item.html.length;
    }
    return batch;
  }

  #onReport(report: Report): void {
    clearTimeout(this.#timer);
    if ('ready' in report) {
      this.#state = 'running';
      this.#breaker.succeeded();
    } else {
      const batch = this.#inFlight;
      this.#inFlight = [];
      batch.forEach((item, index) => {
        const target = report.targets[index];
        if (target === undefined) item.settle({ ok: false, reason: 'garbled', detail: 'no reply' });
        else item.settle({ ok: true, ...target });
      });
    }
    this.#pump();
  }

  #arm(ms: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#onDeath('timeout', `no reply within ${ms} ms`), ms);
  }

  #onDeath(reason: FailureReason, detail: string): void {
    const batch = this.#inFlight;
    const loading = this.#state === 'loading';
    this.#endThread();
    this.restarts++;
    const [first] = batch;
    if (batch.length === 1 && first?.suspect === true) first.settle({ ok: false, reason, detail });
    else this.#suspects.unshift(...batch.map((item) => ({ ...item, suspect: true })));
    if (loading) this.#breaker.failed();
    if (this.tripped) this.#shutDown('crashed', this.#trippedReply().detail);
    else if (this.busy) this.#launch();
    else this.#shutDown('stopped', detail);
  }

  #trippedReply(): Extract<Reply, { ok: false }> {
    const detail = `${this.name} is disabled for a while because its model could not be loaded`;
    return { ok: false, reason: 'crashed', detail };
  }

  #endThread(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const worker = this.#worker;
    this.#worker = null;
    this.#inFlight = [];
    void worker?.terminate();
  }

  #shutDown(reason: FailureReason, detail: string): void {
    const work = [...this.#inFlight, ...this.#suspects, ...this.#queue.clear()];
    this.#suspects = [];
    this.#endThread();
    this.#state = 'stopped';
    this.#setup.memory.release(this);
    for (const item of work) item.settle({ ok: false, reason, detail });
  }
}

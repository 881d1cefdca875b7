/**
 * One resident worker thread: a pair of languages and a lane, fed batches of texts.
 *
 * Modes:
 * - `stopped`: no thread. Entered at first, after `idleMs` without work, by `stop()`, and when told to make room.
 * - `waiting`: asked for room, not given yet.
 * - `loading`: the thread reads its model.
 * - `running`: one batch at a time is with it.
 *
 * A thread that dies or is late is replaced. What was with it is tried again, each text alone; one that takes the
 * thread down alone fails alone. Only a thread that cannot load its model counts towards closing.
 */

import { Worker } from 'node:worker_threads';
import { Breaker } from '../breaker.ts';
import type { FailureReason } from '../engine.ts';
import { FairQueue } from '../queue.ts';
import type { Gate, Tenant } from '../residency.ts';
import type { Order, Report, Setup } from './worker.ts';

export type Reply = { ok: true; text: string } | { ok: false; reason: FailureReason; detail: string };

export interface ThreadLimits {
  /** Texts and characters of one batch. Eight texts a batch had 0.8 of the speed of 32. */
  texts: number;
  characters: number;
  deadlineMs: (characters: number) => number;
  startMs: number;
  idleMs: number;
}

/** About 570 words a second on one core: 10 s and 4 ms a character is far above it. */
export const THREAD_LIMITS: ThreadLimits = {
  texts: 32,
  characters: 8_000,
  deadlineMs: (characters) => 10_000 + 4 * characters,
  startMs: 60_000,
  idleMs: 600_000,
};

interface Item {
  text: string;
  marked: boolean;
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
  gate: Gate;
}

export class Thread implements Tenant {
  readonly name: string;
  readonly megabytes: number;
  readonly urgent: boolean;
  readonly #setup: ThreadSetup;
  readonly #queue = new FairQueue<object, Item>();
  readonly #breaker = new Breaker({ loopCount: 3, loopMs: 60_000, firstClosedMs: 1_000, closedMs: 300_000 });
  #state: 'stopped' | 'waiting' | 'loading' | 'running' = 'stopped';
  #worker: Worker | null = null;
  #ended: Promise<unknown> = Promise.resolve();
  #flight: Item[] = [];
  /** To be tried alone, before everything else. */
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
    return this.#flight.length + this.#suspects.length + this.#queue.size > 0;
  }

  get closed(): boolean {
    return this.#breaker.closed;
  }

  send(text: string, marked: boolean, group: object): Promise<Reply> {
    return new Promise((settle) => {
      if (this.closed) return settle(this.#closedReply());
      this.#queue.push(group, { text, marked, group, suspect: false, settle });
      if (this.#scheduled) return;
      this.#scheduled = true;
      // All that is asked for in the same turn goes together.
      queueMicrotask(() => {
        this.#scheduled = false;
        this.#pump();
      });
    });
  }

  cancel(group: object): void {
    const dropped: Reply = { ok: false, reason: 'stopped', detail: 'the request was given up' };
    for (const item of this.#queue.remove(group)) item.settle(dropped);
    for (const item of this.#suspects) if (item.group === group) item.settle(dropped);
    this.#suspects = this.#suspects.filter((item) => item.group !== group);
  }

  async stop(): Promise<void> {
    this.#shutDown('stopped', 'the engine was stopped');
    await this.#ended;
  }

  rest(): void {
    if (!this.busy) this.#shutDown('stopped', 'the engine was stopped');
  }

  /** Only the gate calls this. */
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
      // What it prints may hold texts.
      stdout: true,
      stderr: true,
    });
    this.#worker = worker;
    worker.unref();
    worker.stdout.resume();
    worker.stderr.resume();
    const current = (): boolean => this.#worker === worker;
    worker.on('message', (report: Report) => current() && this.#onReport(report));
    // `exit` comes after it and does the rest.
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
      this.#setup.gate.ask(this);
      return;
    }
    if (this.#state !== 'running' || this.#flight.length > 0) return;
    if (!this.busy) {
      clearTimeout(this.#timer);
      this.#timer = setTimeout(() => this.rest(), this.#setup.limits.idleMs).unref();
      this.#setup.gate.idle(this);
      return;
    }
    // At least one batch a turn: what a model's loading cost must bring something.
    if (this.lastUsed > this.startedAt && this.#setup.gate.wanted(this)) {
      // Its turn is over while others wait for room.
      this.#endThread();
      this.#state = 'stopped';
      this.#setup.gate.leave(this);
      this.#pump();
      return;
    }
    const batch = this.#next();
    this.#flight = batch;
    this.lastUsed = performance.now();
    this.#arm(this.#setup.limits.deadlineMs(batch.reduce((sum, { text }) => sum + text.length, 0)));
    const order: Order = { texts: batch.map(({ text, marked }) => ({ text, marked })) };
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
      size += item.text.length;
    }
    return batch;
  }

  #onReport(report: Report): void {
    clearTimeout(this.#timer);
    if ('ready' in report) {
      this.#state = 'running';
      this.#breaker.succeeded();
    } else {
      const batch = this.#flight;
      this.#flight = [];
      batch.forEach((item, index) => {
        const text = report.targets[index];
        if (text === undefined) item.settle({ ok: false, reason: 'garbled', detail: 'no reply' });
        else item.settle({ ok: true, text });
      });
    }
    this.#pump();
  }

  #arm(ms: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#onDeath('timeout', `no answer within ${ms} ms`), ms);
  }

  #onDeath(reason: FailureReason, detail: string): void {
    const batch = this.#flight;
    const loading = this.#state === 'loading';
    this.#endThread();
    this.restarts++;
    const [first] = batch;
    if (batch.length === 1 && first?.suspect === true) first.settle({ ok: false, reason, detail });
    else this.#suspects.unshift(...batch.map((item) => ({ ...item, suspect: true })));
    if (loading) this.#breaker.failed();
    if (this.closed) this.#shutDown('crashed', this.#closedReply().detail);
    else if (this.busy) this.#launch();
    else this.#shutDown('stopped', detail);
  }

  #closedReply(): Extract<Reply, { ok: false }> {
    const detail = `${this.name} is closed for a while: its model could not be loaded`;
    return { ok: false, reason: 'crashed', detail };
  }

  #endThread(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const worker = this.#worker;
    this.#worker = null;
    this.#flight = [];
    void worker?.terminate();
  }

  #shutDown(reason: FailureReason, detail: string): void {
    const work = [...this.#flight, ...this.#suspects, ...this.#queue.clear()];
    this.#suspects = [];
    this.#endThread();
    this.#state = 'stopped';
    this.#setup.gate.leave(this);
    for (const item of work) item.settle({ ok: false, reason, detail });
  }
}

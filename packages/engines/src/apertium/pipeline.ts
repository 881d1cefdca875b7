/**
 * One resident pipeline: a mode's processes, fed one segment at a time with a window in flight.
 *
 * Protocol: `stream + "[@" + id + "]\0"` goes in, and a reply counts only if it ends in the id of the first
 * unanswered segment. A dying `lt-proc -z` answers with empty strings, which without the id look like translations.
 *
 * Modes:
 * - `stopped`: no processes. Entered at first, after `idleMs` without work, by `stop()`, when told to make room, and
 *   when closed. Work makes it ask for room.
 * - `waiting`: asked for room, not given yet.
 * - `running`: processes up; it sends while the window allows. The warm-up goes first: until all of it is answered the
 *   pipeline is not proven.
 * - `draining`: a stage died. Nothing is sent; answers still coming out of the stages behind it are taken until the
 *   output ends (or `drainMs`), so that the first unanswered segment is surely the one that did it. Then back to
 *   `running` if there is work, else `stopped`.
 *
 * The first unanswered segment is retried once, alone, then fails alone; the others are put back unharmed. Only a
 * start that cannot even answer our own warm-up counts towards closing: no customer's text can close a direction.
 *
 * Several may share one line (see crew.ts): each takes the next segments from it when it has room. The first is there
 * for every segment; the others are spare: they start when more is in hand than one has in flight and there is memory
 * that nobody else wants, and what one of them cannot send any more goes to another.
 */

import { Breaker } from '../breaker.ts';
import type { FailureReason } from '../engine.ts';
import type { FairQueue } from '../queue.ts';
import type { Gate, Tenant } from '../residency.ts';
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
  /** Streams sent after every start; at least one, so that a start can be proven. */
  warmUp: readonly string[];
  limits: Limits;
  gate: Gate;
  crew: CrewView;
  /** One that may be done without: started for much work alone, in memory that is free. */
  spare: boolean;
}

/** Those that share a line, as one of them sees it. */
export interface CrewView {
  readonly line: FairQueue<object, Item>;
  /** Waiting, put back and in flight, of all. */
  readonly inHand: number;
  /** How many take from the line at present. */
  readonly running: number;
  /** Whether another than this one may work. */
  hasOther(than: Pipeline): boolean;
  /** Hands what one has in hand, if anything, to another, which looks at the line in any case. */
  handOver(from: Pipeline, items: Item[]): void;
}

export interface Item {
  stream: string;
  /** The request it belongs to; null for one of our own. */
  group: object | null;
  tries: number;
  id: string;
  settle: (reply: Reply) => void;
}

/** How long the exits may come after the symptom: the end of the output, or an answer without id. */
const SHORT_DRAIN_MS = 100;
const MAX_REPLY = 1024 * 1024;
/**
 * Ten thousand jobs, or a long document, give way to a chat message or a small job at the processor too: they have what
 * nobody else wants at the moment. Measured beside 5 and 10 (docs/decisions/0011).
 */
const BULK_NICENESS = 19;

export const STOPPED: Reply = { ok: false, reason: 'stopped', detail: 'the engine was stopped' };

export class Pipeline implements Tenant {
  readonly name: string;
  readonly megabytes: number;
  readonly urgent: boolean;
  readonly #setup: PipelineSetup;
  readonly #limits: Limits;
  #state: 'stopped' | 'waiting' | 'running' | 'draining' = 'stopped';
  #processes: Processes | null = null;
  #ended: Promise<void> = Promise.resolve();
  /** Put back after a death, to go first and in order. */
  #returned: Item[] = [];
  #flight: Item[] = [];
  #flightLength = 0;
  #counter = 0;
  #unproven = 0;
  #framing = new Framing();
  #outputEnded = false;
  #blamed = false;
  #exits = 0;
  #outOfStepSeen = false;
  /** The deadline of the first unanswered segment, or the idle timer. */
  #timer: NodeJS.Timeout | undefined;
  #armedFor: Item | null = null;
  #drainTimer: NodeJS.Timeout | undefined;
  #pumping = false;
  readonly #breaker: Breaker;
  #lastDeath = '';
  /** Restarts after a death, for the operator. */
  restarts = 0;
  /** When it last had work, and when its processes started; ms of `performance.now()`. */
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
    return this.inHand + this.#line.size > 0;
  }

  /** Sent and not answered, or put back. */
  get inHand(): number {
    return this.#flight.length + this.#returned.length;
  }

  get running(): boolean {
    return this.#state === 'running' && this.#unproven === 0;
  }

  get #line(): FairQueue<object, Item> {
    return this.#setup.crew.line;
  }

  /** Why it is closed at the moment, or null. */
  get closed(): string | null {
    return this.#breaker.closed ? this.#lastDeath : null;
  }

  /** Something waits in the line: looks once, for all that was asked for in the same turn. */
  wake(): void {
    if (this.#pumping) return;
    this.#pumping = true;
    queueMicrotask(() => {
      this.#pumping = false;
      this.#pump();
    });
  }

  /** Takes what another of its crew has put back. */
  take(items: readonly Item[]): void {
    this.#returned.push(...items);
    this.wake();
  }

  /** Drops what it has put back of a request; answers to what is in flight go nowhere. */
  cancel(group: object): Item[] {
    const dropped = this.#returned.filter((item) => item.group === group);
    this.#returned = this.#returned.filter((item) => item.group !== group);
    return dropped;
  }

  /** Ends the processes and fails all that it has in hand (`stopped`). Resolves when every process has ended. */
  async stop(): Promise<void> {
    const work = [...this.#flight, ...this.#returned];
    this.#returned = [];
    this.#shutDown();
    for (const item of work) item.settle(STOPPED);
    await this.#ended;
  }

  /** Ends the processes of a pipeline without work, to make room; they start again on use. */
  rest(): void {
    if (!this.busy) this.#shutDown();
  }

  /** Only the gate calls this. */
  start(): void {
    if (this.#state !== 'waiting') return;
    this.#launch();
  }

  #launch(): void {
    this.#state = 'running';
    this.startedAt = performance.now();
    this.#flight = [];
    this.#flightLength = 0;
    this.#framing = new Framing();
    this.#outputEnded = false;
    this.#blamed = false;
    this.#exits = 0;
    this.#outOfStepSeen = false;
    let self: Processes | null = null;
    const current = (): boolean => this.#processes === self;
    try {
      self = spawnChain(
        this.#setup.stages,
        this.#setup.env,
        {
          onDeath: (detail, clean) => current() && this.#onDeath(detail, clean),
          onOutput: (chunk) => current() && !this.#outOfStepSeen && this.#onOutput(chunk),
          onEnd: () => current() && this.#onEnd(),
        },
        this.#setup.urgent ? 0 : BULK_NICENESS,
      );
    } catch (error) {
      this.#lastDeath = String(error);
      this.#recover('crashed');
      return;
    }
    this.#processes = self;
    this.#ended = Promise.all([this.#ended, self.ended]).then(() => {});
    this.#unproven = this.#setup.warmUp.length;
    const warm = this.#setup.warmUp.map(
      (stream): Item => ({ stream, group: null, tries: 0, id: '', settle: () => {} }),
    );
    this.#write(warm);
    this.wake();
  }

  #pump(): void {
    if (this.#state === 'stopped' && this.busy) {
      if (this.closed !== null) return;
      if (this.#isNeeded()) {
        this.#state = 'waiting';
        this.#setup.gate.ask(this);
      } else if (this.#returned.length > 0) this.#handOver();
      return;
    }
    if (this.#state !== 'running') return;
    if (this.#unproven > 0 || !this.#setup.gate.wanted(this)) this.#fill();
    else if (this.#flight.length === 0) {
      this.#giveWay();
      return;
    }
    this.#watch();
  }

  /** A spare one works where no other can, and where one is full and there is room for both. */
  #isNeeded(): boolean {
    const { crew, gate, spare } = this.#setup;
    if (!spare || !crew.hasOther(this)) return true;
    return crew.inHand >= this.#limits.window && gate.hasRoom(this);
  }

  #handOver(): void {
    this.#setup.crew.handOver(this, this.#returned.splice(0));
  }

  /** How many may be in flight: no more than its part of what there is, where others work too. */
  #most(): number {
    const { crew } = this.#setup;
    const part = crew.running > 1 ? Math.ceil(crew.inHand / crew.running) : Number.MAX_SAFE_INTEGER;
    return Math.min(this.#limits.window, part) + this.#unproven;
  }

  /** Sends what the window allows. A suspect goes alone: if the pipeline dies again, it was surely that one. */
  #fill(): void {
    const batch: Item[] = [];
    let { length } = this.#flight;
    if (this.#unproven === 0 && length >= this.#limits.refill) return;
    const most = this.#most();
    let size = this.#flightLength;
    let suspect = (this.#flight[0]?.tries ?? 0) > 0;
    while (!suspect && length < most && size <= this.#limits.windowLength) {
      suspect = (this.#returned[0]?.tries ?? 0) > 0;
      if (suspect && length > 0) break;
      const item = this.#returned.shift() ?? this.#line.shift();
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
      this.#flight.push(item);
      this.#flightLength += item.stream.length;
    }
    this.lastUsed = performance.now();
    this.#processes?.input.write(out);
  }

  #onOutput(chunk: Buffer): void {
    for (const reply of this.#framing.push(chunk)) {
      this.#onReply(reply);
      if (this.#outOfStepSeen) return;
    }
    if (this.#framing.pending > MAX_REPLY + 32 * (this.#flight[0]?.stream.length ?? 0)) this.#outOfStep();
    else this.#pump();
  }

  #onReply(reply: string): void {
    const head = this.#flight[0];
    if (head === undefined || !reply.endsWith(`[@${head.id}]`)) {
      // A dying stage's last words.
      if (this.#state !== 'draining') this.#outOfStep();
      return;
    }
    this.#flight.shift();
    this.#flightLength -= head.stream.length;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#unproven > 0 && --this.#unproven === 0) this.#breaker.succeeded();
    head.settle({ ok: true, stream: reply.slice(0, -(head.id.length + 3)) });
  }

  /** Arms the deadline of the first unanswered segment, or the idle timer. */
  #watch(): void {
    const head = this.#flight[0];
    if (head === undefined) {
      if (this.#timer === undefined) {
        this.#timer = setTimeout(() => this.rest(), this.#limits.idleMs).unref();
        this.#setup.gate.idle(this);
      }
      return;
    }
    if (this.#timer !== undefined && this.#armedFor === head) return;
    clearTimeout(this.#timer);
    this.#armedFor = head;
    const deadlineMs =
      this.#unproven > 0 ? this.#limits.startMs : this.#limits.deadlineMs(head.stream.length);
    this.#timer = setTimeout(() => {
      this.#lastDeath = `no answer within ${deadlineMs} ms`;
      this.#recover('timeout');
    }, deadlineMs);
  }

  /** An answer that is none. If a stage's death is behind it, that will be told in a moment. */
  #outOfStep(): void {
    this.#outOfStepSeen = true;
    this.#drain(SHORT_DRAIN_MS);
  }

  #reason(): FailureReason {
    if (this.#blamed || !this.#outOfStepSeen) return 'crashed';
    this.#lastDeath = 'an answer without the id of its segment';
    return 'garbled';
  }

  /** The end of the output and the exits come in any order; the exit that is to blame is worth waiting for. */
  #onDeath(detail: string, clean: boolean): void {
    if (this.#exits === 0 || (!clean && !this.#blamed)) this.#lastDeath = detail;
    this.#exits++;
    this.#blamed ||= !clean;
    if (this.#blamed && (this.#outputEnded || this.#outOfStepSeen)) this.#recover(this.#reason());
    else if (this.#state === 'running') this.#drain(this.#limits.drainMs);
  }

  #onEnd(): void {
    this.#outputEnded = true;
    if (this.#exits === 0) this.#lastDeath = 'the output ended';
    if (this.#blamed) this.#recover(this.#reason());
    else this.#drain(SHORT_DRAIN_MS);
  }

  #drain(ms: number): void {
    this.#state = 'draining';
    clearTimeout(this.#drainTimer);
    this.#drainTimer = setTimeout(() => this.#recover(this.#reason()), ms);
  }

  /** Everything that was in flight is put back, the first of it as a suspect; then a new start if there is work. */
  #recover(reason: FailureReason): void {
    const proven = this.#unproven === 0 && this.#processes !== null;
    const idle = this.#flight.length === 0;
    const customers = this.#flight.filter((item) => item.group !== null);
    const head = this.#flight[0];
    this.#endProcesses();
    this.restarts++;
    this.#returned.unshift(...customers);
    if (!proven || idle) this.#breaker.failed();
    else if (head !== undefined && ++head.tries > 1) {
      this.#returned.shift();
      head.settle({ ok: false, reason, detail: this.#lastDeath });
    }
    if (this.closed !== null) {
      this.#shutDown();
      if (this.#setup.crew.hasOther(this)) this.#handOver();
      else this.#failAll();
    } else if (this.busy) this.#launch();
    else this.#shutDown();
  }

  #failAll(): void {
    const work = [...this.#returned.splice(0), ...this.#line.clear()];
    for (const item of work) item.settle({ ok: false, reason: 'crashed', detail: this.closedDetail });
  }

  get closedDetail(): string {
    return `closed for ${Math.ceil(this.#breaker.remainingMs / 1_000)} s after failed starts: ${this.#lastDeath}`;
  }

  /** Its turn is over while others wait for room: what is queued waits for the next turn. */
  #giveWay(): void {
    this.#shutDown();
    this.wake();
    this.#setup.crew.handOver(this, []);
  }

  #endProcesses(): void {
    clearTimeout(this.#timer);
    clearTimeout(this.#drainTimer);
    this.#timer = undefined;
    this.#processes?.kill();
    this.#processes = null;
    this.#flight = [];
    this.#flightLength = 0;
  }

  #shutDown(): void {
    this.#endProcesses();
    this.#state = 'stopped';
    this.#setup.gate.leave(this);
  }
}

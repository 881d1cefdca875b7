/** The metrics of the program for Prometheus. Their names are documented in docs/operating.md. */
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { ENVIRONMENTS } from '../access/accounts.ts';
import type { QuotaObserver } from '../accounts/sandbox-words.ts';
import type { Environment } from '../base/account.ts';
import { VERSION } from '../base/version.ts';
import type { MessageOutcome } from '../chats/chats.ts';
import type { Database } from '../database/database.ts';
import { statement } from '../database/statements.ts';
import type { SenderMetrics } from '../deliveries/sender.ts';
import type { EditingObserver } from '../editing/editing.ts';
import { JOB_OUTCOMES, type JobOutcome } from '../jobs/jobs.ts';
import type { HubObserver } from '../live/hub.ts';
import type { EngineObserver, EngineRunner } from '../translation/engine-runner.ts';
import { countReportingWorkers } from '../translation/report.ts';
import { ofActiveAccount } from '../work/queue.ts';
import { createEditingMetrics } from './editing-metrics.ts';
import { createEngineMetrics } from './engine-metrics.ts';
import { createLiveMetrics } from './live-metrics.ts';

export interface Metrics {
  request(method: string, route: string, status: number, seconds: number): void;
  /** Counts a request that was refused because too many requests were in progress. */
  shed(): void;
  /** Counts a scan of a text that exceeded its time limit. */
  scanTimedOut(): void;
  jobsCreated(count: number): void;
  jobSettled(environment: Environment, outcome: JobOutcome['kind']): void;
  /** Counts segments that keep their source text in a result, by the reasons of their failures. */
  untranslated(of: 'job' | 'message', reasons: Readonly<Record<string, number>>): void;
  deliveries: SenderMetrics;
  messagesCreated(count: number): void;
  readonly quota: QuotaObserver;
  /** Counts a chat message that has an outcome. @param seconds the time from the message's creation to its outcome */
  messageSettled(environment: Environment, outcome: MessageOutcome['kind'], seconds: number): void;
  readonly engines: EngineObserver;
  readonly editing: EditingObserver;
  readonly live: HubObserver;
  /** Sets the engines whose state and queue are read at each scrape. */
  watchEngines(stations: () => readonly Pick<EngineRunner, 'name' | 'state' | 'waiting'>[]): void;
  /** Returns the metrics in the text format of Prometheus. */
  expose(): Promise<{ contentType: string; text: string }>;
}

const BACKLOG = statement<{ queue: string; due: number; seconds: number }>(
  'operations.backlog',
  `select 'jobs' as queue, count(*) as due,
          coalesce(extract(epoch from now() - min(due_at)), 0)::float8 as seconds
     from jobs j where due_at <= now() and ${ofActiveAccount('j')}
   union all
   select 'messages', count(*), coalesce(extract(epoch from now() - min(due_at)), 0)::float8
     from messages m where due_at <= now() and ${ofActiveAccount('m')}
   union all
   -- A test of a URL is due before it is queued, so that it overtakes waiting deliveries.
   select 'deliveries', count(*), coalesce(extract(epoch from now() - min(greatest(due_at, queued_at))), 0)::float8
     from deliveries d where due_at <= now() and ${ofActiveAccount('d')}`,
);

const OPEN_BREAKERS = statement<{ count: number }>(
  'operations.open_breakers',
  'select count(*) as count from breakers where openings > 0',
);

/** The maximum duration of a query of a scrape. Prometheus waits ten seconds by default. */
const SCRAPE_MILLISECONDS = 5_000;

let ofNode: Registry | undefined;

/**
 * Returns the metrics of Node. A process has them once, because collecting them starts a timer and observes garbage
 * collections until the process ends.
 */
function nodeMetrics(): Registry {
  if (ofNode === undefined) {
    ofNode = new Registry();
    collectDefaultMetrics({ register: ofNode });
  }
  return ofNode;
}

/**
 * Creates the metrics of a server. Counters that an alert watches begin at 0: a series that appears with its first event
 * has no increase. They are exposed with those of Node. Each scrape reads the queues from the
 * database.
 * @param aheadSeconds by how much the clock of this process is ahead of the database's
 */
export function createMetrics(database: Database, aheadSeconds: () => number): Metrics {
  const registry = new Registry();
  nodeMetrics();
  new Gauge({
    name: 'dragoman_build_info',
    help: 'Always 1, with the version of the program as label.',
    labelNames: ['version'],
    registers: [registry],
  }).set({ version: VERSION }, 1);
  new Gauge({
    name: 'dragoman_clock_ahead_seconds',
    help: 'By how much the clock of this process is ahead of the clock of the database.',
    registers: [registry],
    collect() {
      this.set(aheadSeconds());
    },
  });
  const up = new Gauge({
    name: 'dragoman_database_up',
    help: 'Whether the database answered this scrape: 1 or 0.',
    registers: [registry],
  });
  const queues = createQueueMetrics(registry);
  watchReads(registry, database);
  watchRetries(registry, database);
  const engines = createEngineMetrics(registry);
  const editing = createEditingMetrics(registry);
  const jobs = createJobMetrics(registry);
  return {
    ...createRequestMetrics(registry),
    ...jobs,
    deliveries: createDeliveryMetrics(registry),
    editing: {
      ...editing.observer,
      delivered(how, untranslated) {
        editing.observer.delivered(how);
        jobs.untranslated('job', untranslated?.reasons ?? {});
      },
    },
    live: createLiveMetrics(registry),
    engines: engines.observer,
    watchEngines: engines.watch,
    async expose() {
      // Without its database, a process still shows what it knows itself.
      const limited = database.limited(SCRAPE_MILLISECONDS);
      const isUp = await Promise.all([queues.read(limited), editing.read(limited)]).then(
        () => true,
        () => false,
      );
      up.set(Number(isUp));
      return {
        contentType: registry.contentType,
        text: (await nodeMetrics().metrics()) + (await registry.metrics()),
      };
    },
  };
}

function createRequestMetrics(registry: Registry): Pick<Metrics, 'request' | 'shed' | 'scanTimedOut'> {
  const registers = [registry];
  const requests = new Histogram({
    name: 'dragoman_request_seconds',
    help: 'Time to answer a request, by route and status.',
    labelNames: ['method', 'route', 'status'],
    buckets: [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10],
    registers,
  });
  /**
   * The number of refused requests since the last scrape. Each scrape adds it to the counter. Incrementing the
   * counter at each refusal would be one sixth of the processor time that a refusal takes.
   */
  let shed = 0;
  new Counter({
    name: 'dragoman_requests_shed_total',
    help: 'Requests refused because too many were in progress.',
    registers,
    collect() {
      this.inc(shed);
      shed = 0;
    },
  });
  const scansTimedOut = new Counter({
    name: 'dragoman_scans_timed_out_total',
    help: 'Texts whose scan exceeded its time limit.',
    registers,
  });
  return {
    request: (method, route, status, seconds) => requests.observe({ method, route, status }, seconds),
    shed: () => void shed++,
    scanTimedOut: () => scansTimedOut.inc(),
  };
}

/** Counts the reads that may use a standby. Without a standby, the metric has no values. */
function watchReads(registry: Registry, { reads }: Database): void {
  new Counter({
    name: 'dragoman_reads_total',
    help: 'Reads that may use a standby: those that it answered, and those of the primary by reason.',
    labelNames: ['result'],
    registers: [registry],
    collect() {
      this.reset();
      for (const [result, count] of Object.entries(reads ?? {})) this.inc({ result }, count);
    },
  });
}

function watchRetries(registry: Registry, { retries }: Database): void {
  new Counter({
    name: 'dragoman_database_retries_total',
    help: 'Statements and transactions that were run again, after a conflict or a lost connection.',
    labelNames: ['reason'],
    registers: [registry],
    collect() {
      this.reset();
      for (const [reason, count] of Object.entries(retries)) this.inc({ reason }, count);
    },
  });
}

function createJobMetrics(
  registry: Registry,
): Pick<
  Metrics,
  'jobsCreated' | 'jobSettled' | 'untranslated' | 'messagesCreated' | 'messageSettled' | 'quota'
> {
  const registers = [registry];
  const created = new Counter({ name: 'dragoman_jobs_created_total', help: 'Jobs created.', registers });
  const settled = new Counter({
    name: 'dragoman_jobs_settled_total',
    help: 'Jobs that a worker settled, by environment and outcome.',
    labelNames: ['environment', 'outcome'],
    registers,
  });
  const untranslated = new Counter({
    name: 'dragoman_untranslated_segments_total',
    help: 'Segments that keep their source text in a result because no engine could translate them, by reason.',
    labelNames: ['of', 'reason'],
    registers,
  });
  const messagesCreated = new Counter({
    name: 'dragoman_messages_created_total',
    help: 'Chat messages created.',
    registers,
  });
  const messages = new Histogram({
    name: 'dragoman_message_seconds',
    help: 'Time from the creation of a chat message to its answer, by environment and outcome.',
    labelNames: ['environment', 'outcome'],
    buckets: [0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 60],
    registers,
  });
  for (const environment of ENVIRONMENTS) {
    for (const outcome of JOB_OUTCOMES) settled.inc({ environment, outcome }, 0);
    for (const outcome of ['translated', 'failed']) messages.zero({ environment, outcome });
  }
  const sandboxWords = new Counter({
    name: 'dragoman_sandbox_words_total',
    help: 'Words counted against the daily quotas of the sandbox.',
    registers,
  });
  const sandboxRefusals = new Counter({
    name: 'dragoman_sandbox_refusals_total',
    help: 'Requests for jobs, bulks and messages over the daily quota of the sandbox, repeats included.',
    registers,
  });
  return {
    jobsCreated: (count) => created.inc(count),
    jobSettled: (environment, outcome) => settled.inc({ environment, outcome }),
    untranslated(of, reasons) {
      for (const [reason, count] of Object.entries(reasons)) untranslated.inc({ of, reason }, count);
    },
    messagesCreated: (count) => messagesCreated.inc(count),
    messageSettled: (environment, outcome, seconds) => messages.observe({ environment, outcome }, seconds),
    quota: { used: (words) => sandboxWords.inc(words), refused: () => sandboxRefusals.inc() },
  };
}

function createDeliveryMetrics(registry: Registry): SenderMetrics {
  const registers = [registry];
  const attempts = new Histogram({
    name: 'dragoman_delivery_attempt_seconds',
    help: 'Time that a receiver took, by environment, and by verdict and outcome of the attempt.',
    labelNames: ['environment', 'verdict', 'outcome'],
    buckets: [0.01, 0.05, 0.1, 0.5, 1, 5, 15],
    registers,
  });
  const endings = new Histogram({
    name: 'dragoman_delivery_seconds',
    help: 'Time from an event to the end of its delivery, by environment: delivered or dead.',
    labelNames: ['environment', 'status'],
    buckets: [0.05, 0.25, 1, 5, 30, 300, 3_600, 43_200, 259_200],
    registers,
  });
  const openings = new Counter({
    name: 'dragoman_breakers_opened_total',
    help: 'Times that a circuit breaker of a host opened or its probe failed.',
    registers,
  });
  for (const environment of ENVIRONMENTS) {
    attempts.zero({ environment, verdict: 'unsigned', outcome: 'other' });
    for (const status of ['delivered', 'dead']) endings.zero({ environment, status });
  }
  return {
    attempted: (environment, verdict, outcome, milliseconds) =>
      attempts.observe({ environment, verdict, outcome }, milliseconds / 1000),
    ended: (environment, status, seconds) => endings.observe({ environment, status }, seconds),
    breakerOpened: () => openings.inc(),
  };
}

function createQueueMetrics(registry: Registry): { read(database: Database): Promise<void> } {
  const registers = [registry];
  const breakers = new Gauge({
    name: 'dragoman_breakers_open',
    help: 'Open circuit breakers of hosts, counted per account.',
    registers,
  });
  const due = new Gauge({
    name: 'dragoman_queue_due',
    help: 'Due rows that are not claimed.',
    labelNames: ['queue'],
    registers,
  });
  const oldest = new Gauge({
    name: 'dragoman_queue_oldest_seconds',
    help: 'Time for which the oldest due row has been due.',
    labelNames: ['queue'],
    registers,
  });
  const workers = new Gauge({
    name: 'dragoman_workers',
    help: 'Workers that reported to the database within the last 30 seconds.',
    registers,
  });
  return {
    async read(database) {
      due.reset();
      oldest.reset();
      for (const row of await database.query(BACKLOG)) {
        due.set({ queue: row.queue }, row.due);
        oldest.set({ queue: row.queue }, row.seconds);
      }
      const [open] = await database.query(OPEN_BREAKERS);
      breakers.set(open!.count);
      workers.set((await countReportingWorkers(database)).reporting);
    },
  };
}

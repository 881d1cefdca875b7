/** What the program counts, in the form that Prometheus reads. Names are documented in docs/operating.md. */
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { Database } from '../database/database.ts';
import { statement } from '../database/statements.ts';
import type { SenderMetrics } from '../deliveries/sender.ts';
import type { EditingObserver } from '../editing/editing.ts';
import type { HubObserver } from '../live/hub.ts';
import { readWorkers } from '../translation/report.ts';
import type { EngineObserver, Station } from '../translation/stations.ts';
import { VERSION } from '../version.ts';
import { createEditingMetrics } from './editing-metrics.ts';
import { createEngineMetrics } from './engine-metrics.ts';
import { createLiveMetrics } from './live-metrics.ts';

export interface Metrics {
  request(method: string, route: string, status: number, seconds: number): void;
  /** A request was refused before the app saw it, because too many were under way. */
  shed(): void;
  /** A text was not read to its end, because that took longer than its time limit. */
  scanTimedOut(): void;
  jobsCreated(count: number): void;
  jobSettled(outcome: string): void;
  deliveries: SenderMetrics;
  messagesCreated(count: number): void;
  /** @param seconds from its creation to its answer */
  messageSettled(outcome: string, seconds: number): void;
  readonly engines: EngineObserver;
  readonly editing: EditingObserver;
  readonly live: HubObserver;
  /** Whose state and queue are read at each scrape. */
  watchEngines(stations: () => readonly Pick<Station, 'name' | 'state' | 'waiting'>[]): void;
  /** The text that Prometheus scrapes. */
  expose(): Promise<{ contentType: string; text: string }>;
}

const BACKLOG = statement<{ queue: string; due: number; seconds: number }>(
  'operations.backlog',
  `select 'jobs' as queue, count(*) as due,
          coalesce(extract(epoch from now() - min(due_at)), 0)::float8 as seconds
     from jobs where due_at <= now()
   union all
   select 'messages', count(*), coalesce(extract(epoch from now() - min(due_at)), 0)::float8
     from messages where due_at <= now()
   union all
   select 'deliveries', count(*), coalesce(extract(epoch from now() - min(due_at)), 0)::float8
     from deliveries where due_at <= now()`,
);

const OPEN_BREAKERS = statement<{ count: number }>(
  'operations.open_breakers',
  'select count(*) as count from breakers where openings > 0',
);

/** A registry of this process, with Node's own figures; the backlog is asked of the database at each scrape. */
export function createMetrics(database: Database): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const registers = [registry];
  new Gauge({
    name: 'dragoman_build_info',
    help: 'Always 1; its label says the version of the program.',
    labelNames: ['version'],
    registers,
  }).set({ version: VERSION }, 1);
  const requests = new Histogram({
    name: 'dragoman_request_seconds',
    help: 'Time to answer a request, by route and status.',
    labelNames: ['method', 'route', 'status'],
    buckets: [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10],
    registers,
  });
  /** Added at each scrape: an observation costs a sixth of what refusing does. */
  let shed = 0;
  new Counter({
    name: 'dragoman_requests_shed_total',
    help: 'Requests refused at once, because too many were under way.',
    registers,
    collect() {
      this.inc(shed);
      shed = 0;
    },
  });
  const scansTimedOut = new Counter({
    name: 'dragoman_scans_timed_out_total',
    help: 'Texts whose reading was ended, because it was over its time limit.',
    registers,
  });
  const created = new Counter({ name: 'dragoman_jobs_created_total', help: 'Jobs created.', registers });
  const settled = new Counter({
    name: 'dragoman_jobs_settled_total',
    help: 'Jobs that a worker settled, by outcome.',
    labelNames: ['outcome'],
    registers,
  });
  const messagesCreated = new Counter({
    name: 'dragoman_messages_created_total',
    help: 'Chat messages created.',
    registers,
  });
  const messages = new Histogram({
    name: 'dragoman_message_seconds',
    help: 'Time from the creation of a chat message to its answer, by outcome.',
    labelNames: ['outcome'],
    buckets: [0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 60],
    registers,
  });
  const attempts = new Histogram({
    name: 'dragoman_delivery_attempt_seconds',
    help: 'Time that a receiver took, by what followed and how the attempt ended.',
    labelNames: ['verdict', 'outcome'],
    buckets: [0.01, 0.05, 0.1, 0.5, 1, 5, 15],
    registers,
  });
  const endings = new Histogram({
    name: 'dragoman_delivery_seconds',
    help: 'Time from an event to the end of its delivery, delivered or dead.',
    labelNames: ['status'],
    buckets: [0.05, 0.25, 1, 5, 30, 300, 3_600, 43_200, 259_200],
    registers,
  });
  const openings = new Counter({
    name: 'dragoman_breakers_opened_total',
    help: 'Times that deliveries to a host were suspended, or a probe of it failed.',
    registers,
  });
  const failing = new Gauge({
    name: 'dragoman_breakers_open',
    help: 'Hosts, one for each account, that deliveries are suspended to.',
    registers,
  });
  const due = new Gauge({
    name: 'dragoman_queue_due',
    help: 'Rows that are due and not claimed.',
    labelNames: ['queue'],
    registers,
  });
  const oldest = new Gauge({
    name: 'dragoman_queue_oldest_seconds',
    help: 'How long the oldest due row has waited.',
    labelNames: ['queue'],
    registers,
  });
  const workers = new Gauge({
    name: 'dragoman_workers',
    help: 'Workers that reported to the database within the last 30 seconds.',
    registers,
  });
  const engines = createEngineMetrics(registry);
  const editing = createEditingMetrics(registry);
  return {
    editing: editing.observer,
    live: createLiveMetrics(registry),
    engines: engines.observer,
    watchEngines: engines.watch,
    request: (method, route, status, seconds) => requests.observe({ method, route, status }, seconds),
    shed: () => void shed++,
    scanTimedOut: () => scansTimedOut.inc(),
    jobsCreated: (count) => created.inc(count),
    jobSettled: (outcome) => settled.inc({ outcome }),
    deliveries: {
      attempted: (verdict, outcome, milliseconds) =>
        attempts.observe({ verdict, outcome }, milliseconds / 1000),
      ended: (status, seconds) => endings.observe({ status }, seconds),
      breakerOpened: () => openings.inc(),
    },
    messagesCreated: (count) => messagesCreated.inc(count),
    messageSettled: (outcome, seconds) => messages.observe({ outcome }, seconds),
    async expose() {
      for (const row of await database.query(BACKLOG)) {
        due.set({ queue: row.queue }, row.due);
        oldest.set({ queue: row.queue }, row.seconds);
      }
      const [open] = await database.query(OPEN_BREAKERS);
      failing.set(open!.count);
      workers.set((await readWorkers(database)).reporting);
      await editing.read(database);
      return { contentType: registry.contentType, text: await registry.metrics() };
    },
  };
}

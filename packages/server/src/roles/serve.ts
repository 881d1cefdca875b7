/**
 * Starts and stops a server process with one or both roles:
 *
 * - `api` answers HTTP requests.
 * - `worker` translates and delivers. It answers only requests for health, readiness and metrics.
 *
 * A stopping server is not ready, and serves on for `DRAGOMAN_DRAIN_SECONDS`. Then it refuses new connections and
 * finishes its requests. Its workers stop claiming work. They
 * finish what they can within the grace period, and return the rest to the queue.
 */
import type { Engine } from '@dragoman/engines';
import type { FastifyInstance } from 'fastify';
import { readOpenSessions } from '../access/sessions.ts';
import type { Log } from '../base/log.ts';
import { VERSION } from '../base/version.ts';
import { correctMessage } from '../chats/correction.ts';
import { type DatabaseClock, startClock } from '../database/clock.ts';
import { createAddressGuard } from '../deliveries/addresses.ts';
import { createEditing } from '../editing/editing.ts';
import { createLanguages } from '../languages/languages.ts';
import { createHub } from '../live/hub.ts';
import { checkReadiness } from '../operations/health.ts';
import { createMetrics } from '../operations/metrics.ts';
import { createScanner, type Scanner, type ScannerOptions } from '../scanning/scanner.ts';
import { servesSandbox } from '../settings/engine-names.ts';
import { publicRoot, type Settings } from '../settings/settings.ts';
import { startApi } from './api.ts';
import { createWorkerApp } from './app.ts';
import { closeApp, drainApp, trackUnusedConnections } from './closing.ts';
import { type Context, REQUEST_MILLISECONDS } from './context.ts';
import { CHANNELS, createHints } from './hints.ts';
import type { Store } from './program.ts';
import { warnOfSettings } from './warnings.ts';
import { startWorkerRole, type Worker } from './worker.ts';

export type Role = 'all' | 'api' | 'worker';

export interface ServerOptions {
  store: Store;
  settings: Settings;
  role: Role;
  /** Creates the engines in order of preference. Called only if the role needs engines. */
  engines(): Engine[];
  log: Log;
  /** The limits of the document scanner. Tests use smaller limits. */
  scanning?: ScannerOptions;
  /** A scanner that several servers share. By default, the server has its own. */
  scanner?: Scanner;
}

export interface Server {
  /** The URL at which the server listens, such as `http://127.0.0.1:8080`. */
  url: string;
  app: FastifyInstance;
  /** Stops the server within about `graceMilliseconds` after it was drained. The database stays open. */
  stop(graceMilliseconds?: number): Promise<void>;
}

const GRACE_MILLISECONDS = 6_000;

/**
 * Starts the roles on an open database. The app listens before the worker starts.
 * @throws the error of `listen`, such as `EADDRINUSE`; in this case no part of the server is left running
 */
export async function startServer(options: ServerOptions): Promise<Server> {
  const { settings, role, log } = options;
  const running: Running = { stopping: false, url: undefined, worker: undefined };
  const clock = await startClock(options.store.database, log);
  const context = createContext(options, running, clock);
  const api = role === 'worker' ? undefined : await startApi(context);
  const app = api?.app ?? createWorkerApp(context);
  warnOfSettings(settings, log);
  const unused = trackUnusedConnections(app.server);
  const url = await app.listen({ host: settings.host, port: settings.port });
  running.url = url;
  const port = Number(new URL(url).port);
  log.info({ version: VERSION, role, host: settings.host, port, pid: process.pid }, 'listening');
  // The worker starts after the server listens, so that no worker keeps running when the server cannot listen.
  if (role !== 'api') {
    const engines = options.engines();
    running.worker = startWorkerRole(context, engines);
    log.info({ name: engines.map(({ name }) => name).join(', ') }, 'working: translating and delivering');
  }
  return {
    url,
    app,
    async stop(graceMilliseconds = GRACE_MILLISECONDS) {
      running.stopping = true;
      // The app and the worker stop concurrently, so that together they end within one grace period.
      await Promise.all([
        drainApp(app, role === 'worker' ? 0 : settings.drainSeconds)
          .then(() => closeApp(app, unused, graceMilliseconds))
          .then(() => api?.idle()),
        running.worker?.stop(graceMilliseconds),
      ]);
      clock.stop();
      await context.live.close();
      await context.scanner.close();
    },
  };
}

interface Running {
  stopping: boolean;
  /**
   * The URL at which the server listens; undefined until it listens. With port 0 in the settings, the system
   * chooses the port.
   */
  url: string | undefined;
  worker: Worker | undefined;
}

function createContext(options: ServerOptions, running: Running, clock: DatabaseClock): Context {
  const { store, settings, role, log, scanning } = options;
  const { database } = store;
  const metrics = createMetrics(database, clock.aheadSeconds);
  const live = createHub({
    database,
    readOpenSessions: (sessions) => readOpenSessions(database, settings, sessions),
    observer: metrics.live,
    log,
    most: settings.liveStreams,
  });
  const languages = createLanguages(database, (engine) => servesSandbox(settings, engine));
  const scanner = options.scanner ?? createScanner({ timedOut: metrics.scanTimedOut, ...scanning });
  const hints = role === 'api' ? createHints(database, log) : undefined;
  const root = () => settings.publicUrl ?? running.url ?? publicRoot(settings);
  const sourceOf: Context['sourceOf'] = (environment) => {
    const sandbox = settings.sandboxUrl ?? `${root()}/sandbox`;
    return { vendor: settings.vendor, chatBaseUrl: environment === 'sandbox' ? sandbox : root() };
  };
  const editing = createEditing({
    database: database.limited(REQUEST_MILLISECONDS),
    scanner,
    settings,
    observer: metrics.editing,
    corrected: (transaction, account, jobId, result) =>
      correctMessage(transaction, account, jobId, result, sourceOf),
    wake() {
      running.worker?.editing.wake();
      hints?.send(CHANNELS.editing);
    },
    wakePropagation() {
      running.worker?.propagation.wake();
      hints?.send(CHANNELS.votes);
    },
  });
  return {
    store,
    database,
    clock,
    settings,
    log,
    metrics,
    live,
    languages,
    scanner,
    hints,
    root,
    sourceOf,
    editing,
    guard: createAddressGuard({ allowedNetworks: settings.allowedNetworks }),
    worker: () => running.worker,
    stopping: () => running.stopping,
    readiness: () =>
      checkReadiness({
        database,
        aheadSeconds: clock.aheadSeconds(),
        languages,
        stopping: running.stopping,
        works: role !== 'api',
      }),
  };
}

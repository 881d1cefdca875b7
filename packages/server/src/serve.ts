/**
 * A running server, in one or both of its roles.
 *
 *   api      answers HTTP; stateless, any number of them
 *   worker   translates and delivers; answers health, readiness and metrics alone; any number of them
 *
 * Stopping: the server refuses new connections and finishes the requests that it has; the workers claim no
 * more, finish what they can within the grace, and give the rest back.
 */
import type { Server as HttpServer } from 'node:http';
import type { Socket } from 'node:net';
import type { Engine } from '@dragoman/engines';
import type { FastifyInstance } from 'fastify';
import type { Environment } from './account.ts';
import { createDoorkeeper, createSecretReader, KEYS_CHANNEL } from './accounts/accounts.ts';
import { cookieOf } from './accounts/door.ts';
import { createMailer } from './accounts/mail.ts';
import { openAmong } from './accounts/sessions.ts';
import { createApp, createWorkerApp } from './app.ts';
import { followDeliveries } from './chats/chats.ts';
import { correctMessage, startCorrections } from './chats/correction.ts';
import { createMessageCreator, type MessageCreator } from './chats/create.ts';
import type { EventSource } from './chats/present.ts';
import { startChatWorker } from './chats/worker.ts';
import { createAddressGuard } from './deliveries/addresses.ts';
import { createPoster } from './deliveries/post.ts';
import { startSender } from './deliveries/sender.ts';
import { createEditing, startEditingUpkeep } from './editing/editing.ts';
import { JOBS_CHANNEL } from './jobs/console.ts';
import { type Creator, createCreator } from './jobs/create.ts';
import { startUpkeep } from './jobs/upkeep.ts';
import { createLanguages, publishPairs, withdrawPairs } from './languages/languages.ts';
import { createPriceList } from './ledger/price-list.ts';
import { watchChanges } from './live/changes.ts';
import { createHub } from './live/hub.ts';
import type { Log } from './log.ts';
import { findExamples, inTheirPlaces, recall } from './memory/memory.ts';
import { checkReadiness } from './operations/health.ts';
import { createMetrics } from './operations/metrics.ts';
import type { Store } from './program.ts';
import { ERASURES_CHANNEL } from './retention/erase.ts';
import { startRetention } from './retention/retention.ts';
import { createScanner, type ScannerOptions } from './scanning/scanner.ts';
import { publicRoot, type Settings } from './settings.ts';
import { limitsOf } from './translation/engines.ts';
import { createTally, startReporting } from './translation/report.ts';
import type { EngineObserver } from './translation/stations.ts';
import { listRoutes } from './translation/store.ts';
import { createTranslator } from './translation/translator.ts';
import { startTranslationWorker } from './translation/worker.ts';
import { VERSION } from './version.ts';
import type { Loop } from './work/loop.ts';

export type Role = 'all' | 'api' | 'worker';

export interface ServerOptions {
  store: Store;
  settings: Settings;
  role: Role;
  /** Makes the engines when the role needs them, in the order in which they are tried. */
  engines(): Engine[];
  log: Log;
  /** Tests make limits small. */
  scanning?: ScannerOptions;
}

export interface Server {
  /** Where it listens, `http://127.0.0.1:8080`. */
  url: string;
  app: FastifyInstance;
  /** Ends within `graceMilliseconds` and a little; the store stays open. */
  stop(graceMilliseconds?: number): Promise<void>;
}

/** Of what was translated before, for a sentence that a language model is to translate. */
const EXAMPLES = 2;
const GRACE_MILLISECONDS = 6_000;
/** How often the list of pairs that this worker's engine offers is published anew. */
const PUBLISH_MILLISECONDS = 600_000;
const CHANNELS = {
  jobs: JOBS_CHANNEL,
  keys: KEYS_CHANNEL,
  messages: 'dragoman_messages',
  editing: 'dragoman_editing',
} as const;
/** Somebody waits for a chat message; the longest that a dead worker may make them wait. */
const MESSAGE_LEASE_SECONDS = 10;

/**
 * Starts the roles on an open store. The app listens before the worker starts.
 * @throws Error of `listen` (such as `EADDRINUSE`); nothing is left running then
 */
export async function startServer(options: ServerOptions): Promise<Server> {
  const { store, settings, role, log } = options;
  const metrics = createMetrics(store.database);
  const live = createHub({
    database: store.database,
    openAmong: (sessions) => openAmong(store.database, settings, sessions),
    observer: metrics.live,
    log,
    most: settings.liveStreams,
  });
  const database = watchChanges(store.database, () => live.watched, live.tell);
  const guard = createAddressGuard({ allowedNetworks: settings.allowedNetworks });
  const languages = createLanguages(database);
  const doorkeeper = createDoorkeeper(database);
  const scanner = createScanner({ timedOut: metrics.scanTimedOut, ...options.scanning });
  const hints = createHints(database, log);
  let stopping = false;

  let worker: ReturnType<typeof startWorker> | undefined;
  let app: FastifyInstance;
  let url: string | undefined;
  let creator: Creator | undefined;
  let messages: MessageCreator | undefined;
  const editing = createEditing({
    database,
    scanner,
    settings,
    observer: metrics.editing,
    corrected: (transaction, account, jobId, result) =>
      correctMessage(transaction, account, jobId, result, sourceOf),
    wake() {
      worker?.editing.wake();
      if (role === 'api') hints.send(CHANNELS.editing);
    },
  });
  const { follower, reopen } = editing;
  const readiness = () => checkReadiness({ database, languages, stopping, works: role !== 'api' });
  if (role === 'worker') {
    app = createWorkerApp({ settings, log, metrics, readiness });
  } else {
    creator = createCreator({
      database,
      languages,
      prices: createPriceList(database, settings),
      scanner,
      guard,
      settings,
      worker: () => worker?.translation,
      created(count, waiting) {
        metrics.jobsCreated(count);
        if (waiting === 0) return;
        worker?.translation.wake();
        if (role === 'api') hints.send(CHANNELS.jobs);
      },
    });
    messages = createMessageCreator({
      database,
      languages,
      guard,
      settings,
      worker: () => worker?.chat,
      created(count, waiting) {
        metrics.messagesCreated(count);
        if (waiting === 0) return;
        worker?.chat.wake();
        if (role === 'api') hints.send(CHANNELS.messages);
      },
    });
    const rooms = {
      live,
      doorkeeper,
      creator,
      messages,
      languages,
      scanner,
      guard,
      follower,
      reopen,
      editing,
    };
    const deliveryDue = () => worker?.sender.wake();
    app = createApp({
      database,
      vault: store.vault,
      mailer: createMailer(settings, log),
      root: rootOf,
      ...rooms,
      deliveryDue,
      metrics,
      readiness,
      settings,
      log,
    });
    await database.listen(CHANNELS.keys, () => doorkeeper.forget());
    if (!cookieOf(settings).secure) {
      log.warn(
        'people sign in over plain http: whoever is on the way can read it; set DRAGOMAN_PUBLIC_URL to https',
      );
    }
  }
  warnOfSettings(settings, log);
  const silent = watchSilent(app.server);
  url = await app.listen({ host: settings.host, port: settings.port });
  const port = Number(new URL(url).port);
  log.info({ version: VERSION, role, host: settings.host, port, pid: process.pid }, 'listening');
  // After the port is ours: a start that fails leaves no worker behind.
  if (role !== 'api') {
    const engines = options.engines();
    worker = startWorker(engines);
    log.info({ name: engines.map(({ name }) => name).join(', ') }, 'working: translating and delivering');
  }

  function startWorker(engines: Engine[]) {
    const tally = createTally();
    const translator = createTranslator({
      engines,
      limitsOf: (engine) => limitsOf(settings, engine),
      rules: () => listRoutes(database),
      recall: ({ account, from, to, brand, context }, sources) =>
        account === undefined
          ? Promise.resolve([])
          : recall(database, account, { from, to, brand, tone: context?.tone }, inTheirPlaces(sources)),
      examples: ({ account, from, to, brand, context }, source) =>
        account === undefined
          ? Promise.resolve([])
          : findExamples(database, account, { from, to, brand, tone: context?.tone }, source, EXAMPLES),
      observer: observeBoth(metrics.engines, tally.observer),
      cacheBytes: settings.cacheMebibytes * 1024 * 1024,
      log,
    });
    metrics.watchEngines(() => translator.stations);
    const reporting = startReporting({ database, stations: translator.stations, tally, log });
    const poster = createPoster({
      guard,
      connectionsPerOrigin: settings.senderPerHost,
      timeoutMs: settings.callbackTimeoutSeconds * 1000,
    });
    const sender = startSender({
      database,
      poster,
      secrets: createSecretReader(database, store.vault),
      scheduleSeconds: settings.callbackSchedule,
      breakerSeconds: settings.callbackBreaker,
      capacity: settings.senderDeliveries,
      perHost: settings.senderPerHost,
      leaseSeconds: settings.leaseSeconds,
      log,
      metrics: metrics.deliveries,
      moved: followDeliveries,
    });
    const translation = startTranslationWorker({
      database,
      translator,
      scanner,
      follower,
      log,
      capacity: settings.workerJobs,
      leaseSeconds: settings.leaseSeconds,
      progress: live.progress,
      settled(outcome, told) {
        metrics.jobSettled(outcome);
        if (told) sender.wake();
        // One without a sentence to edit is put together at once.
        if (outcome === 'drafted') edited.wake();
      },
    });
    const chat = startChatWorker({
      database,
      translator,
      scanner,
      log,
      capacity: settings.workerMessages,
      leaseSeconds: Math.min(MESSAGE_LEASE_SECONDS, settings.leaseSeconds),
      sourceOf,
      settled(outcome, seconds) {
        metrics.messageSettled(outcome, seconds);
        sender.wake();
      },
    });
    // Polled as well.
    void database.listen(CHANNELS.jobs, () => translation.wake()).catch(() => {});
    void database.listen(CHANNELS.messages, () => chat.wake()).catch(() => {});
    const publish = () => publishDirections(engines);
    void publish();
    const publishing = setInterval(() => void publish(), PUBLISH_MILLISECONDS);
    const upkeep = startUpkeep(database, settings, log);
    const retention = startRetention(database, log);
    void database.listen(ERASURES_CHANNEL, retention.wake).catch(() => {});
    const corrections = startCorrections(database, log, () => translation.wake());
    const edited = startEditingUpkeep(editing.room, log, () => sender.wake());
    void database.listen(CHANNELS.editing, () => edited.wake()).catch(() => {});
    return {
      translation,
      chat,
      sender,
      editing: edited,
      async stop(grace: number) {
        clearInterval(publishing);
        await Promise.all([
          stopLoops([translation, chat, sender], grace),
          upkeep.stop(),
          retention.stop(),
          corrections.stop(),
          reporting.stop(),
          edited.stop(),
        ]);
        await translator.stop();
        // The sender has waited and given back what is left: a receiver that never answers is not waited for.
        await poster.cut();
      },
    };
  }

  /** Where the server is reached; its own port may be another than that of the settings. */
  function rootOf(): string {
    return settings.publicUrl ?? url ?? publicRoot(settings);
  }

  /** Where customers reach the interface of an environment, as they name it. */
  function sourceOf(environment: Environment): EventSource {
    const production = rootOf();
    const sandbox = settings.sandboxUrl ?? `${production}/sandbox`;
    return { vendor: settings.vendor, chatBaseUrl: environment === 'sandbox' ? sandbox : production };
  }

  async function publishDirections(engines: readonly Engine[]): Promise<void> {
    await Promise.all(
      engines.map((engine) =>
        publishPairs(database, engine).catch((error: unknown) => {
          if (!stopping) log.warn({ error, name: engine.name }, 'could not publish language pairs');
        }),
      ),
    );
    await withdrawPairs(database).catch((error: unknown) => {
      if (!stopping) log.warn({ error }, 'could not withdraw the pairs that nobody publishes');
    });
  }

  return {
    url,
    app,
    async stop(graceMilliseconds = GRACE_MILLISECONDS) {
      stopping = true;
      // At once, so that both fit into one grace.
      await Promise.all([
        closeApp(app, silent, graceMilliseconds).then(() => Promise.all([creator?.idle(), messages?.idle()])),
        worker?.stop(graceMilliseconds),
      ]);
      await live.close();
      await scanner.close();
    },
  };
}

/** How often connections are looked at that have become idle since the stop began. */
const IDLE_LOOK_MILLISECONDS = 50;

/** The connections on which nothing was ever sent: browsers open some in case they should need them. */
interface Silent {
  close(): void;
}

/** Node counts them as busy with the head of a first request, so `closeIdleConnections` leaves them open. */
function watchSilent(server: HttpServer): Silent {
  const open = new Set<Socket>();
  server.on('connection', (socket) => {
    open.add(socket);
    socket.once('close', () => open.delete(socket));
  });
  server.on('request', ({ socket }) => open.delete(socket));
  return {
    close() {
      for (const socket of open) if (socket.bytesRead === 0) socket.destroy();
    },
  };
}

/**
 * Refuses new connections, finishes the requests under way, and cuts those that do not end within the grace.
 * A connection that its client keeps open is closed once it is answered, and one that never asked at once; Node would
 * wait until they idle out.
 */
async function closeApp(app: FastifyInstance, silent: Silent, graceMilliseconds: number): Promise<void> {
  const idle = setInterval(() => {
    app.server.closeIdleConnections();
    silent.close();
  }, IDLE_LOOK_MILLISECONDS);
  const last = setTimeout(() => app.server.closeAllConnections(), graceMilliseconds);
  try {
    await app.close();
  } finally {
    clearInterval(idle);
    clearTimeout(last);
  }
}

/** Services that charge for what they translate, whether or not the settings say how much. */
const CHARGING: ReadonlySet<string> = new Set(['deepl', 'google', 'azure']);

/** One line for each thing about this start that an operator should know and might not. */
function warnOfSettings(settings: Settings, log: Log): void {
  if (process.getuid?.() === 0) {
    log.warn(
      'running as root, with its engines and its database; use a user without rights (deploy/dragoman.service)',
    );
  }
  const paid = settings.engines.filter((name) => CHARGING.has(name) || (settings.engineCosts[name] ?? 0) > 0);
  if (settings.sandboxRequests === 'at-once' && paid.length > 0) {
    log.warn(
      { name: paid.join(', ') },
      'anybody may open a sandbox account and use engines that you pay for; set DRAGOMAN_SANDBOX_REQUESTS to operator',
    );
  }
}

/** What happens at an engine is counted twice: for metrics, and for the console. */
function observeBoth(
  metrics: EngineObserver,
  console: Pick<EngineObserver, 'asked' | 'failed'>,
): EngineObserver {
  return {
    ...metrics,
    asked(...happened) {
      metrics.asked(...happened);
      console.asked(...happened);
    },
    failed(...happened) {
      metrics.failed(...happened);
      console.failed(...happened);
    },
  };
}

function stopLoops(loops: Loop[], graceMilliseconds: number): Promise<unknown> {
  return Promise.all(loops.map((loop) => loop.stop(graceMilliseconds)));
}

/** Hints to other processes, at most one a channel in flight: a burst of commits sends two, not hundreds. */
function createHints(database: { notify(channel: string): Promise<void> }, log: Log) {
  const inFlight = new Set<string>();
  const again = new Set<string>();
  return {
    send(channel: string): void {
      if (inFlight.has(channel)) {
        again.add(channel);
        return;
      }
      inFlight.add(channel);
      database
        .notify(channel)
        .catch((error: unknown) => log.debug({ error }, 'a hint was lost'))
        .finally(() => {
          inFlight.delete(channel);
          if (again.delete(channel)) this.send(channel);
        });
    },
  };
}

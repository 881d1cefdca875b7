/**
 * The worker process: it translates, delivers and runs periodic work. Any number of worker processes can run.
 */
import { unwatchFile, watchFile } from 'node:fs';
import type { Engine } from '@dragoman/engines';
import { createSecretReader } from '../access/webhook-secrets.ts';
import { mailFailedEndpoint } from '../accounts/endpoint-mail.ts';
import { createMailer, forgiveMail, mayMail } from '../accounts/mail.ts';
import type { AccountRef } from '../base/account.ts';
import { followDeliveries } from '../chats/chats.ts';
import { startCorrections } from '../chats/correction.ts';
import { startChatWorker } from '../chats/worker.ts';
import { startEndpointUpkeep } from '../deliveries/failing-endpoints.ts';
import { createPoster } from '../deliveries/post.ts';
import { type Sender, startSender } from '../deliveries/sender.ts';
import { startEditingUpkeep, startPropagation } from '../editing/editing.ts';
import { startJobMaintenance } from '../jobs/worker/maintenance.ts';
import { startTranslationWorker } from '../jobs/worker/worker.ts';
import { publishPairs, withdrawPairs } from '../languages/languages.ts';
import { findExamples, recall, withNeighbours } from '../memory/memory.ts';
import { ERASURES_CHANNEL } from '../retention/erase.ts';
import { startRetention } from '../retention/retention.ts';
import { servesSandbox } from '../settings/engine-names.ts';
import { startComparisons } from '../translation/comparison-worker.ts';
import type { EngineObserver } from '../translation/engine-runner.ts';
import { limitsOf, modelsFolder } from '../translation/engines.ts';
import {
  createEngineStatistics,
  type EngineStatistics,
  startEngineReporting,
} from '../translation/report.ts';
import { createTranslator, listEngineRoutes, type Translator } from '../translation/translator.ts';
import type { Context } from './context.ts';
import { CHANNELS } from './hints.ts';

export type Worker = ReturnType<typeof startWorkerRole>;

/** The number of earlier translations that a language model gets as examples for a sentence. */
const EXAMPLES = 2;
/** The interval at which a worker looks for new models. */
const MODELS_MILLISECONDS = 2_000;
/** The interval at which a worker publishes the language pairs of its engines. */
const PUBLISH_MILLISECONDS = 600_000;
/**
 * The duration of the lease of a chat message. When a worker dies, its messages wait this long until another worker
 * claims them. It is shorter than the lease of a job, because people wait for chat messages.
 */
const MESSAGE_LEASE_SECONDS = 10;
/** The maximum number of chat messages that one worker processes at a time, in addition to its jobs. */
const MESSAGES_AT_A_TIME = 64;

/** Starts all loops of a worker. @param engines the engines in order of preference */
export function startWorkerRole(context: Context, engines: Engine[]) {
  const { database, log } = context;
  const statistics = createEngineStatistics();
  const translator = createEngineTranslator(context, engines, statistics.observer);
  const reporting = startEngineReporting({ database, runners: translator.runners, statistics, log });
  const comparisons = startComparisons({ database, translator, log });
  const { poster, sender } = startDeliveries(context);
  const edited = startEditingUpkeep(context.editing.context, log, () => sender.wake());
  const propagation = startPropagation(context.editing.context, context.settings.leaseSeconds, log);
  const translation = startJobs(context, translator, sender, () => {
    // A job without segments to edit is assembled at once.
    edited.wake();
    // Texts that editors have already confirmed in other jobs are put into the new segments.
    propagation.wake();
  });
  const chat = startChats(context, translator, sender);
  const retention = startRetention(database, log);
  const mails = {
    mailer: createMailer(context.settings, log),
    mayMail: (account: AccountRef) => mayMail(database, context.store.vault, account),
    forgiveMail: (account: AccountRef) => forgiveMail(database, context.store.vault, account),
    root: context.root,
  };
  const upkeeps = [
    reporting,
    comparisons,
    edited,
    retention,
    startPublishing(context, engines),
    startJobMaintenance(database, context.settings, mails, log),
    startEndpointUpkeep(
      database,
      (account, { environment }) => mailFailedEndpoint(database, mails, account, environment),
      log,
    ),
    startCorrections(database, log, () => translation.wake()),
  ];
  const wakes = {
    [CHANNELS.jobs]: translation.wake,
    [CHANNELS.messages]: chat.wake,
    [CHANNELS.editing]: edited.wake,
    [CHANNELS.votes]: propagation.wake,
    [ERASURES_CHANNEL]: retention.wake,
  };
  // All loops also poll, so a failing notification channel only delays work.
  for (const [channel, wake] of Object.entries(wakes)) {
    void database.listen(channel, () => wake()).catch(() => {});
  }
  return {
    translation,
    chat,
    sender,
    editing: edited,
    propagation,
    /** Stops claiming work, finishes work within the grace period, and returns the rest to the queue. */
    async stop(graceMilliseconds: number) {
      await Promise.all([
        ...[translation, chat, sender, propagation].map((loop) => loop.stop(graceMilliseconds)),
        ...upkeeps.map((upkeep) => upkeep.stop()),
      ]);
      await translator.stop();
      // The sender has returned unfinished deliveries to the queue, so nobody needs their connections any more.
      await poster.cut();
    },
  };
}

function createEngineTranslator(
  { database, settings, metrics, log }: Context,
  engines: Engine[],
  statistics: EngineStatistics['observer'],
): Translator {
  const translator = createTranslator({
    engines,
    limitsOf: (engine) => limitsOf(settings, engine),
    inSandbox: (engine) => servesSandbox(settings, engine),
    engineRoutes: () => listEngineRoutes(database),
    recall: ({ account, from, to, brand, context }, sources) =>
      account === undefined
        ? Promise.resolve([])
        : recall(database, account, { from, to, brand, tone: context?.tone }, withNeighbours(sources)),
    examples: ({ account, from, to, brand, context }, source) =>
      account === undefined
        ? Promise.resolve([])
        : findExamples(database, account, { from, to, brand, tone: context?.tone }, source, EXAMPLES),
    observer: observeBoth(metrics.engines, statistics),
    cacheBytes: settings.cacheMebibytes * 1024 * 1024,
    log,
  });
  metrics.watchEngines(() => translator.runners);
  return translator;
}

/** Reports each request to an engine both to the metrics and to the console's statistics. */
function observeBoth(metrics: EngineObserver, console: EngineStatistics['observer']): EngineObserver {
  return {
    ...metrics,
    asked(...happened) {
      metrics.asked(...happened);
      console.asked(...happened);
    },
    translated(...happened) {
      metrics.translated(...happened);
      console.translated(...happened);
    },
    failed(...happened) {
      metrics.failed(...happened);
      console.failed(...happened);
    },
  };
}

function startDeliveries({ database, clock, store, settings, guard, metrics, log }: Context) {
  const poster = createPoster({
    guard,
    connectionsPerOrigin: settings.senderPerHost,
    timeoutMs: settings.callbackTimeoutSeconds * 1000,
    now: clock.now,
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
    onDeliveriesChanged: followDeliveries,
    now: clock.now,
  });
  return { poster, sender };
}

function startJobs(
  { database, scanner, settings, metrics, live, editing, log }: Context,
  translator: Translator,
  sender: Sender,
  drafted: () => void,
) {
  return startTranslationWorker({
    database,
    translator,
    scanner,
    hooks: editing.jobHooks,
    sender,
    log,
    capacity: settings.workerJobs,
    leaseSeconds: settings.leaseSeconds,
    draftFigures: settings.draftFigures,
    maxUntranslated: settings.maxUntranslated,
    progress: live.progress,
    settled(environment, outcome) {
      metrics.jobSettled(environment, outcome.kind);
      // A held result is counted when it is delivered.
      if (outcome.kind === 'completed' || outcome.kind === 'fell_back') {
        metrics.untranslated('job', outcome.untranslated?.reasons ?? {});
      }
      if (outcome.kind === 'drafted') drafted();
    },
  });
}

function startChats(
  { database, scanner, settings, metrics, sourceOf, log }: Context,
  translator: Translator,
  sender: Sender,
) {
  return startChatWorker({
    database,
    translator,
    scanner,
    log,
    capacity: MESSAGES_AT_A_TIME,
    leaseSeconds: Math.min(MESSAGE_LEASE_SECONDS, settings.leaseSeconds),
    sourceOf,
    sender,
    settled(environment, outcome, seconds) {
      metrics.messageSettled(environment, outcome.kind, seconds);
      if (outcome.kind === 'failed') return;
      for (const reason of outcome.untranslated ?? []) metrics.untranslated('message', { [reason]: 1 });
    },
  });
}

/**
 * Publishes the language pairs of these engines every ten minutes, and withdraws pairs that no worker
 * publishes. A model that `dragoman model pull` installs is published within seconds.
 */
function startPublishing({ database, settings, log, stopping }: Context, engines: readonly Engine[]) {
  async function publish(): Promise<void> {
    await Promise.all(
      engines.map((engine) =>
        publishPairs(database, engine).catch((error: unknown) => {
          if (!stopping()) log.warn({ error, name: engine.name }, 'could not publish language pairs');
        }),
      ),
    );
    await withdrawPairs(database).catch((error: unknown) => {
      if (!stopping()) log.warn({ error }, 'could not withdraw unpublished language pairs');
    });
  }
  void publish();
  const timer = setInterval(() => void publish(), PUBLISH_MILLISECONDS);
  // `watchFile` polls, which also works while the folder does not exist.
  const folder = modelsFolder(settings);
  const onChange = () => void publish();
  if (engines.some(({ name }) => name === 'bergamot'))
    watchFile(folder, { interval: MODELS_MILLISECONDS, persistent: false }, onChange);
  return {
    async stop() {
      clearInterval(timer);
      unwatchFile(folder, onChange);
    },
  };
}

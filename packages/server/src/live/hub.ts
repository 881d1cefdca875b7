/**
 * Live updates: notifies the open pages of this process when one of their topics changed in any process.
 *
 * 1. A store reports what it changed (`Queryable.changed`). The database handle passes the report on after
 *    the commit.
 * 2. The debounce buffer collects changes for at most 250 ms.
 * 3. The hub sends the collected changes to the subscribers of this process. If another process has
 *    subscribers, the hub also sends them there with one NOTIFY.
 * 4. Each stream receives at most one `changed` event a second for each of its topics.
 *
 * Nothing is stored or replayed: an event only asks the page to read again. Pages also read again from time to
 * time, so a lost event only delays the update. Processes with subscribers announce this every 10 seconds.
 * Without a recent announcement nothing is sent, so there is no load without subscribers.
 * (docs/decisions/0015-live-updates.md)
 */
import type { PersonRole } from '../base/account.ts';
import type { Log } from '../base/log.ts';
import type { Database } from '../database/database.ts';
import type { DraftProgress } from '../jobs/worker/worker.ts';
import { createDebounceBuffer } from './debounce-buffer.ts';
import { createPeers } from './peers.ts';
import type { HubObserver, StreamLimit, Subscriber } from './subscriber.ts';
import { createSubscribers, type Subscribers } from './subscribers.ts';

export type { HubObserver, LiveTopic, Subscriber } from './subscriber.ts';

export interface Hub {
  progress(progress: DraftProgress): void;
  /** Returns the drafting progress of a job, if it was reported within the last minute. */
  progressOf(job: string): DraftProgress | undefined;
  /** Adds a subscriber. @returns the limit that is reached, if one is */
  subscribe(subscriber: Subscriber): LiveSubscription | StreamLimit;
  /** Ends all streams and accepts no new streams. */
  endAll(): void;
  /** Sends the buffered changes, then closes the hub. */
  close(): Promise<void>;
}

export interface LiveSubscription {
  cancel(): void;
  /** Resolves when other processes know that this process has subscribers. */
  ready: Promise<void>;
}

export interface HubOptions {
  database: Database;
  /** Returns those of the sessions that are still valid, with the role of their user. */
  readOpenSessions(sessions: readonly string[]): Promise<ReadonlyMap<string, PersonRole>>;
  observer: HubObserver;
  log: Log;
  /** The maximum number of streams in this process. */
  most: number;
}

const DEBOUNCE_MILLISECONDS = 250;
const ANNOUNCE_MILLISECONDS = 10_000;
const SESSIONS_MILLISECONDS = 10_000;
export const STREAMS_PER_USER = 16;
/** The part of the streams of a process that the users of one account may have. A team has no maximum size. */
const ACCOUNT_SHARE = 1 / 4;
const PROGRESS_KEPT_MILLISECONDS = 60_000;
const MAX_PROGRESS = 1_000;

/** Creates the hub of this process, which sends changes and progress to its event streams. */
export function createHub(options: HubOptions): Hub {
  const { database, observer, log } = options;
  const subscribers = createSubscribers(observer);
  const buffer = createDebounceBuffer();
  const progress = createProgressCache();
  const checkSessions = createSessionCheck(subscribers, options);
  const peers = createPeers(database, log, (keys, reported) => {
    if (subscribers.size > 0) deliver(keys, reported);
  });
  let flushed = 0;
  let timer: NodeJS.Timeout | undefined;
  let announcing: NodeJS.Timeout | undefined;
  let checking: NodeJS.Timeout | undefined;
  let ending = false;
  let closed = false;

  function flushSoon(): void {
    if (timer !== undefined || closed) return;
    // The first change after a pause is sent at once; later ones wait for the end of the interval.
    timer = setTimeout(flush, Math.max(0, flushed + DEBOUNCE_MILLISECONDS - performance.now()));
  }

  function flush(): void {
    clearTimeout(timer);
    timer = undefined;
    flushed = performance.now();
    const { keys, progress: reported } = buffer.take();
    if (keys.length + reported.length === 0) return;
    deliver(keys, reported);
    if (peers.haveSubscribers()) peers.send(keys, reported);
  }

  function deliver(keys: readonly string[], reported: readonly DraftProgress[]): void {
    for (const one of reported) {
      progress.set(one);
      subscribers.progress(one);
    }
    for (const key of keys) {
      if (key.startsWith('sessions ')) void checkSessions();
      else subscribers.change(key);
    }
  }

  function start(): Promise<void> {
    announcing = setInterval(() => void peers.announce(), ANNOUNCE_MILLISECONDS);
    checking = setInterval(() => void checkSessions(), SESSIONS_MILLISECONDS);
    return peers.announce();
  }

  function cancel(subscriber: Subscriber): void {
    if (!subscribers.remove(subscriber) || subscribers.size > 0) return;
    clearInterval(announcing);
    clearInterval(checking);
  }

  function exhaustedLimit({ userId, accountId }: Subscriber): StreamLimit | undefined {
    if (ending || subscribers.size >= options.most) return 'process';
    const open = subscribers.list();
    if (open.filter((one) => one.userId === userId).length >= STREAMS_PER_USER) return 'person';
    if (accountId === undefined) return undefined;
    const mostOfAccount = Math.max(STREAMS_PER_USER, options.most * ACCOUNT_SHARE);
    return open.filter((one) => one.accountId === accountId).length >= mostOfAccount ? 'account' : undefined;
  }

  const stopListening = database.onChanges((changes) => {
    if (subscribers.size === 0 && !peers.haveSubscribers()) return;
    for (const change of changes) buffer.add(change);
    flushSoon();
  });
  return {
    progress(reported) {
      if (closed) return;
      buffer.addProgress(reported);
      flushSoon();
    },
    progressOf: progress.get,
    subscribe(subscriber) {
      const limit = exhaustedLimit(subscriber);
      if (limit !== undefined) {
        observer.refused(limit);
        return limit;
      }
      subscribers.add(subscriber, progress.get);
      const ready = subscribers.size === 1 ? start() : Promise.resolve();
      return { cancel: () => cancel(subscriber), ready };
    },
    endAll() {
      ending = true;
      for (const subscriber of subscribers.list()) subscriber.end('stop');
    },
    async close() {
      this.endAll();
      closed = true;
      stopListening();
      if (timer !== undefined) flush();
      await peers.close();
    },
  };
}

/** Ends the streams of expired sessions; one query checks all sessions. */
function createSessionCheck(
  subscribers: Subscribers,
  { readOpenSessions, log }: Pick<HubOptions, 'readOpenSessions' | 'log'>,
): () => Promise<void> {
  let running = false;
  let runAgain = false;
  return async () => {
    // Runs the check again, because the session that just ended may already have been read as valid.
    runAgain = true;
    if (running) return;
    running = true;
    try {
      while (runAgain && subscribers.size > 0) {
        runAgain = false;
        const checked = subscribers.list();
        const open = await readOpenSessions(checked.map(({ sessionId }) => sessionId));
        for (const one of checked) if (open.get(one.sessionId) !== one.role) one.end('session');
      }
    } catch (error) {
      log.debug({ error }, 'could not check the sessions of live streams; will try again');
    } finally {
      running = false;
    }
  };
}

function createProgressCache() {
  const latest = new Map<string, DraftProgress & { at: number }>();
  return {
    set(progress: DraftProgress): void {
      latest.delete(progress.job);
      latest.set(progress.job, { ...progress, at: performance.now() });
      if (latest.size > MAX_PROGRESS) latest.delete(latest.keys().next().value!);
    },
    get(job: string): DraftProgress | undefined {
      const found = latest.get(job);
      return found !== undefined && performance.now() - found.at < PROGRESS_KEPT_MILLISECONDS
        ? found
        : undefined;
    },
  };
}

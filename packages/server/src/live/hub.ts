/**
 * Who looks on, in this process, and how they hear of what is changed anywhere.
 *
 *   changed     a change that was committed here goes into a window; so does what other processes say
 *   window      a quarter of a second at most; what comes twice in it is said once; what is too much is said in general
 *   announced   to the streams of this process that look on, and, where another process has any, by one NOTIFY
 *   hinted      to a stream at most once a second for each of its topics
 *
 * Nothing here is kept or replayed: a hint says "look again". What is lost is seen at the next look, which pages take
 * anyway from time to time. Nobody looking on costs nothing: processes with streams say so every few seconds, and
 * who has heard nobody say so announces nothing. (docs/decisions/0014-live-updates.md)
 */
import type { PersonRole } from '../account.ts';
import type { Database } from '../database/database.ts';
import type { Log } from '../log.ts';
import type { Progress } from '../translation/worker.ts';
import type { Change, Kind } from './changes.ts';

/** What somebody looks on at, and by which keys of a change it is met. */
export interface Topic {
  /** As it was asked for. */
  name: string;
  keys: readonly string[];
}

/** One who looks on. */
export interface Onlooker {
  readonly sessionId: string;
  readonly userId: string;
  readonly role: PersonRole;
  readonly topics: readonly Topic[];
  /** Says that something of a topic was changed. @returns false while it cannot take more */
  changed(topic: string): boolean;
  progressed(topic: string, progress: Progress): boolean;
  /** @param how the session is over, or the server stops */
  end(how: 'session' | 'stop'): void;
}

export interface HubObserver {
  streams(open: number): void;
  sent(event: 'changed' | 'progress', count: number): void;
  /** Changes of a topic that were said with another. */
  coalesced(count: number): void;
  refused(why: 'person' | 'process'): void;
}

export interface Hub {
  /** Whether anybody looks on, here or elsewhere. */
  readonly watched: boolean;
  tell(changes: readonly Change[]): void;
  progress(progress: Progress): void;
  /** How far a machine is with a job, where it said so lately. */
  progressOf(job: string): Progress | undefined;
  /** @returns whose there are too many of, where there are */
  join(onlooker: Onlooker): Joined | 'person' | 'process';
  /** Ends every stream, for a stop. */
  endAll(): void;
  /** Says what is still to be said, and ends. */
  close(): Promise<void>;
}

export interface Joined {
  leave(): void;
  /** Other processes know that somebody looks on. */
  ready: Promise<void>;
}

export interface HubOptions {
  database: Database;
  /** Those of these sessions that are open still, with the role of their people. */
  openAmong(sessions: readonly string[]): Promise<ReadonlyMap<string, PersonRole>>;
  observer: HubObserver;
  log: Log;
  /** Streams of one process. */
  most: number;
}

const CHANNEL = 'dragoman_live';
export const WINDOW_MILLISECONDS = 250;
export const HINT_MILLISECONDS = 1_000;
const PROGRESS_MILLISECONDS = 500;
/** How often a process says that it has streams, and how long that is believed. */
const PRESENCE_MILLISECONDS = 10_000;
const PRESENCE_HOLDS_MILLISECONDS = 30_000;
const SESSIONS_MILLISECONDS = 10_000;
/** Windows of the same person. */
export const STREAMS_A_PERSON = 16;
/** Jobs of one account that a window names; more are "some of its jobs". */
const MOST_JOBS = 20;
/** Keys of a window; more are "something of this kind". */
const MOST_KEYS = 400;
/** PostgreSQL takes less than 8,000 bytes in one. */
const PAYLOAD_BYTES = 7_500;
const PROGRESS_KEPT_MILLISECONDS = 60_000;
const MOST_PROGRESS = 1_000;

export const ANY = '*';
export const kindKey = (kind: Kind, account: string = ANY) => `${kind} ${account}`;
export const jobKey = (job: string) => `job ${job}`;
/** The text of its segments alone. */
export const editKey = (job: string) => `edit ${job}`;
/** A job that a window did not name. */
export const someJobKey = (account: string) => `some_job ${account}`;

/** What processes tell each other. */
type Said =
  | { from: string; watch: true }
  | { from: string; keys: string[]; progress: [account: string, job: string, drafted: number, of: number][] };

export function createHub(options: HubOptions): Hub {
  const { database, observer, log } = options;
  const self = crypto.randomUUID();
  const onlookers = new Map<Onlooker, Pace>();
  /** Several topics of a page may be met by one key. */
  const byKey = new Map<string, Map<Onlooker, Set<string>>>();
  const window = createWindow();
  const latest = new Map<string, Progress & { at: number }>();
  let watchedUntil = 0;
  let flushed = 0;
  let timer: NodeJS.Timeout | undefined;
  let presence: NodeJS.Timeout | undefined;
  let sessions: NodeJS.Timeout | undefined;
  let looking = false;
  let lookAgain = false;
  let sending: Promise<unknown> = Promise.resolve();
  /** Nobody is let in any more: the server stops. */
  let ending = false;
  let closed = false;

  const elsewhere = () => watchedUntil > performance.now();

  function flushSoon(): void {
    if (timer !== undefined || closed) return;
    // A first one goes at once; what follows it waits for the window.
    timer = setTimeout(flush, Math.max(0, flushed + WINDOW_MILLISECONDS - performance.now()));
  }

  function flush(): void {
    clearTimeout(timer);
    timer = undefined;
    flushed = performance.now();
    const { keys, progress } = window.take();
    if (keys.length + progress.length === 0) return;
    deliver(keys, progress);
    if (elsewhere()) send(keys, progress);
  }

  function send(keys: readonly string[], progress: readonly Progress[]): void {
    const payloads = payloadsOf(self, keys, progress);
    sending = sending.then(() =>
      Promise.all(payloads.map((payload) => database.notify(CHANNEL, payload))).catch((error: unknown) =>
        log.debug({ error }, 'hints for other processes were lost'),
      ),
    );
  }

  function deliver(keys: readonly string[], progress: readonly Progress[]): void {
    for (const one of progress) {
      keepProgress(one);
      meet(byKey.get(jobKey(one.job)), (pace, topic) => pace.progress(topic, one));
    }
    for (const key of keys) {
      const [kind, of] = key.split(' ') as [string, string];
      if (kind === 'sessions') {
        void lookAtSessions();
      } else if (of === ANY) {
        for (const [other, met] of byKey) if (other.startsWith(`${kind} `)) meet(met, changed);
      } else {
        meet(byKey.get(key), changed);
        meet(byKey.get(`${kind} ${ANY}`), changed);
      }
    }
  }

  const changed = (pace: Pace, topic: string) => pace.change(topic);

  function meet(
    met: ReadonlyMap<Onlooker, ReadonlySet<string>> | undefined,
    how: (pace: Pace, topic: string) => void,
  ): void {
    if (met === undefined) return;
    for (const [onlooker, topics] of met) {
      const pace = onlookers.get(onlooker);
      if (pace !== undefined) for (const topic of topics) how(pace, topic);
    }
  }

  function keepProgress(progress: Progress): void {
    latest.delete(progress.job);
    latest.set(progress.job, { ...progress, at: performance.now() });
    if (latest.size > MOST_PROGRESS) latest.delete(latest.keys().next().value!);
  }

  function heard(payload: string): void {
    const said = JSON.parse(payload) as Said;
    if (said.from === self || closed) return;
    if ('watch' in said) {
      watchedUntil = performance.now() + PRESENCE_HOLDS_MILLISECONDS;
      return;
    }
    if (onlookers.size === 0) return;
    deliver(
      said.keys,
      said.progress.map(([account, job, drafted, segments]) => ({ account, job, drafted, segments })),
    );
  }

  const beThere = () =>
    database
      .notify(CHANNEL, JSON.stringify({ from: self, watch: true } satisfies Said))
      .catch((error: unknown) => log.debug({ error }, 'other processes could not be told of streams'));

  /** Ends the streams whose sessions are over; asked together, however many they are. */
  async function lookAtSessions(): Promise<void> {
    // What is told during a look may have ended after what it read.
    lookAgain = true;
    if (looking) return;
    looking = true;
    try {
      while (lookAgain && onlookers.size > 0) {
        lookAgain = false;
        const asked = [...onlookers.keys()];
        const open = await options.openAmong(asked.map(({ sessionId }) => sessionId));
        for (const one of asked) if (open.get(one.sessionId) !== one.role) one.end('session');
      }
    } catch (error) {
      log.debug({ error }, 'could not look at sessions; looking again');
    } finally {
      looking = false;
    }
  }

  function begin(): Promise<void> {
    presence = setInterval(() => void beThere(), PRESENCE_MILLISECONDS);
    sessions = setInterval(() => void lookAtSessions(), SESSIONS_MILLISECONDS);
    return beThere();
  }

  function leave(onlooker: Onlooker): void {
    onlookers.get(onlooker)?.stop();
    if (!onlookers.delete(onlooker)) return;
    observer.streams(onlookers.size);
    for (const { keys } of onlooker.topics) {
      for (const key of keys) {
        const met = byKey.get(key);
        met?.delete(onlooker);
        if (met?.size === 0) byKey.delete(key);
      }
    }
    if (onlookers.size > 0) return;
    clearInterval(presence);
    clearInterval(sessions);
  }

  // Where it cannot listen, what happens in other processes is seen at the next look.
  void database.listen(CHANNEL, heard).catch(() => {});
  return {
    get watched() {
      return onlookers.size > 0 || elsewhere();
    },
    tell(changes) {
      if (closed) return;
      for (const change of changes) window.add(change);
      flushSoon();
    },
    progress(progress) {
      if (closed) return;
      window.progress(progress);
      flushSoon();
    },
    progressOf(job) {
      const found = latest.get(job);
      return found !== undefined && performance.now() - found.at < PROGRESS_KEPT_MILLISECONDS
        ? found
        : undefined;
    },
    join(onlooker) {
      const refused = ending || onlookers.size >= options.most ? 'process' : undefined;
      const own = [...onlookers.keys()].filter(({ userId }) => userId === onlooker.userId).length;
      const why = refused ?? (own >= STREAMS_A_PERSON ? 'person' : undefined);
      if (why !== undefined) {
        observer.refused(why);
        return why;
      }
      const pace = createPace(onlooker, observer);
      onlookers.set(onlooker, pace);
      observer.streams(onlookers.size);
      for (const { name, keys } of onlooker.topics) {
        for (const key of keys) {
          const met = byKey.get(key) ?? new Map<Onlooker, Set<string>>();
          byKey.set(key, met.set(onlooker, (met.get(onlooker) ?? new Set<string>()).add(name)));
          const known = key.startsWith('job ') ? this.progressOf(key.slice('job '.length)) : undefined;
          if (known !== undefined) pace.progress(name, known);
        }
      }
      const ready = onlookers.size === 1 ? begin() : Promise.resolve();
      return { leave: () => leave(onlooker), ready };
    },
    endAll() {
      ending = true;
      for (const onlooker of [...onlookers.keys()]) onlooker.end('stop');
    },
    async close() {
      this.endAll();
      closed = true;
      if (timer !== undefined) flush();
      await sending;
    },
  };
}

/** What was changed and has not been announced: each once, and in general where it is too much. */
function createWindow() {
  let kinds = new Set<string>();
  let jobs = new Map<string, Set<string>>();
  let latest = new Map<string, Progress>();
  return {
    add({ kinds: changed, account = ANY, jobs: ids, edits }: Change): void {
      for (const kind of changed) kinds.add(kindKey(kind, account));
      if (ids.length === 0) return;
      const own = jobs.get(account) ?? new Set();
      jobs.set(account, own);
      for (const id of ids) if (own.size <= MOST_JOBS) own.add(edits ? editKey(id) : jobKey(id));
    },
    progress(progress: Progress): void {
      latest.set(progress.job, progress);
    },
    take(): { keys: string[]; progress: Progress[] } {
      const named = [...jobs].flatMap(([account, own]) =>
        own.size <= MOST_JOBS ? [...own] : [someJobKey(account)],
      );
      const keys = [...kinds, ...named];
      const taken = {
        keys: keys.length <= MOST_KEYS ? keys : inGeneral(keys),
        progress: [...latest.values()],
      };
      kinds = new Set();
      jobs = new Map();
      latest = new Map();
      return taken;
    },
  };
}

function inGeneral(keys: readonly string[]): string[] {
  return [...new Set(keys.map((key) => `${key.split(' ')[0]} ${ANY}`))];
}

/** Cut to what one notification holds. */
function payloadsOf(from: string, keys: readonly string[], progress: readonly Progress[]): string[] {
  if (keys.length + progress.length === 0) return [];
  const numbers = progress.map(
    ({ account, job, drafted, segments }) => [account, job, drafted, segments] as const,
  );
  const whole = JSON.stringify({ from, keys, progress: numbers });
  if (whole.length <= PAYLOAD_BYTES) return [whole];
  const half = (list: readonly unknown[]) => Math.ceil(list.length / 2);
  return [
    ...payloadsOf(from, keys.slice(0, half(keys)), progress.slice(0, half(progress))),
    ...payloadsOf(from, keys.slice(half(keys)), progress.slice(half(progress))),
  ];
}

interface Pace {
  change(topic: string): void;
  progress(topic: string, progress: Progress): void;
  stop(): void;
}

/** Holds one stream to its pace: the first hint of a topic at once, then one a second at most. */
function createPace(onlooker: Onlooker, observer: HubObserver): Pace {
  const waiting = new Map<string, Progress | 'changed'>();
  const lastSent = new Map<string, number>();
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;

  function put(slot: string, what: Progress | 'changed'): void {
    if (waiting.has(slot)) observer.coalesced(1);
    waiting.set(slot, what);
    schedule();
  }

  const dueAt = (slot: string) =>
    (lastSent.get(slot) ?? Number.NEGATIVE_INFINITY) +
    (slot.startsWith(CHANGED) ? HINT_MILLISECONDS : PROGRESS_MILLISECONDS);

  function schedule(): void {
    if (timer !== undefined || stopped || waiting.size === 0) return;
    const next = Math.min(...[...waiting.keys()].map(dueAt));
    timer = setTimeout(send, Math.max(0, next - performance.now()));
  }

  function send(): void {
    timer = undefined;
    const now = performance.now();
    for (const [slot, what] of waiting) {
      // Timers run a little early.
      if (dueAt(slot) > now + 1) continue;
      const topic = slot.slice(1);
      const took = what === 'changed' ? onlooker.changed(topic) : onlooker.progressed(topic, what);
      lastSent.set(slot, now);
      if (!took) continue; // it reads too slowly: said at the next turn
      waiting.delete(slot);
      observer.sent(what === 'changed' ? 'changed' : 'progress', 1);
    }
    schedule();
  }

  return {
    change: (topic) => put(CHANGED + topic, 'changed'),
    progress: (topic, progress) => put(PROGRESSED + topic, progress),
    stop() {
      stopped = true;
      clearTimeout(timer);
      waiting.clear();
    },
  };
}

/** A topic waits for its hint and for its numbers by itself. */
const CHANGED = 'c';
const PROGRESSED = 'p';

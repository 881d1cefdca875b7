/**
 * Pages that look on: what they show is read anew when the server says that it has changed.
 *
 *     useLive('jobs', 'listOwnJobs', 'readOwnAccount');
 *
 * One stream a window (`GET /api/live`), for the topics of all that is shown. A hint carries nothing: the operations that
 * are named are asked again, if they are shown.
 *
 *   opened     with the topics that are wanted; what they show is read once more, since nothing is replayed
 *   replaced   when other topics are wanted: the one before stays until the new one is there
 *   lost       opened again after 1, 2, 4 … 30 seconds, and a little
 *   hidden     ended half a minute after the window is out of sight: a browser has six lines to a host, for all windows
 *
 * With or without a stream, what is in sight is read anew every half minute: no hint is relied upon.
 */
import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { hrefOf, type OperationName } from './api/client.ts';

/** How far a machine is with a job. */
export interface Drafted {
  drafted: number;
  segments: number;
}

interface Watcher {
  changed(): void;
  progressed?(progress: Drafted): void;
}

/** A page brings several topics at once, and the next page others. */
const GATHER_MS = 50;
const AGAIN_MS = 30_000;
const HIDDEN_MS = 30_000;
const FIRST_WAIT_MS = 1_000;
const LONGEST_WAIT_MS = 30_000;

class Line {
  readonly #watchers = new Map<string, Set<Watcher>>();
  #source: EventSource | undefined;
  #topics: ReadonlySet<string> = new Set();
  /** Opening, while another is open still. */
  #next: EventSource | undefined;
  #gathering: ReturnType<typeof setTimeout> | undefined;
  #hiding: ReturnType<typeof setTimeout> | undefined;
  #again: ReturnType<typeof setInterval> | undefined;
  #failures = 0;

  constructor() {
    document.addEventListener('visibilitychange', () => this.#seen());
    // A page that is left for another address, and may come back as it was.
    addEventListener('pagehide', () => this.#close());
    addEventListener('pageshow', ({ persisted }) => persisted && this.#gather(0));
  }

  watch(topic: string, watcher: Watcher): () => void {
    const watchers = this.#watchers.get(topic) ?? new Set();
    this.#watchers.set(topic, watchers.add(watcher));
    this.#gather(GATHER_MS);
    return () => {
      watchers.delete(watcher);
      if (watchers.size === 0) this.#watchers.delete(topic);
      this.#gather(GATHER_MS);
    };
  }

  #gather(milliseconds: number): void {
    clearTimeout(this.#gathering);
    this.#gathering = setTimeout(() => this.#want(), milliseconds);
  }

  #want(): void {
    const wanted = [...this.#watchers.keys()];
    clearInterval(this.#again);
    if (wanted.length === 0) {
      this.#close();
      return;
    }
    this.#again = setInterval(() => {
      if (document.visibilityState === 'visible') this.#tell(this.#watchers.keys());
    }, AGAIN_MS);
    const has = this.#source !== undefined && wanted.every((topic) => this.#topics.has(topic));
    if (has || document.visibilityState === 'hidden') return;
    this.#open(wanted);
  }

  #open(topics: readonly string[]): void {
    this.#next?.close();
    const address = hrefOf('lookOn', { query: { topic: topics[0]! } });
    const more = topics.slice(1).map((topic) => `&topic=${encodeURIComponent(topic)}`);
    const source = new EventSource(address + more.join(''));
    this.#next = source;
    source.onopen = () => {
      const fresh = topics.filter((topic) => !this.#topics.has(topic));
      this.#source?.close();
      this.#source = source;
      this.#topics = new Set(topics);
      this.#next = undefined;
      this.#failures = 0;
      this.#tell(fresh);
    };
    source.onerror = () => this.#lost(source);
    source.addEventListener('changed', ({ data }) => this.#tell([JSON.parse(data).topic]));
    source.addEventListener('progress', ({ data }) => {
      const { topic, drafted, segments } = JSON.parse(data);
      for (const watcher of this.#watchers.get(topic) ?? []) watcher.progressed?.({ drafted, segments });
    });
    // Whoever asks now is told that nobody is signed in, and led to the sign-in.
    source.addEventListener('ended', () => this.#tell(this.#watchers.keys()));
  }

  /** The browser would come again by itself at once, and all windows of all people together. */
  #lost(source: EventSource): void {
    source.close();
    if (source === this.#next) this.#next = undefined;
    if (source === this.#source) {
      this.#source = undefined;
      this.#topics = new Set();
    }
    const wait = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** this.#failures++);
    this.#gather(wait * (1 + Math.random() / 2));
  }

  #tell(topics: Iterable<string>): void {
    for (const topic of [...topics]) for (const watcher of this.#watchers.get(topic) ?? []) watcher.changed();
  }

  #seen(): void {
    clearTimeout(this.#hiding);
    if (document.visibilityState === 'visible') this.#gather(0);
    else this.#hiding = setTimeout(() => this.#close(), HIDDEN_MS);
  }

  #close(): void {
    this.#source?.close();
    this.#next?.close();
    this.#source = undefined;
    this.#next = undefined;
    this.#topics = new Set();
  }
}

let line: Line | undefined;

/** Looks on at a topic by itself; returns what ends it. */
export function lookOn(topic: string, watcher: Watcher): () => void {
  line ??= new Line();
  return line.watch(topic, watcher);
}

/**
 * Reads operations anew whenever something of a topic has changed.
 * @param topic none is looked on at where it is undefined
 * @returns how far a machine is with the job that the topic names, where it says so
 */
export function useLive(topic: string | undefined, ...operations: OperationName[]): Drafted | undefined {
  const queries = useQueryClient();
  const [progress, setProgress] = useState<Drafted>();
  const names = operations.join(' ');
  useEffect(() => {
    if (topic === undefined) return;
    setProgress(undefined);
    const read: unknown[] = names.split(' ');
    return lookOn(topic, {
      changed: () =>
        void queries.invalidateQueries({ predicate: ({ queryKey }) => read.includes(queryKey[0]) }),
      progressed: setProgress,
    });
  }, [topic, names, queries]);
  return progress;
}

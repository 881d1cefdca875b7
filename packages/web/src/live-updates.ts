/**
 * Live updates: a page reads its data again when the server reports a change.
 *
 *     useLiveUpdates('jobs', 'listOwnJobs', 'readOwnAccount');
 *
 * Each window has one event stream (`GET /api/live`) for the topics of all its visible data. Most events
 * carry no data: they make the page repeat the named operations whose answers are visible.
 *
 * - When a stream opens, the page reads the data of all topics again, because the server replays no events,
 *   and those that it had delayed on an old stream are lost.
 * - When the topics change, a new stream replaces the old one as soon as the new one is open.
 * - When a stream breaks, it is opened again after 1, 2, 4 … 30 seconds, plus a random delay of up to half of
 *   that.
 * - When a window has been hidden for half a minute, its stream is closed. All windows of a browser share six
 *   HTTP/1.1 connections to a host.
 *
 * Visible data is also read every half minute, with or without a stream, so a missed event does no harm.
 */
import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { hrefOf, type OperationName } from './api/client.ts';

/** The number of drafted segments of a job and of all its segments. */
export interface DraftingProgress {
  drafted: number;
  segments: number;
}

interface Subscriber {
  onChange(): void;
  onProgress?(progress: DraftingProgress): void;
}

/**
 * How long to wait for further subscriptions before a stream is opened, because a page subscribes to several topics
 * one after another.
 */
const COLLECT_MS = 50;
const POLL_MS = 30_000;
const HIDDEN_MS = 30_000;
const FIRST_RETRY_MS = 1_000;
const LAST_RETRY_MS = 30_000;

class EventStream {
  readonly #subscribers = new Map<string, Set<Subscriber>>();
  #source: EventSource | undefined;
  #topics: ReadonlySet<string> = new Set();
  /** The stream that is being opened. Until it is open, the old stream stays open. */
  #next: EventSource | undefined;
  #collecting: ReturnType<typeof setTimeout> | undefined;
  #hiding: ReturnType<typeof setTimeout> | undefined;
  #polling: ReturnType<typeof setInterval> | undefined;
  #failures = 0;

  constructor() {
    document.addEventListener('visibilitychange', () => this.#visibilityChanged());
    // A page in the browser's back/forward cache must not keep its stream.
    addEventListener('pagehide', () => this.#close());
    addEventListener('pageshow', ({ persisted }) => persisted && this.#refreshLater(0));
  }

  subscribe(topic: string, subscriber: Subscriber): () => void {
    const subscribers = this.#subscribers.get(topic) ?? new Set();
    this.#subscribers.set(topic, subscribers.add(subscriber));
    this.#refreshLater(COLLECT_MS);
    return () => {
      subscribers.delete(subscriber);
      if (subscribers.size === 0) this.#subscribers.delete(topic);
      this.#refreshLater(COLLECT_MS);
    };
  }

  #refreshLater(milliseconds: number): void {
    clearTimeout(this.#collecting);
    this.#collecting = setTimeout(() => this.#refresh(), milliseconds);
  }

  /** Opens a new stream if the open one lacks a topic. Closes the stream when there are no subscribers. */
  #refresh(): void {
    const wanted = [...this.#subscribers.keys()];
    clearInterval(this.#polling);
    if (wanted.length === 0) {
      this.#close();
      return;
    }
    this.#polling = setInterval(() => {
      if (document.visibilityState === 'visible') this.#notify(this.#subscribers.keys());
    }, POLL_MS);
    const isOpen = this.#source !== undefined && wanted.every((topic) => this.#topics.has(topic));
    if (isOpen || document.visibilityState === 'hidden') return;
    this.#open(wanted);
  }

  #open(topics: readonly string[]): void {
    this.#next?.close();
    const address = hrefOf('subscribe', { query: { topic: topics[0]! } });
    const more = topics.slice(1).map((topic) => `&topic=${encodeURIComponent(topic)}`);
    const source = new EventSource(address + more.join(''));
    this.#next = source;
    source.onopen = () => {
      this.#source?.close();
      this.#source = source;
      this.#topics = new Set(topics);
      this.#next = undefined;
      this.#failures = 0;
      this.#notify(topics);
    };
    source.onerror = () => this.#retryLater(source);
    source.addEventListener('changed', ({ data }) => this.#notify([JSON.parse(data).topic]));
    source.addEventListener('progress', ({ data }) => {
      const { topic, drafted, segments } = JSON.parse(data);
      for (const subscriber of this.#subscribers.get(topic) ?? []) {
        subscriber.onProgress?.({ drafted, segments });
      }
    });
    // When the session has ended, the next API call gets 401, which leads to the sign-in page.
    source.addEventListener('ended', () => this.#notify(this.#subscribers.keys()));
  }

  /**
   * Closes the stream and opens a new one after a delay. Without the delay, the browsers of all users would
   * reconnect at once.
   */
  #retryLater(source: EventSource): void {
    source.close();
    if (source === this.#next) this.#next = undefined;
    if (source === this.#source) {
      this.#source = undefined;
      this.#topics = new Set();
    }
    const delay = Math.min(LAST_RETRY_MS, FIRST_RETRY_MS * 2 ** this.#failures++);
    this.#refreshLater(delay * (1 + Math.random() / 2));
  }

  #notify(topics: Iterable<string>): void {
    for (const topic of [...topics]) {
      for (const subscriber of this.#subscribers.get(topic) ?? []) subscriber.onChange();
    }
  }

  #visibilityChanged(): void {
    clearTimeout(this.#hiding);
    if (document.visibilityState === 'visible') this.#refreshLater(0);
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

let stream: EventStream | undefined;

/** Subscribes to a topic; returns a function that unsubscribes. */
export function subscribe(topic: string, subscriber: Subscriber): () => void {
  stream ??= new EventStream();
  return stream.subscribe(topic, subscriber);
}

/**
 * Calls operations again whenever a topic has changed.
 * @param topic the topic; undefined for no subscription
 * @returns the drafting progress of the topic's job, once an event has reported it
 */
export function useLiveUpdates(
  topic: string | undefined,
  ...operations: OperationName[]
): DraftingProgress | undefined {
  const queries = useQueryClient();
  const [progress, setProgress] = useState<DraftingProgress>();
  const names = operations.join(' ');
  useEffect(() => {
    if (topic === undefined) return;
    setProgress(undefined);
    const changed: unknown[] = names.split(' ');
    return subscribe(topic, {
      onChange: () =>
        void queries.invalidateQueries({ predicate: ({ queryKey }) => changed.includes(queryKey[0]) }),
      onProgress: setProgress,
    });
  }, [topic, names, queries]);
  return progress;
}

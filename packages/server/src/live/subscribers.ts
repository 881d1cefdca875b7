/** The subscribers of this process, indexed by the keys of their topics. */
import type { DraftProgress } from '../jobs/worker/worker.ts';
import { ANY, jobKey } from './keys.ts';
import type { HubObserver, Subscriber } from './subscriber.ts';
import { createThrottle, type Throttle } from './throttle.ts';

/** The topics that match a key, by subscriber. Several topics of a page may match the same key. */
type Matches = ReadonlyMap<Subscriber, ReadonlySet<string>>;

export interface Subscribers {
  readonly size: number;
  list(): Subscriber[];
  /**
   * Adds a subscriber and sends it the known progress of its jobs. @param progressOf returns the progress of a
   * job
   */
  add(subscriber: Subscriber, progressOf: (job: string) => DraftProgress | undefined): void;
  /** Removes a subscriber. @returns false if it was already removed */
  remove(subscriber: Subscriber): boolean;
  change(key: string): void;
  progress(progress: DraftProgress): void;
}

export function createSubscribers(observer: HubObserver): Subscribers {
  const throttles = new Map<Subscriber, Throttle>();
  const byKey = new Map<string, Map<Subscriber, Set<string>>>();

  function forEachTopic(
    matches: Matches | undefined,
    act: (throttle: Throttle, topic: string) => void,
  ): void {
    if (matches === undefined) return;
    for (const [subscriber, topics] of matches) {
      const throttle = throttles.get(subscriber);
      if (throttle !== undefined) for (const topic of topics) act(throttle, topic);
    }
  }

  const changed = (throttle: Throttle, topic: string) => throttle.change(topic);

  return {
    get size() {
      return throttles.size;
    },
    list: () => [...throttles.keys()],
    add(subscriber, progressOf) {
      const throttle = createThrottle(subscriber, observer);
      throttles.set(subscriber, throttle);
      observer.streams(throttles.size);
      for (const { name, keys } of subscriber.topics) {
        for (const key of keys) {
          const matches = byKey.get(key) ?? new Map<Subscriber, Set<string>>();
          byKey.set(key, matches.set(subscriber, (matches.get(subscriber) ?? new Set<string>()).add(name)));
          const known = key.startsWith('job ') ? progressOf(key.slice('job '.length)) : undefined;
          if (known !== undefined) throttle.progress(name, known);
        }
      }
    },
    remove(subscriber) {
      throttles.get(subscriber)?.stop();
      if (!throttles.delete(subscriber)) return false;
      observer.streams(throttles.size);
      for (const key of subscriber.topics.flatMap(({ keys }) => keys)) {
        const matches = byKey.get(key);
        matches?.delete(subscriber);
        if (matches?.size === 0) byKey.delete(key);
      }
      return true;
    },
    change(key) {
      const [kind, account] = key.split(' ') as [string, string];
      if (account === ANY) {
        for (const [other, matches] of byKey) {
          if (other.startsWith(`${kind} `)) forEachTopic(matches, changed);
        }
      } else {
        forEachTopic(byKey.get(key), changed);
        forEachTopic(byKey.get(`${kind} ${ANY}`), changed);
      }
    },
    progress(progress) {
      forEachTopic(byKey.get(jobKey(progress.job)), (throttle, topic) => throttle.progress(topic, progress));
    },
  };
}

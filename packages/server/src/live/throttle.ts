/**
 * Limits how often one stream receives events. The first event of a topic is sent at once. Later events
 * are sent after a minimum interval.
 */
import type { DraftProgress } from '../jobs/worker/worker.ts';
import type { HubObserver, Subscriber } from './subscriber.ts';

const CHANGED_MILLISECONDS = 1_000;
const PROGRESS_MILLISECONDS = 500;

/**
 * Prefixes of throttle keys, so that `changed` and `progress` events of one topic are throttled separately.
 */
const CHANGED = 'c';
const PROGRESSED = 'p';

export interface Throttle {
  change(topic: string): void;
  progress(topic: string, progress: DraftProgress): void;
  stop(): void;
}

export function createThrottle(subscriber: Subscriber, observer: HubObserver): Throttle {
  const pending = new Map<string, DraftProgress | 'changed'>();
  const lastSent = new Map<string, number>();
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;

  function put(slot: string, event: DraftProgress | 'changed'): void {
    if (pending.has(slot)) observer.coalesced(1);
    pending.set(slot, event);
    schedule();
  }

  const dueAt = (slot: string) =>
    (lastSent.get(slot) ?? Number.NEGATIVE_INFINITY) +
    (slot.startsWith(CHANGED) ? CHANGED_MILLISECONDS : PROGRESS_MILLISECONDS);

  function schedule(): void {
    if (timer !== undefined || stopped || pending.size === 0) return;
    const next = Math.min(...[...pending.keys()].map(dueAt));
    timer = setTimeout(send, Math.max(0, next - performance.now()));
  }

  function send(): void {
    timer = undefined;
    const now = performance.now();
    for (const [slot, event] of pending) {
      // A tolerance of one millisecond, because timers may fire up to 1 ms early.
      if (dueAt(slot) > now + 1) continue;
      const topic = slot.slice(1);
      const accepted = event === 'changed' ? subscriber.changed(topic) : subscriber.progressed(topic, event);
      lastSent.set(slot, now);
      if (!accepted) continue; // The client reads slowly, so the event stays pending.
      pending.delete(slot);
      observer.sent(event === 'changed' ? 'changed' : 'progress', 1);
    }
    schedule();
  }

  return {
    change: (topic) => put(CHANGED + topic, 'changed'),
    progress: (topic, progress) => put(PROGRESSED + topic, progress),
    stop() {
      stopped = true;
      clearTimeout(timer);
      pending.clear();
    },
  };
}

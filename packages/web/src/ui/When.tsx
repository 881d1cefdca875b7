import { useSyncExternalStore } from 'react';
import { useIntl } from 'react-intl';

const TICK_MILLISECONDS = 30_000;
const listeners = new Set<() => void>();
let now = Date.now();
let ticking: ReturnType<typeof setInterval> | undefined;

/** One timer updates all relative times. */
function watch(listener: () => void): () => void {
  listeners.add(listener);
  now = Date.now();
  ticking ??= setInterval(() => {
    now = Date.now();
    for (const notify of listeners) notify();
  }, TICK_MILLISECONDS);
  return () => {
    listeners.delete(listener);
    if (listeners.size > 0) return;
    clearInterval(ticking);
    ticking = undefined;
  };
}

const UNITS = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
] as const;
/** Times that are further in the past or future than this are shown as dates. */
const RELATIVE_SECONDS = 7 * 86_400;

/** Shows a time relative to now, with the full date as tooltip. @param at ISO 8601, or Unix seconds */
export function When({ at }: { at: string | number }) {
  const intl = useIntl();
  const moment = new Date(typeof at === 'number' ? at * 1000 : at);
  const current = useSyncExternalStore(watch, () => now);
  const full = intl.formatDate(moment, { dateStyle: 'full', timeStyle: 'medium' });
  return (
    <time dateTime={moment.toISOString()} title={full}>
      {relative()}
    </time>
  );

  function relative(): string {
    const seconds = Math.round((moment.getTime() - current) / 1000);
    if (Math.abs(seconds) >= RELATIVE_SECONDS) return intl.formatDate(moment, { dateStyle: 'medium' });
    const [unit, size] = UNITS.find(([, size]) => Math.abs(seconds) >= size) ?? ['second', 1];
    const count = unit === 'second' ? 0 : Math.round(seconds / size);
    return intl.formatRelativeTime(count, unit, { numeric: 'auto' });
  }
}

/** Metrics of the event streams of open pages. */
import { Counter, Gauge, type Registry } from 'prom-client';
import type { HubObserver } from '../live/hub.ts';

export function createLiveMetrics(registry: Registry): HubObserver {
  const registers = [registry];
  const streams = new Gauge({
    name: 'dragoman_live_streams',
    help: 'Open event streams of pages.',
    registers,
  });
  const events = new Counter({
    name: 'dragoman_live_events_total',
    help: 'Events sent to pages, by kind of event.',
    labelNames: ['event'],
    registers,
  });
  const coalesced = new Counter({
    name: 'dragoman_live_coalesced_total',
    help: 'Events that were merged with a pending event of the same topic.',
    registers,
  });
  const refused = new Counter({
    name: 'dragoman_live_refused_total',
    help: 'Streams refused because the user, the account or the process had too many.',
    labelNames: ['why'],
    registers,
  });
  return {
    streams: (open) => streams.set(open),
    sent: (event, count) => events.inc({ event }, count),
    coalesced: (count) => coalesced.inc(count),
    refused: (why) => refused.inc({ why }),
  };
}

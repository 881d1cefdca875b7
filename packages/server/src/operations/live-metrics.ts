/** What is counted of pages that look on. */
import { Counter, Gauge, type Registry } from 'prom-client';
import type { HubObserver } from '../live/hub.ts';

export function createLiveMetrics(registry: Registry): HubObserver {
  const registers = [registry];
  const streams = new Gauge({ name: 'dragoman_live_streams', help: 'Pages that look on.', registers });
  const events = new Counter({
    name: 'dragoman_live_events_total',
    help: 'Hints sent to pages, by event.',
    labelNames: ['event'],
    registers,
  });
  const coalesced = new Counter({
    name: 'dragoman_live_coalesced_total',
    help: 'Changes that a page was told of by the hint of another.',
    registers,
  });
  const refused = new Counter({
    name: 'dragoman_live_refused_total',
    help: 'Streams refused, because the person or the process had too many.',
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

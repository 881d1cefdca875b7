/** Metrics of the translation engines. Their names are documented in docs/operating.md. */
import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { EngineObserver, EngineRunner } from '../translation/engine-runner.ts';

type Watched = Pick<EngineRunner, 'name' | 'state' | 'waiting'>;

export function createEngineMetrics(registry: Registry): {
  observer: EngineObserver;
  watch(stations: () => readonly Watched[]): void;
} {
  const registers = [registry];
  let watched: () => readonly Watched[] = () => [];
  const counter = (name: string, help: string, ...labels: string[]) =>
    new Counter({ name, help, labelNames: ['engine', ...labels], registers });
  const requests = new Histogram({
    name: 'dragoman_engine_seconds',
    help: 'Duration of a request to an engine for one or more segments, by lane and outcome.',
    labelNames: ['engine', 'lane', 'outcome'],
    buckets: [0.005, 0.02, 0.1, 0.5, 2, 10, 30],
    registers,
  });
  const words = counter('dragoman_engine_words_total', 'Words that an engine translated.');
  const characters = counter('dragoman_engine_characters_total', 'Characters sent to an engine.');
  const cents = counter(
    'dragoman_engine_cost_cents_total',
    'Costs of these characters, by DRAGOMAN_ENGINE_COSTS.',
  );
  const failures = counter(
    'dragoman_engine_failures_total',
    'Segments that an engine did not translate, by reason.',
    'reason',
  );
  const cache = counter(
    'dragoman_engine_cache_total',
    'Look-ups in the cache of translations, by whether they hit.',
    'found',
  );
  new Gauge({
    name: 'dragoman_engine_waiting',
    help: 'Slices of texts in the queue of an engine.',
    labelNames: ['engine'],
    registers,
    collect() {
      for (const { name, waiting } of watched()) this.set({ engine: name }, waiting);
    },
  });
  new Gauge({
    name: 'dragoman_engine_open',
    help: 'State of an engine’s circuit breaker: 1 open, 0.5 half-open, 0 closed.',
    labelNames: ['engine'],
    registers,
    collect() {
      for (const { name, state } of watched()) {
        this.set({ engine: name }, state === 'open' ? 1 : state === 'half-open' ? 0.5 : 0);
      }
    },
  });
  return {
    watch(stations) {
      watched = stations;
    },
    observer: {
      asked: (engine, lane, seconds, outcome) => requests.observe({ engine, lane, outcome }, seconds),
      translated(engine, wordCount, characterCount, costCents) {
        words.inc({ engine }, wordCount);
        characters.inc({ engine }, characterCount);
        cents.inc({ engine }, costCents);
      },
      failed: (engine, reason) => failures.inc({ engine, reason }),
      cached: (engine, hit) => cache.inc({ engine, found: String(hit) }),
    },
  };
}

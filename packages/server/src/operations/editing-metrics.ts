/** What is counted of editing: the queue by pair at each scrape, and what becomes of claims. */
import { Counter, Gauge, type Registry } from 'prom-client';
import type { Database } from '../database/database.ts';
import { type EditingObserver, queueFigures } from '../editing/editing.ts';

export function createEditingMetrics(registry: Registry): {
  observer: EditingObserver;
  read(database: Database): Promise<void>;
} {
  const registers = [registry];
  const tasks = new Gauge({
    name: 'dragoman_tasks',
    help: 'Editing tasks that are not over, by pair, kind and status.',
    labelNames: ['source', 'target', 'kind', 'status'],
    registers,
  });
  const oldest = new Gauge({
    name: 'dragoman_tasks_oldest_seconds',
    help: 'Age of the oldest of them.',
    labelNames: ['source', 'target', 'kind', 'status'],
    registers,
  });
  const opened = new Counter({
    name: 'dragoman_tasks_opened_total',
    help: 'Editing tasks opened.',
    registers,
  });
  const claims = new Counter({
    name: 'dragoman_claims_total',
    help: 'Claims of tasks, by kind.',
    labelNames: ['kind'],
    registers,
  });
  const ends = new Counter({
    name: 'dragoman_claims_ended_total',
    help: 'Claims that have ended, by how; expired: lease or limit ran out.',
    labelNames: ['how'],
    registers,
  });
  const delivered = new Counter({
    name: 'dragoman_edited_jobs_total',
    help: 'Human jobs delivered: edited, or by fallback.',
    labelNames: ['how'],
    registers,
  });
  return {
    observer: {
      opened: (count) => opened.inc(count),
      claimed: (kind) => claims.inc({ kind }),
      ended: (how) => ends.inc({ how }),
      expired: (count) => ends.inc({ how: 'expired' }, count),
      delivered: (how) => delivered.inc({ how }),
    },
    async read(database) {
      tasks.reset();
      oldest.reset();
      for (const row of await queueFigures(database)) {
        const labels = {
          source: row.source_language,
          target: row.target_language,
          kind: row.kind,
          status: row.status,
        };
        tasks.set(labels, row.tasks);
        oldest.set(labels, (Date.now() - row.oldest_at.getTime()) / 1000);
      }
    },
  };
}

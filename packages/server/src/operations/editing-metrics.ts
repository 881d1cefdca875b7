/** Metrics of editing: open tasks by language pair, and claims. */
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
    help: 'Open editing tasks, by language pair, kind and status.',
    labelNames: ['source', 'target', 'kind', 'status'],
    registers,
  });
  const oldest = new Gauge({
    name: 'dragoman_tasks_oldest_seconds',
    help: 'Age of the oldest open editing task, by language pair, kind and status.',
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
    help: 'Ended claims, by how they ended; expired: the lease or the time limit ran out.',
    labelNames: ['how'],
    registers,
  });
  const delivered = new Counter({
    name: 'dragoman_edited_jobs_total',
    help: 'Ended human jobs: edited, delivered by fallback, or failed.',
    labelNames: ['how'],
    registers,
  });
  const fills = new Counter({
    name: 'dragoman_vote_fills_total',
    help: 'Waiting segments that got the text of a vote or rule (draft, confirmed) or their former draft again (restored).',
    labelNames: ['how'],
    registers,
  });
  const refusals = new Counter({
    name: 'dragoman_vote_refusals_total',
    help: 'Segments that could not get the text of a vote or rule, by reason.',
    labelNames: ['why'],
    registers,
  });
  return {
    observer: {
      opened: (count) => opened.inc(count),
      claimed: (kind) => claims.inc({ kind }),
      ended: (how) => ends.inc({ how }),
      expired: (count) => ends.inc({ how: 'expired' }, count),
      delivered: (how) => delivered.inc({ how }),
      filled: (how, segments) => fills.inc({ how }, segments),
      notFilled: (why, segments) => refusals.inc({ why }, segments),
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

/** `npm run prove -- canary`: what customers write is in no log, no metric and no error, and erased when it is erased. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Figure, Report } from '../../bench/figures.ts';
import { type CanaryHistory, runCanary } from './run.ts';

export async function proveCanary(): Promise<Report> {
  const directory = mkdtempSync(join(tmpdir(), 'dragoman-canary-'));
  try {
    return { figures: judge(await runCanary(directory, (line) => process.stderr.write(`${line}\n`))) };
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

export function judge({ statuses, hits, logLines }: CanaryHistory): Figure[] {
  const counts = Object.entries(statuses);
  const sent = counts.reduce((sum, [, count]) => sum + count, 0);
  const refused = counts.reduce((sum, [status, count]) => sum + (Number(status) >= 400 ? count : 0), 0);
  // Nothing found means something only where there was something to find.
  const looked = hits.before > 0 && logLines > sent && refused > 0 && refused < sent;
  const none = (name: string, value: number): Figure => ({
    name: `canary, ${name}`,
    value,
    goal: '0',
    held: value === 0 && looked,
  });
  return [
    { name: 'canary, requests', value: sent, unit: `requests, ${refused} of them refused` },
    { name: 'canary, lines of log', value: logLines, unit: 'lines' },
    { name: 'canary, in the database before the account is erased', value: hits.before, unit: 'times' },
    none('in the log', hits.log),
    none('in the metrics', hits.metrics),
    none('in errors', hits.errors),
    none('in the database after the account is erased', hits.dump),
    none('in its files after they are rewritten', hits.tables),
    {
      name: 'canary, in the write-ahead log, which PostgreSQL reuses',
      value: hits.writeAheadLog,
      unit: 'times',
    },
  ];
}

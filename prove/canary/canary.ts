/**
 * `npm run prove -- canary` checks that texts of customers appear in no log, metric or error, and that erasing the
 * account removes them.
 */
import { type Figure, type Flags, goalZero, type Report } from '../../bench/figures.ts';
import { runProof } from '../harness/run.ts';
import { type CanaryHistory, runCanary } from './run.ts';

export async function proveCanary(flags: Flags): Promise<Report> {
  const { figures } = await runProof('canary', flags, async ({ directory, say }) =>
    judge(await runCanary(directory, say)),
  );
  return { figures };
}

export function judge({ statuses, hits, logLines }: CanaryHistory): Figure[] {
  const counts = Object.entries(statuses);
  const sent = counts.reduce((sum, [, count]) => sum + count, 0);
  const refused = counts.reduce((sum, [status, count]) => sum + (Number(status) >= 400 ? count : 0), 0);
  // The run is valid only if the unique word was in the database before the erasure, the log was not empty, and the
  // server refused some requests.
  const measured = hits.before > 0 && logLines > sent && refused > 0 && refused < sent;
  return [
    { name: 'canary, requests', value: sent, unit: `requests, ${refused} of them refused` },
    { name: 'canary, lines of log', value: logLines, unit: 'lines' },
    { name: 'canary, in the database before the account is erased', value: hits.before, unit: 'times' },
    goalZero('canary, in the log', hits.log, measured),
    goalZero('canary, in the metrics', hits.metrics, measured),
    goalZero('canary, in errors', hits.errors, measured),
    goalZero('canary, in the database after the account is erased', hits.dump, measured),
    goalZero('canary, in its files after they are rewritten', hits.tables, measured),
    {
      name: 'canary, in the write-ahead log, which PostgreSQL reuses',
      value: hits.writeAheadLog,
      unit: 'times',
    },
  ];
}

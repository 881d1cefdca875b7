/**
 * `npm run prove -- distributed` distributes the schema over a Citus cluster, counts how many statements it refuses, and
 * kills processes of the service and nodes of the cluster while customers create jobs. `DISTRIBUTED_DATABASE_URL` is the
 * address of an empty database on the coordinator of a cluster, as a superuser, with the extension `citus` and the nodes
 * added. Flags: `--faults N` (default 42), `--seed N`.
 */
import { type Figure, type Flags, goalZero, type Report } from '../../bench/figures.ts';
import { distributeSchema, migrate } from '../../packages/server/src/database/migrate.ts';
import { CHECKS } from '../crash/checks.ts';
import { summarize } from '../crash/crash.ts';
import { withClient } from '../harness/database.ts';
import { checkFigures, runProof } from '../harness/run.ts';
import { type PlannedStatement, planStatements } from './plans.ts';
import { type NodesHistory, runNodes } from './run.ts';

/** The maximum seconds from the last kill to the last delivery. They include a lease and the recovery of a node. */
const SETTLE_SECONDS = 60;

export async function proveDistributed(flags: Flags): Promise<Report> {
  return runProof('distributed', flags, async (options) => {
    const databaseUrl = process.env.DISTRIBUTED_DATABASE_URL;
    if (databaseUrl === undefined) {
      options.say('DISTRIBUTED_DATABASE_URL is not set: nothing was run');
      return [];
    }
    const connection = { connectionString: databaseUrl };
    await migrate(connection);
    const tables = (await distributeSchema(connection)).length;
    const statements = await withClient(connection, async (client, query) => {
      const [{ version } = { version: '' }] = await query<{ version: string }>(
        'select citus_version() || $$, PostgreSQL $$ || current_setting($$server_version$$) as version',
      );
      options.say(version);
      return planStatements(client);
    });
    for (const { name, reason } of statements) if (reason !== undefined) options.say(`${name}: ${reason}`);
    const nodes = await runNodes({ ...options, databaseUrl, faults: flags.numbers.faults ?? 42 });
    return judge({ tables, statements, ...nodes });
  });
}

export interface DistributedHistory extends NodesHistory {
  /** The number of distributed and copied tables. */
  tables: number;
  statements: readonly PlannedStatement[];
}

export function judge(history: DistributedHistory): Figure[] {
  const { tables, statements, ledger, databaseKills } = history;
  const distributed = statements.filter(({ place }) => place !== 'local');
  const count = (place: PlannedStatement['place']) => distributed.filter((one) => one.place === place).length;
  const unit = `of ${distributed.length}`;
  return [
    { name: 'distributed, tables', value: tables, unit: 'tables' },
    { name: 'distributed, statements on one node', value: count('one'), unit },
    { name: 'distributed, statements in several steps', value: count('steps'), unit },
    { name: 'distributed, statements on all nodes', value: count('all'), unit },
    goalZero('distributed, statements refused', count('refused')),
    { name: 'distributed, kills of nodes', value: databaseKills, unit: 'kills' },
    ...summarize('distributed', history, SETTLE_SECONDS),
    goalZero('distributed, faults of the ledger', ledger === '' ? 0 : 1),
    ...checkFigures('distributed', CHECKS, history),
  ];
}

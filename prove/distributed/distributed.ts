/**
 * `npm run prove -- distributed` distributes the schema over a Citus cluster and counts how many statements it refuses.
 * `DISTRIBUTED_DATABASE_URL` is the address of an empty database on the coordinator of a cluster, as the owner of the
 * database, with the extension `citus` and the nodes added.
 */
import { type Figure, type Flags, goalZero, type Report } from '../../bench/figures.ts';
import { migrate } from '../../packages/server/src/database/migrate.ts';
import { withClient } from '../harness/database.ts';
import { runProof } from '../harness/run.ts';
import { type PlannedStatement, planStatements } from './plans.ts';
import { distribute } from './schema.ts';

export function proveDistributed(flags: Flags): Promise<Report> {
  return runProof('distributed', flags, async ({ say }) => {
    const connectionString = process.env.DISTRIBUTED_DATABASE_URL;
    if (connectionString === undefined) {
      say('DISTRIBUTED_DATABASE_URL is not set: nothing was run');
      return [];
    }
    await migrate({ connectionString });
    return withClient({ connectionString }, async (client, query) => {
      const [{ version } = { version: '' }] = await query<{ version: string }>(
        'select citus_version() || $$, PostgreSQL $$ || current_setting($$server_version$$) as version',
      );
      say(version);
      const tables = await distribute(client);
      const statements = await planStatements(client);
      for (const { name, reason } of statements) if (reason !== undefined) say(`${name}: ${reason}`);
      return judge({ tables, statements });
    });
  });
}

export interface DistributedHistory {
  /** The number of distributed tables. */
  tables: number;
  statements: readonly PlannedStatement[];
}

export function judge({ tables, statements }: DistributedHistory): Figure[] {
  const distributed = statements.filter(({ place }) => place !== 'local');
  const count = (place: PlannedStatement['place']) => distributed.filter((one) => one.place === place).length;
  const unit = `of ${distributed.length}`;
  return [
    { name: 'distributed, tables', value: tables, unit: 'tables' },
    { name: 'distributed, statements on one node', value: count('one'), unit },
    { name: 'distributed, statements in several steps', value: count('steps'), unit },
    { name: 'distributed, statements on all nodes', value: count('all'), unit },
    goalZero('distributed, statements refused', count('refused')),
  ];
}

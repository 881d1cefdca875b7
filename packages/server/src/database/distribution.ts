/**
 * The schema in a distributed database (Citus, an extension of PostgreSQL). Tables of accounts are distributed over the
 * nodes by `part`. Reference tables are small tables that statements join with them; each node has a copy. All other
 * tables are local tables of the coordinator, the node to which the program connects.
 * https://docs.citusdata.com/en/stable/develop/api_udf.html
 */
import type pg from 'pg';
import { HAS_CITUS } from './forms.ts';
import { REFERENCE_TABLES } from './reference-tables.ts';

/** SQL query: the names of the tables with the part of an account in their primary key. */
export const TABLES_OF_ACCOUNTS = `
  select t.relname as name from pg_class t
   where t.relnamespace = 'public'::regnamespace and t.relkind = 'r' and exists (
     select from pg_index i join pg_attribute a on a.attrelid = t.oid and a.attnum = any(i.indkey)
      where i.indrelid = t.oid and i.indisprimary and a.attname = 'part')`;

/** SQL query: the names of the distributed tables and the reference tables. Citus may also know local tables. */
export const DISTRIBUTED_TABLES = `
  select logicalrelid::regclass::text as name from pg_dist_partition
   where partmethod = 'h' or (partmethod = 'n' and repmodel = 't')`;

/**
 * SQL query: the names of these tables that have hidden local rows. Citus hides the rows of a table that it has
 * distributed, without deleting them, and statements read the shards. So only the size of the table shows such rows.
 */
const TABLES_WITH_HIDDEN_ROWS = `
  select name from (${DISTRIBUTED_TABLES}) d where pg_relation_size(name::regclass) > 0`;

const FOREIGN_KEYS = `
  select conname as name, conrelid::regclass::text as "from", confrelid::regclass::text as "to"
    from pg_constraint where contype = 'f' and connamespace = 'public'::regnamespace`;

/** Sets on each shard what the migrations set for the planner on each table. Citus does not copy it to the shards. */
const SET_STATISTICS = `
  select result.* from pg_attribute a join pg_dist_partition d on d.logicalrelid = a.attrelid
   cross join lateral run_command_on_shards(a.attrelid::regclass,
     format('alter table %%s alter column %I set (n_distinct = 1)', a.attname)) as result
   where 'n_distinct=1' = any(a.attoptions)`;

export interface ForeignKey {
  name: string;
  from: string;
  to: string;
}

/** Returns true if the database has the extension `citus`. */
export async function hasCitus(client: pg.ClientBase): Promise<boolean> {
  return (await client.query(HAS_CITUS.text)).rows.length > 0;
}

/** Returns true if a table of the database is distributed. */
export async function isDistributed(client: pg.ClientBase): Promise<boolean> {
  return (await hasCitus(client)) && (await namesOf(client, DISTRIBUTED_TABLES)).length > 0;
}

/**
 * Distributes the tables that are not distributed yet with their rows. Also repeats for all shards the planner settings
 * that Citus does not copy when it creates or moves a shard, and deletes hidden rows, also those of an earlier call that
 * ended early.
 * @param client the owner of a migrated database with the extension `citus`
 * @returns the names of the tables that were distributed or copied
 */
export async function distribute(client: pg.ClientBase): Promise<string[]> {
  const done = await namesOf(client, DISTRIBUTED_TABLES);
  await preferLocalTables(client);
  await allowLogin(client);
  const order = await dropRefusedKeys(client);
  const made: string[] = [];
  for (const table of order.filter((one) => !done.includes(one))) {
    const isFirst = done.length === 0 && made.every((one) => REFERENCE_TABLES.includes(one));
    await client.query(
      REFERENCE_TABLES.includes(table)
        ? 'select create_reference_table($1::regclass)'
        : `select create_distributed_table($1::regclass, 'part'${isFirst ? '' : `, colocate_with => 'jobs'`})`,
      [table],
    );
    made.push(table);
  }
  const hidden = await namesOf(client, TABLES_WITH_HIDDEN_ROWS);
  for (const table of order.toReversed().filter((one) => hidden.includes(one)))
    await client.query('select truncate_local_data_after_distributing_table($1::regclass)', [table]);
  await client.query('grant usage on all sequences in schema public to dragoman_app');
  const { rows } = await client.query<{ success: boolean; result: string }>(SET_STATISTICS);
  const failed = rows.find(({ success }) => !success);
  if (failed !== undefined) throw new Error(`a shard refused its planner settings: ${failed.result}`);
  return made;
}

/**
 * Allows the application role to sign in, because the nodes connect to each other with the role of the session. A user
 * who may not create roles cannot change this, so nothing is done if the role may sign in already.
 */
async function allowLogin(client: pg.ClientBase): Promise<void> {
  const { rowCount } = await client.query(
    `select from pg_roles where rolname = 'dragoman_app' and rolcanlogin`,
  );
  if (rowCount === 0) await client.query('alter role dragoman_app login');
}

/**
 * Drops the foreign keys that Citus refuses.
 * @returns the tables that are to be distributed or copied, in their order
 */
export async function dropRefusedKeys(client: pg.ClientBase): Promise<string[]> {
  const ofAccounts = (await namesOf(client, TABLES_OF_ACCOUNTS)).filter(
    (table) => !REFERENCE_TABLES.includes(table),
  );
  const keys = (await client.query<ForeignKey>(FOREIGN_KEYS)).rows;
  const { order, refused } = planDistribution(ofAccounts, keys);
  for (const { name, from } of refused) await client.query(`alter table ${from} drop constraint "${name}"`);
  return order;
}

/**
 * Makes Citus leave local tables as they are in this session. Otherwise it adds each local table with a foreign key to a
 * reference table to its metadata, and then refuses statements on it.
 */
export async function preferLocalTables(client: pg.ClientBase): Promise<void> {
  await client.query('set citus.enable_local_reference_table_foreign_keys = off');
}

/**
 * Returns the order in which tables are distributed, and the foreign keys that Citus refuses: those from a reference
 * table to another kind of table, and those from a local table to a reference table. `jobs` is the first table, each
 * table follows those that it references, and reference tables come as late as possible, because tables with an
 * identity column must be distributed before.
 * @param ofAccounts the tables that are distributed by part
 */
export function planDistribution(
  ofAccounts: readonly string[],
  keys: readonly ForeignKey[],
): { order: string[]; refused: ForeignKey[] } {
  const isReference = (table: string) => REFERENCE_TABLES.includes(table);
  const isRefused = ({ from, to }: ForeignKey) =>
    isReference(from) ? !isReference(to) : isReference(to) && !ofAccounts.includes(from);
  const kept = keys.filter((key) => !isRefused(key));
  const first = ofAccounts.filter((table) => table === 'jobs');
  const waiting = new Set([...first, ...ofAccounts, ...REFERENCE_TABLES]);
  const isReady = (table: string) =>
    kept.every(({ from, to }) => from !== table || to === table || !waiting.has(to));
  const order: string[] = [];
  while (waiting.size > 0) {
    const next = [...waiting].find(isReady);
    if (next === undefined) throw new Error(`tables reference each other: ${[...waiting].join(', ')}`);
    waiting.delete(next);
    order.push(next);
  }
  return { order, refused: keys.filter(isRefused) };
}

async function namesOf(client: pg.ClientBase, sql: string): Promise<string[]> {
  return (await client.query<{ name: string }>(sql)).rows.map(({ name }) => name);
}

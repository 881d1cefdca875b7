/** Distributes the schema of a database by `part`. */
import type pg from 'pg';

const SHARDS = 16;

/** Tables whose primary key begins with the part of an account. */
const DISTRIBUTED = `
  select t.relname as name from pg_class t
    join pg_index i on i.indrelid = t.oid and i.indisprimary
    join pg_attribute a on a.attrelid = t.oid and a.attnum = i.indkey[0]
   where t.relnamespace = 'public'::regnamespace and t.relkind = 'r' and a.attname = 'part'
   order by 1`;

const FOREIGN_KEYS = `
  select conname as name, conrelid::regclass::text as "from", confrelid::regclass::text as "to"
    from pg_constraint where contype = 'f'`;

/**
 * Distributes all tables of accounts. The table of accounts is copied to each node. A table follows those that it
 * references. Foreign keys between a copied table and other tables, which Citus refuses, are dropped.
 * @param client the owner of a migrated database whose cluster has the extension `citus`
 * @returns the number of distributed tables
 */
export async function distribute(client: pg.Client): Promise<number> {
  const tables = (await client.query<{ name: string }>(DISTRIBUTED)).rows.map(({ name }) => name);
  const keys = (await client.query<{ name: string; from: string; to: string }>(FOREIGN_KEYS)).rows;
  await client.query('set citus.enable_local_reference_table_foreign_keys = off');
  for (const { name, from, to } of keys) {
    const copied = from === 'accounts' || to === 'accounts';
    const kept = from !== 'accounts' && tables.includes(from);
    if (copied && !kept) await client.query(`alter table ${from} drop constraint "${name}"`);
  }
  const referenced = (table: string) =>
    keys.filter(({ from, to }) => from === table && to !== table).map(({ to }) => to);
  const waiting = new Set(tables);
  const isReady = (table: string) => referenced(table).every((to) => !waiting.has(to));
  const distributeReady = async (accounts: boolean) => {
    for (let ready: string[]; ; ) {
      ready = [...waiting].filter(
        (table) => isReady(table) && (accounts || !referenced(table).includes('accounts')),
      );
      if (ready.length === 0) return;
      for (const table of ready) {
        await client.query(
          `select create_distributed_table($1::regclass, 'part', shard_count => ${SHARDS})`,
          [table],
        );
        waiting.delete(table);
      }
    }
  };
  // Tables with an identity column must be distributed before the table of accounts is copied.
  await distributeReady(false);
  await client.query(`select create_reference_table('accounts')`);
  await distributeReady(true);
  return tables.length - waiting.size;
}

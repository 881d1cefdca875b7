/** The migrations of this program, and the test that a database was made by the same texts of them. */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import type pg from 'pg';
import { hasCitus } from './distribution.ts';
import { SchemaError } from './requirements.ts';

const DIRECTORY = new URL('./migrations/', import.meta.url);
/** The schema in which the migrations run once more, in a transaction that is rolled back. */
const REPLAY = 'dragoman_replay';

export interface Migration {
  number: number;
  name: string;
  sql: string;
  /** The SHA-256 of the text, in hexadecimal digits. */
  hash: string;
}

export function readMigrations(): Migration[] {
  const files = readdirSync(DIRECTORY).filter((file) => file.endsWith('.sql'));
  const migrations = files.sort().map((file) => {
    const sql = readFileSync(new URL(file, DIRECTORY), 'utf8');
    const hash = createHash('sha256').update(sql).digest('hex');
    return { number: Number(file.slice(0, 4)), name: file.replace(/\.sql$/, ''), sql, hash };
  });
  migrations.forEach(({ number, name }, index) => {
    if (number !== index + 1) throw new Error(`migration ${name} should have the number ${index + 1}`);
  });
  return migrations;
}

/**
 * Returns the number of the last applied migration. The names and texts of the migrations must match too: before the
 * first release, other migrations had the same numbers, and their texts were changed.
 * @param lock takes the lock of migrations, for a database whose schema must be compared
 * @throws SchemaError when another version of the program has made the database
 */
export async function readKnownVersion(
  client: pg.Client,
  migrations: readonly Migration[],
  lock: (client: pg.Client) => Promise<void>,
): Promise<number> {
  // Databases of programs that did not record hashes lack the column.
  const { rows } = await client.query<{ number: number; name: string; hash: string | null }>(
    `select number, name, to_jsonb(m) ->> 'hash' as hash from migrations m order by number`,
  );
  if (rows.some(({ number, name }) => (migrations[number - 1]?.name ?? name) !== name)) {
    throw new SchemaError('This database was created before the first release: create a new one.');
  }
  const other = rows.find(
    ({ number, hash }) => hash !== null && (migrations[number - 1]?.hash ?? hash) !== hash,
  );
  if (other !== undefined) throw madeByOther(other.name);
  const version = await readVersion(client);
  requireKnown(migrations, version);
  if (rows.some(({ hash }) => hash === null)) {
    await lock(client);
    const difference = await findDifference(client, migrations.slice(0, version));
    if (difference !== undefined) throw madeByOther(difference);
  }
  return version;
}

export async function readVersion(client: pg.Client): Promise<number> {
  const { rows } = await client.query<{ version: number }>(
    'select coalesce(max(number), 0) as version from migrations',
  );
  return rows[0]!.version;
}

export function requireKnown({ length: known }: readonly Migration[], number: number): void {
  if (number > known) {
    throw new SchemaError(
      `The database is at migration ${number}, this program knows ${known}: run a newer version.`,
    );
  }
}

function madeByOther(difference: string): SchemaError {
  return new SchemaError(
    `This database was made by another text of the migrations (${difference} differs): back it up with the program ` +
      'that made it, and restore the backup into a new database with this program.',
  );
}

/**
 * SQL query: describes what the migrations create in a schema. `exact` rows must be equal in two databases. Of the
 * others, an operator may have added some, such as indexes. The schema's name is removed from the definitions.
 */
const CATALOGUE = `
  with tables as (
    select oid, relname, relacl from pg_class
     where relnamespace = $1::regnamespace and relkind = 'r' and relname <> 'migrations'),
  described as (
    select true as exact, relname as "table", 'column ' || attname as object,
           concat_ws(' ', format_type(atttypid, atttypmod), attnotnull, attidentity, attgenerated,
                     pg_get_expr(adbin, adrelid)) as definition
      from tables join pg_attribute on attrelid = tables.oid
      left join pg_attrdef on adrelid = attrelid and adnum = attnum
     where attnum > 0 and not attisdropped
    union all
    -- PostgreSQL 18 lists NOT NULL as a constraint too. A distributed database lacks some foreign keys.
    select true, relname, 'constraint ' || conname, replace(pg_get_constraintdef(c.oid), ' NOT VALID', '')
      from tables join pg_constraint c on conrelid = tables.oid
     where contype in ('c', 'p', 'u') or (contype = 'f' and $2)
    union all
    select false, relname, 'index ' || indexrelid::regclass::text, pg_get_indexdef(indexrelid)
      from tables join pg_index on indrelid = tables.oid
    union all
    select false, relname, 'privilege', privilege_type
      from tables cross join lateral aclexplode(relacl) where grantee = 'dragoman_app'::regrole
    union all
    select false, relname, 'privilege on ' || attname, privilege_type
      from tables join pg_attribute on attrelid = tables.oid cross join lateral aclexplode(attacl)
     where grantee = 'dragoman_app'::regrole
    union all
    select false, '', 'function ' || oid::regprocedure, prosrc from pg_proc where pronamespace = $1::regnamespace)
  select exact, "table", replace(object, $1 || '.', '') as object,
         replace(definition, ' ' || $1 || '.', ' ') as definition
    from described order by 2, 3, 4`;

interface Described {
  exact: boolean;
  table: string;
  object: string;
  definition: string;
}

/**
 * Compares the schema of a database with what the migrations create on the same server. A stored digest would differ
 * between versions of PostgreSQL, which print definitions differently.
 * @returns the first object that differs; undefined if there is none
 */
export async function findDifference(
  client: pg.Client,
  applied: readonly Migration[],
): Promise<string | undefined> {
  const foreignKeys = !(await hasCitus(client));
  const describe = async (schema: string) => {
    await client.query(`set local search_path = ${schema}, public`);
    return (await client.query<Described>(CATALOGUE, [schema, foreignKeys])).rows;
  };
  await client.query('begin');
  try {
    const found = await describe('public');
    await client.query('set local citus.enable_ddl_propagation = off');
    await client.query(`create schema ${REPLAY}`);
    await client.query(`set local search_path = ${REPLAY}, public`);
    await client.query('create table migrations (like public.migrations)');
    for (const { sql } of applied) await client.query(sql);
    return firstDifference(found, await describe(REPLAY));
  } finally {
    await client.query('rollback');
  }
}

function firstDifference(found: readonly Described[], wanted: readonly Described[]): string | undefined {
  const keyOf = ({ table, object, definition }: Described) => `${table} ${object} ${definition}`;
  const [there, known] = [found, wanted].map((rows) => new Set(rows.map(keyOf)));
  const tables = new Set(wanted.map(({ table }) => table));
  const missing = wanted.find((row) => !there!.has(keyOf(row)));
  const added = found.find((row) => row.exact && tables.has(row.table) && !known!.has(keyOf(row)));
  const first = missing ?? added;
  return first && `${first.object}${first.table === '' ? '' : ` of ${first.table}`}`;
}

/**
 * Migrations: numbered, forward only, one transaction each, under an advisory lock so that any number of
 * processes may start at once. Each must be safe while the previous version of the program still runs.
 *
 * Rooms number theirs apart, and one may be ready before another: numbers may have gaps, and what is missing is
 * applied in their order, whatever came before.
 */
import { readdirSync, readFileSync } from 'node:fs';
import type pg from 'pg';
import { createConnection } from './connections.ts';
import type { Connection } from './database.ts';

const DIRECTORY = new URL('./migrations/', import.meta.url);
/** Any constant will do, as long as nothing else in the database uses it. */
const ADVISORY_LOCK = 4_672_001;
const DUPLICATE_OBJECT = '42710';
const UNIQUE_VIOLATION = '23505';

interface Migration {
  number: number;
  name: string;
  sql: string;
}

function readMigrations(): Migration[] {
  const files = readdirSync(DIRECTORY).filter((file) => file.endsWith('.sql'));
  const migrations = files.sort().map((file) => ({
    number: Number(file.slice(0, 4)),
    name: file.replace(/\.sql$/, ''),
    sql: readFileSync(new URL(file, DIRECTORY), 'utf8'),
  }));
  migrations.forEach(({ number, name }, index) => {
    if (!(number > (migrations[index - 1]?.number ?? 0)))
      throw new Error(`migration ${name} has no number of its own`);
  });
  return migrations;
}

/**
 * Brings the schema up to this version of the program.
 * @param options.upTo the number of the last migration wanted, where not all are
 * @returns the names of the migrations that were applied now, in order; empty when there was nothing to do
 * @throws Error when the database was made by a newer version of the program
 */
export async function migrate(connection: Connection, options: { upTo?: number } = {}): Promise<string[]> {
  const migrations = readMigrations();
  const client = createConnection(connection);
  await client.connect();
  try {
    await client.query('select pg_advisory_lock($1)', [ADVISORY_LOCK]);
    await createApplicationRole(client);
    await client.query(
      `create table if not exists migrations (
         number integer primary key,
         name text not null,
         applied_at timestamptz not null default now()
       )`,
    );
    const { rows } = await client.query<{ number: number }>('select number from migrations order by number');
    const done = new Set(rows.map(({ number }) => number));
    const newest = rows.at(-1)?.number ?? 0;
    const known = migrations.at(-1)?.number ?? 0;
    const { upTo = known } = options;
    const asked = Math.max(newest, upTo);
    if (asked > known) {
      throw new Error(
        `The database is at migration ${asked}, this program knows ${known}: run a newer version.`,
      );
    }
    const applied: string[] = [];
    for (const migration of migrations.filter(({ number }) => number <= upTo && !done.has(number))) {
      await client.query('begin');
      await client.query(migration.sql);
      await client.query('insert into migrations (number, name) values ($1, $2)', [
        migration.number,
        migration.name,
      ]);
      await client.query('commit');
      applied.push(migration.name);
    }
    return applied;
  } finally {
    await client.end(); // ends the session, and with it the lock and an open transaction
  }
}

/** Roles belong to the whole cluster, so another database's migration may make this one at the same moment. */
async function createApplicationRole(client: pg.Client): Promise<void> {
  const { rowCount } = await client.query(`select from pg_roles where rolname = 'dragoman_app'`);
  if (rowCount === 0) {
    try {
      await client.query('create role dragoman_app nologin');
    } catch (error) {
      const code = (error as { code?: string }).code ?? '';
      if (code !== DUPLICATE_OBJECT && code !== UNIQUE_VIOLATION) throw error;
    }
  }
  // Tried, not asked: from PostgreSQL 16 on a role's maker is its member and still may not work in it.
  try {
    await client.query('set role dragoman_app');
  } catch {
    await client.query('grant dragoman_app to current_user');
    await client.query('set role dragoman_app');
  }
  await client.query('reset role');
}

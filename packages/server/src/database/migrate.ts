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
const INSUFFICIENT_PRIVILEGE = '42501';
const UNIQUE_VIOLATION = '23505';

const OLDEST_POSTGRESQL = 15;

/** Why the schema cannot be used or changed. The message is one sentence for the operator, with the remedy after a colon. */
export class SchemaError extends Error {
  override name = 'SchemaError';
}

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
 * @throws SchemaError when the database was made by a newer version of the program, the server is too old, or the user
 *   lacks a privilege
 */
export async function migrate(connection: Connection, options: { upTo?: number } = {}): Promise<string[]> {
  const migrations = readMigrations();
  const client = createConnection(connection);
  await client.connect();
  try {
    await requirePostgresql(client);
    await client.query('select pg_advisory_lock($1)', [ADVISORY_LOCK]);
    await createApplicationRole(client);
    await client.query(
      `create table if not exists migrations (
         number integer primary key,
         name text not null,
         applied_at timestamptz not null default now()
       )`,
    );
    const done = await readApplied(client);
    const { upTo = newestOf(migrations) } = options;
    requireKnown(migrations, Math.max(...done, upTo));
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
  } catch (error) {
    throw (error as { code?: string }).code === INSUFFICIENT_PRIVILEGE
      ? await notOwner(client, error as Error)
      : error;
  } finally {
    await client.end(); // ends the session, and with it the lock and an open transaction
  }
}

/**
 * Counts the migrations of this program that the database lacks; 0 when its schema is up to date. Changes nothing.
 * @throws SchemaError when the database was made by a newer version of the program, or the server is too old
 */
export async function countVersionsBehind(connection: Connection): Promise<number> {
  const migrations = readMigrations();
  const client = createConnection(connection);
  await client.connect();
  try {
    await requirePostgresql(client);
    const { rows } = await client.query(`select to_regclass('migrations') is not null as made`);
    const done = rows[0].made ? await readApplied(client) : new Set<number>();
    requireKnown(migrations, Math.max(0, ...done));
    return migrations.filter(({ number }) => !done.has(number)).length;
  } finally {
    await client.end();
  }
}

async function readApplied(client: pg.Client): Promise<Set<number>> {
  const { rows } = await client.query<{ number: number }>('select number from migrations');
  return new Set(rows.map(({ number }) => number));
}

const newestOf = (migrations: readonly Migration[]): number => migrations.at(-1)?.number ?? 0;

function requireKnown(migrations: readonly Migration[], number: number): void {
  const known = newestOf(migrations);
  if (number > known) {
    throw new SchemaError(
      `The database is at migration ${number}, this program knows ${known}: run a newer version.`,
    );
  }
}

/** Older servers lack what the migrations use; half of them would be applied before one fails. */
async function requirePostgresql(client: pg.Client): Promise<void> {
  const { rows } = await client.query(`select current_setting('server_version_num')::integer as version`);
  const major = Math.floor(rows[0].version / 10_000);
  if (major < OLDEST_POSTGRESQL) {
    throw new SchemaError(
      `PostgreSQL ${major} is too old: use PostgreSQL ${OLDEST_POSTGRESQL} or later, and change DATABASE_URL.`,
    );
  }
}

/** Migrations make tables and extensions, which the owner of the database may. */
async function notOwner(client: pg.Client, cause: Error): Promise<SchemaError> {
  await client.query('rollback'); // the session refuses all else
  const user = await quotedUser(client);
  const { rows } = await client.query('select quote_ident(current_database()) as name');
  return new SchemaError(
    `The database user ${user} may not change the schema (${cause.message}): as a superuser, run ` +
      `ALTER DATABASE ${rows[0].name} OWNER TO ${user}.`,
    { cause },
  );
}

/** Roles belong to the whole cluster, so another database's migration may make this one at the same moment. */
async function createApplicationRole(client: pg.Client): Promise<void> {
  const { rowCount } = await client.query(`select from pg_roles where rolname = 'dragoman_app'`);
  if (rowCount === 0) {
    try {
      await client.query('create role dragoman_app nologin');
    } catch (error) {
      const code = (error as { code?: string }).code ?? '';
      if (code === INSUFFICIENT_PRIVILEGE) {
        const user = await quotedUser(client);
        throw new SchemaError(
          `The database user ${user} may not create the role dragoman_app: as a superuser, run ` +
            `CREATE ROLE dragoman_app; GRANT dragoman_app TO ${user}.`,
          { cause: error },
        );
      }
      if (code !== DUPLICATE_OBJECT && code !== UNIQUE_VIOLATION) throw error;
    }
  }
  // Tried, not asked: from PostgreSQL 16 on a role's maker is its member and still may not work in it.
  try {
    await client.query('set role dragoman_app');
  } catch {
    await client.query('grant dragoman_app to current_user').catch(async (error: Error) => {
      const user = await quotedUser(client);
      throw new SchemaError(
        `The database user ${user} is not a member of the role dragoman_app: as a superuser, run ` +
          `GRANT dragoman_app TO ${user}.`,
        { cause: error },
      );
    });
    await client.query('set role dragoman_app');
  }
  await client.query('reset role');
}

async function quotedUser(client: pg.Client): Promise<string> {
  const { rows } = await client.query('select quote_ident(current_user) as name');
  return rows[0].name;
}

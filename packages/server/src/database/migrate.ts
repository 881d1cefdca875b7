/**
 * Migrations: numbered from 1 without gaps, forward only, each in its own transaction. An advisory lock allows any
 * number of processes to start at the same time. Each migration must be safe while the previous version of the program
 * is running.
 */
import type pg from 'pg';
import type { Log } from '../base/log.ts';
import { createConnection, createStandbyConnection } from './connections.ts';
import type { Connection } from './database.ts';
import { distribute, hasCitus, isDistributed, preferLocalTables } from './distribution.ts';
import {
  findDifference,
  type Migration,
  readKnownVersion,
  readMigrations,
  requireKnown,
} from './migrations.ts';
import { requireServer, requireSessions, SchemaError } from './requirements.ts';

export { SchemaError } from './requirements.ts';

/** The key of the advisory lock. The number is arbitrary, but nothing else in the database may use it. */
const ADVISORY_LOCK = 4_672_001;
/** After this time without the lock, the process that has it is logged. */
const PATIENCE_MILLISECONDS = 5_000;
const LOCK_NOT_AVAILABLE = '55P03';
const DUPLICATE_OBJECT = '42710';
const INSUFFICIENT_PRIVILEGE = '42501';
const UNIQUE_VIOLATION = '23505';

interface Waiting {
  /** Gets a line when another process keeps the lock for `patience` milliseconds. */
  log?: Pick<Log, 'error'> | undefined;
  patience?: number;
  /** Whether it throws a SchemaError then, instead of waiting on. */
  givesUp?: boolean;
}

/**
 * Migrates the schema to this version of the program.
 * @param options `upTo`: the number of the last migration to apply; `log` and `patience`, see `Waiting`
 * @returns the names of the applied migrations, in order
 * @throws SchemaError when the server is too old or the user lacks a privilege. Also when a newer version created the
 * database, or other texts of the migrations
 */
export async function migrate(
  connection: Connection,
  options: { upTo?: number } & Waiting = {},
): Promise<string[]> {
  const migrations = readMigrations();
  const client = createConnection(connection);
  await client.connect();
  try {
    await requireServer(client, createConnection(connection));
    await lock(client, options);
    await createApplicationRole(client);
    await client.query(
      `create table if not exists migrations (
         number integer primary key,
         name text not null,
         hash text,
         applied_at timestamptz not null default now()
       )`,
    );
    await preferLocalTables(client);
    const version = await readKnownVersion(client, migrations, () => lock(client, options));
    await recordHashes(client, migrations.slice(0, version));
    const { upTo = migrations.length } = options;
    requireKnown(migrations, upTo);
    const applied: string[] = [];
    for (const migration of migrations.slice(version, upTo)) {
      await client.query('begin');
      await client.query(migration.sql);
      await client.query('insert into migrations (number, name, hash) values ($1, $2, $3)', [
        migration.number,
        migration.name,
        migration.hash,
      ]);
      await client.query('commit');
      applied.push(migration.name);
    }
    if (applied.length > 0 && (await isDistributed(client))) await distribute(client);
    return applied;
  } catch (error) {
    throw await explained(client, error as Error);
  } finally {
    await close(client);
  }
}

/**
 * Distributes the tables of a migrated database over the nodes of its cluster. A later call distributes
 * only new tables, and ends what an earlier call has left.
 * @returns the names of the tables that were distributed
 * @throws SchemaError when the database lacks the extension `citus`, or the user does not own the database
 */
export async function distributeSchema(connection: Connection): Promise<string[]> {
  const client = createConnection(connection);
  await client.connect();
  try {
    if (!(await hasCitus(client))) {
      throw new SchemaError(
        'The database lacks the extension citus: on each node, run CREATE EXTENSION citus, and add the nodes.',
      );
    }
    await lock(client);
    return await distribute(client);
  } catch (error) {
    throw await explained(client, error as Error);
  } finally {
    await close(client);
  }
}

/**
 * Counts the migrations that are not yet applied to the database, without applying them.
 * @throws SchemaError when the database was created by a newer version or by other texts of the migrations, or when the
 * server is too old
 */
export async function countVersionsBehind(connection: Connection, log?: Log): Promise<number> {
  const migrations = readMigrations();
  const client = createConnection(connection);
  await client.connect();
  try {
    await requireServer(client, createConnection(connection));
    const { rows } = await client.query(`select to_regclass('migrations') is not null as made`);
    const version = rows[0].made
      ? await readKnownVersion(client, migrations, () => lock(client, { log }))
      : 0;
    return migrations.length - version;
  } catch (error) {
    throw await explained(client, error as Error);
  } finally {
    await close(client);
  }
}

/**
 * Compares the schema of a migrated database with what the migrations create.
 * @returns the first object that differs, such as `column tone of jobs`; undefined if there is none
 */
export async function findSchemaDifference(connection: Connection): Promise<string | undefined> {
  const client = createConnection(connection);
  await client.connect();
  try {
    await lock(client, { givesUp: true });
    return await findDifference(client, readMigrations());
  } catch (error) {
    throw await explained(client, error as Error);
  } finally {
    await close(client);
  }
}

/**
 * Checks that each connection to the standby is a session of its own. A standby that does not answer is no fault,
 * because the primary answers its reads.
 * @throws SchemaError when a pooler shares sessions
 */
export async function requireStandbySessions(url: string): Promise<void> {
  const client = createStandbyConnection(url);
  try {
    await client.connect();
    await requireSessions(client, createStandbyConnection(url), 'DATABASE_READ_URL');
  } catch (error) {
    if (error instanceof SchemaError) throw error;
  } finally {
    await client.end().catch(() => {});
  }
}

/** Waits for the lock of migrations, which ends with the session. */
async function lock(
  client: pg.Client,
  { log, patience = PATIENCE_MILLISECONDS, givesUp = false }: Waiting = {},
): Promise<void> {
  const take = (milliseconds: number) =>
    client.query(
      `set lock_timeout = ${milliseconds}; select pg_advisory_lock(${ADVISORY_LOCK}); reset lock_timeout`,
    );
  await take(patience).catch(async (error: { code?: string }) => {
    if (error.code !== LOCK_NOT_AVAILABLE) throw error;
    const { rows } = await client.query<{ pid: number; name: string }>(
      `select pid, application_name as name from pg_locks join pg_stat_activity using (pid)
        where locktype = 'advisory' and granted and (classid, objid) = (0, ${ADVISORY_LOCK})
          and database = (select oid from pg_database where datname = current_database())`,
    );
    if (givesUp) {
      throw new SchemaError(
        `Process ${rows[0]?.pid} of the database server migrates the database: wait for it, or end it if it hangs.`,
      );
    }
    log?.error(
      { pid: rows[0]?.pid, name: rows[0]?.name },
      'waiting for another process that migrates the database; pid is its process on the database server',
    );
    await take(0);
  });
}

/** Releases the lock before the connection ends, because a pooler may keep the session. */
async function close(client: pg.Client): Promise<void> {
  await client.query('rollback; select pg_advisory_unlock_all()').catch(() => {});
  await client.end();
}

/** Records the hashes of migrations that a version of the program without hashes has applied. */
async function recordHashes(client: pg.Client, applied: readonly Migration[]): Promise<void> {
  const { rowCount } = await client.query(
    `select from pg_attribute where attrelid = 'migrations'::regclass and attname = 'hash'`,
  );
  // The change waits for a running backup, so it is not repeated at every start.
  if (rowCount === 0) await client.query('alter table migrations add column hash text');
  for (const { number, hash } of applied)
    await client.query('update migrations set hash = $2 where number = $1 and hash is null', [number, hash]);
}

/**
 * Explains a privilege error: migrations create tables and extensions, which requires the owner of the
 * database.
 */
/** Returns the error with its remedy if a privilege is missing, otherwise the error itself. */
async function explained(client: pg.Client, error: Error & { code?: string }): Promise<Error> {
  return error.code === INSUFFICIENT_PRIVILEGE ? notOwner(client, error) : error;
}

async function notOwner(client: pg.Client, cause: Error): Promise<SchemaError> {
  // After an error, the transaction refuses all statements except a rollback.
  await client.query('rollback');
  const user = await quotedUser(client);
  const { rows } = await client.query('select quote_ident(current_database()) as name');
  return new SchemaError(
    `The database user ${user} may not change the schema (${cause.message}): as a superuser, run ` +
      `ALTER DATABASE ${rows[0].name} OWNER TO ${user}.`,
    { cause },
  );
}

/**
 * Roles belong to the whole server, so a migration of another database may create the application role at the
 * same time.
 */
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
  // Sets the role to test whether the connection may use it. A query of memberships is not enough: since
  // PostgreSQL 16, the creator of a role is a member without the right to use the role.
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

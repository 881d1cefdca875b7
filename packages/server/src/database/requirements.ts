/** What the program relies on in PostgreSQL and in a pooler before it: checked at each start, before anything is locked. */
import type pg from 'pg';

const OLDEST_POSTGRESQL = 15;
/** In a database with the encoding SQL_ASCII, PostgreSQL stores and returns the program's UTF-8 unchanged. */
const ENCODINGS = ['UTF8', 'SQL_ASCII'];
/** The server cancels statements after this time. */
const STATEMENT_MILLISECONDS = 60_000;
const ROLE = 'dragoman_app';
/** A pooler without a free session lets the first statement of a connection wait. The driver's types lack the option. */
const SET_UP_LIMIT: object = { query_timeout: 5_000 };

/** Thrown when a database cannot be used or changed. The message is one sentence, with the remedy after a colon. */
export class SchemaError extends Error {
  override name = 'SchemaError';
}

/**
 * The settings of each session. The role does not own the tables, so that append-only tables are append-only for the
 * program too. With `client_connection_check_interval` (milliseconds), PostgreSQL ends a running statement when its
 * client has disconnected, for example after a request was aborted. With `propagate_set_commands`, the limits of a
 * transaction also apply on the nodes of a distributed database. PostgreSQL without Citus ignores it. JIT compilation, on
 * in PostgreSQL's defaults, takes longer than the short statements of a service: the editors' queue took 4 s with it and
 * 0.04 s without. The other settings are those that the program's statements are written for.
 */
const SESSION = [
  `role = ${ROLE}`,
  `statement_timeout = ${STATEMENT_MILLISECONDS}`,
  'client_connection_check_interval = 1000',
  "citus.propagate_set_commands = 'local'",
  'jit = off',
  "datestyle = 'ISO, MDY'",
  'intervalstyle = postgres',
  'timezone = UTC',
]
  .map((setting) => `set ${setting};`)
  .join(' ');

/**
 * Sets up a new session of the program. Statements do this instead of parameters of the connection, which poolers refuse
 * or drop without a word.
 * @throws SchemaError when the session does not have the role
 */
export async function setUpSession(client: pg.ClientBase): Promise<void> {
  await client.query({ text: SESSION, ...SET_UP_LIMIT });
  const { rows } = await client.query<{ role: string }>({
    text: 'select current_user as role',
    ...SET_UP_LIMIT,
  });
  if (rows[0]!.role !== ROLE) {
    throw new SchemaError(
      `A session has the role ${rows[0]!.role} although the program has set ${ROLE}: use a pooler in its session mode, ` +
        'or connect to PostgreSQL itself.',
    );
  }
}

/**
 * Checks the version and the encoding of a database, and that each connection is a session of its own.
 * @param client an open connection
 * @param other a second connection to the same address, not yet open. It is closed again.
 * @throws SchemaError when the program cannot use the database
 */
export async function requireServer(client: pg.Client, other: pg.Client): Promise<void> {
  const { rows } = await client.query<{ version: number; encoding: string }>(
    `select current_setting('server_version_num')::integer as version, current_setting('server_encoding') as encoding`,
  );
  const { version, encoding } = rows[0]!;
  const major = Math.floor(version / 10_000);
  if (major < OLDEST_POSTGRESQL) {
    throw new SchemaError(
      `PostgreSQL ${major} is too old: use PostgreSQL ${OLDEST_POSTGRESQL} or later, and change DATABASE_URL.`,
    );
  }
  if (!ENCODINGS.includes(encoding)) {
    throw new SchemaError(
      `The database has the encoding ${encoding}, which cannot store every text: create a database with ENCODING ` +
        `'UTF8' TEMPLATE template0, and move the data of an old one with pg_dump and pg_restore.`,
    );
  }
  await requireSessions(client, other, 'DATABASE_URL');
}

/**
 * Checks that two connections do not share a session of the server, as with a pooler in transaction mode. While the
 * second connection has a transaction open, such a pooler must give the first one another session than before, or it has
 * given the second one the first one's.
 * @param setting the name of the setting with the address
 */
export async function requireSessions(
  client: pg.Client,
  other: pg.Client,
  setting: 'DATABASE_URL' | 'DATABASE_READ_URL',
): Promise<void> {
  await other.connect();
  try {
    const before = await sessionOf(client);
    await other.query('begin');
    const between = await sessionOf(other);
    const after = await sessionOf(client);
    await other.query('rollback');
    if (before === after && before !== between) return;
  } finally {
    await other.end();
  }
  throw new SchemaError(
    `A pooler at ${setting} gives the statements of one connection to different sessions (transaction mode): set ` +
      'pool_mode = session in PgBouncer, or connect to PostgreSQL itself.',
  );
}

/** Identifies a session, also among several servers, whose processes may have the same numbers. */
async function sessionOf(client: pg.Client): Promise<string> {
  const { rows } = await client.query<{ id: string }>(
    `select pid || ' ' || backend_start as id from pg_stat_activity where pid = pg_backend_pid()`,
  );
  return rows[0]!.id;
}

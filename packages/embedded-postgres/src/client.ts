/** Connects this package to the PostgreSQL server that it started or joined. */
import pg from 'pg';

/** The address of the server. `host` is the directory of the server's socket. */
export interface Address {
  host: string;
  port: number;
  user: string;
  database: string;
}

/**
 * Creates a client. When its connection is lost, the process goes on and the next query rejects.
 * @param timeoutMs time limit for connecting; 0 for no limit
 */
export function createClient(address: Address, timeoutMs = 0): pg.Client {
  const client = new pg.Client({ ...address, ssl: false, connectionTimeoutMillis: timeoutMs });
  // Without a listener, Node ends the process on the `error` event of an idle client.
  return client.on('error', () => {});
}

/**
 * Whether the server can be used: `ready`, `no_database` (the database is missing), `starting` (also while it
 * recovers or stops), or `silent` (no answer).
 */
export type ServerStatus = 'ready' | 'no_database' | 'starting' | 'silent';

const CHECK_TIMEOUT_MS = 2_000;
const CANNOT_CONNECT_NOW = '57P03';
const NO_SUCH_DATABASE = '3D000';

/** Connects once and returns the state of the server. */
export async function checkServer(address: Address): Promise<ServerStatus> {
  const client = createClient(address, CHECK_TIMEOUT_MS);
  try {
    await client.connect();
    return 'ready';
  } catch (error) {
    const { code } = error as { code?: string };
    if (code === NO_SUCH_DATABASE) return 'no_database';
    if (code === CANNOT_CONNECT_NOW) return 'starting';
    // An error that PostgreSQL itself reports, such as too many connections, shows that the server runs.
    return error instanceof pg.DatabaseError ? 'ready' : 'silent';
  } finally {
    await client.end().catch(() => {});
  }
}

export async function createDatabase(address: Address): Promise<void> {
  const client = createClient({ ...address, database: 'postgres' });
  await client.connect();
  try {
    await client.query(`CREATE DATABASE ${pg.escapeIdentifier(address.database)}`);
  } finally {
    await client.end();
  }
}

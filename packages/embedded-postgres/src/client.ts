/** Connections of this package to its server. */
import pg from 'pg';

/** Where the server listens: `host` is the directory of its socket. */
export interface Address {
  host: string;
  port: number;
  user: string;
  database: string;
}

/**
 * Creates a client. A lost connection does not end the process: the next query rejects.
 * @param timeoutMs limits how long connecting may take; 0 for no limit
 */
export function createClient(address: Address, timeoutMs = 0): pg.Client {
  const client = new pg.Client({ ...address, ssl: false, connectionTimeoutMillis: timeoutMs });
  // Without a listener, Node ends the process on the `error` event of an idle client.
  return client.on('error', () => {});
}

/** `starting` is also the answer of a server that recovers or stops. */
export type ServerStatus = 'ready' | 'no_database' | 'starting' | 'silent';

const CHECK_TIMEOUT_MS = 2_000;
const CANNOT_CONNECT_NOW = '57P03';
const NO_SUCH_DATABASE = '3D000';

/** Connects once and reports how the server answers. */
export async function checkServer(address: Address): Promise<ServerStatus> {
  const client = createClient(address, CHECK_TIMEOUT_MS);
  try {
    await client.connect();
    return 'ready';
  } catch (error) {
    const { code } = error as { code?: string };
    if (code === NO_SUCH_DATABASE) return 'no_database';
    if (code === CANNOT_CONNECT_NOW) return 'starting';
    // Any other PostgreSQL error, such as too many connections, comes from a server that is up.
    return error instanceof pg.DatabaseError ? 'ready' : 'silent';
  } finally {
    await client.end().catch(() => {});
  }
}

/** Creates the database of `address`. */
export async function createDatabase(address: Address): Promise<void> {
  const client = createClient({ ...address, database: 'postgres' });
  await client.connect();
  try {
    await client.query(`CREATE DATABASE ${pg.escapeIdentifier(address.database)}`);
  } finally {
    await client.end();
  }
}

/**
 * Creates connections to PostgreSQL. An idle client emits `error` when the server ends its session (57P01 after a
 * restart, a failover or `drop database … with (force)`). Without a listener, Node then ends the process. A test checks
 * that no other file of the server creates clients or pools.
 */
import pg from 'pg';
import { splitHosts } from '../base/hosts.ts';
import { ClusterClient, StandbyClient } from './hosts.ts';

export type Connection = pg.PoolConfig;

/** Called when a connection is lost while no query is running on it. */
type Lost = (error: Error) => void;

/**
 * The default listener. It does nothing, because most callers notice a lost connection when their next query
 * rejects.
 */
const ignore: Lost = () => {};

/**
 * A connection that has been in use for this time is closed if its host is no longer the primary. Otherwise a statement
 * of a worker would wait for a frozen host for more than a minute, although another host has taken over.
 */
const CHECK_MILLISECONDS = 3_000;

/** Creates a client; `connect()` opens it. @param lost called when its connection is lost */
export function createConnection(connection: Connection, lost: Lost = ignore): pg.Client {
  return new (clientOf(connection))(connection).on('error', lost);
}

/** Creates a pool; the first query opens a connection. @param lost called when one of its connections is lost */
export function createPool(config: pg.PoolConfig, lost: Lost = ignore): pg.Pool {
  return poolOf(config, clientOf(config), lost);
}

/** Creates a client that connects to a standby; `connect()` opens it. */
export function createStandbyConnection(connectionString: string): pg.Client {
  return new StandbyClient({ connectionString, connectionTimeoutMillis: 5_000 }).on('error', ignore);
}

/** Creates a pool of connections to standbys. The configuration must contain a connection string. */
export function createStandbyPool(config: pg.PoolConfig): pg.Pool {
  return poolOf(config, StandbyClient, ignore);
}

function poolOf(config: pg.PoolConfig, Client: typeof pg.Client, lost: Lost): pg.Pool {
  const checks = new Map<pg.PoolClient, NodeJS.Timeout>();
  // The pool reports only its idle clients; a client in use reports its own loss.
  return new pg.Pool({ ...config, Client })
    .on('error', lost)
    .on('connect', (client) => client.on('error', lost))
    .on('acquire', (client) => {
      if (!(client instanceof ClusterClient)) return;
      checks.set(client, setInterval(() => void client.leaveOldPrimary(), CHECK_MILLISECONDS).unref());
    })
    .on('release', (_, client) => {
      clearInterval(checks.get(client));
      checks.delete(client);
    });
}

/** Only a connection string can name several hosts. */
function clientOf({ connectionString }: pg.ClientConfig): typeof pg.Client {
  return connectionString !== undefined && splitHosts(connectionString).length > 1
    ? ClusterClient
    : pg.Client;
}

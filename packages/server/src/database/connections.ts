/**
 * The only place where connections to PostgreSQL are made. An idle client emits `error` when the server ends its
 * session (57P01 after a restart, a failover or `drop database … with (force)`); without a listener Node ends the
 * process. A test holds that no other file makes a client or a pool of its own.
 */
import pg from 'pg';

export type Connection = pg.PoolConfig;

/** Called with the error of a connection that was lost while nothing ran on it. */
type Lost = (error: Error) => void;

/** For callers that learn of a lost connection from the next query, which rejects. */
const ignore: Lost = () => {};

/** Makes one client; `connect()` opens it. @param lost called when its connection is lost */
export function createConnection(connection: Connection, lost: Lost = ignore): pg.Client {
  return new pg.Client(connection).on('error', lost);
}

/** Makes a pool; the first query opens a connection. @param lost called when a connection of it is lost */
export function createPool(config: pg.PoolConfig, lost: Lost = ignore): pg.Pool {
  // The pool reports its idle clients alone; a client that is checked out reports its own loss.
  return new pg.Pool(config).on('error', lost).on('connect', (client) => client.on('error', lost));
}

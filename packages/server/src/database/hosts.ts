/**
 * Connections to a cluster of PostgreSQL servers. Only one of the servers accepts writes (the primary). `DATABASE_URL`
 * names the hosts as libpq does: `postgres://user@a:5432,b:5432/name`. Each new connection goes to the host that accepts
 * writes at that moment. With `DATABASE_READ_URL`, it goes to a host that is a standby at that moment.
 * https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-MULTIPLE-HOSTS
 */
import type { Socket } from 'node:net';
import pg from 'pg';
import { splitHosts, type WantedHost } from '../base/hosts.ts';

/** A host that has not answered in this time is not used. */
const PROBE_MILLISECONDS = 2_000;
/** SQLSTATE for a connection that cannot be made. */
const UNABLE_TO_CONNECT = '08001';

/** The error when no host of the connection string is of the wanted kind. */
export class NoSuitableHost extends Error {
  override name = 'NoSuitableHost';
  readonly code = UNABLE_TO_CONNECT;
}

/** A PostgreSQL client that connects to the host that accepts writes (the primary). */
export class ClusterClient extends pg.Client {
  readonly #hosts: readonly string[];
  readonly #wanted: WantedHost;
  #ended = false;

  /** @param config a configuration whose connection string names one or several hosts */
  constructor(config: pg.ClientConfig, wanted: WantedHost = 'primary') {
    const hosts = splitHosts(config.connectionString!, wanted);
    super({ ...config, connectionString: hosts[0]! });
    this.#hosts = hosts;
    this.#wanted = wanted;
  }

  override connect(): Promise<pg.Client>;
  override connect(callback: (error: Error) => void): void;
  // biome-ignore lint/suspicious/noConfusingVoidType: the return types of the two forms that the driver has
  override connect(callback?: (error: Error) => void): Promise<pg.Client> | void {
    const connected = this.#connect();
    if (callback === undefined) return connected;
    // The driver's pool expects that the callback is called without an argument after a successful connection.
    connected.then(() => (callback as () => void)(), callback);
  }

  override end(): Promise<void>;
  override end(callback: (error: Error) => void): void;
  override end(callback?: (error: Error) => void): Promise<void> | void {
    this.#ended = true;
    return callback === undefined ? super.end() : super.end(callback);
  }

  /**
   * Closes the connection if another host accepts writes now. A statement that waits on the old host, which may have
   * frozen, rejects like any statement whose connection is lost. Does nothing while no host accepts writes.
   */
  async leaveOldPrimary(): Promise<void> {
    if (this.#wanted !== 'primary') return;
    const found = await findHost(this.#hosts, this.#wanted).catch(() => undefined);
    const isOld = found !== undefined && (found.host !== this.host || found.port !== this.port);
    if (isOld) connectionOf(this).stream.destroy();
  }

  async #connect(): Promise<pg.Client> {
    const { host, port } = await findHost(this.#hosts, this.#wanted);
    if (this.#ended) throw new NoSuitableHost('the connection was closed before a host was found');
    Object.assign(this, { host, port });
    return super.connect();
  }
}

/** A PostgreSQL client that connects to a host that is a standby. */
export class StandbyClient extends ClusterClient {
  constructor(config: pg.ClientConfig) {
    super(config, 'standby');
  }
}

interface Host {
  host: string;
  port: number;
}

/** Searches in progress, by kind and hosts: connections that are opened at the same time share one search. */
const searches = new Map<string, Promise<Host>>();

async function findHost(hosts: readonly string[], wanted: WantedHost): Promise<Host> {
  const key = [wanted, ...hosts].join(' ');
  let search = searches.get(key);
  if (search === undefined) {
    search = Promise.any(hosts.map((host) => probe(host, wanted))).finally(() => searches.delete(key));
    searches.set(key, search);
  }
  try {
    return await search;
  } catch (error) {
    throw explain((error as AggregateError).errors, wanted);
  }
}

/** Connects to a host. @throws Error when the host does not answer in time or is not of the wanted kind */
async function probe(connectionString: string, wanted: WantedHost): Promise<Host> {
  const client = new pg.Client({
    connectionString,
    connectionTimeoutMillis: PROBE_MILLISECONDS,
    application_name: 'dragoman probe',
  });
  client.on('error', () => {});
  const readOnly = new Set<string>();
  // The server reports both parameters when a session starts, so no query is necessary.
  connectionOf(client).on('parameterStatus', ({ parameterName, parameterValue }) => {
    const isReported =
      parameterName === 'in_hot_standby' || parameterName === 'default_transaction_read_only';
    if (isReported && parameterValue === 'on') readOnly.add(parameterName);
  });
  try {
    await client.connect();
    if (wanted === 'primary' && readOnly.size > 0)
      throw new NoSuitableHost(`${client.host}:${client.port} accepts no writes`);
    if (wanted === 'standby' && !readOnly.has('in_hot_standby'))
      throw new NoSuitableHost(`${client.host}:${client.port} is not a standby`);
    return { host: client.host, port: client.port };
  } finally {
    client.end().catch(() => {});
  }
}

interface ParameterStatus {
  parameterName: string;
  parameterValue: string;
}

/** The client's protocol connection, which emits the messages of the server. The driver's types lack it. */
interface ProtocolConnection {
  stream: Socket;
  on(name: string, on: (message: ParameterStatus) => void): void;
}

function connectionOf(client: pg.Client): ProtocolConnection {
  return (client as unknown as { connection: ProtocolConnection }).connection;
}

/**
 * Returns the error of a search that found no host. If a server refused the user, for example because of a wrong
 * password, returns its refusal, because every host would give the same one.
 */
function explain(errors: readonly Error[], wanted: WantedHost): Error {
  const refusal = errors.find((error) => (error as { code?: string }).code?.startsWith('28') === true);
  if (refusal !== undefined) return refusal;
  const reasons = errors.map(({ message }) => message).join('; ');
  const missing = wanted === 'primary' ? 'no host accepts writes' : 'no host is a standby';
  return new NoSuitableHost(`${missing}: ${reasons}`, { cause: new AggregateError(errors) });
}

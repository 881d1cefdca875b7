/**
 * One handle on PostgreSQL, embedded or given. Stores ask it questions; a transaction is a parameter that
 * is passed on: a function that takes a `Transaction` is part of somebody's, one that takes a `Database`
 * stands alone.
 */
import pg, { type QueryResultRow } from 'pg';
import type { Log } from '../log.ts';
import { type Connection, createConnection, createPool } from './connections.ts';
import { createOutageWatch } from './outage.ts';
import { type Statement, statement } from './statements.ts';

export type { Connection } from './connections.ts';

/** Where a statement can be run: the pool, or one open transaction. */
export interface Queryable {
  /** Runs a statement and gives its rows. Rejects with pg's error, which carries `code` (SQLSTATE). */
  query<Row extends QueryResultRow>(statement: Statement<Row>, values?: readonly unknown[]): Promise<Row[]>;
}

/** An open transaction. Whoever makes one decides what belongs together; nobody else may commit. */
export interface Transaction extends Queryable {
  readonly inTransaction: true;
}

export interface Database extends Queryable {
  /**
   * Runs `work` in one transaction and commits it. The whole of `work` is run again, up to five times, when
   * PostgreSQL says that a repeat may succeed (serialization failure, deadlock, lost connection before the
   * commit was sent), so `work` must do nothing outside the transaction. A connection lost during the commit
   * itself is thrown as `CommitUnknown`: only the caller knows whether repeating is safe.
   */
  transaction<T>(work: (transaction: Transaction) => Promise<T>): Promise<T>;
  /** Subscribes to a notification channel for as long as the database is open; reconnects by itself. */
  listen(channel: string, heard: (payload: string) => void): Promise<void>;
  /** A hint to other processes. Lost hints do no harm: everything is polled as well. */
  notify(channel: string, payload?: string): Promise<void>;
  /**
   * Whether it takes what is written. False after a statement failed for want of room (SQLSTATE class 53), until a
   * trial write succeeds; each question makes that trial, and there is none as long as nothing has failed.
   */
  canWrite(): Promise<boolean>;
  close(): Promise<void>;
}

/** The connection broke while the commit was on its way: it may or may not have happened. */
export class CommitUnknown extends Error {
  override name = 'CommitUnknown';
}

// int8 as number: order numbers, cents and counts stay far below 2^53; a larger value is a bug, and loud.
const INT8_OID = 20;
pg.types.setTypeParser(INT8_OID, (written) => {
  const value = Number(written);
  if (!Number.isSafeInteger(value)) throw new Error(`a bigint too large for a number: ${written}`);
  return value;
});

const RETRY_CODES = new Set(['40001', '40P01']);
/** SQLSTATE class 08, 57P0x and 53300: the connection or the server went away, or has no room. */
const CONNECTION_CODES =
  /^(08...|57P0[1-4]|53300|ECONNREFUSED|ECONNRESET|EHOSTUNREACH|ENETUNREACH|EAI_AGAIN|ENOENT|EPIPE|ETIMEDOUT)$/;
/** What pg says without a code: a socket that closed under a query, a pool or a server that never answered. */
const CONNECTION_WORDS =
  /^Connection terminated|^Client has encountered a connection error|^timeout exceeded when trying to connect|^Query read timeout/;
/** A statement that runs longer is ended by the server; a little later we believe that the server is gone. */
const STATEMENT_MILLISECONDS = 60_000;
const SILENCE_MILLISECONDS = 65_000;
const TRIES = 5;

/** Whether the error says that the server or the way to it is gone, so that a later try may succeed. */
export function isConnectionLoss(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code, severity } = error as { code?: unknown; severity?: unknown };
  // PostgreSQL says FATAL when it ends or refuses a session: the database was dropped, renamed or closed to us.
  if (severity === 'FATAL') return true;
  if (typeof code === 'string') return CONNECTION_CODES.test(code);
  return CONNECTION_WORDS.test(error.message);
}

/** The same, or lost during a commit. */
function isGone(error: unknown): boolean {
  return error instanceof CommitUnknown || isConnectionLoss(error);
}

/**
 * Whether the server lacks something that it needs for any request: room on its disk, memory, connections (SQLSTATE
 * class 53). A later try may succeed, one at once will not.
 */
export function isOutOfResources(error: unknown): boolean {
  return error instanceof Error && String((error as { code?: unknown }).code).startsWith('53');
}

/** Whether the database cannot do now what it was asked, through no fault of the request. */
export function isUnavailable(error: unknown): boolean {
  return isGone(error) || isOutOfResources(error);
}

/** Opens a pool. Nothing is connected until the first query. */
export function openDatabase(connection: Connection, log: Log, size = 16): Database {
  let closing = false;
  const outage = createOutageWatch((error) => !closing && isGone(error) && !isOutOfResources(error), log);
  const complain = (error: Error) => {
    // A pool that ends does not wait for its sockets; the server may still say goodbye on them.
    if (!closing) outage.lost(error);
  };
  const config = {
    ...asApplication(connection),
    application_name: 'dragoman',
    // A server that vanished without a word must not hold a query for ever.
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    statement_timeout: STATEMENT_MILLISECONDS,
    query_timeout: SILENCE_MILLISECONDS,
    max: size,
    idleTimeoutMillis: 60_000,
    connectionTimeoutMillis: 10_000,
  };
  const pool = createPool(config, complain);

  let listener: Listener | undefined;
  const room = createRoomWatch(() => runTransaction(pool, tryToWrite), log);

  return {
    query: (statement, values = []) => room.noting(outage.noting(() => run(pool, statement, values))),
    transaction: (work) => room.noting(outage.noting(() => withRetries(() => runTransaction(pool, work)))),
    canWrite: room.canWrite,
    async listen(channel, heard) {
      listener ??= createListener(connection, outage.lost);
      await listener.add(channel, heard);
    },
    async notify(channel, payload = '') {
      await pool.query({
        name: 'database.notify',
        text: 'select pg_notify($1, $2)',
        values: [channel, payload],
      });
    },
    async close() {
      closing = true;
      await listener?.close();
      await pool.end();
    },
  };
}

const ROLE = '-c role=dragoman_app';

/**
 * In the role without ownership: append-only tables are append-only for the program too. An address may bring
 * options of its own, which would take the place of ours.
 */
function asApplication(connection: Connection): Connection {
  if (connection.connectionString === undefined) return { ...connection, options: ROLE };
  // Not as a URL: `postgres://user@/name?host=/folder` is none, and PostgreSQL takes it.
  const [address, query] = connection.connectionString.split('?', 2);
  const parameters = new URLSearchParams(query);
  parameters.set('options', `${parameters.get('options') ?? ''} ${ROLE}`.trim());
  // The driver does not read `+` as a space.
  return { ...connection, connectionString: `${address}?${parameters.toString().replaceAll('+', '%20')}` };
}

async function run<Row extends QueryResultRow>(
  on: Pick<pg.ClientBase, 'query'> | pg.Pool,
  statement: Statement<Row>,
  values: readonly unknown[],
): Promise<Row[]> {
  const result = await on.query<Row>({ name: statement.name, text: statement.text, values: [...values] });
  return result.rows;
}

async function withRetries<T>(attempt: () => Promise<T>): Promise<T> {
  for (let tried = 1; ; tried++) {
    try {
      return await attempt();
    } catch (error) {
      const code = (error as { code?: string }).code ?? '';
      const again = RETRY_CODES.has(code) || (!(error instanceof CommitUnknown) && isConnectionLoss(error));
      if (!again || tried === TRIES) throw error;
      // 20, 40, 80, 160 ms and up to as much again: enough for a deadlock's other side.
      await new Promise((resolve) => setTimeout(resolve, 10 * 2 ** tried * (1 + Math.random())));
    }
  }
}

async function runTransaction<T>(pool: pg.Pool, work: (transaction: Transaction) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  let broken: Error | undefined;
  try {
    await client.query('begin');
    const transaction: Transaction = {
      inTransaction: true,
      query: (statement, values = []) => run(client, statement, values),
    };
    let result: T;
    try {
      result = await work(transaction);
    } catch (error) {
      await client.query('rollback').catch((rollbackError: Error) => {
        broken = rollbackError;
      });
      throw error;
    }
    try {
      // PostgreSQL answers the commit of a transaction that met an error with ROLLBACK, and no error.
      const { command } = await client.query('commit');
      if (command !== 'COMMIT') throw new Error('a transaction that had failed was committed');
    } catch (error) {
      broken = error as Error;
      if (isConnectionLoss(error)) throw new CommitUnknown('connection lost during commit', { cause: error });
      throw error;
    }
    return result;
  } finally {
    client.release(broken);
  }
}

class TrialOver extends Error {}

/** Writes 256 KiB to a file of its own, as a full disk or quota refuses it, and takes them back. */
async function tryToWrite(transaction: Transaction): Promise<never> {
  await transaction.query(TRIAL_TABLE);
  await transaction.query(TRIAL_ROWS);
  throw new TrialOver();
}
const TRIAL_TABLE = statement(
  'database.trialTable',
  'create temporary table trial (filler text) on commit drop',
);
const TRIAL_ROWS = statement(
  'database.trialRows',
  "insert into trial select repeat('x', 1000) from generate_series(1, 256)",
);

/** Remembers that the server had no room, and asks whether it has some again. */
function createRoomWatch(trial: () => Promise<never>, log: Log) {
  let full = false;
  let asking: Promise<boolean> | undefined;

  function note(error: unknown): void {
    if (!isOutOfResources(error)) return;
    if (!full) log.error({ error }, 'the database cannot write: its disk, memory or connections are used up');
    full = true;
  }

  async function ask(): Promise<boolean> {
    const failed: unknown = await trial().catch((error: unknown) => error);
    // Another error, such as a role that may make no temporary tables, says nothing about room.
    if (isUnavailable(failed)) return false;
    full = false;
    log.info('the database can write again');
    return true;
  }

  return {
    async noting<T>(asked: Promise<T>): Promise<T> {
      try {
        return await asked;
      } catch (error) {
        note(error);
        throw error;
      }
    },
    async canWrite(): Promise<boolean> {
      if (!full) return true;
      // One trial at a time, however many ask.
      asking ??= ask().finally(() => {
        asking = undefined;
      });
      return asking;
    },
  };
}

interface Listener {
  add(channel: string, heard: (payload: string) => void): Promise<void>;
  close(): Promise<void>;
}

/** One connection of its own for LISTEN; when it is lost, it is made anew and every channel asked for again. */
function createListener(connection: Connection, lost: (error: Error) => void): Listener {
  const channels = new Map<string, (payload: string) => void>();
  let current: Promise<pg.Client> | undefined;
  let closed = false;
  let retry: NodeJS.Timeout | undefined;
  let asking: Promise<void> = Promise.resolve();

  async function connect(): Promise<pg.Client> {
    const named = { ...connection, application_name: 'dragoman listener' };
    const client = createConnection(named, (error) => {
      if (!closed) lost(error);
    });
    client.on('notification', ({ channel, payload }) => channels.get(channel)?.(payload ?? ''));
    await client.connect();
    client.on('end', reconnectSoon);
    for (const channel of channels.keys()) await listenOn(client, channel);
    return client;
  }

  function reconnectSoon(): void {
    current = undefined;
    clearTimeout(retry);
    if (closed) return;
    retry = setTimeout(() => {
      current ??= connect();
      current.catch(reconnectSoon);
    }, 500);
    retry.unref();
  }

  return {
    async add(channel, heard) {
      channels.set(channel, heard);
      current ??= connect();
      // One after another: a connection takes one question at a time.
      const asked = asking.then(async () => listenOn(await current!, channel));
      asking = asked.catch(() => {});
      await asked;
    },
    async close() {
      closed = true;
      clearTimeout(retry);
      const client = await current?.catch(() => undefined);
      await client?.end();
    },
  };
}

async function listenOn(client: pg.Client, channel: string): Promise<void> {
  await client.query(`listen ${client.escapeIdentifier(channel)}`);
}

/**
 * Access to PostgreSQL. A function with a `Transaction` parameter runs inside its caller's transaction; a function with
 * a `Database` parameter starts its own.
 */
import pg from 'pg';
import type { Log } from '../base/log.ts';
import type { Change } from './changes.ts';
import { type Connection, createPool, createStandbyPool } from './connections.ts';
import { type CallsOf, createForms, execute, limitedTo, run } from './forms.ts';
import { createListener, type Listener } from './listener.ts';
import { createOutageWatch } from './outage.ts';
import { setUpSession } from './requirements.ts';
import { createStandby, type ReadCounts, type Run, type Standby } from './standby.ts';
import type { Queryable, Transaction } from './statements.ts';
import { positionalValues, type Statement, statement } from './statements.ts';

export type { Connection } from './connections.ts';
export type { Queryable, Transaction } from './statements.ts';

export interface Database extends Queryable {
  /**
   * Runs `work` in a transaction and commits it. `work` runs again, up to five times, when a retry may succeed: after a
   * serialization failure, a deadlock, or a connection lost before the commit was sent. `work` must therefore do
   * nothing outside the transaction.
   * @param lockMilliseconds how long each statement waits for a lock; by default 80 % of the time limit, see `limited`
   * @throws CommitUnknown when the connection is lost during the commit: only the caller knows whether a retry is safe
   */
  transaction<T>(work: (transaction: Transaction) => Promise<T>, lockMilliseconds?: number): Promise<T>;
  /**
   * Runs `work` on a standby, if there is one that contains every write that was acknowledged before the call, and
   * otherwise here. `work` may run twice, so it must do nothing but read.
   */
  read<T>(work: (reader: Queryable) => Promise<T>): Promise<T>;
  /** The reads since the start by the server that answered them. Undefined without a standby. */
  readonly reads: Readonly<ReadCounts> | undefined;
  /** How often statements and transactions were run again since the start, by reason. */
  readonly retries: Readonly<RetryCounts>;
  /** Subscribes to the changes that this process commits. Returns a function that unsubscribes. */
  onChanges(listener: ChangeListener): () => void;
  /**
   * Subscribes to a notification channel until the database is closed. Lost connections are reopened
   * automatically.
   */
  listen(channel: string, onPayload: (payload: string) => void): Promise<void>;
  /**
   * Sends a notification to other processes. A lost notification does no harm, because every process also
   * polls.
   */
  notify(channel: string, payload?: string): Promise<void>;
  /**
   * Returns the same database with a shorter time limit for each statement. When the database server hangs, requests
   * then get 503 soon, instead of no answer for a minute. Its transactions wait for a lock for 80 % of that time.
   */
  limited(milliseconds: number): Database;
  /**
   * Prepares statements without running them. Rejects with the driver's error when the schema lacks something that one
   * of them uses.
   */
  prepare(statements: readonly Statement[]): Promise<void>;
  /**
   * Whether the database accepts writes. After a statement has failed for lack of resources (SQLSTATE class
   * 53), each call tries a write, and returns false until one succeeds.
   */
  canWrite(): Promise<boolean>;
  close(): Promise<void>;
}

export interface RetryCounts {
  /** After a deadlock or a serialization failure. */
  conflict: number;
  /** After a lost connection. */
  connection: number;
}

export type ChangeListener = (changes: readonly Change[]) => void;

/** Thrown when the connection broke during the commit. The transaction may or may not be committed. */
export class CommitUnknown extends Error {
  override name = 'CommitUnknown';
}

/**
 * Runs a transaction again if the connection was lost during its commit. `run` must recognize the rows that were
 * committed.
 * @throws CommitUnknown if the database is unavailable in the second run too, because the first run may be committed
 */
export function retryUnknownCommit<T>(run: () => Promise<T>): Promise<T> {
  return run().catch((unknown: unknown) => {
    if (!(unknown instanceof CommitUnknown)) throw unknown;
    return run().catch((error: unknown) => {
      throw isUnavailable(error) ? unknown : error;
    });
  });
}

// PostgreSQL's int8 becomes a number: counts and cents stay far below 2^53. A larger value is a bug and
// throws.
const INT8_OID = 20;
pg.types.setTypeParser(INT8_OID, (written) => {
  const value = Number(written);
  if (!Number.isSafeInteger(value)) throw new Error(`a bigint too large for a number: ${written}`);
  return value;
});

const RETRY_CODES = new Set(['40001', '40P01']);
/**
 * Error codes for a lost server or connection: codes of sockets, SQLSTATE classes 08 and 57P0x, 53300 (too many
 * connections), and 25006 (the server has become a standby and refuses writes).
 */
const CONNECTION_CODES =
  /^(08...|25006|57P0[1-4]|53300|ECONNREFUSED|ECONNRESET|EHOSTUNREACH|ENETUNREACH|EAI_AGAIN|ENOENT|EPIPE|ETIMEDOUT)$/;
/**
 * Messages of driver errors without a code. The socket was closed during a query, the pool had no free connection in
 * time, or the server did not answer in time.
 */
const CONNECTION_WORDS =
  /^Connection terminated|^Client has encountered a connection error|^timeout exceeded when trying to connect|^Query read timeout/;
/**
 * Messages of Citus about a lost node. They have the code of an internal error or of an input/output error, which other
 * errors have too. Most are messages of the client library with which a node connects to another one; Citus drops the
 * node's own code when it copies rows. No constraint of the schema is deferred, so a failed commit has no other cause.
 */
const NODE_LOST =
  /^(server closed the connection|SSL (connection has been closed|SYSCALL error|error:)|could not (receive data from|send data to) server|connection not open|no connection to the server|terminating connection|postmaster was shut down|could not commit transaction for shard|failed to (complete COPY|COPY to shard)|failure on connection marked as essential)/;
const NODE_LOST_CODES = new Set<unknown>(['XX000', '58030']);
/** Five seconds after the server should have canceled a statement, the client treats the server as lost. */
const SILENCE_MILLISECONDS = 65_000;
/** The share of the time limit of a statement that it may wait for a lock. */
const LOCK_SHARE = 0.8;
const TRIES = 5;
/**
 * After this time, a transaction that loses its connection is not retried, because its caller has waited long enough.
 */
const RETRY_MILLISECONDS = 2_000;

/** Returns whether the server or the connection is lost, so that a later retry may succeed. */
export function isConnectionLoss(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code, severity } = error as { code?: unknown; severity?: unknown };
  // PostgreSQL sends severity FATAL when it ends or refuses a session, for example after the database was
  // dropped or renamed.
  if (severity === 'FATAL') return true;
  if (NODE_LOST_CODES.has(code)) return NODE_LOST.test(error.message);
  if (typeof code === 'string') return CONNECTION_CODES.test(code);
  return CONNECTION_WORDS.test(error.message);
}

/** Like `isConnectionLoss`, but also true for a connection lost during a commit. */
function isGone(error: unknown): boolean {
  return error instanceof CommitUnknown || isConnectionLoss(error);
}

/**
 * Returns whether the server lacks disk space, memory or connections (SQLSTATE class 53). A later retry may
 * succeed, but an immediate retry would fail.
 */
export function isOutOfResources(error: unknown): boolean {
  return error instanceof Error && String((error as { code?: unknown }).code).startsWith('53');
}

/**
 * Returns whether a statement has waited too long for a lock of another transaction. The server and the connection
 * are in order. A later retry may succeed, but an immediate retry would wait again.
 */
export function isLockTimeout(error: unknown): boolean {
  return error instanceof Error && (error as { code?: unknown }).code === '55P03';
}

/**
 * Returns the name of the constraint that a statement has violated. In a distributed database, names of keys end with
 * the number of the shard.
 */
export function constraintOf(error: unknown): string | undefined {
  return (error as { constraint?: string }).constraint?.replace(/_\d{6,}$/, '');
}

/** Returns true if the error is caused by an unavailable database and not by the request. */
export function isUnavailable(error: unknown): boolean {
  return isGone(error) || isOutOfResources(error) || isLockTimeout(error);
}

/**
 * Opens a pool. Nothing is connected until the first query.
 * @param readUrl the connection string of standbys for `read`
 */
export function openDatabase(connection: Connection, log: Log, size = 16, readUrl?: string): Database {
  let closing = false;
  const outage = createOutageWatch((error) => !closing && isGone(error) && !isOutOfResources(error), log);
  const onLost = (error: Error) => {
    // A pool does not wait for its sockets when it ends, so late errors are ignored.
    if (!closing) outage.lost(error);
  };
  const config = {
    ...connection,
    application_name: 'dragoman',
    // Without keep-alive, queries would wait forever for a server that has disappeared.
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    // The pool waits for a promise, which the driver's types lack.
    onConnect: setUpSession as (client: pg.ClientBase) => void,
    query_timeout: SILENCE_MILLISECONDS,
    max: size,
    idleTimeoutMillis: 60_000,
    connectionTimeoutMillis: 10_000,
  };
  const pool = createPool(config, onLost);
  const standby = readUrl === undefined ? undefined : openStandby(readUrl, config, log);

  let listener: Listener | undefined;
  const resources = createResourceWatch(() => begin(tryToWrite), log);
  const listeners = new Set<ChangeListener>();
  const publish: ChangeListener = (changes) => {
    if (changes.length > 0) for (const listener of listeners) listener(changes);
  };

  const retries: RetryCounts = { conflict: 0, connection: 0 };
  const callsOf = createForms();
  const begin = <T>(
    work: (transaction: Transaction) => Promise<T>,
    limit?: number,
    lockMilliseconds?: number,
  ) => runTransaction({ pool, callsOf, publish, limit, lockMilliseconds }, work);
  const withLimit = (limit: number | undefined): Database => ({
    query: (statement, values = []) =>
      resources.track(
        outage.track(async () => {
          const calls = await callsOf(pool, statement, values, limit);
          // After a lost connection, a statement may have been executed, so it is not repeated.
          if (calls.length <= 1)
            return withRetries(() => run(pool, calls, limit), retries, { afterLoss: false });
          return withRetries(() => begin(({ query }) => query(statement, values), limit), retries);
        }),
      ),
    changed: (kind, account, job) => publish([{ kind, account: account?.accountId, job }]),
    transaction: (work, lockMilliseconds = limit && limit * LOCK_SHARE) =>
      resources.track(outage.track(() => withRetries(() => begin(work, limit, lockMilliseconds), retries))),
    read(work) {
      return standby === undefined ? work(this) : standby.read(this, work);
    },
    reads: standby?.counts,
    retries,
    limited: withLimit,
    async prepare(statements) {
      const each = statements.map(({ text }) => `prepare unused as ${text}\n; deallocate unused;`);
      await outage.track(() => pool.query({ text: each.join('\n'), ...limitedTo(limit) }));
    },
    canWrite: resources.canWrite,
    onChanges(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    async listen(channel, onPayload) {
      listener ??= createListener(connection, outage.lost);
      await listener.add(channel, onPayload);
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
      await Promise.all([pool.end(), standby?.close()]);
    },
  });
  return withLimit(undefined);
}

/** How long a read waits for a connection to a standby before it uses the primary. */
const STANDBY_MILLISECONDS = 1_000;

function openStandby(connectionString: string, config: pg.PoolConfig, log: Log): Standby {
  const pool = createStandbyPool({
    ...config,
    connectionString,
    connectionTimeoutMillis: STANDBY_MILLISECONDS,
  });
  const read: Run = (on, statement, values, limit) =>
    execute(on, { statement, values: positionalValues(statement, values) }, limit);
  return createStandby(pool, read, log);
}

/**
 * Returns the SQL that begins a transaction. With a limit, the server ends a wait for a lock before the client gives
 * up. Otherwise a statement behind a lock would look like a server that does not answer.
 */
function beginWithin(lockMilliseconds: number | undefined): string {
  if (lockMilliseconds === undefined) return 'begin';
  return `begin; set local lock_timeout = ${Math.ceil(lockMilliseconds)}`;
}

/** Runs `attempt` again when that may succeed, and counts it in `counts`. */
async function withRetries<T>(
  attempt: () => Promise<T>,
  counts: RetryCounts,
  { afterLoss = true } = {},
): Promise<T> {
  const started = performance.now();
  for (let tried = 1; ; tried++) {
    try {
      return await attempt();
    } catch (error) {
      const code = (error as { code?: string }).code ?? '';
      const late = performance.now() - started > RETRY_MILLISECONDS;
      const isLost = !(error instanceof CommitUnknown) && isConnectionLoss(error);
      const isConflict = RETRY_CODES.has(code);
      const again = isConflict || (afterLoss && isLost && !late);
      if (!again || tried === TRIES) throw error;
      counts[isConflict ? 'conflict' : 'connection']++;
      // Waits 20, 40, 80 or 160 ms plus a random time of the same length at most, so that the other
      // transaction of a deadlock can finish.
      await new Promise((resolve) => setTimeout(resolve, 10 * 2 ** tried * (1 + Math.random())));
    }
  }
}

interface TransactionOptions {
  pool: pg.Pool;
  callsOf: CallsOf;
  publish: ChangeListener;
  limit: number | undefined;
  lockMilliseconds: number | undefined;
}

async function runTransaction<T>(
  { pool, callsOf, publish, limit, lockMilliseconds }: TransactionOptions,
  work: (transaction: Transaction) => Promise<T>,
): Promise<T> {
  const changes: Change[] = [];
  const client = await pool.connect();
  let broken: Error | undefined;
  try {
    await client.query({ text: beginWithin(lockMilliseconds), ...limitedTo(limit) });
    const transaction: Transaction = {
      inTransaction: true,
      query: async (statement, values = []) =>
        run(client, await callsOf(client, statement, values, limit), limit),
      changed: (kind, account, job) => changes.push({ kind, account: account?.accountId, job }),
    };
    let result: T;
    try {
      result = await work(transaction);
    } catch (error) {
      if (isConnectionLoss(error)) broken = error as Error;
      else {
        await client.query({ text: 'rollback', ...limitedTo(limit) }).catch((rollbackError: Error) => {
          broken = rollbackError;
        });
      }
      throw error;
    }
    try {
      // PostgreSQL answers the commit of a failed transaction with ROLLBACK instead of an error.
      const { command } = await client.query({ text: 'commit', ...limitedTo(limit) });
      if (command !== 'COMMIT') throw new Error('a transaction that had failed was committed');
    } catch (error) {
      broken = error as Error;
      if (isConnectionLoss(error)) throw new CommitUnknown('connection lost during commit', { cause: error });
      throw error;
    }
    publish(changes);
    return result;
  } finally {
    client.release(broken);
  }
}

class TrialOver extends Error {}

/** Writes 256 KiB, which fails on a full disk or quota, and rolls back. */
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

/** Remembers that the database server lacked resources, and checks whether they are available again. */
function createResourceWatch(trial: () => Promise<never>, log: Log) {
  let full = false;
  let checking: Promise<boolean> | undefined;

  function note(error: unknown): void {
    if (!isOutOfResources(error)) return;
    if (!full) log.error({ error }, 'the database cannot write: its disk, memory or connections are used up');
    full = true;
  }

  async function check(): Promise<boolean> {
    const failed: unknown = await trial().catch((error: unknown) => error);
    // Other errors, such as a missing privilege to create temporary tables, do not prove a lack of resources.
    if (isUnavailable(failed)) return false;
    full = false;
    log.info('the database can write again');
    return true;
  }

  return {
    async track<T>(query: Promise<T>): Promise<T> {
      try {
        return await query;
      } catch (error) {
        note(error);
        throw error;
      }
    },
    async canWrite(): Promise<boolean> {
      if (!full) return true;
      // Concurrent calls share one trial write.
      checking ??= check().finally(() => {
        checking = undefined;
      });
      return checking;
    },
  };
}

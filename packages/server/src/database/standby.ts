/**
 * Reads from a standby of the database. A standby repeats the primary's write-ahead log (WAL) a little later. So each
 * read first asks the primary up to which position its log is on disk, and uses the standby only if the standby has
 * replayed that position. Every write that was acknowledged before is on disk, whichever process made it, so the read
 * contains it. Writes do nothing for this.
 * https://www.postgresql.org/docs/current/hot-standby.html
 */
import type pg from 'pg';
import { ApiError } from '../base/errors.ts';
import type { Log } from '../base/log.ts';
import { createStandbyConnection } from './connections.ts';
import type { Queryable } from './statements.ts';
import { type Statement, statement, type Values } from './statements.ts';

/** The number of reads by the server that answered them. */
export interface ReadCounts {
  standby: number;
  /** Reads on the primary because the standby had not replayed enough. */
  behind: number;
  /** Reads on the primary because no standby answered, or because one has failed in the last seconds. */
  unavailable: number;
}

/**
 * The time limit of a read on the standby. Together with the statement on the primary that may follow, it stays below the
 * 15 s in which each request is answered.
 */
const READ_MILLISECONDS = 3_000;
/** How long a read waits until the standby has replayed enough, and how often it looks. */
const REPLAY_MILLISECONDS = 50;
const POLL_MILLISECONDS = 2;
/** After the standby could not be used, all reads go to the primary for this time. */
const PAUSE_MILLISECONDS = 5_000;

type Position = Readonly<Record<'position' | 'timeline', string>>;

const POSITION = statement<Position>(
  'standby.position',
  `select position::text, left(pg_walfile_name(position), 8) as timeline
     from pg_current_wal_flush_lsn() as position`,
);

/**
 * After a failover, a standby may have replayed more of the lost primary's log than the new primary had. Positions then
 * do not show that it lacks what the new primary has written since (on a new timeline). So the first process that sees a
 * timeline writes it into a table. Only a server that follows this timeline has the row.
 */
const RECORD_TIMELINE = statement(
  'standby.record_timeline',
  `insert into timelines (cluster, timeline)
   select system_identifier, :timeline from pg_control_system() on conflict do nothing`,
);

/** On a server that is not a standby, the first column is false. */
const REPLAYED = statement<{ is_standby: boolean; replayed: boolean }>(
  'standby.replayed',
  `select pg_is_in_recovery() as is_standby,
          coalesce(pg_last_wal_replay_lsn() >= :position::pg_lsn, false)
            and exists (select from timelines, pg_control_system()
                         where cluster = system_identifier and timeline = :timeline) as replayed`,
);

const WAL_POSITION = statement<{ position: string; cluster: string }>(
  'standby.wal_position',
  `select pg_current_wal_flush_lsn()::text as position, system_identifier::text as cluster
     from pg_control_system()`,
);

const REPLAY_POSITION = statement<{ bytes: number; cluster: string }>(
  'standby.replay_position',
  `select greatest(pg_wal_lsn_diff($1, pg_last_wal_replay_lsn()), 0)::bigint as bytes,
          system_identifier::text as cluster
     from pg_control_system()`,
);

/**
 * Returns how many bytes of the log a standby has not replayed. Undefined if it belongs to another cluster.
 * @throws Error when there is no standby, or it does not answer
 */
export async function measureStandbyLag(url: string, primary: Queryable): Promise<number | undefined> {
  const client = createStandbyConnection(url);
  try {
    const [written] = await primary.query(WAL_POSITION);
    await client.connect();
    const { rows } = await client.query<{ bytes: number; cluster: string }>(REPLAY_POSITION.text, [
      written!.position,
    ]);
    return rows[0]!.cluster === written!.cluster ? rows[0]!.bytes : undefined;
  } finally {
    await client.end().catch(() => {});
  }
}

export type Run = <Row extends pg.QueryResultRow>(
  on: pg.ClientBase,
  statement: Statement<Row>,
  values: Values,
  milliseconds: number,
) => Promise<Row[]>;

export interface Standby {
  /**
   * Runs `work` on the standby, or on the primary if the standby is behind or cannot be used. `work` may run on both,
   * so it must do nothing but read.
   */
  read<T>(primary: Queryable, work: (reader: Queryable) => Promise<T>): Promise<T>;
  readonly counts: Readonly<ReadCounts>;
  close(): Promise<void>;
}

class Behind extends Error {}

async function waitUntilReplayed(client: pg.ClientBase, run: Run, position: Position): Promise<void> {
  for (const end = performance.now() + REPLAY_MILLISECONDS; ; ) {
    const [found] = await run(client, REPLAYED, position, READ_MILLISECONDS);
    if (!found!.is_standby) throw new Error('the server of DATABASE_READ_URL is not a standby');
    if (found!.replayed) return;
    if (performance.now() > end) throw new Behind('the standby has not replayed the latest writes yet');
    await new Promise((resolve) => setTimeout(resolve, POLL_MILLISECONDS));
  }
}

/** Runs `work` on a connection to a standby. @throws Behind when the standby has not replayed the position in time */
async function readStandby<T>(
  pool: pg.Pool,
  run: Run,
  position: Position,
  work: (reader: Queryable) => Promise<T>,
): Promise<T> {
  const client = await pool.connect();
  let failed: Error | undefined;
  /** The latest statement. A connection runs one at a time, and `work` may start several. */
  let latest: Promise<unknown> = Promise.resolve();
  try {
    await waitUntilReplayed(client, run, position);
    const end = performance.now() + READ_MILLISECONDS;
    return await work({
      query(statement, values = []) {
        const next = latest.then(() => run(client, statement, values, Math.max(1, end - performance.now())));
        latest = next.catch(() => {});
        return next;
      },
      changed() {
        throw new Error('a read reports no changes');
      },
    });
  } catch (error) {
    if (!(error instanceof ApiError)) failed = error as Error;
    throw error;
  } finally {
    if (failed === undefined) await latest;
    client.release(failed instanceof Behind ? undefined : failed);
  }
}

/**
 * @param pool connections to standbys
 * @param run runs a statement on a connection within a time limit
 */
export function createStandby(pool: pg.Pool, run: Run, log: Log): Standby {
  const counts: ReadCounts = { standby: 0, behind: 0, unavailable: 0 };
  /** The timeline that this process has seen in the table, or has recorded there. */
  let recorded: string | undefined;
  /** Until this time, by `performance.now()`, no read tries the standby. */
  let pausedUntil = Number.NEGATIVE_INFINITY;
  let isUsed = true;

  /**
   * Returns undefined if the primary's server lacks such positions, as some services do. Other errors are those of a
   * lost primary, so the caller does not ask it again.
   */
  async function positionOf(primary: Queryable): Promise<Position | undefined> {
    try {
      const [found] = await primary.query(POSITION);
      if (recorded !== found!.timeline) {
        await primary.query(RECORD_TIMELINE, { timeline: found!.timeline });
        recorded = found!.timeline;
      }
      return found!;
    } catch (error) {
      if ((error as { severity?: unknown }).severity !== 'ERROR') throw error;
      pause(error);
      counts.unavailable += 1;
      return undefined;
    }
  }

  function pause(error: unknown): void {
    if (isUsed) log.warn({ error }, 'the standby cannot be used, so reads go to the primary');
    isUsed = false;
    pausedUntil = performance.now() + PAUSE_MILLISECONDS;
  }

  return {
    counts,
    async read(primary, work) {
      if (performance.now() < pausedUntil) {
        counts.unavailable += 1;
        return work(primary);
      }
      const position = await positionOf(primary);
      if (position === undefined) return work(primary);
      try {
        const result = await readStandby(pool, run, position, work);
        counts.standby += 1;
        if (!isUsed) log.info('the standby is used again');
        isUsed = true;
        return result;
      } catch (error) {
        if (error instanceof ApiError) {
          counts.standby += 1;
          throw error;
        }
        pause(error);
        counts[error instanceof Behind ? 'behind' : 'unavailable'] += 1;
        return work(primary);
      }
    },
    close: () => pool.end(),
  };
}

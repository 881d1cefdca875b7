/** Logs one line when the database becomes unreachable and one line when it is back. */
import { type Log, markLogged } from '../base/log.ts';

export interface OutageWatch {
  /** Returns the result of a query and records whether the database answered. */
  track<T>(query: () => Promise<T>): Promise<T>;
  /** Records a lost connection, or a query that failed because of a lost connection. */
  lost(error: unknown): void;
}

/**
 * The time without a loss after which the database counts as available. While one node of a distributed database is
 * lost, some statements succeed and others do not.
 */
const QUIET_MILLISECONDS = 1_000;

/**
 * Creates an outage watch for one database.
 * @param isLoss returns whether an error means that the server or the connection is lost
 */
export function createOutageWatch(isLoss: (error: unknown) => boolean, log: Log): OutageWatch {
  /**
   * Time of the latest loss of the connection, by `performance.now()`; undefined while the database answers.
   */
  let since: number | undefined;

  function lost(error: unknown): void {
    if (since === undefined) log.warn({ error }, 'database connection lost');
    since = performance.now();
    markLogged(error);
  }

  return {
    lost,
    async track(query) {
      const started = performance.now();
      try {
        const result = await query();
        // A query that started before the loss may still succeed, so it does not prove that the connection is
        // back.
        if (since !== undefined && started > since + QUIET_MILLISECONDS) {
          since = undefined;
          log.info('the database is available again');
        }
        return result;
      } catch (error) {
        if (isLoss(error)) lost(error);
        throw error;
      }
    },
  };
}

/** Says once that the database is gone and once that it is back, however many connections and questions notice. */
import { type Log, markTold } from '../log.ts';

export interface OutageWatch {
  /** Passes on how a question ends, and learns from it. */
  noting<T>(asked: () => Promise<T>): Promise<T>;
  /** A connection was lost, or a question failed because of one. */
  lost(error: unknown): void;
}

/** @param isLoss whether an error says that the server or the way to it is gone */
export function createOutageWatch(isLoss: (error: unknown) => boolean, log: Log): OutageWatch {
  /** When the latest loss was noticed, in milliseconds of the process; undefined while the database answers. */
  let since: number | undefined;

  function lost(error: unknown): void {
    if (since === undefined) log.warn({ error }, 'database connection lost');
    since = performance.now();
    markTold(error);
  }

  return {
    lost,
    async noting(asked) {
      const begun = performance.now();
      try {
        const result = await asked();
        // A question from before the loss may still be answered, and says nothing.
        if (since !== undefined && begun > since) {
          since = undefined;
          log.info('the database answers again');
        }
        return result;
      } catch (error) {
        if (isLoss(error)) lost(error);
        throw error;
      }
    },
  };
}

/**
 * A database that fails once, at a chosen statement or commit. Statements and commits are counted, and each
 * is called a point.
 */
import {
  CommitUnknown,
  type Database,
  type Queryable,
  type Transaction,
} from '../../packages/server/src/database/database.ts';

/**
 * How a point fails. `before`: it has no effect. `after`: it takes effect, but the response is lost. `inside`: a
 * statement fails inside a transaction, which is rolled back and repeated.
 */
export const MODES = ['before', 'after', 'inside'] as const;
export type Mode = (typeof MODES)[number];

export interface FaultyDatabase extends Database {
  /** Starts to count statements and commits (points). The point with the number `at` (from 0) fails. */
  arm(at: number, mode: Mode): void;
  /** The names of the statements and commits since `arm` was called, in order. */
  readonly passed: readonly string[];
  /** The name of the statement or commit that failed. Undefined if there were fewer than the chosen number. */
  readonly failed: string | undefined;
}

export function createFaulty(database: Database): FaultyDatabase {
  let armed: { at: number; mode: Mode } | undefined;
  let passed: string[] = [];
  let failed: string | undefined;

  /**
   * Counts a statement or commit.
   *
   * @returns true if it must fail
   */
  function pass(name: string): boolean {
    if (armed === undefined) return false;
    passed.push(name);
    if (passed.length - 1 !== armed.at) return false;
    failed = name;
    return true;
  }

  const lost = () => Object.assign(new Error('planted: the connection is lost'), { code: '08006' });

  const wrap = (database: Database): Database => ({
    ...database,
    async query(statement, values) {
      if (armed?.mode === 'inside' || !pass(statement.name)) return database.query(statement, values);
      if (armed!.mode === 'before') throw lost();
      await database.query(statement, values);
      throw lost();
    },
    async transaction<T>(
      work: (transaction: Transaction) => Promise<T>,
      lockMilliseconds?: number,
    ): Promise<T> {
      let first: string | undefined;
      const watched = (transaction: Transaction): Promise<T> => {
        const query: Queryable['query'] = async (statement, values) => {
          first ??= statement.name;
          if (armed?.mode === 'inside' && pass(statement.name)) throw lost();
          return transaction.query(statement, values);
        };
        return work({ ...transaction, query });
      };
      if (armed === undefined || armed.mode === 'inside')
        return database.transaction(watched, lockMilliseconds);
      if (armed.mode === 'before') {
        if (pass('transaction')) throw lost();
        return database.transaction(watched, lockMilliseconds);
      }
      const result = await database.transaction(watched, lockMilliseconds);
      if (pass(`transaction ${first ?? 'of nothing'}`))
        throw new CommitUnknown('planted: the answer is lost');
      return result;
    },
    // Requests use a database with a shorter time limit.
    limited: (milliseconds) => wrap(database.limited(milliseconds)),
  });

  return {
    ...wrap(database),
    arm(at, mode) {
      armed = { at, mode };
      passed = [];
      failed = undefined;
    },
    get passed() {
      return passed;
    },
    get failed() {
      return failed;
    },
  };
}

/** What runs statements: the pool, an open transaction, or a standby. */
import type { QueryResultRow } from 'pg';
import type { ChangeKind } from './changes.ts';
import type { Statement, Values } from './statements.ts';

/** Runs statements in the pool or in an open transaction. */
export interface Queryable {
  /**
   * Runs a statement and returns its rows. Outside a transaction, it runs again, up to five times, after a serialization
   * failure or a deadlock. In a distributed database, a statement with rows of several parts is a transaction. Rejects
   * with the driver's error, whose `code` is the SQLSTATE, or like `Database.transaction`.
   */
  query<Row extends QueryResultRow>(statement: Statement<Row>, values?: Values): Promise<Row[]>;
  /**
   * Reports what a statement changed, for live updates. Call this function after the statement, unless the
   * returned rows show that nothing changed. An unnecessary call only makes pages reload. Listeners are
   * called after the commit. `changes.test.ts` finds functions in which the call is missing.
   */
  changed(kind: ChangeKind, account?: { accountId: string }, job?: string): void;
}

/** An open transaction. Only the function that opened it may commit it. */
export interface Transaction extends Queryable {
  readonly inTransaction: true;
}

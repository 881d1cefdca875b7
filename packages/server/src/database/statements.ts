/**
 * SQL, named. Every statement of the project is made here, so that it is prepared once per connection under
 * its name (a nameless one is planned anew at every call: twice the server's work on a select by key), and
 * so that a test can read them all and refuse one that touches an account's table without its account.
 */
import type { QueryResultRow } from 'pg';

/** One SQL statement. `Row` is the shape of what it returns, `void` where it returns nothing. */
export interface Statement<Row extends QueryResultRow = QueryResultRow> {
  readonly name: string;
  readonly text: string;
  /** Carries the row's type; never set. */
  readonly row?: Row;
}

const registered = new Map<string, Statement>();

/**
 * @param name `room.question`, unique in the program
 * @param text SQL that looks like SQL, parameters as `$1`
 * @throws Error when the name is taken
 */
export function statement<Row extends QueryResultRow = never>(name: string, text: string): Statement<Row> {
  if (registered.has(name)) throw new Error(`two statements are named ${name}`);
  const made = { name, text };
  registered.set(name, made);
  return made;
}

/** Every statement made so far, for the test of the tenant walls. */
export function allStatements(): Statement[] {
  return [...registered.values()];
}

/**
 * SQL statements with names. A named statement is prepared once per connection. An unnamed statement is
 * planned at every call, which doubles the server's work for a select by key. A test reads all statements and
 * fails for each one that uses an account's table without restricting it to the account.
 */
import type { QueryResultRow } from 'pg';
import type { AccountRef } from '../base/account.ts';
import { arraysOf, type ElementType } from './arrays.ts';
import type { ChangedList, ChangeKind, ChangeOfAll } from './changes.ts';
import { onePart, type PartSplit } from './one-part.ts';
import { locksReferenceTables } from './reference-tables.ts';

export { AND_PART, AS_TEXT } from './one-part.ts';

/** One SQL statement. `Row` is the type of its rows, or `never` when it returns none. */
export interface Statement<Row extends QueryResultRow = QueryResultRow> {
  readonly name: string;
  /** SQL with positional parameters. */
  readonly text: string;
  /** The names of the parameters in order of their positions, if the SQL uses names. */
  readonly parameters?: readonly string[];
  /** The parameters that are arrays of texts or bytes. */
  readonly arrays?: readonly [position: number, type: ElementType][] | undefined;
  /** What runs instead in a distributed database, if its planner refuses this SQL. */
  readonly distributed?: DistributedForm<Row> | undefined;
  /** Whether the SQL changes or locks rows of connected reference tables of a distributed database. */
  readonly locksReferenceTables?: boolean;
  /** Declares the type of the rows for the compiler. The property is never set. */
  readonly row?: Row;
}

/** The form of a statement for a distributed database. */
export interface DistributedForm<Row extends QueryResultRow = QueryResultRow> {
  readonly statement: Statement<Row>;
  /** If the statement names one part at a time: how to split the values of a call into those of each part. */
  readonly split?: PartSplit;
}

/** Values of a statement's parameters: by position, or by name. */
export type Values = readonly unknown[] | Readonly<Record<string, unknown>>;

/** Runs statements: the pool, an open transaction, or a standby. */
export interface Runner {
  /**
   * Runs a statement and returns its rows. Outside a transaction, it runs again, up to five times, after a serialization
   * failure or a deadlock. In a distributed database, a statement with rows of several parts is a transaction. Rejects
   * with the driver's error, whose `code` is the SQLSTATE, or like `Database.transaction`.
   */
  query<Row extends QueryResultRow>(statement: Statement<Row>, values?: Values): Promise<Row[]>;
}

/** Runs statements in the pool or in an open transaction. */
export interface Queryable extends Runner {
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

/** Runs one statement with its values by name. A statement without parameters needs no values. */
type Call<Given extends object, On extends Runner, Result> = (
  on: On,
  ...values: object extends Given ? [values?: Given] : [values: Given]
) => Promise<Result>;

/** The functions that run a statement. A function of a module is one of them: `statement<…>(…).first`. */
export interface StatementFunctions<Row extends QueryResultRow, Given extends object, On extends Runner> {
  /** Returns all rows. */
  readonly rows: Call<Given, On, Row[]>;
  /** Returns the first row, or undefined without rows. */
  readonly first: Call<Given, On, Row | undefined>;
  /** Returns the only column of all rows. */
  readonly values: Call<Given, On, Row[keyof Row][]>;
  /** Returns the only column of the first row, or undefined without rows. */
  readonly firstValue: Call<Given, On, Row[keyof Row] | undefined>;
  /** Returns the only column of the only row, such as a count. Throws a `TypeError` without rows. */
  readonly value: Call<Given, On, Row[keyof Row]>;
  /** Returns whether there are rows. */
  readonly found: Call<Given, On, boolean>;
  /** Ignores the rows. */
  readonly run: Call<Given, On, void>;
  /**
   * Returns functions that also report changes of the values `account` and `jobId` (`Queryable.changed`): `run` always,
   * the others if there are rows.
   */
  reporting(...kinds: KindOf<Given>[]): StatementFunctions<Row, Given, On & Queryable>;
}

/** The kinds of changes for which a statement's values name the account and the job. */
type KindOf<Given extends object> =
  | ChangeOfAll
  | (Given extends { account: AccountRef } ? ChangedList : never)
  | (Given extends { account: AccountRef; jobId: string } ? 'job' | 'edit' : never);

const registered = new Map<string, Statement>();

/** Matches a named parameter, but not a cast such as `::text`. */
const PARAMETER = /(?<![:\w]):([a-zA-Z_]+)\b/g;

/**
 * Registers a statement. If its SQL takes rows of several parts from arrays, a distributed database runs it once for
 * each part (`one-part.ts`). `Row` is the type of its rows, `Given` the type of its values by name, and `On` is
 * `Transaction` if it may only run in a transaction.
 * @param name `module.action`, unique in the program
 * @param text SQL with parameters by position, `$1`, or by name, `:jobId`. The value `account` stands for `:part` and
 * `:account_id`.
 * @param distributed SQL for a distributed database, with the same parameters, if its planner refuses `text`
 * @throws Error when the name is taken
 */
export function statement<
  Row extends QueryResultRow = never,
  Given extends object = object,
  On extends Runner = Runner,
>(name: string, text: string, distributed?: string): Statement<Row> & StatementFunctions<Row, Given, On> {
  const made = register<Row>(name, numberParameters(text));
  return Object.assign(made, { distributed: distributedForm(made, distributed) }, functionsOf<Row>(made));
}

function distributedForm<Row extends QueryResultRow>(
  { name, text, arrays }: Statement<Row>,
  distributed: string | undefined,
): DistributedForm<Row> | undefined {
  if (distributed !== undefined)
    return { statement: register<Row>(`${name}.distributed`, numberParameters(distributed)) };
  const one = onePart(text);
  return one && { statement: { name: `${name}.part`, text: one.text, arrays }, split: one.split };
}

/** Returns the column of a row that has only one. */
const columnOf = <Row extends QueryResultRow>(row: Row) => Object.values<Row[keyof Row]>(row)[0]!;

function functionsOf<Row extends QueryResultRow>(
  made: Statement<Row>,
  reported: readonly ChangeKind[] = [],
): StatementFunctions<Row, object, Runner> {
  const report = (on: Runner, { account, jobId }: { account?: AccountRef; jobId?: string } = {}) => {
    for (const kind of reported) (on as Queryable).changed(kind, account, jobId);
  };
  const rows = async (on: Runner, values?: object) => {
    const found = await on.query(made, values as Values);
    if (found.length > 0) report(on, values);
    return found;
  };
  return {
    rows,
    first: async (on, values) => (await rows(on, values))[0],
    values: async (on, values) => (await rows(on, values)).map(columnOf),
    firstValue: async (on, values) => (await rows(on, values)).map(columnOf)[0],
    value: async (on, values) => columnOf((await rows(on, values))[0]!),
    found: async (on, values) => (await rows(on, values)).length > 0,
    run: async (on, values) => {
      await on.query(made, values as Values);
      report(on, values);
    },
    reporting: (...kinds) => functionsOf(made, kinds),
  };
}

function register<Row extends QueryResultRow>(
  name: string,
  made: Pick<Statement, 'text' | 'parameters'>,
): Statement<Row> {
  if (registered.has(name)) throw new Error(`two statements are named ${name}`);
  const arrays = arraysOf(made.text);
  const named = {
    name,
    ...made,
    arrays,
    ...(locksReferenceTables(made.text) && { locksReferenceTables: true }),
  };
  registered.set(name, named);
  return named;
}

function numberParameters(text: string): Pick<Statement, 'text' | 'parameters'> {
  if (/\$\d/.test(text)) return { text };
  const parameters = [...new Set([...text.matchAll(PARAMETER)].map(([, name]) => name!))];
  return {
    text: text.replaceAll(PARAMETER, (_, name: string) => `$${parameters.indexOf(name) + 1}`),
    parameters,
  };
}

/**
 * Returns the values of a statement by position.
 * @throws Error when a named parameter is undefined; null is a value
 */
export function positionalValues({ name, parameters = [] }: Statement, values: Values): unknown[] {
  if (Array.isArray(values)) return [...values];
  const named = values as Readonly<Record<string, unknown>>;
  const account = named.account as AccountRef | undefined;
  // The account wins over the columns of a row whose fields are among the values.
  const ofAccount: Record<string, unknown> = { part: account?.part, account_id: account?.accountId };
  return parameters.map((parameter) => {
    const value = ofAccount[parameter] ?? named[parameter];
    if (value === undefined) throw new Error(`${name}: no value for :${parameter}`);
    return value;
  });
}

/** Converts rows to one array per parameter, for SQL such as `unnest(:part::smallint[], :job_id::uuid[])`. */
export function columnsOf<T, Column extends string>(
  rows: readonly T[],
  columns: Readonly<Record<Column, (row: T) => unknown>>,
): Record<Column, unknown[]> {
  const entries = Object.entries<(row: T) => unknown>(columns);
  return Object.fromEntries(entries.map(([name, read]) => [name, rows.map(read)])) as Record<
    Column,
    unknown[]
  >;
}

/** Returns registered statements by their names. @throws Error when a name is unknown */
export function statementsNamed(names: readonly string[]): Statement[] {
  return names.map((name) => {
    const found = registered.get(name);
    if (found === undefined) throw new Error(`no statement is named ${name}`);
    return found;
  });
}

/** Returns the statements of all loaded files, for tests that read their SQL. */
export function allStatements(): Statement[] {
  return [...registered.values()];
}

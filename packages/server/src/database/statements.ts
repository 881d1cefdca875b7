/**
 * SQL statements with names. A named statement is prepared once per connection. An unnamed statement is
 * planned at every call, which doubles the server's work for a select by key. A test reads all statements and
 * fails for each one that uses an account's table without restricting it to the account.
 */
import type { QueryResultRow } from 'pg';
import { arraysOf, type ElementType } from './arrays.ts';
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
  readonly distributed?: DistributedForm<Row>;
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

const registered = new Map<string, Statement>();

/** Matches a named parameter, but not a cast such as `::text`. */
const PARAMETER = /(?<![:\w]):([a-z_]+)\b/g;

/**
 * Registers a statement. If its SQL takes rows of several parts from arrays, a distributed database runs it once for
 * each part (`one-part.ts`).
 * @param name `module.action`, unique in the program
 * @param text SQL with parameters by position, `$1`, or by name, `:account_id`
 * @param distributed SQL for a distributed database, with the same parameters, if its planner refuses `text`
 * @throws Error when the name is taken
 */
export function statement<Row extends QueryResultRow = never>(
  name: string,
  text: string,
  distributed?: string,
): Statement<Row> {
  const plain = register<Row>(name, numberParameters(text));
  if (distributed !== undefined) {
    const form = register<Row>(`${name}.distributed`, numberParameters(distributed));
    return Object.assign(plain, { distributed: { statement: form } });
  }
  const one = onePart(plain.text);
  if (one === undefined) return plain;
  const form: Statement<Row> = { name: `${name}.part`, text: one.text, arrays: plain.arrays };
  return Object.assign(plain, { distributed: { statement: form, split: one.split } });
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
  if (text.includes('$1')) return { text };
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
  return parameters.map((parameter) => {
    const value = named[parameter];
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

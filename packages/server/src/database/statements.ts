/**
 * SQL statements with names. Each is prepared once per connection; an unnamed statement is planned at every call, which
 * doubles the server's work for a select by key. Tests read all statements and refuse one that uses a table of an
 * account without its account.
 */
import type { QueryResultRow } from 'pg';

/** One SQL statement. `Row` is the type of its rows; `never` where it returns none. */
export interface Statement<Row extends QueryResultRow = QueryResultRow> {
  readonly name: string;
  /** SQL with positional parameters. */
  readonly text: string;
  /** The names of the parameters in the order of their positions, where the SQL names them. */
  readonly parameters?: readonly string[];
  /** Carries the type of the rows; never set. */
  readonly row?: Row;
}

/** Values of a statement's parameters: by position, or by name. */
export type Values = readonly unknown[] | Readonly<Record<string, unknown>>;

const registered = new Map<string, Statement>();

/** A named parameter; not a cast (`::text`). */
const PARAMETER = /(?<![:\w]):([a-z_]+)\b/g;

/**
 * Registers a statement.
 * @param name `module.action`, unique in the program
 * @param text SQL with parameters by position, `$1`, or by name, `:account_id`
 * @throws Error when the name is taken
 */
export function statement<Row extends QueryResultRow = never>(name: string, text: string): Statement<Row> {
  if (registered.has(name)) throw new Error(`two statements are named ${name}`);
  const made = { name, ...numberParameters(text) };
  registered.set(name, made);
  return made;
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
 * @throws Error when a named parameter has no value; null is a value, undefined is none
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

/** Turns rows into one array for each parameter, for SQL such as `unnest(:part::smallint[], :job_id::uuid[])`. */
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

/** Returns every statement registered so far. */
export function allStatements(): Statement[] {
  return [...registered.values()];
}

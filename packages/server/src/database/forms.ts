/** Runs statements in the form for the database: the plain form, or the form for a distributed database. */
import type pg from 'pg';
import type { QueryResultRow } from 'pg';
import { encodeArray } from './arrays.ts';
import { splitByPart } from './one-part.ts';
import { positionalValues, type Statement, statement, type Values } from './statements.ts';

export type Connected = Pick<pg.ClientBase, 'query'> | pg.Pool;

/** One execution of a statement, with the values of its parameters by position. */
export interface Call<Row extends QueryResultRow> {
  statement: Statement<Row>;
  values: unknown[];
}

/** Runs a statement once. @param limit the time limit in milliseconds; by default the limit of the pool */
export async function execute<Row extends QueryResultRow>(
  on: Connected,
  { statement: { name, text, arrays }, values }: Call<Row>,
  limit?: number,
): Promise<Row[]> {
  for (const [position, type] of arrays ?? []) values[position] = encodeArray(values[position], type);
  const result = await on.query<Row>({ name, text, values, ...limitedTo(limit) });
  return result.rows;
}

/** Returns a row if the database has Citus, the extension for distributed databases. */
export const HAS_CITUS = statement<{ version: string }>(
  'database.citus',
  `select extversion as version from pg_extension where extname = 'citus'`,
);

/**
 * Waits for the other transactions that change or lock rows of connected reference tables. Returns no row. The number is
 * arbitrary, but nothing else in the database may use it.
 */
export const LOCK_REFERENCE_TABLES = statement(
  'database.lock_reference_tables',
  'select where pg_advisory_xact_lock(4672002) is null',
);

/**
 * Returns the executions of a statement on this database. There are several only in a distributed database: for rows of
 * several parts, or after the lock of reference tables.
 */
export type CallsOf = <Row extends QueryResultRow>(
  on: Connected,
  statement: Statement<Row>,
  given: Values,
  limit?: number,
) => Call<Row>[] | Promise<Call<Row>[]>;

/**
 * Asks whether the database is distributed, when a statement that depends on it runs for the first time. The answer is
 * kept until the process ends.
 */
export function createForms(): CallsOf {
  let distributed: boolean | undefined;
  const formOf = <Row extends QueryResultRow>(statement: Statement<Row>, given: Values): Call<Row>[] => {
    const form = statement.distributed;
    if (form === undefined) return [{ statement, values: positionalValues(statement, given) }];
    if (form.split === undefined)
      return [{ statement: form.statement, values: positionalValues(form.statement, given) }];
    return splitByPart(positionalValues(statement, given), form.split).map((values) => ({
      statement: form.statement,
      values,
    }));
  };
  const choose = <Row extends QueryResultRow>(statement: Statement<Row>, given: Values): Call<Row>[] => {
    if (distributed !== true) return [{ statement, values: positionalValues(statement, given) }];
    const calls = formOf(statement, given);
    return statement.locksReferenceTables
      ? [{ statement: LOCK_REFERENCE_TABLES, values: [] }, ...calls]
      : calls;
  };
  return (on, statement, given, limit) => {
    const depends = statement.distributed !== undefined || statement.locksReferenceTables;
    if (!depends || distributed !== undefined) return choose(statement, given);
    return execute(on, { statement: HAS_CITUS, values: [] }, limit).then((rows) => {
      distributed = rows.length > 0;
      return choose(statement, given);
    });
  };
}

/** Runs all executions of a statement, one after another, and returns the rows of all. */
export async function run<Row extends QueryResultRow>(
  on: Connected,
  calls: readonly Call<Row>[],
  limit?: number,
): Promise<Row[]> {
  if (calls.length === 1) return execute(on, calls[0]!, limit);
  const rows: Row[] = [];
  for (const call of calls) rows.push(...(await execute(on, call, limit)));
  return rows;
}

/**
 * Returns the driver's option for the time limit of one query, which the driver's types lack. Without it, the pool's
 * limit applies.
 */
export function limitedTo(milliseconds: number | undefined): object {
  return milliseconds === undefined ? {} : { query_timeout: milliseconds };
}

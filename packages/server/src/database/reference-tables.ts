/**
 * Reference tables: the tables of which each node of a distributed database has a copy. Citus locks all rows of such a
 * table, and of each table that it references, when a statement changes or locks rows of it. It takes these locks in an
 * order that depends on the statement, so that two sign-ins at once would end in a deadlock. Therefore a transaction
 * takes one advisory lock before the first of these statements (`forms.ts`).
 */

/** The reference tables that are connected by foreign keys. */
const CONNECTED_TABLES =
  'accounts users user_languages invitations sessions second_factors recovery_codes'.split(' ');

export const REFERENCE_TABLES: readonly string[] = [...CONNECTED_TABLES, 'editor_slots'];

const CHANGED_TABLES = /\b(?:insert into|update|delete from) (\w+)/g;
const READ_TABLE = /\bfrom (\w+)/;
const ROW_LOCK = /\bfor (?:key share|share|no key update|update)\b/;

/** Returns true if a statement changes or locks rows of connected reference tables. */
export function locksReferenceTables(text: string): boolean {
  const changed = [...text.matchAll(CHANGED_TABLES)].map(([, table]) => table!);
  const queries = text.split(/[()]/).filter((query) => ROW_LOCK.test(query));
  const locked = queries.map((query) => READ_TABLE.exec(query)?.[1] ?? '');
  return [...changed, ...locked].some((table) => CONNECTED_TABLES.includes(table));
}

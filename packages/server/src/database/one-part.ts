/**
 * Statements over rows of several parts, for a distributed database. Its planner must know the part of a statement
 * before the statement runs, so that the statement runs on one node. A batch takes its parts from an array. The form of
 * one part has the same SQL and also compares each part with one parameter; it runs once for each part of the batch.
 */

/** How the values of a statement over parts are split. All numbers are positions of values, from 0. */
export interface PartSplit {
  /** The array of parts. */
  readonly parts: number;
  /** The arrays with one element for each row, including the parts. */
  readonly rows: readonly number[];
  /** Whether the part is the last value of each call. */
  readonly named: boolean;
}

/** Matches the arrays of rows. The first array holds the parts. */
const ROWS = /\bunnest\(\s*(\$\d+::smallint\[\](?:,\s*\$\d+::\w+\[\])*)\)/;
/** Matches a comparison of the part of a table with the part of another table. */
const JOINED_PARTS = /\b(\w+\.)?part = \w+\.part\b/g;

/** SQL that compares the part of a table in the form of one part, and does nothing in the plain form. */
export const AND_PART = '/* and the part */';

/**
 * A column for a subquery that locks rows of a join, in a statement that also inserts rows. Citus (13.2) sends the rows
 * of such a subquery in PostgreSQL's binary format and then reads them as text, unless a column has only a text format.
 */
export const AS_TEXT = 'null::aclitem as sent_as_text';

/**
 * Derives the form of one part from a statement. The part is its last parameter, if its SQL compares one.
 * @returns undefined if the statement takes no rows of several parts from arrays
 */
export function onePart(text: string): { text: string; split: PartSplit } | undefined {
  const rows = ROWS.exec(text)?.[1];
  if (rows === undefined) return undefined;
  const positions = [...rows.matchAll(/\$(\d+)/g)].map(([, position]) => Number(position) - 1);
  const given = Math.max(...[...text.matchAll(/\$(\d+)/g)].map(([, position]) => Number(position)));
  const one = text
    .replaceAll(JOINED_PARTS, (joined, table = '') => `${joined} and ${table}part = $${given + 1}`)
    .replaceAll(AND_PART, `and part = $${given + 1}`);
  return { text: one, split: { parts: positions[0]!, rows: positions, named: one !== text } };
}

/** Splits the values of a call by part, in ascending order of the parts, so that rows are locked in that order. */
export function splitByPart(values: readonly unknown[], { parts, rows, named }: PartSplit): unknown[][] {
  const places = Map.groupBy(
    (values[parts] as number[]).keys(),
    (place) => (values[parts] as number[])[place]!,
  );
  return [...places]
    .sort(([one], [other]) => one - other)
    .map(([part, own]) => [
      ...values.map((value, position) =>
        rows.includes(position) ? own.map((place) => (value as unknown[])[place]) : value,
      ),
      ...(named ? [part] : []),
    ]);
}

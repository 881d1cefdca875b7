/**
 * Reads recorded edits from a file: CSV or TSV with a header row, or JSON Lines. Each row has the columns `source`,
 * `edit`, `editor`, `client` and `tone`, in any order. Other columns are ignored. Only `tone` may be empty.
 */
import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { OperatorError } from '../../packages/server/src/base/errors.ts';
import { throwFaults } from '../../packages/server/src/brands/brand.ts';
import { type Row, readRows } from '../../packages/server/src/brands/csv.ts';
import { createFaults, type Faults } from '../../packages/server/src/brands/terms.ts';

const COLUMNS = ['source', 'edit', 'editor', 'client', 'tone'] as const;
type Column = (typeof COLUMNS)[number];

/** A source text, and the translation of it that an editor wrote. Both are single lines. */
export type RecordedEdit = Readonly<Record<Column, string>>;

/**
 * Reads a file of recorded edits, in their order.
 *
 * @throws OperatorError with the line of every fault
 */
export async function readEdits(path: string): Promise<RecordedEdit[]> {
  const file = basename(path);
  const text = decode(file, readBytes(path));
  const faults = createFaults();
  const edits = /^\s*\{/.test(text) ? readJsonLines(text, faults) : await readTable(file, text, faults);
  if (edits.length === 0) faults.add('line 1', 'is followed by no rows.');
  throwFaults(file, faults);
  return edits;
}

function readBytes(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    throw new OperatorError(`${path} cannot be read: ${(error as Error).message}`);
  }
}

/** @throws OperatorError with the first line that is not UTF-8 */
function decode(file: string, bytes: Buffer): string {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  try {
    return decoder.decode(bytes);
  } catch {
    for (let start = 0, line = 1; ; line++) {
      const end = bytes.indexOf('\n', start);
      try {
        decoder.decode(bytes.subarray(start, end < 0 ? bytes.length : end));
      } catch {
        throw new OperatorError(`${file}: line ${line}: is not UTF-8.`);
      }
      start = end + 1;
    }
  }
}

async function rowsOf(file: string, text: string): Promise<Row[]> {
  const rows: Row[] = [];
  for await (const row of readRows(file, text, { relaxQuotes: true })) rows.push(row);
  return rows;
}

async function readTable(file: string, text: string, faults: Faults): Promise<RecordedEdit[]> {
  // Tab-separated files often have quotes within cells without quoting the cell.
  const [header, ...rows] = await rowsOf(file, text);
  if (header === undefined) {
    faults.add('line 1', `is empty; it needs a header row with ${COLUMNS.join(', ')}.`);
    throwFaults(file, faults);
  }
  const names = header!.cells.map((cell) => cell.trim().toLowerCase());
  const absent = COLUMNS.filter((column) => !names.includes(column));
  if (absent.length > 0) {
    const needed = `the columns are ${COLUMNS.join(', ')}.`;
    faults.add(`line ${header!.line}`, `the header row has no column ${absent.join(', ')}; ${needed}`);
    throwFaults(file, faults);
  }
  return rows.flatMap(({ line, cells }) => {
    if (cells.length < names.length) {
      faults.add(`line ${line}`, `has ${cells.length} cells; the header has ${names.length}.`);
      return [];
    }
    return editOf((column) => cells[names.indexOf(column)], `line ${line}`, faults);
  });
}

function readJsonLines(text: string, faults: Faults): RecordedEdit[] {
  return text.split('\n').flatMap((line, index) => {
    if (line.trim() === '') return [];
    const where = `line ${index + 1}`;
    let fields: unknown;
    try {
      fields = JSON.parse(line);
    } catch {
      fields = undefined;
    }
    if (typeof fields !== 'object' || fields === null || Array.isArray(fields)) {
      faults.add(where, 'is not a JSON object.');
      return [];
    }
    const named = fields as Partial<Record<Column, unknown>>;
    const absent = COLUMNS.filter((column) => !(column in named));
    for (const column of absent) faults.add(where, `${column}: is missing.`);
    return absent.length > 0 ? [] : editOf((column) => named[column], where, faults);
  });
}

function editOf(cellOf: (column: Column) => unknown, where: string, faults: Faults): RecordedEdit[] {
  const before = faults.lines.length;
  const entries = COLUMNS.map((column) => {
    const cell = cellOf(column) ?? '';
    if (typeof cell !== 'string' && typeof cell !== 'number') faults.add(where, `${column}: is not a text.`);
    const text = toLine(String(cell));
    if (text === '' && column !== 'tone') faults.add(where, `${column}: is empty.`);
    return [column, text];
  });
  return faults.lines.length > before ? [] : [Object.fromEntries(entries)];
}

/** Returns a text as one line, without the characters that XML does not allow. */
function toLine(text: string): string {
  return text
    .toWellFormed()
    .replaceAll(/[\p{Cc}\s\ufffe\uffff]+/gu, ' ')
    .trim();
}

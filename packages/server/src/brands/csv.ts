/**
 * A glossary as a table, for spreadsheets: a header row, then a row a term. Pure.
 *
 * Spreadsheets write tables in many ways: with a byte order mark or without, with commas, semicolons or tabs, with
 * either line end. And they run what looks like a formula, so such a cell is written behind an apostrophe, as they
 * do it themselves, and the apostrophe is taken off again when it is read.
 */
import type { Term } from '@dragoman/engines';
import { CsvError, parse } from 'csv-parse/sync';
import { stringify } from 'csv-stringify/sync';
import { BrandError, complainOf } from './brand.ts';
import { type Complaints, checkTerms, createComplaints, shorten, type WrittenTerm } from './terms.ts';

const COLUMNS = ['source', 'target', 'case_sensitive', 'forbidden', 'do_not_translate', 'note'] as const;
type Column = (typeof COLUMNS)[number];

const DELIMITERS = [',', ';', '\t'];
const YES = ['true', 'yes', 'y', '1', 'x'];
const NO = ['', 'false', 'no', 'n', '0'];
/** A quote that is never closed takes in the rest of the file; this is where that is noticed. */
const MAX_ROW_CHARACTERS = 100_000;

/** What a spreadsheet runs (OWASP, "CSV Injection"), also behind apostrophes that were there before. */
const FORMULA = /^'*[=+\-@\t\r＝＋－＠]/;
const DISARMED = /^'+[=+\-@\t\r＝＋－＠]/;

/**
 * Reads a glossary from a table.
 * @param file its name, for the complaints
 * @throws BrandError that names every fault by its line
 */
export function readCsv(file: string, text: string): Term[] {
  const rows = readRows(file, text);
  const header = rows.shift();
  if (header === undefined) throw new BrandError(`${file}: is empty; it needs a header row.`);
  const complaints = createComplaints();
  const columns = readHeader(header, complaints);
  complainOf(file, complaints);
  const written = rows.map(({ line, cells }): WrittenTerm => {
    const where = `line ${line}`;
    const cell = (column: Column) => arm(cells[columns.indexOf(column)] ?? '');
    const flag = (column: Column) => readFlag(column, cell(column), where, complaints);
    if (cells.slice(columns.length).some((extra) => extra.trim() !== '')) {
      complaints.add(where, `has ${cells.length} cells; the header has ${columns.length}.`);
    }
    const term: Term = {
      source: cell('source'),
      target: cell('target'),
      caseSensitive: flag('case_sensitive'),
      forbidden: flag('forbidden'),
      doNotTranslate: flag('do_not_translate'),
      note: cell('note'),
    };
    return { where, term };
  });
  const terms = checkTerms(written, complaints);
  complainOf(file, complaints);
  return terms;
}

interface Row {
  /** Where it begins, from 1. */
  line: number;
  cells: string[];
}

/** The rows that have anything in them. */
function readRows(file: string, text: string): Row[] {
  let parsed: { record: string[]; info: { lines: number } }[];
  try {
    // Of a line end of two characters within quotes the parser counts both.
    parsed = parse(text.replaceAll(/\r\n?/g, '\n'), {
      bom: true,
      delimiter: delimiterOf(text),
      info: true,
      max_record_size: MAX_ROW_CHARACTERS,
      record_delimiter: '\n',
      relax_column_count: true,
    }) as unknown as typeof parsed;
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    const { code, lines } = error as CsvError & { lines?: number };
    throw new BrandError(`${file}: line ${lines ?? '?'}: ${FAULTS[code] ?? 'is no row of a table.'}`);
  }
  let line = 1;
  const rows: Row[] = [];
  for (const { record, info } of parsed) {
    if (record.some((cell) => cell.trim() !== '')) rows.push({ line, cells: record });
    line = info.lines + 1;
  }
  return rows;
}

const FAULTS: Record<string, string> = {
  CSV_QUOTE_NOT_CLOSED: 'a quote is opened before here and never closed.',
  CSV_MAX_RECORD_SIZE: 'a row is too long; perhaps a quote is opened and never closed.',
  CSV_INVALID_CLOSING_QUOTE: 'a quote within a quoted cell must be written twice.',
  INVALID_OPENING_QUOTE: 'a cell with a quote in it must be quoted as a whole, the quote written twice.',
};

/** The delimiter that cuts the header into most cells. */
function delimiterOf(text: string): string {
  const [header = ''] = text.split(/[\r\n]/, 1);
  const count = (delimiter: string) => header.split(delimiter).length;
  return DELIMITERS.reduce((best, delimiter) => (count(delimiter) > count(best) ? delimiter : best));
}

/** The column of each cell; undefined where a header cell is empty, as spreadsheets leave them at the end. */
function readHeader({ line, cells }: Row, complaints: Complaints): (Column | undefined)[] {
  const columns = cells.map((cell) => {
    const name = cell
      .trim()
      .toLowerCase()
      .replaceAll(/[\s-]+/g, '_');
    const column = COLUMNS.find((known) => known === name);
    if (name !== '' && column === undefined) {
      complaints.add(`line ${line}`, `"${shorten(cell)}" is not one of ${COLUMNS.join(', ')}.`);
    }
    return column;
  });
  for (const column of COLUMNS) {
    if (columns.filter((found) => found === column).length > 1) {
      complaints.add(`line ${line}`, `has the column ${column} twice.`);
    }
  }
  if (!columns.includes('source')) {
    complaints.add(`line ${line}`, `the header row has no column source; columns are ${COLUMNS.join(', ')}.`);
  }
  return columns;
}

function readFlag(column: Column, cell: string, where: string, complaints: Complaints): boolean {
  const written = cell.trim().toLowerCase();
  if (YES.includes(written)) return true;
  if (!NO.includes(written)) {
    complaints.add(where, `${column}: "${shorten(cell)}" is neither true nor false.`);
  }
  return false;
}

/** A glossary as a table, in UTF-8 with the byte order mark by which spreadsheets know it. */
export function writeCsv(terms: readonly Term[]): string {
  const rows = terms.map((term) => [
    disarm(term.source),
    disarm(term.target),
    term.caseSensitive ? 'true' : '',
    term.forbidden ? 'true' : '',
    term.doNotTranslate ? 'true' : '',
    disarm(term.note ?? ''),
  ]);
  return stringify([[...COLUMNS], ...rows], {
    bom: true,
    quoted_match: /[\r\n]/,
    record_delimiter: 'windows',
  });
}

function disarm(cell: string): string {
  return FORMULA.test(cell) ? `'${cell}` : cell;
}

function arm(cell: string): string {
  return DISARMED.test(cell) ? cell.slice(1) : cell;
}

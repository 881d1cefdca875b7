/**
 * Reads and writes a glossary as CSV: a header row, then one row for each term.
 *
 * The reader accepts files with and without a byte order mark, with commas, semicolons or tabs, and with
 * either line end, and with a first line such as `sep=;`, with which Excel names the delimiter. Spreadsheets execute cells that look like formulas. The writer therefore puts an
 * apostrophe before such a cell, as spreadsheets do themselves, and the reader removes it.
 */
import { pipeline, Readable } from 'node:stream';
import type { Term } from '@dragoman/engines';
import { CsvError, parse } from 'csv-parse';
import { stringify } from 'csv-stringify/sync';
import { inSlices } from '../base/turns.ts';
import { shorten } from '../http/input.ts';
import { BrandError, throwFaults } from './brand.ts';
import { createFaults, createTermCheck, type Faults, MAX_TERMS, type WrittenTerm } from './terms.ts';

const COLUMNS = ['source', 'target', 'case_sensitive', 'forbidden', 'do_not_translate', 'note'] as const;
type Column = (typeof COLUMNS)[number];

const DELIMITERS = [',', ';', '\t'];
const YES = ['true', 'yes', 'y', '1', 'x'];
const NO = ['', 'false', 'no', 'n', '0'];
/**
 * The maximum number of characters in a row. It detects an unclosed quote, which would extend the row to the
 * end of the file.
 */
const MAX_ROW_CHARACTERS = 100_000;

/** The maximum number of rows, of which some may repeat a term. Each row with another number of cells takes 25 µs. */
const MAX_ROWS = 2 * MAX_TERMS;
const MAX_CELLS = 1_000;
/** The characters that are parsed in one turn of the event loop: at most a thousand rows. */
const SLICE_LENGTH = 2 * 1024;

/**
 * A cell that a spreadsheet would execute (OWASP, "CSV Injection"), with or without apostrophes before it.
 */
const FORMULA = /^'*[=+\-@\t\r＝＋－＠]/;
const ESCAPED_FORMULA = /^'+[=+\-@\t\r＝＋－＠]/;

/**
 * Reads a glossary from CSV.
 * @param file the name of the file, for the message
 * @throws BrandError with the line of every fault
 */
export async function readCsv(file: string, text: string): Promise<Term[]> {
  const faults = createFaults();
  const check = createTermCheck(faults);
  let columns: (Column | undefined)[] | undefined;
  for await (const row of readRows(file, text, { maxRows: MAX_ROWS })) {
    if (columns === undefined) {
      columns = readHeader(row, faults);
      throwFaults(file, faults);
    } else check.add(readTerm(row, columns, faults));
  }
  if (columns === undefined) throw new BrandError(`${file}: is empty; it needs a header row.`);
  const terms = check.terms();
  throwFaults(file, faults);
  return terms;
}

function readTerm({ line, cells }: Row, columns: (Column | undefined)[], faults: Faults): WrittenTerm {
  const where = `line ${line}`;
  const cell = (column: Column) => unescapeFormula(cells[columns.indexOf(column)] ?? '');
  const flag = (column: Column) => readFlag(column, cell(column), where, faults);
  if (cells.slice(columns.length).some((extra) => extra.trim() !== '')) {
    faults.add(where, `has ${cells.length} cells; the header has ${columns.length}.`);
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
}

/** A row of a table. */
export interface Row {
  /** The number of the row's first line, from 1. */
  line: number;
  cells: string[];
}

/**
 * Reads all rows that are not empty, with turns of the event loop between them.
 * @param options.relaxQuotes whether quotes inside an unquoted cell are read as ordinary characters
 * @throws BrandError with the line of the first row that cannot be read
 */
export async function* readRows(
  file: string,
  text: string,
  { relaxQuotes = false, maxRows = Number.POSITIVE_INFINITY } = {},
): AsyncGenerator<Row> {
  const [declared, delimiter = delimiterOf(text)] = /^\ufeff?sep=(.)(?=[\r\n]|$)/i.exec(text) ?? [''];
  const parser = parse({
    bom: true,
    delimiter,
    info: true,
    max_record_size: MAX_ROW_CHARACTERS,
    record_delimiter: '\n',
    relax_column_count: true,
    relax_quotes: relaxQuotes,
    skip_empty_lines: true,
  });
  // All line ends are first converted to LF, because the parser counts CR LF within quotes as two lines.
  const lines = text.slice(declared.length).replaceAll(/\r\n?/g, '\n');
  // The loop below gets the errors of both.
  pipeline(Readable.from(inShortLines(file, lines)), parser, () => {});
  let rows = 0;
  try {
    for await (const { record, info } of parser as AsyncIterable<Parsed>) {
      if (++rows > maxRows) {
        throw new BrandError(
          `${file}: line ${info.lines}: the file has more than ${maxRows} rows up to here.`,
        );
      }
      if (record.length > MAX_CELLS) {
        throw new BrandError(`${file}: line ${info.lines}: has more than ${MAX_CELLS} cells.`);
      }
      const lineFeeds = record.reduce((count, cell) => count + cell.split('\n').length - 1, 0);
      if (record.some((cell) => cell.trim() !== '')) yield { line: info.lines - lineFeeds, cells: record };
    }
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    const { code, lines } = error as CsvError & { lines?: number };
    throw new BrandError(`${file}: line ${lines ?? '?'}: ${PARSE_FAULTS[code] ?? 'is not a valid row.'}`);
  }
}

/**
 * Yields a table in slices, and refuses a line that is longer than a row may be. The parser does not: it counts the
 * characters of cells, so millions of empty cells would be one row.
 */
async function* inShortLines(file: string, text: string): AsyncGenerator<string> {
  let line = 1;
  let length = 0;
  for await (const slice of inSlices(text, SLICE_LENGTH)) {
    const parts = slice.split('\n');
    line += parts.length - 1;
    length = parts.length > 1 ? parts.at(-1)!.length : length + slice.length;
    if (length > MAX_ROW_CHARACTERS) {
      throw new BrandError(`${file}: line ${line}: ${PARSE_FAULTS.CSV_MAX_RECORD_SIZE}`);
    }
    yield slice;
  }
}

interface Parsed {
  record: string[];
  info: { lines: number };
}

const PARSE_FAULTS: Record<string, string> = {
  CSV_QUOTE_NOT_CLOSED: 'a quote is opened before here and never closed.',
  CSV_MAX_RECORD_SIZE: 'a row is too long; perhaps a quote is opened and never closed.',
  CSV_INVALID_CLOSING_QUOTE: 'a quote within a quoted cell must be written twice.',
  INVALID_OPENING_QUOTE: 'a cell with a quote in it must be quoted as a whole, the quote written twice.',
};

/** Returns the delimiter that divides the header into the most cells. */
function delimiterOf(text: string): string {
  const [header = ''] = text.slice(0, MAX_ROW_CHARACTERS).split(/[\r\n]/, 1);
  const count = (delimiter: string) => header.split(delimiter).length;
  return DELIMITERS.reduce((best, delimiter) => (count(delimiter) > count(best) ? delimiter : best));
}

/**
 * Returns the column of each header cell, or undefined for an empty cell, because spreadsheets add empty
 * cells at the end.
 */
function readHeader({ line, cells }: Row, faults: Faults): (Column | undefined)[] {
  const columns = cells.map((cell) => {
    const name = cell
      .trim()
      .toLowerCase()
      .replaceAll(/[\s-]+/g, '_');
    const column = COLUMNS.find((known) => known === name);
    if (name !== '' && column === undefined) {
      faults.add(`line ${line}`, `"${shorten(cell)}" is not one of ${COLUMNS.join(', ')}.`);
    }
    return column;
  });
  for (const column of COLUMNS) {
    if (columns.filter((found) => found === column).length > 1) {
      faults.add(`line ${line}`, `has the column ${column} twice.`);
    }
  }
  if (!columns.includes('source')) {
    faults.add(`line ${line}`, `the header row has no column source; columns are ${COLUMNS.join(', ')}.`);
  }
  return columns;
}

function readFlag(column: Column, cell: string, where: string, faults: Faults): boolean {
  const written = cell.trim().toLowerCase();
  if (YES.includes(written)) return true;
  if (!NO.includes(written)) {
    faults.add(where, `${column}: "${shorten(cell)}" is neither true nor false.`);
  }
  return false;
}

/**
 * Writes a glossary as CSV in UTF-8. The file starts with a byte order mark, because spreadsheets need it to
 * recognise UTF-8.
 */
export function writeCsv(terms: readonly Term[]): string {
  const rows = terms.map((term) => [
    escapeFormula(term.source),
    escapeFormula(term.target),
    term.caseSensitive ? 'true' : '',
    term.forbidden ? 'true' : '',
    term.doNotTranslate ? 'true' : '',
    escapeFormula(term.note ?? ''),
  ]);
  return stringify([[...COLUMNS], ...rows], {
    bom: true,
    quoted_match: /[\r\n]/,
    record_delimiter: 'windows',
  });
}

function escapeFormula(cell: string): string {
  return FORMULA.test(cell) ? `'${cell}` : cell;
}

function unescapeFormula(cell: string): string {
  return ESCAPED_FORMULA.test(cell) ? cell.slice(1) : cell;
}

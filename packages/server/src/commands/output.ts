/** Output of commands: results on standard output, everything else on standard error. */

/** A failed command, with a message for the person who ran it. The exit status is 1. */
export class CommandError extends Error {
  override name = 'CommandError';
}

/** Prints a value as one line of JSON. */
export function printJson(value: unknown): void {
  process.stdout.write(`${JSON.stringify(value)}\n`);
}

/** Prints a line of the result on standard output. */
export function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

/** Characters that end a line, control a terminal, or change the order in which characters are displayed. */
const UNPRINTABLE = /[\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]/gu;

/**
 * Returns a text with a space in place of each character that a terminal would not print in its line. Texts of
 * customers and editors may contain such characters.
 */
export function oneLine(text: string): string {
  return text.replace(UNPRINTABLE, ' ');
}

/**
 * Prints rows under the names of their columns, each on one line.
 * @param none the sentence to print when there are no rows
 */
export function printTable(columns: string[], rows: string[][], none: string): void {
  if (rows.length === 0) {
    print(none);
    return;
  }
  const lines = [columns.map((name) => name.toUpperCase()), ...rows.map((row) => row.map(oneLine))];
  const widths = columns.map((_, column) => Math.max(...lines.map((line) => line[column]!.length)));
  for (const line of lines) {
    print(
      line
        .map((cell, column) => cell.padEnd(widths[column]!))
        .join('  ')
        .trimEnd(),
    );
  }
}

/** Prints a text without adding a line break. */
export function write(text: string): void {
  process.stdout.write(text);
}

/** Prints progress and remarks to standard error. */
export function say(line: string): void {
  process.stderr.write(`${line}\n`);
}

const CLOSED = new Set(['EPIPE', 'ERR_STREAM_DESTROYED']);

function ignoreClosedPipe(error: NodeJS.ErrnoException): void {
  if (CLOSED.has(error.code ?? '')) return;
  process.exitCode = 1;
  process.stderr.write(`Cannot write: ${error.message}\n`);
}

/**
 * Drops further output when its reader is gone (`dragoman settings | head -1`), so that the command can
 * finish. After any other write error, such as a full disk, the exit status is 1.
 */
export function ignoreClosedPipes(): void {
  for (const stream of [process.stdout, process.stderr]) {
    if (!stream.listeners('error').includes(ignoreClosedPipe)) stream.on('error', ignoreClosedPipe);
  }
}

/** What a command says, and how it ends: results on standard output, all else on standard error. */

/** The command did not succeed; the message is for the person who ran it. Exit status 1. */
export class CommandError extends Error {
  override name = 'CommandError';
}

/** One JSON object on standard output. */
export function printJson(value: unknown): void {
  process.stdout.write(`${JSON.stringify(value)}\n`);
}

/** A result for a person, on standard output. */
export function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

/** A file's text on standard output, as it is. */
export function write(text: string): void {
  process.stdout.write(text);
}

/** Progress and remarks, on standard error. */
export function say(line: string): void {
  process.stderr.write(`${line}\n`);
}

const CLOSED = new Set(['EPIPE', 'ERR_STREAM_DESTROYED']);

function heedClosedPipe(error: NodeJS.ErrnoException): void {
  if (CLOSED.has(error.code ?? '')) return;
  process.exitCode = 1;
  process.stderr.write(`Cannot write: ${error.message}\n`);
}

/**
 * Lets the command finish when the reader of its output has gone (`dragoman settings | head -1`): what follows is
 * dropped. Any other failure to write, such as a full disk, ends with status 1.
 */
export function heedClosedPipes(): void {
  for (const stream of [process.stdout, process.stderr]) {
    if (!stream.listeners('error').includes(heedClosedPipe)) stream.on('error', heedClosedPipe);
  }
}

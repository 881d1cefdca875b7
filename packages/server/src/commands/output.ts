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

/** Reads the settings file and the files of secrets, and suggests settings for misspelled names. */
import { readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';

/** A setting with an invalid value or name. The message is one sentence that names the setting. */
export class SettingError extends Error {
  override name = 'SettingError';
}

/**
 * Matches a line whose value has an unclosed quote. In Node's `--env-file`, such a value continues on the next line.
 */
const OPEN_QUOTE = /^[^=]*=\s*(["'`])(?!.*\1)/;

/**
 * Reads a file of `NAME=value` lines. Empty lines, comments, quotes and `export` have the same meaning as for
 * Node's `--env-file`, but a value always ends with its line.
 * @param path the path of the file; undefined or empty if there is no file
 * @param namesFor returns the known names of settings, which depend on values in the file
 * @throws SettingError when the file cannot be read, for the first malformed line, and for the first unknown name
 */
export function readSettingsFile(
  path: string | undefined,
  namesFor: (written: ReadonlyMap<string, string>) => string[],
): Map<string, string> {
  const written = new Map<string, string>();
  const places = new Map<string, string>();
  if (path === undefined || path === '') return written;
  for (const [index, line] of readFile(path).split(/\r?\n/).entries()) {
    if (/^\s*(#|$)/.test(line)) continue;
    const [[name, value] = []] = Object.entries(parseEnv(line));
    const place = `Line ${index + 1} of ${path}`;
    // The error does not quote a malformed line, because the line may contain a secret.
    if (name === undefined || value === undefined || !/^\w+$/.test(name) || OPEN_QUOTE.test(line)) {
      throw new SettingError(`${place} is not NAME=value.`);
    }
    written.set(name, value);
    if (!places.has(name)) places.set(name, place);
  }
  const known = namesFor(written);
  for (const [name, place] of places) {
    if (!known.includes(name)) throw new SettingError(`${place}: ${describeUnknown(name, known)}.`);
  }
  return written;
}

function readFile(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new SettingError(
      `DRAGOMAN_SETTINGS must name a file that can be read: ${(error as Error).message}`,
    );
  }
}

/**
 * Reads a file that contains one secret. A line break at its end does not belong to the secret.
 * @param name the setting that names the file. Errors do not quote the path, which could be a misplaced secret.
 */
export function readSecretFile(name: string, path: string): string {
  let content: string;
  try {
    content = readFileSync(path, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new SettingError(`${name} must name a file that can be read (${code}).`);
  }
  const secret = content.replace(/\r?\n$/, '');
  if (secret === '') throw new SettingError(`${name} must name a file that is not empty.`);
  return secret;
}

/** A setting is suggested for an unknown name with at most this many typing errors. */
const MAX_TYPOS = 3;

/** Returns a part of a sentence that suggests the setting with the nearest name. */
export function describeUnknown(name: string, known: string[]): string {
  const [nearest] = known
    .map((other) => ({ other, typos: editDistance(name, other) }))
    .filter(({ typos }) => typos <= MAX_TYPOS)
    .sort((a, b) => a.typos - b.typos);
  const hint = nearest === undefined ? '' : ` (did you mean ${nearest.other}?)`;
  return `there is no setting ${name}${hint}`;
}

/** Returns the Levenshtein distance of two texts. */
function editDistance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (const [i, character] of [...from].entries()) {
    const next = [i + 1];
    for (const [j, other] of [...to].entries()) {
      next.push(Math.min(next[j]! + 1, row[j + 1]! + 1, row[j]! + (character === other ? 0 : 1)));
    }
    row = next;
  }
  return row[to.length]!;
}

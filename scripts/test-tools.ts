/**
 * Finds what `prepare-tests.ts` installed from Debian for a user who may not install packages for the system. `useTools`
 * lets this process and its children use it.
 */
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** The folder of the private installation. Git ignores it. */
export const TOOLS = join(import.meta.dirname, '../.tools');

export function useTools(): void {
  const bin = join(TOOLS, 'bin');
  if (!existsSync(bin) || process.env.PATH!.startsWith(bin)) return;
  process.env.PATH = `${bin}${delimiter}${process.env.PATH}`;
  if (existsSync(join(TOOLS, 'usr/bin/lt-proc'))) process.env.DRAGOMAN_APERTIUM_ROOT ??= TOOLS;
}

/** Returns the options of an Apertium that tests use: the private one, if there is one, otherwise the system's. */
export function privateApertium(): { root?: string } {
  const { DRAGOMAN_APERTIUM_ROOT: root } = process.env;
  return root === undefined ? {} : { root };
}

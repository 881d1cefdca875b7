/**
 * Finds what `prepare-tests.ts` installed from Debian for a user who may not install packages for the system. `useTools`
 * lets this process and its children use it.
 */
import { existsSync, mkdirSync, readdirSync, symlinkSync } from 'node:fs';
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

/**
 * Creates an installation of Apertium that has only some modes. A self-test of all pairs takes ten seconds of processor
 * time.
 * @param root the folder of the installation
 * @param modes the names of the modes, such as `eng-spa`
 */
export function apertiumWith(root: string, modes: readonly string[]): { root: string } {
  const whole = privateApertium().root ?? '/';
  const data = 'usr/share/apertium';
  mkdirSync(join(root, data, 'modes'), { recursive: true });
  const pairs = readdirSync(join(whole, data)).filter((name) => name !== 'modes');
  const files = [...pairs, ...modes.map((name) => `modes/${name}.mode`)].map((name) => join(data, name));
  for (const path of ['usr/bin', 'usr/lib', ...files]) symlinkSync(join(whole, path), join(root, path));
  return { root };
}

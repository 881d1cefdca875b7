/** Finds the installed programs, modes and packages of Apertium. */

import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { MANIFEST } from '../debian.ts';
import { DEFAULT_PACKAGES, MODES, OPTIONAL_PACKAGES } from './modes.ts';
import type { Tree } from './tree.ts';
import { hasMode, toolPath, treeFor } from './tree.ts';

export interface ApertiumFound {
  /** Version of Debian's package `apertium`, if it is known. */
  version?: string;
  /** Where Apertium is installed: `the system`, or the folder of a private installation. */
  where: string;
  /** Installed modes that this program supports. */
  modes: string[];
  /** Versions of the installed packages by name, if they are known. */
  packages: Record<string, string>;
  /** Requested packages that lack programs or modes. */
  missing: string[];
}

const run = promisify(execFile);

/**
 * Returns the installed parts of Apertium.
 * @param options.root folder of a private installation; if it contains no installation, the system is examined
 * @param options.packages wanted packages; default: {@link DEFAULT_PACKAGES}
 */
export async function findApertium(
  options: { root?: string; packages?: readonly string[] } = {},
): Promise<ApertiumFound> {
  const tree = treeFor(options.root);
  const packages = tree.root === '' ? await systemPackages() : await treePackages(tree.root);
  const { apertium } = packages;
  return {
    ...(apertium === undefined ? {} : { version: apertium }),
    where: tree.root === '' ? 'the system' : tree.root,
    modes: MODES.map(({ name }) => name).filter((name) => hasMode(tree, name)),
    packages,
    missing: missingFrom(tree, options.packages ?? DEFAULT_PACKAGES),
  };
}

/** Returns the packages that lack files, without the optional ones. Does not ask dpkg, because Apertium may have been installed in another way. */
export function missingFrom(tree: Tree, packages: readonly string[]): string[] {
  const tools = ['lt-proc', 'apertium-tagger', 'apertium-wblank-mode'].every((tool) =>
    existsSync(toolPath(tree, tool)),
  );
  const pairs = packages.filter(
    (name) =>
      name !== 'apertium' &&
      !OPTIONAL_PACKAGES.includes(name) &&
      !MODES.filter((mode) => mode.package === name).every((mode) => hasMode(tree, mode.name)),
  );
  return tools ? pairs : ['apertium', ...pairs];
}

async function systemPackages(): Promise<Record<string, string>> {
  try {
    // biome-ignore lint/suspicious/noTemplateCurlyInString: dpkg's own placeholders
    const format = '${db:Status-Status} ${Package} ${Version}\n';
    const { stdout } = await run('dpkg-query', ['-W', '-f', format, 'apertium', 'apertium-*']);
    return Object.fromEntries(
      stdout
        .split('\n')
        .map((line) => line.split(' '))
        .filter(([status]) => status === 'installed')
        .map(([, name, version]) => [name!, version!]),
    );
  } catch {
    // The versions are unknown without dpkg, or when none of the packages is installed.
    return {};
  }
}

async function treePackages(root: string): Promise<Record<string, string>> {
  try {
    return JSON.parse(await readFile(join(root, MANIFEST), 'utf8'));
  } catch {
    // A manual installation has no manifest.
    return {};
  }
}

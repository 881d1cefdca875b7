/** What of Apertium is on this machine. */

import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { DEFAULT_PACKAGES, MODES } from './modes.ts';
import type { Tree } from './tree.ts';
import { hasMode, toolPath, treeFor } from './tree.ts';

export interface ApertiumFound {
  /** Version of Debian's `apertium` package, where it can be told. */
  version?: string;
  /** `the system`, or the folder of the private tree. */
  where: string;
  /** Installed modes of our table. */
  modes: string[];
  /** Package → version of what is installed, where it can be told. */
  packages: Record<string, string>;
  /** Of the wanted packages, those whose programs or modes are not all there. */
  missing: string[];
}

/** In a private tree: which packages it was made of, as `{"apertium": "3.8.3-1+b2"}`. */
export const MANIFEST = 'packages.json';

const run = promisify(execFile);

/**
 * @param options.root a folder that may hold a private tree; without one in it, the system is looked at
 * @param options.packages what to look for; default: the twelve of the seven languages
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

/** Judged by the files themselves, so that it also holds for an Apertium that dpkg does not know of. */
export function missingFrom(tree: Tree, packages: readonly string[]): string[] {
  const tools = ['lt-proc', 'apertium-tagger', 'apertium-wblank-mode'].every((tool) =>
    existsSync(toolPath(tree, tool)),
  );
  const pairs = packages.filter(
    (name) =>
      name !== 'apertium' &&
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
    // No dpkg here, or none of the packages: both mean that nothing can be said about versions.
    return {};
  }
}

async function treePackages(root: string): Promise<Record<string, string>> {
  try {
    return JSON.parse(await readFile(join(root, MANIFEST), 'utf8'));
  } catch {
    // A tree somebody made by hand has no manifest; its files still count.
    return {};
  }
}

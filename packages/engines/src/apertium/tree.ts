/**
 * Where Apertium's files are: the system's own folders, or a private tree that `dpkg -x` filled under some root.
 */

import { existsSync, readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';

export interface Tree {
  /** `''` for the system, else an absolute folder without a trailing slash. */
  root: string;
  /** Everything a stage's environment holds: nothing of ours is inherited. */
  env: Record<string, string>;
}

/** The data prefix every mode file of Debian names. */
export const DATA_PREFIX = '/usr/share/apertium/';

/**
 * The stages give back and ask again for many small pieces of memory at a time; kept at hand by glibc, they take 4 %
 * less of the processor (`lt-proc -b` 20 %, `lt-proc -n` 13 %). Other C libraries pass over it.
 */
const COMMON = { LC_ALL: 'C.UTF-8', GLIBC_TUNABLES: 'glibc.malloc.tcache_count=2000' };

/** @param root absolute folder of a private tree; leave out for the system's Apertium. */
export function treeAt(root = ''): Tree {
  const base = root.replace(/(?<!\/)\/+$/, '');
  if (base === '') return { root: '', env: { ...COMMON, PATH: '/usr/bin:/bin' } };
  const env = {
    ...COMMON,
    PATH: `${base}/usr/bin:/usr/bin:/bin`,
    LD_LIBRARY_PATH: libraryFolders(base).join(':'),
  };
  return { root: base, env };
}

/** The private tree in that folder if there is one, else the system's. */
export function treeFor(root: string | undefined): Tree {
  return root !== undefined && existsSync(join(root, 'usr/bin/lt-proc')) ? treeAt(resolve(root)) : treeAt();
}

/** Path of a tool of this tree, never looked up in PATH. */
export function toolPath(tree: Tree, tool: string): string {
  return `${tree.root}/usr/bin/${tool}`;
}

/** Path of a mode's file, whether it exists or not. */
export function modePath(tree: Tree, mode: string): string {
  return `${tree.root}${DATA_PREFIX}modes/${mode}.mode`;
}

export function hasMode(tree: Tree, mode: string): boolean {
  return existsSync(modePath(tree, mode));
}

/** `usr/lib`, `lib` and their multiarch folders (`x86_64-linux-gnu`), as Debian lays them out. */
function libraryFolders(root: string): string[] {
  const folders: string[] = [];
  for (const lib of ['usr/lib', 'lib']) {
    const folder = join(root, lib);
    if (!existsSync(folder)) continue;
    folders.push(folder);
    for (const entry of readdirSync(folder)) {
      if (entry.includes('-linux-')) folders.push(join(folder, entry));
    }
  }
  return folders;
}

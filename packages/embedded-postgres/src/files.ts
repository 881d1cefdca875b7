import {
  chmodSync,
  chownSync,
  closeSync,
  fsyncSync,
  lchownSync,
  lstatSync,
  openSync,
  readdirSync,
  readSync,
  renameSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';

/** Writes a file atomically: a reader sees either the old or the new content. */
export function writeAtomically(path: string, content: string): void {
  const draft = `${path}.${process.pid}`;
  writeFileSync(draft, content, { mode: 0o600 });
  renameSync(draft, path);
}

/** Syncs a directory, so that a rename or a new entry in it survives a power failure. */
export function syncDirectory(path: string): void {
  const fd = openSync(path, 'r');
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

/**
 * Gives files that root has created to the owner of their directory. Otherwise an ordinary user whose service
 * uses the directory could not open files that a command with sudo has created there.
 */
export function giveToOwnerOf(directory: string, ...paths: string[]): void {
  if (process.getuid?.() !== 0) return;
  const owner = statSync(directory);
  if (owner.uid === 0) return;
  for (const path of paths) chownSync(path, owner.uid, owner.gid);
}

/**
 * Gives a directory tree to a user. The top directory is changed last, because its owner shows whether the
 * change is complete.
 */
export function chownTree(path: string, uid: number, gid: number): void {
  if (lstatSync(path).isDirectory()) {
    for (const entry of readdirSync(path)) chownTree(join(path, entry), uid, gid);
  }
  lchownSync(path, uid, gid);
}

/** Allows a group to enter a directory, but not to list it or write to it. */
export function allowGroupToEnter(directory: string, gid: number): void {
  chownSync(directory, -1, gid);
  chmodSync(directory, (statSync(directory).mode & 0o777) | 0o010);
}

/**
 * Returns the last `count` lines of the part of a file after byte `from`. Returns an empty string when the file
 * cannot be read.
 */
export function lastLines(path: string, count: number, from = 0): string {
  try {
    const fd = openSync(path, 'r');
    try {
      const size = statSync(path).size;
      const start = Math.max(from, size - 8192);
      const buffer = Buffer.alloc(Math.max(0, size - start));
      readSync(fd, buffer, 0, buffer.length, start);
      return buffer.toString('utf8').trimEnd().split('\n').slice(-count).join('\n');
    } finally {
      closeSync(fd);
    }
  } catch {
    // The caller adds the lines to the message of another error, so an unreadable file causes no error here.
    return '';
  }
}

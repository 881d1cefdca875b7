/** Small operations on files that several parts of the embedded server need. */
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

/** Writes a file so that a reader sees the old or the new content, never a half. */
export function writeWhole(path: string, content: string): void {
  const draft = `${path}.${process.pid}`;
  writeFileSync(draft, content, { mode: 0o600 });
  renameSync(draft, path);
}

/** Makes a rename or a new entry in a directory survive a power cut. */
export function syncDirectory(path: string): void {
  const fd = openSync(path, 'r');
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

/**
 * As root in a directory of somebody else (a command run with sudo beside the service): what root made there
 * is given to the directory's owner, who could not open it otherwise.
 */
export function giveToOwnerOf(directory: string, ...paths: string[]): void {
  if (process.getuid?.() !== 0) return;
  const owner = statSync(directory);
  if (owner.uid === 0) return;
  for (const path of paths) chownSync(path, owner.uid, owner.gid);
}

/** Gives a tree to a user; the top goes last, so that a half-done round is seen as not done. */
export function chownTree(path: string, uid: number, gid: number): void {
  if (lstatSync(path).isDirectory()) {
    for (const entry of readdirSync(path)) chownTree(join(path, entry), uid, gid);
  }
  lchownSync(path, uid, gid);
}

/** Lets the group through a directory, without letting it list or write there. */
export function letGroupThrough(directory: string, gid: number): void {
  chownSync(directory, -1, gid);
  chmodSync(directory, (statSync(directory).mode & 0o777) | 0o010);
}

/** The last lines of a file; empty when there is none. */
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
    // A missing log is no reason to hide the error that it would have explained.
    return '';
  }
}

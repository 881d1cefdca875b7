/**
 * Creates the directory of the socket, and the scratch directory for files that cannot be in the data
 * directory. The path of a socket may have at most 108 bytes, so in a deep data directory the socket is in a
 * private scratch directory below the temporary directory. The data directory records its path, so that it
 * is reused after a crash and removed when the server stops.
 */
import { chmodSync, chownSync, lstatSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { giveToOwnerOf, writeAtomically } from './files.ts';
import type { Identity } from './identity.ts';

/** The port is only a part of the socket's name, because the server does not listen on TCP. */
export const PORT = 5432;

/**
 * Maximum length of a socket's path without the final zero byte: unix(7) allows 108 bytes with it, macOS
 * 104.
 */
const MAX_SOCKET_PATH_BYTES = process.platform === 'linux' ? 107 : 103;

const PREFIX = 'postgres-';
/** `mkdtemp` adds six characters to the prefix. The directory of the socket inside is named `s`. */
const SOCKET_DIRECTORY = `${PREFIX}XXXXXX/s`;

/** Creates the directory of the socket, which only the server's user can enter, and returns its path. */
export function makeSocketDirectory(dataDir: string, identity: Identity): string {
  const preferred = join(dataDir, 'socket');
  const directory = socketFits(preferred) ? preferred : join(makeScratch(dataDir), 's');
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  chmodSync(directory, 0o700);
  if (process.getuid!() === 0) chownSync(directory, identity.uid, identity.gid);
  return directory;
}

/** Returns the scratch directory of a data directory, and creates it when it is missing. */
export function makeScratch(dataDir: string): string {
  const recorded = recordedScratch(dataDir);
  if (recorded !== undefined) return recorded;
  const parent = [tmpdir(), '/tmp'].find((each) => socketFits(join(each, SOCKET_DIRECTORY))) ?? tmpdir();
  const made = mkdtempSync(join(parent, PREFIX));
  // Other users may enter the directory to reach their own files, but may not list it.
  chmodSync(made, 0o711);
  const path = join(dataDir, 'scratch');
  writeAtomically(path, made);
  giveToOwnerOf(dataDir, path);
  return made;
}

export function removeScratch(dataDir: string): void {
  const recorded = recordedScratch(dataDir);
  if (recorded !== undefined) rmSync(recorded, { recursive: true, force: true });
  rmSync(join(dataDir, 'scratch'), { force: true });
}

function socketFits(directory: string): boolean {
  return Buffer.byteLength(join(directory, `.s.PGSQL.${PORT}`)) <= MAX_SOCKET_PATH_BYTES;
}

/**
 * Returns the scratch directory that the data directory records. Returns undefined when it is gone or belongs to
 * another user: systems clean up temporary directories, and another user may then take the name.
 */
function recordedScratch(dataDir: string): string | undefined {
  try {
    const path = readFileSync(join(dataDir, 'scratch'), 'utf8');
    const found = lstatSync(path);
    const ours = found.isDirectory() && found.uid === process.getuid!() && basename(path).startsWith(PREFIX);
    return ours ? path : undefined;
  } catch {
    return undefined;
  }
}

/**
 * The directory of the socket, and the scratch directory for what cannot be in the data directory. The path of a
 * socket must fit into 108 bytes, which the path of a deep data directory does not. Then a private scratch directory
 * below the temporary directory holds it. Its path is recorded in the data directory, so that it is reused after a
 * crash and removed when the server stops.
 */
import { chmodSync, chownSync, lstatSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { giveToOwnerOf, writeAtomically } from './files.ts';
import type { Identity } from './identity.ts';

/** Only a part of the socket's name: the server does not listen on TCP. */
export const PORT = 5432;

/** unix(7): 108 bytes with the final zero; 104 on macOS. */
const MAX_SOCKET_PATH_BYTES = process.platform === 'linux' ? 107 : 103;

const PREFIX = 'postgres-';
/** `mkdtemp` adds six characters; the socket's directory inside is `s`. */
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
  // Other users may enter, to reach what belongs to them, but not list.
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

/** Returns the recorded directory if it still exists and is ours: temporary directories get cleaned up and reused. */
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

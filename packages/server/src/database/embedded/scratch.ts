/**
 * Where the server's socket lies, and where things go that cannot lie in the data directory. A socket's path
 * must fit the kernel's 108 bytes; a deep data directory does not. Then a private directory under the
 * temporary one serves, recorded in the data directory, used again after a crash and removed at the stop.
 */
import { chmodSync, chownSync, lstatSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { giveToOwnerOf, writeWhole } from './files.ts';
import type { Identity } from './identity.ts';

/** The number is only a part of the socket's name: nothing listens on TCP. */
export const PORT = 5432;

/** unix(7): 108 bytes with the closing zero; macOS has 104. */
const LONGEST_SOCKET = process.platform === 'linux' ? 107 : 103;

const PREFIX = 'dragoman-';
/** What mkdtemp adds, then the directory of the socket in it. */
const SUFFIX = `${PREFIX}XXXXXX/s`;

/** The directory for the socket, made and private to the server's user. */
export function socketDirectory(dataDir: string, identity: Identity): string {
  const near = join(dataDir, 'socket');
  const directory = socketFits(near) ? near : join(scratch(dataDir), 's');
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  chmodSync(directory, 0o700);
  if (process.getuid!() === 0) chownSync(directory, identity.uid, identity.gid);
  return directory;
}

/** The private directory of this data directory outside of it, made when there is none. */
export function scratch(dataDir: string): string {
  const recorded = recordedScratch(dataDir);
  if (recorded !== undefined) return recorded;
  const parent = [tmpdir(), '/tmp'].find((each) => socketFits(join(each, SUFFIX))) ?? tmpdir();
  const made = mkdtempSync(join(parent, PREFIX));
  // Others may pass through to what is meant for them, and see nothing of the rest.
  chmodSync(made, 0o711);
  const path = join(dataDir, 'scratch');
  writeWhole(path, made);
  giveToOwnerOf(dataDir, path);
  return made;
}

export function removeScratch(dataDir: string): void {
  const recorded = recordedScratch(dataDir);
  if (recorded !== undefined) rmSync(recorded, { recursive: true, force: true });
  rmSync(join(dataDir, 'scratch'), { force: true });
}

export function socketFits(directory: string): boolean {
  return Buffer.byteLength(join(directory, `.s.PGSQL.${PORT}`)) <= LONGEST_SOCKET;
}

/** The recorded one, if it still is what we made: temporary directories get cleaned, and others may write there. */
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

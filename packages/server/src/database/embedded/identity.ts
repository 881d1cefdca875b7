/**
 * Who runs the server. PostgreSQL refuses to run as root, and a fresh machine often is root, with the clone
 * and the data below a directory that only root may enter. The ways, in the order they are tried:
 *
 * - `self`: not root. The server runs as the same user.
 * - `namespace`: root, files of root. `unshare` starts the server in a user namespace where it sees itself as
 *   an ordinary user while its files stay root's: no chown, no copy. Forbidden in many containers.
 * - `uid`: root. The server runs as the user that owns the data directory, or as `nobody`, which is then given
 *   the cluster. The binaries are copied where that user can read them.
 * - `capability`: as `uid`, for data below a directory that user may not enter: `setpriv` leaves the server the
 *   one capability to pass.
 *
 * A cluster stays with the user that owns it, so that root, once, does not lock an ordinary user out.
 */
import { spawnSync } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import { userInfo } from 'node:os';
import { dirname } from 'node:path';
import { EmbeddedError, USE_OTHER_DATABASE } from './errors.ts';
import { letGroupThrough } from './files.ts';

export interface Identity {
  way: 'self' | 'namespace' | 'uid' | 'capability';
  /** The owner of the server's files, as seen from outside. */
  uid: number;
  gid: number;
  /** Whom a namespace shows itself as. */
  shownAs?: number;
}

export interface Command {
  file: string;
  args: string[];
  options: { uid?: number; gid?: number; cwd: string; env: NodeJS.ProcessEnv };
}

const NOBODY = 65534;

/** How the server's programs are started as this identity. Every way replaces itself: the pid is the program's. */
export function commandAs(identity: Identity, file: string, args: string[]): Command {
  const options = { cwd: '/', env: childEnvironment() };
  switch (identity.way) {
    case 'self':
      return { file, args, options };
    case 'uid':
      return { file, args, options: { ...options, uid: identity.uid, gid: identity.gid } };
    case 'namespace': {
      const ids = [`--map-user=${identity.shownAs}`, `--map-group=${identity.shownAs}`];
      return { file: 'unshare', args: ['--user', ...ids, '--', file, ...args], options };
    }
    case 'capability': {
      const user = [`--reuid=${identity.uid}`, `--regid=${identity.gid}`, '--clear-groups'];
      const pass = ['--inh-caps=+dac_override', '--ambient-caps=+dac_override'];
      return { file: 'setpriv', args: [...user, ...pass, '--', file, ...args], options };
    }
  }
}

/** Whether a program ends well as this identity; false too where the way itself is not there. */
export function worksAs(identity: Identity, file: string, args: string[]): boolean {
  const { file: program, args: all, options } = commandAs(identity, file, args);
  return spawnSync(program, all, { ...options, stdio: 'ignore' }).status === 0;
}

/**
 * Chooses the way for this process and data directory.
 * @param cluster the cluster's directory, which need not exist yet
 * @param canUnshare asked only as root; tests answer for machines that forbid user namespaces
 * @throws EmbeddedError `root` with what to do
 */
export function chooseIdentity(
  dataDir: string,
  cluster: string,
  canUnshare: (identity: Identity) => boolean = namespaceWorks,
): Identity {
  const uid = process.getuid!();
  const gid = process.getgid!();
  if (uid !== 0) return chooseForOrdinary({ way: 'self', uid, gid }, canUnshare);

  const owner = statSync(cluster, { throwIfNoEntry: false }) ?? statSync(dataDir);
  if (owner.uid === 0) {
    const namespace: Identity = { way: 'namespace', uid: 0, gid: 0, shownAs: namedUser() };
    if (canUnshare(namespace) && canEnter(namespace, dataDir)) return namespace;
  }
  const user = owner.uid === 0 ? { uid: NOBODY, gid: NOBODY } : { uid: owner.uid, gid: owner.gid };
  const plain: Identity = { way: 'uid', ...user };
  if (letIn(plain, dataDir)) return plain;
  const passing: Identity = { way: 'capability', ...user };
  if (canEnter(passing, dataDir)) return passing;
  throw new EmbeddedError(
    'root',
    `PostgreSQL does not run as root, and no other user may enter ${dataDir} here. Start the program as an ` +
      `ordinary user, or choose a data directory that others can reach, such as /var/lib/dragoman. ${USE_OTHER_DATABASE}`,
  );
}

/** `initdb` asks for its user's name and ends where there is none (a container with a bare user number). */
function chooseForOrdinary(self: Identity, canUnshare: (identity: Identity) => boolean): Identity {
  try {
    userInfo();
    return self;
  } catch {
    const namespace: Identity = { ...self, way: 'namespace', shownAs: namedUser() };
    return canUnshare(namespace) ? namespace : self;
  }
}

function namespaceWorks(identity: Identity): boolean {
  return worksAs(identity, '/bin/sh', ['-c', `test "$(id -u)" = ${identity.shownAs}`]);
}

/** Opens the data directory itself for the user, by its group, when only that stands in the way. */
function letIn(identity: Identity, dataDir: string): boolean {
  if (canEnter(identity, dataDir)) return true;
  if (!canEnter(identity, dirname(dataDir))) return false;
  letGroupThrough(dataDir, identity.gid);
  return canEnter(identity, dataDir);
}

function canEnter(identity: Identity, directory: string): boolean {
  return worksAs(identity, '/bin/sh', ['-c', 'cd -- "$1"', 'sh', directory]);
}

/** A user that the system knows by name, because `initdb` asks; not the overflow user, which means "unknown". */
function namedUser(): number {
  const ids = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .map((line) => Number(line.split(':')[2]))
    .filter((id) => id > 0 && id !== NOBODY);
  return ids.includes(1000) ? 1000 : (ids[0] ?? NOBODY);
}

/** Nothing of ours may steer the server (PGDATA, PGOPTIONS, a locale that is not installed). */
function childEnvironment(): NodeJS.ProcessEnv {
  const { PATH, LD_LIBRARY_PATH } = process.env;
  return {
    PATH: PATH ?? '/usr/bin:/bin',
    LC_ALL: 'C',
    TZ: 'UTC',
    ...(LD_LIBRARY_PATH && { LD_LIBRARY_PATH }),
  };
}

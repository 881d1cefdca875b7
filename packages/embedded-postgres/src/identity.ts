/**
 * Chooses the user that the server runs as. PostgreSQL refuses to run as root, but a new machine often has
 * only root, and the program and its data are in a directory that only root can enter. The ways, in order of
 * preference:
 *
 * - `self`: this process is not root, so the server runs as the same user.
 * - `namespace`: root starts the server with `unshare` in a user namespace. There the server is an ordinary
 *   user, while its files belong to root, so nothing is chowned or copied. Many containers forbid user
 *   namespaces.
 * - `uid`: root starts the server as the owner of the data directory. If that owner is root, the server runs
 *   as `nobody`, and the cluster is given to `nobody`. The binaries are copied to a directory that the
 *   server's user can read.
 * - `capability`: like `uid`, for a user who cannot enter the data directory. `setpriv` gives the server the
 *   one capability that allows it to enter.
 *
 * A cluster keeps its owner, so that a single command run by root does not lock out an ordinary user.
 */
import { spawnSync } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import { userInfo } from 'node:os';
import { dirname } from 'node:path';
import { EmbeddedPostgresError } from './errors.ts';
import { allowGroupToEnter } from './files.ts';

export interface Identity {
  way: 'self' | 'namespace' | 'uid' | 'capability';
  /** The owner of the server's files, as seen from outside the namespace. */
  uid: number;
  gid: number;
  /** The user id inside the namespace. */
  insideAs?: number;
}

export interface Command {
  file: string;
  args: string[];
  options: { uid?: number; gid?: number; cwd: string; env: NodeJS.ProcessEnv };
}

const NOBODY = 65534;

/**
 * Returns the command that starts a program as `identity`. Wrappers such as `setpriv` are replaced by the
 * program, which keeps their pid.
 */
export function commandAs(identity: Identity, file: string, args: string[]): Command {
  const options = { cwd: '/', env: childEnvironment() };
  switch (identity.way) {
    case 'self':
      return { file, args, options };
    case 'uid':
      return { file, args, options: { ...options, uid: identity.uid, gid: identity.gid } };
    case 'namespace': {
      const ids = [`--map-user=${identity.insideAs}`, `--map-group=${identity.insideAs}`];
      return { file: 'unshare', args: ['--user', ...ids, '--', file, ...args], options };
    }
    case 'capability': {
      const user = [`--reuid=${identity.uid}`, `--regid=${identity.gid}`, '--clear-groups'];
      const enter = ['--inh-caps=+dac_override', '--ambient-caps=+dac_override'];
      return { file: 'setpriv', args: [...user, ...enter, '--', file, ...args], options };
    }
  }
}

/**
 * Runs a program as `identity` and returns whether its exit status is 0; false when `unshare` or `setpriv` is
 * missing.
 */
export function worksAs(identity: Identity, file: string, args: string[]): boolean {
  const { file: program, args: all, options } = commandAs(identity, file, args);
  return spawnSync(program, all, { ...options, stdio: 'ignore' }).status === 0;
}

/**
 * Chooses the identity for this process and data directory.
 * @param cluster the directory of the cluster, which need not exist yet
 * @throws EmbeddedPostgresError `root` when no identity can enter the data directory
 */
export function chooseIdentity(
  dataDir: string,
  cluster: string,
  canUnshare: (identity: Identity) => boolean = namespaceWorks,
): Identity {
  const uid = process.getuid!();
  const gid = process.getgid!();
  if (uid !== 0) return chooseForOrdinaryUser({ way: 'self', uid, gid }, canUnshare);

  const owner = statSync(cluster, { throwIfNoEntry: false }) ?? statSync(dataDir);
  if (owner.uid === 0) {
    const namespace: Identity = { way: 'namespace', uid: 0, gid: 0, insideAs: namedUser() };
    if (canUnshare(namespace) && canEnter(namespace, dataDir)) return namespace;
  }
  const user = owner.uid === 0 ? { uid: NOBODY, gid: NOBODY } : { uid: owner.uid, gid: owner.gid };
  const ordinary: Identity = { way: 'uid', ...user };
  if (letIn(ordinary, dataDir)) return ordinary;
  const capable: Identity = { way: 'capability', ...user };
  if (canEnter(capable, dataDir)) return capable;
  throw new EmbeddedPostgresError(
    'root',
    `PostgreSQL does not run as root, and no other user can enter ${dataDir}. Start the program as an ordinary ` +
      'user, or choose a data directory that other users can enter, such as one in /var/lib.',
  );
}

/**
 * Chooses the identity of an ordinary user. `initdb` fails for a user without a name, as in a container with
 * a bare user id; inside a namespace the user has a name.
 */
function chooseForOrdinaryUser(self: Identity, canUnshare: (identity: Identity) => boolean): Identity {
  try {
    userInfo();
    return self;
  } catch {
    const namespace: Identity = { ...self, way: 'namespace', insideAs: namedUser() };
    return canUnshare(namespace) ? namespace : self;
  }
}

function namespaceWorks(identity: Identity): boolean {
  return worksAs(identity, '/bin/sh', ['-c', `test "$(id -u)" = ${identity.insideAs}`]);
}

/** Lets the user enter the data directory through its group. Returns false when a parent directory prevents it. */
function letIn(identity: Identity, dataDir: string): boolean {
  if (canEnter(identity, dataDir)) return true;
  if (!canEnter(identity, dirname(dataDir))) return false;
  allowGroupToEnter(dataDir, identity.gid);
  return canEnter(identity, dataDir);
}

function canEnter(identity: Identity, directory: string): boolean {
  return worksAs(identity, '/bin/sh', ['-c', 'cd -- "$1"', 'sh', directory]);
}

/**
 * Returns a user id that has a name, which `initdb` needs. Skips the overflow user, which means "unknown".
 */
function namedUser(): number {
  const ids = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .map((line) => Number(line.split(':')[2]))
    .filter((id) => id > 0 && id !== NOBODY);
  return ids.includes(1000) ? 1000 : (ids[0] ?? NOBODY);
}

/**
 * Returns an environment without variables that would change the server, such as PGDATA, PGOPTIONS or a
 * locale that is not installed.
 */
function childEnvironment(): NodeJS.ProcessEnv {
  const { PATH, LD_LIBRARY_PATH } = process.env;
  return {
    PATH: PATH ?? '/usr/bin:/bin',
    LC_ALL: 'C',
    TZ: 'UTC',
    ...(LD_LIBRARY_PATH && { LD_LIBRARY_PATH }),
  };
}

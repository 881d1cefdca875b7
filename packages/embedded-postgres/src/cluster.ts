/** Creates the cluster on disk, completely or not at all, and defines the settings of its server. */
import { execFile } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
} from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Binaries } from './binaries.ts';
import { EmbeddedPostgresError } from './errors.ts';
import { chownTree, syncDirectory } from './files.ts';
import { commandAs, type Identity } from './identity.ts';

/**
 * Settings of the server. They are passed on its command line, so that they are always those of the running version of
 * this package and override any `ALTER SYSTEM`. All other settings have PostgreSQL's defaults.
 */
export const SETTINGS: Readonly<Record<string, string>> = {
  // The server does not listen on TCP. Only its owner can enter the directory of its socket.
  listen_addresses: '',
  unix_socket_permissions: '0700',
  // A commit waits until its transaction is on disk.
  fsync: 'on',
  full_page_writes: 'on',
  synchronous_commit: 'on',
  // The buffer sizes and the number of connections suit a small machine. Shared buffers cost memory only when
  // they are used, connections only when they are open.
  shared_buffers: '128MB',
  max_connections: '100',
  // On two cores a parallel plan slows down other queries. It also uses /dev/shm, which has 64 MB in a
  // container.
  max_parallel_workers_per_gather: '0',
  // A random read costs nearly as much as a sequential one, as on solid-state disks. The default of 4 assumes
  // a spinning disk and avoids indexes.
  random_page_cost: '1.1',
  // The default, `try`, uses huge pages only where the machine provides them, so memory use would differ
  // between machines.
  huge_pages: 'off',
  // When a client dies during a long statement, the server notices it within 2 s, ends the statement and releases its
  // locks.
  client_connection_check_interval: '2s',
  // The server logs no error details and no failing statements, because both quote rows, and logs must not
  // contain data. The client still receives the details.
  log_min_messages: 'log',
  log_min_error_statement: 'panic',
  log_error_verbosity: 'terse',
  log_checkpoints: 'off',
  log_autovacuum_min_duration: '-1',
  // Autovacuum creates the statistics of new tables. With its default pause of a minute, new tables would
  // have no statistics for up to a minute.
  autovacuum_naptime: '10s',
  logging_collector: 'off',
  log_destination: 'stderr',
  timezone: 'UTC',
  log_timezone: 'UTC',
};

export interface ClusterPlan {
  dataDir: string;
  cluster: string;
  binaries: Binaries;
  identity: Identity;
  user: string;
  log: (line: string) => void;
}

/**
 * Creates the cluster or checks the existing one, and makes `identity` its owner. An interrupted `initdb`
 * leaves only a draft directory, which the next start removes.
 * @throws EmbeddedPostgresError `cluster` or `start`
 */
export async function prepareCluster(plan: ClusterPlan): Promise<void> {
  const { dataDir, cluster, binaries, identity, log } = plan;
  for (const entry of readdirSync(dataDir)) {
    if (/^postgres(-binaries)?\.new-/.test(entry)) removeDraft(join(dataDir, entry));
  }
  // An empty directory, which a container's mount or an operator may have created, is replaced by a new cluster.
  if (existsSync(cluster) && readdirSync(cluster).length === 0) rmdirSync(cluster);
  if (existsSync(cluster)) {
    checkCluster(cluster, binaries);
    if (process.getuid!() === 0 && statSync(cluster).uid !== identity.uid) {
      log(`giving the cluster to user ${identity.uid}`);
      chownTree(cluster, identity.uid, identity.gid);
    }
    // Some restore tools change the mode, and the server refuses a directory that others can read.
    chmodSync(cluster, 0o700);
    return;
  }
  const start = performance.now();
  const draft = mkdtempSync(`${cluster}.new-`);
  if (process.getuid!() === 0) chownSync(draft, identity.uid, identity.gid);
  await initdb(draft, plan);
  renameSync(draft, cluster);
  syncDirectory(dataDir);
  log(`created the cluster in ${Math.round(performance.now() - start)} ms`);
}

async function initdb(directory: string, { binaries, identity, user }: ClusterPlan): Promise<void> {
  const { file, args, options } = commandAs(identity, binaries.initdb, [
    `--pgdata=${directory}`,
    `--username=${user}`,
    // No password is needed: clients reach the server only through its socket, in a directory that no other user can
    // enter.
    '--auth-local=trust',
    '--auth-host=reject',
    '--encoding=UTF8',
    // The locale provider `builtin` is a part of the server. It sorts and changes case in the same way on
    // every machine, so no index has to be rebuilt when the system's C library changes its collations.
    '--locale=C',
    '--locale-provider=builtin',
    '--builtin-locale=C.UTF-8',
    '--no-instructions',
  ]);
  try {
    await promisify(execFile)(file, args, options);
  } catch (error) {
    removeDraft(directory);
    const { stderr, message } = error as Error & { stderr?: string };
    throw new EmbeddedPostgresError(
      'start',
      `The database could not be created: ${(stderr || message).trim()}`,
      { cause: error },
    );
  }
}

function checkCluster(cluster: string, binaries: Binaries): void {
  let version: string;
  try {
    version = readFileSync(join(cluster, 'PG_VERSION'), 'utf8').trim();
    statSync(join(cluster, 'global', 'pg_control'));
  } catch (error) {
    // A new cluster gets its final name only when it is complete, so this cluster is damaged. Creating an
    // empty cluster in its place would hide the loss.
    throw new EmbeddedPostgresError(
      'cluster',
      `${cluster} is not a complete PostgreSQL cluster. Restore it from a backup, or move it away to start empty.`,
      { cause: error },
    );
  }
  const major = binaries.version.split('.')[0];
  if (version === major) return;
  throw new EmbeddedPostgresError(
    'cluster',
    `${cluster} was created by PostgreSQL ${version}, and this program includes ${binaries.version}. ` +
      'Dump it with the program version that created it and restore the dump into a new data directory.',
  );
}

function removeDraft(path: string): void {
  try {
    rmSync(path, { recursive: true, force: true, maxRetries: 3 });
  } catch {
    // An orphaned initdb may still be writing to this draft directory. Drafts have unique names, so the directory may
    // stay; the next start tries to remove it again.
  }
}

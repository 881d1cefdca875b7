/** The cluster on disk: made once by `initdb`, whole or not at all, and the settings it runs with. */
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
import { EmbeddedError, USE_OTHER_DATABASE } from './errors.ts';
import { chownTree, syncDirectory } from './files.ts';
import { commandAs, type Identity } from './identity.ts';

/** The bootstrap superuser: it owns the schema. What the application runs as is made by the migrations. */
export const OWNER_ROLE = 'dragoman_owner';

/**
 * Given on the command line, so that they are those of the running version and no left-over `ALTER SYSTEM`
 * outranks them. Everything not named here is PostgreSQL's default.
 */
export const SETTINGS: Readonly<Record<string, string>> = {
  // No TCP: the socket lies in a directory that only its owner may enter.
  listen_addresses: '',
  unix_socket_permissions: '0700',
  // What is acknowledged is on the disk.
  fsync: 'on',
  full_page_writes: 'on',
  synchronous_commit: 'on',
  // A small machine: 128 MB is touched only as far as it is used; 100 connections cost nothing until opened.
  shared_buffers: '128MB',
  max_connections: '100',
  // On 2 cores a parallel plan takes its workers from the others, and its memory from a /dev/shm that is 64 MB
  // in a container.
  max_parallel_workers_per_gather: '0',
  // Solid-state disks: an index is worth taking much earlier than on the spinning disk of the default.
  random_page_cost: '1.1',
  // Compiling costs more than the short statements of a service take.
  jit: 'off',
  // The default, `try`, changes its memory use with the machine's configuration.
  huge_pages: 'off',
  // A client killed in the middle of a long statement frees its locks in seconds instead of at the end of it.
  client_connection_check_interval: '2s',
  // Logs hold no customer text: errors go to the client, which knows what it may say; details quote rows.
  log_min_messages: 'log',
  log_min_error_statement: 'panic',
  log_error_verbosity: 'terse',
  log_checkpoints: 'off',
  log_autovacuum_min_duration: '-1',
  // New tables have no statistics: the first thousand rows should not wait a minute for theirs.
  autovacuum_naptime: '10s',
  logging_collector: 'off',
  log_destination: 'stderr',
  timezone: 'UTC',
  log_timezone: 'UTC',
  cluster_name: 'dragoman',
};

/**
 * Makes the cluster when there is none, checks it when there is one, and sees that `identity` owns it.
 * An `initdb` that was interrupted left only a draft beside it, which is removed.
 * @throws EmbeddedError `cluster` or `start`
 */
export async function prepareCluster(
  dataDir: string,
  cluster: string,
  binaries: Binaries,
  identity: Identity,
  log: (line: string) => void,
): Promise<void> {
  for (const entry of readdirSync(dataDir)) {
    if (/^postgres(-binaries)?\.new-/.test(entry)) removeDraft(join(dataDir, entry));
  }
  // An empty directory is what a container's mount or an operator leaves: as good as none.
  if (existsSync(cluster) && readdirSync(cluster).length === 0) rmdirSync(cluster);
  if (existsSync(cluster)) {
    checkCluster(cluster, binaries);
    if (process.getuid!() === 0 && statSync(cluster).uid !== identity.uid) {
      log(`giving the cluster to user ${identity.uid}`);
      chownTree(cluster, identity.uid, identity.gid);
    }
    // A copy restored by a tool that does not keep modes: the server refuses a directory that others can read.
    chmodSync(cluster, 0o700);
    return;
  }
  const start = performance.now();
  const draft = mkdtempSync(`${cluster}.new-`);
  if (process.getuid!() === 0) chownSync(draft, identity.uid, identity.gid);
  await initdb(draft, binaries, identity);
  renameSync(draft, cluster);
  syncDirectory(dataDir);
  log(`made the cluster in ${Math.round(performance.now() - start)} ms`);
}

async function initdb(directory: string, binaries: Binaries, identity: Identity): Promise<void> {
  const { file, args, options } = commandAs(identity, binaries.initdb, [
    `--pgdata=${directory}`,
    `--username=${OWNER_ROLE}`,
    // Only the socket, whose folder nobody else may enter, leads to the server; there is no way in by TCP.
    '--auth-local=trust',
    '--auth-host=reject',
    '--encoding=UTF8',
    // Built into the server: the same order and the same Unicode case rules on every machine, with no index
    // to rebuild when the system's C library changes its collations.
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
    throw new EmbeddedError(
      'start',
      `The database could not be created: ${(stderr || message).trim()}\n${USE_OTHER_DATABASE}`,
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
    // Ours is renamed into place whole, so this is damage: starting empty over it would hide a loss.
    throw new EmbeddedError(
      'cluster',
      `${cluster} is not a whole PostgreSQL cluster. Restore it from a backup, or move it away to start empty.`,
      { cause: error },
    );
  }
  const major = binaries.version.split('.')[0];
  if (version === major) return;
  throw new EmbeddedError(
    'cluster',
    `${cluster} was made by PostgreSQL ${version}, and this program brings ${binaries.version}. ` +
      'Dump it with the program version that made it and restore the dump into a new data directory.',
  );
}

function removeDraft(path: string): void {
  try {
    rmSync(path, { recursive: true, force: true, maxRetries: 3 });
  } catch {
    // An orphaned initdb may still be writing there. Drafts have names of their own: the next start tries again.
  }
}

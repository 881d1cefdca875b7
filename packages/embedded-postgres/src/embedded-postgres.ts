/**
 * An embedded PostgreSQL: the server binaries come from npm, the server listens on a Unix socket, and each data directory
 * has one cluster. A process starts or joins the server in one of two roles:
 *
 * - `serve` owns the server until it stops. A second `serve` is refused.
 * - `command` uses the server of a running owner as a guest. Without an owner, it becomes the owner.
 *
 * Files in the data directory: `postgres/` (the cluster), `socket/`, `postgres.log`, `server.json` (the running server),
 * `owner.lock`, `owner.json`, `guests.lock`, and `scratch` (the path of the scratch directory, if there is one).
 */
import { existsSync, mkdirSync, realpathSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { binariesFor, findBinaries } from './binaries.ts';
import { type Address, checkServer } from './client.ts';
import { prepareCluster, SETTINGS } from './cluster.ts';
import { EmbeddedPostgresError } from './errors.ts';
import { chooseIdentity, commandAs, type Identity } from './identity.ts';
import {
  currentOwner,
  type Lock,
  lockOutGuests,
  type Role,
  tryGuestLock,
  tryOwnerLock,
  waitForOwnerLock,
} from './locks.ts';
import { isAlive } from './processes.ts';
import { makeSocketDirectory, PORT, removeScratch } from './scratch.ts';
import { findOrphan, readRecord } from './server.ts';
import { type ExitListener, Supervisor } from './supervisor.ts';

export { EmbeddedPostgresError, type EmbeddedPostgresErrorCode } from './errors.ts';

export interface EmbeddedPostgresOptions {
  dataDir: string;
  role: Role;
  /** The superuser of a new cluster. All connections of this package use it. */
  user: string;
  /** The name of the database, which is created when it is missing. In process lists, the server has this name. */
  database: string;
  log?: (line: string) => void;
  /** PostgreSQL settings that override the package's own settings. */
  settings?: Record<string, string>;
  /** Replaces, in tests, the check whether the machine allows user namespaces. */
  canUnshare?: (identity: Identity) => boolean;
}

export interface EmbeddedPostgres {
  /** Connection options for the `pg` driver. `host` is the directory of the socket. */
  connection: Address;
  /** Whether this process runs the server. False if it uses the server of another process. */
  owned: boolean;
  version: string;
  /**
   * How often this process restarted the server after an unexpected exit. Always 0 if another process runs
   * the server.
   */
  readonly restarts: number;
  readonly running: boolean;
  /**
   * Calls `listener` after each unexpected exit. The server restarts by itself. Returns a function that
   * removes the listener.
   */
  onExit(listener: ExitListener): () => void;
  /** Stops the server, if this process owns it, and unlocks the data directory. May be called more than once. */
  stop(): Promise<void>;
}

/**
 * A command may wait 10 s for other commands that use its server (guests) before it stops the server. So
 * `serve` waits for longer than that.
 */
const WAIT_FOR_COMMAND_MS = 15_000;
const WAIT_FOR_GUESTS_MS = 10_000;
/**
 * How long to wait until the server of a running owner answers. The owner may still be creating its cluster or
 * recovering.
 */
const WAIT_FOR_OWNER_MS = 60_000;
const POLL_MS = 25;

/**
 * Starts the server of a data directory, or joins the server that is running there.
 * @throws EmbeddedPostgresError with a message that tells the operator what to do
 */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const dataDir = makeDataDir(options.dataDir);
  const resolved = { ...options, dataDir };
  if (options.role === 'serve') return own(resolved, await waitForOwnerLock(dataDir, WAIT_FOR_COMMAND_MS));
  const end = performance.now() + WAIT_FOR_OWNER_MS;
  for (;;) {
    const lock = tryOwnerLock(dataDir, 'command');
    if (lock !== undefined) return own(resolved, lock);
    const guest = await joinOwner(resolved);
    if (guest !== undefined) return guest;
    if (performance.now() > end) {
      const owner = currentOwner(dataDir);
      throw new EmbeddedPostgresError(
        'owner_unavailable',
        `The database of the program that runs on ${dataDir} (process ${owner?.pid ?? 'unknown'}) does not answer.`,
      );
    }
    await sleep(POLL_MS);
  }
}

async function own(options: EmbeddedPostgresOptions, lock: Lock): Promise<EmbeddedPostgres> {
  const { dataDir, role, user, database } = options;
  const log = options.log ?? (() => {});
  const cluster = join(dataDir, 'postgres');
  try {
    const found = findBinaries(dataDir);
    const identity = chooseIdentity(dataDir, cluster, options.canUnshare);
    const binaries = binariesFor(identity, found, dataDir);
    await prepareCluster({ dataDir, cluster, binaries, identity, user, log });
    const address = { host: makeSocketDirectory(dataDir, identity), port: PORT, user, database };
    const settings = {
      ...SETTINGS,
      cluster_name: database,
      ...options.settings,
      ...listeningSettings(address.host),
    };
    const words = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
    const command = commandAs(identity, binaries.postgres, ['-D', cluster, ...words]);
    const { version } = binaries;
    const supervisor = new Supervisor({ dataDir, cluster, address, version, command, log });
    await supervisor.open();
    let stopped: Promise<void> | undefined;
    return {
      connection: address,
      owned: true,
      version,
      get restarts() {
        return supervisor.restarts;
      },
      get running() {
        return supervisor.running;
      },
      onExit: (listener) => supervisor.onExit(listener),
      stop: () => {
        stopped ??= close(supervisor, dataDir, role, lock);
        return stopped;
      },
    };
  } catch (error) {
    // The scratch directory may contain the socket of a server that still runs, even one that this process cannot see.
    // So the directory stays if such a server may exist.
    const inUse = error instanceof EmbeddedPostgresError && error.code === 'in_use';
    if (!inUse && findOrphan(dataDir, cluster) === undefined) removeScratch(dataDir);
    lock.release();
    throw error;
  }
}

async function close(supervisor: Supervisor, dataDir: string, role: Role, lock: Lock): Promise<void> {
  // A service must stop within seconds, so `serve` does not wait for other processes that use its server
  // (guests). A command waits for them.
  const closed = role === 'command' ? await lockOutGuests(dataDir, WAIT_FOR_GUESTS_MS) : undefined;
  try {
    await supervisor.stop();
    removeScratch(dataDir);
  } finally {
    closed?.release();
    lock.release();
  }
}

/** Joins the server of the running owner. Returns undefined while no owner answers. */
async function joinOwner(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres | undefined> {
  const { dataDir, user, database } = options;
  const lock = tryGuestLock(dataDir);
  if (lock === undefined) return undefined;
  const record = readRecord(dataDir);
  const address = record && { host: record.socketDir, port: PORT, user, database };
  if (address === undefined || (await checkServer(address)) !== 'ready') {
    lock.release();
    return undefined;
  }
  let stopped = false;
  return {
    connection: address,
    owned: false,
    version: record!.version,
    restarts: 0,
    get running() {
      const now = readRecord(dataDir);
      return now !== undefined && isAlive(now);
    },
    onExit: () => () => {},
    stop: async () => {
      if (!stopped) lock.release();
      stopped = true;
    },
  };
}

/** Settings of the socket. Callers cannot override them, because this package relies on them. */
function listeningSettings(socketDir: string): Record<string, string> {
  // The setting is a list separated by commas, so the directory is quoted in case its name contains a comma.
  const quoted = `"${socketDir.replaceAll('"', '""')}"`;
  return { listen_addresses: '', unix_socket_directories: quoted, port: String(PORT) };
}

function makePrivate(path: string): void {
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    // EEXIST means that another process has already created the directory.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}

function makeDataDir(path: string): string {
  try {
    mkdirSync(dirname(resolve(path)), { recursive: true });
    if (!existsSync(path)) makePrivate(path);
    // Symbolic links are resolved, because paths are recorded and compared.
    return realpathSync(resolve(path));
  } catch (error) {
    throw new EmbeddedPostgresError(
      'data_directory',
      `The data directory ${path} cannot be created: ${(error as Error).message}. Choose another directory.`,
      { cause: error },
    );
  }
}

/**
 * The embedded PostgreSQL: real server binaries from npm, on a unix socket, one cluster a data directory.
 *
 * - `serve` owns the server for its whole life. A second one is refused.
 * - `command` uses the server of a running owner (a guest), and owns it itself when nobody does.
 *
 * In the data directory: `postgres/` the cluster, `socket/`, `postgres.log`, `server.json` (the running
 * server), `owner.lock`, `owner.json`, `guests.lock`, and `scratch`, the path of what had to lie elsewhere.
 */
import { existsSync, mkdirSync, realpathSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { binariesFor, findBinaries } from './embedded/binaries.ts';
import { OWNER_ROLE, prepareCluster, SETTINGS } from './embedded/cluster.ts';
import { EmbeddedError } from './embedded/errors.ts';
import { chooseIdentity, commandAs, type Identity } from './embedded/identity.ts';
import {
  closeToGuests,
  currentOwner,
  type Lock,
  ownToServe,
  type Role,
  tryGuest,
  tryOwn,
} from './embedded/owner.ts';
import { isAlive } from './embedded/processes.ts';
import { PORT, removeScratch, socketDirectory } from './embedded/scratch.ts';
import { ask, DATABASE, findLeftOver, readRecord } from './embedded/server.ts';
import { type ExitListener, Supervisor } from './embedded/supervisor.ts';

export { EmbeddedError, type EmbeddedErrorCode } from './embedded/errors.ts';

export interface EmbeddedOptions {
  dataDir: string;
  role: Role;
  log?: (line: string) => void;
  /** PostgreSQL settings over ours, by their names. */
  settings?: Record<string, string>;
  /** For tests: answers for machines that forbid user namespaces. */
  canUnshare?: (identity: Identity) => boolean;
}

export interface Embedded {
  /** For `pg`; the user is the superuser that owns the schema. `host` is the directory of the socket. */
  connection: { host: string; port: number; user: string; database: string };
  /** Whether this process runs the server; a guest does not. */
  owned: boolean;
  version: string;
  /** How often the server was started again after an unexpected end. A guest knows of none. */
  readonly restarts: number;
  /** Whether the server process lives now. */
  readonly running: boolean;
  /** Hears of each unexpected end; the server is started again by itself. Returns the way to stop hearing. */
  onExit(listener: ExitListener): () => void;
  /** Stops the server, if it is ours, and gives the data directory free. May be called more than once. */
  stop(): Promise<void>;
}

/** A command that owns the server is given these 10 s for its guests and some for its own stop. */
const WAIT_FOR_COMMAND_MS = 15_000;
const WAIT_FOR_GUESTS_MS = 10_000;
/** An owner may be making its cluster, or recovering. */
const WAIT_FOR_OWNER_MS = 60_000;
const POLL_MS = 25;

/**
 * Starts the embedded server of a data directory, or joins the one that runs there.
 * @throws EmbeddedError `in_use`, `data_directory`, `unsupported_platform`, `root`, `cluster`, `start`; each with
 *   a sentence that says what to do
 */
export async function startEmbedded(options: EmbeddedOptions): Promise<Embedded> {
  const dataDir = makeDataDir(options.dataDir);
  const ready = { ...options, dataDir };
  if (options.role === 'serve') return own(ready, await ownToServe(dataDir, WAIT_FOR_COMMAND_MS));
  const end = performance.now() + WAIT_FOR_OWNER_MS;
  for (;;) {
    const lock = tryOwn(dataDir, 'command');
    if (lock !== undefined) return own(ready, lock);
    const guest = await joinOwner(dataDir);
    if (guest !== undefined) return guest;
    if (performance.now() > end) {
      const owner = currentOwner(dataDir);
      throw new EmbeddedError(
        'start',
        `The program that runs on ${dataDir} (process ${owner?.pid ?? 'unknown'}) has no database that answers.`,
      );
    }
    await sleep(POLL_MS);
  }
}

async function own(options: EmbeddedOptions, lock: Lock): Promise<Embedded> {
  const { dataDir, role } = options;
  const log = options.log ?? (() => {});
  const cluster = join(dataDir, 'postgres');
  try {
    const found = findBinaries(dataDir);
    const identity = chooseIdentity(dataDir, cluster, options.canUnshare);
    const binaries = binariesFor(identity, found, dataDir);
    await prepareCluster(dataDir, cluster, binaries, identity, log);
    const socketDir = socketDirectory(dataDir, identity);
    const settings = { ...SETTINGS, ...options.settings, ...placeOf(socketDir) };
    const words = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
    const command = commandAs(identity, binaries.postgres, ['-D', cluster, ...words]);
    const { version } = binaries;
    const supervisor = new Supervisor({ dataDir, cluster, socketDir, version, command, log });
    await supervisor.open();
    let stopped: Promise<void> | undefined;
    return {
      connection: connectionTo(socketDir),
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
    // A server that is still there, seen or not, needs its socket for whoever deals with it.
    const inUse = error instanceof EmbeddedError && error.code === 'in_use';
    if (!inUse && findLeftOver(dataDir, cluster) === undefined) removeScratch(dataDir);
    lock.release();
    throw error;
  }
}

async function close(supervisor: Supervisor, dataDir: string, role: Role, lock: Lock): Promise<void> {
  // A service that stops must be gone within seconds; a command has the time to be polite.
  const closed = role === 'command' ? await closeToGuests(dataDir, WAIT_FOR_GUESTS_MS) : undefined;
  try {
    await supervisor.stop();
    removeScratch(dataDir);
  } finally {
    closed?.release();
    lock.release();
  }
}

/** The server of the running owner; undefined while it has none that answers. */
async function joinOwner(dataDir: string): Promise<Embedded | undefined> {
  const lock = tryGuest(dataDir);
  if (lock === undefined) return undefined;
  const record = readRecord(dataDir);
  if (record === undefined || (await ask(record.socketDir)) !== 'ready') {
    lock.release();
    return undefined;
  }
  let stopped = false;
  return {
    connection: connectionTo(record.socketDir),
    owned: false,
    version: record.version,
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

function connectionTo(socketDir: string): Embedded['connection'] {
  return { host: socketDir, port: PORT, user: OWNER_ROLE, database: DATABASE };
}

/** Where the server listens: not open to settings, since everything here relies on it. */
function placeOf(socketDir: string): Record<string, string> {
  // A list separated by commas, so a directory with one in its name needs the quotes.
  const quoted = `"${socketDir.replaceAll('"', '""')}"`;
  return { listen_addresses: '', unix_socket_directories: quoted, port: String(PORT) };
}

function makePrivate(path: string): void {
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    // Another program of ours was first.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}

function makeDataDir(path: string): string {
  try {
    mkdirSync(dirname(resolve(path)), { recursive: true });
    if (!existsSync(path)) makePrivate(path);
    // The real path, because what is recorded and compared must be the same whichever way one came.
    return realpathSync(resolve(path));
  } catch (error) {
    throw new EmbeddedError(
      'data_directory',
      `The data directory ${path} cannot be made: ${(error as Error).message}. Choose another one.`,
      { cause: error },
    );
  }
}

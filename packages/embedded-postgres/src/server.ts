/** Starts the server process, finds it again after its owner has crashed, and stops it. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  closeSync,
  fchmodSync,
  openSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Address, checkServer, createDatabase, type ServerStatus } from './client.ts';
import { EmbeddedPostgresError } from './errors.ts';
import { giveToOwnerOf, lastLines, writeAtomically } from './files.ts';
import type { Command } from './identity.ts';
import {
  commandLine,
  findProcess,
  findServersIn,
  isAlive,
  type ProcessRef,
  signal,
  waitUntilEnded,
} from './processes.ts';
import { PORT } from './scratch.ts';

/** The data that is needed to run the server of one data directory. */
export interface ServerPlan {
  dataDir: string;
  cluster: string;
  address: Address;
  version: string;
  command: Command;
  log: (line: string) => void;
}

/**
 * The content of `server.json`, which describes the running server to the next owner and to other processes
 * that use it.
 */
export interface ServerRecord extends ProcessRef {
  socketDir: string;
  version: string;
  /**
   * The whole command line of the server. A server that an earlier owner left running is taken over only if
   * it has the same command line; otherwise it is replaced.
   */
  command: string[];
}

export interface RunningServer {
  process: ProcessRef;
  /** Resolves when the server has ended, with its exit code or signal if this is known. */
  ended: Promise<string>;
}

const LOG_LIMIT_BYTES = 4 * 1024 * 1024;
/**
 * The maximum time for which a running server may give no answer at all. A server that is recovering does
 * answer, so its recovery may take longer.
 */
const SILENCE_LIMIT_MS = 60_000;
/**
 * Time limit of a fast shutdown, which writes a checkpoint. After this time, an immediate shutdown follows,
 * and the next start replays the log.
 */
const FAST_STOP_MS = 5_000;
const IMMEDIATE_STOP_MS = 5_000;
/** A server that was taken over is not a child of this process, so its end is noticed by polling. */
const POLL_MS = 200;

export function readRecord(dataDir: string): ServerRecord | undefined {
  try {
    return JSON.parse(readFileSync(join(dataDir, 'server.json'), 'utf8')) as ServerRecord;
  } catch {
    return undefined;
  }
}

export function removeRecord(dataDir: string): void {
  rmSync(join(dataDir, 'server.json'), { force: true });
}

/**
 * Finds a server that a previous owner left running in this cluster. `server.json` identifies it by pid and start time.
 * If the owner was killed before it wrote this file, the postmaster's pid file and command line identify it.
 */
export function findOrphan(dataDir: string, cluster: string): ProcessRef | undefined {
  const record = readRecord(dataDir);
  if (record !== undefined && isAlive(record)) return { pid: record.pid, started: record.started };
  const pid = postmasterPid(cluster);
  const server = pid === undefined ? undefined : findProcess(pid);
  if (server === undefined) return undefined;
  const words = commandLine(server.pid);
  const serves = words.includes(cluster) || words.some((word) => word.includes(`-D ${cluster} `));
  return serves ? server : undefined;
}

/** Takes over the server that `server.json` describes, if this server answers. Otherwise returns undefined. */
export async function adopt(
  record: ServerRecord,
  address: Address,
  stop: AbortSignal,
): Promise<RunningServer | undefined> {
  const server = { pid: record.pid, started: record.started };
  if ((await waitUntilReady(server, address, stop)) !== 'ready') return undefined;
  return { process: server, ended: pollUntilEnded(server) };
}

/**
 * Removes the remains of a dead server. PostgreSQL mistakes an old pid file for a running server if the pid
 * is in use again or belongs to a zombie. The last processes of a dead server may also still hold its shared
 * memory. Call this only while holding the owner lock, after `findOrphan` has found nothing.
 * @throws EmbeddedPostgresError `in_use` when a server answers that this process cannot see, as in another
 * container
 */
export async function clearStale({ dataDir, cluster, address }: ServerPlan): Promise<void> {
  const sockets = new Set([address.host, readRecord(dataDir)?.socketDir ?? address.host]);
  for (const host of sockets) {
    if ((await checkServer({ ...address, host })) === 'silent') continue;
    throw new EmbeddedPostgresError(
      'in_use',
      `A PostgreSQL server that is not visible from here (in another container?) serves ${cluster}. Stop it first.`,
    );
  }
  const remaining = findServersIn(realpathSync(cluster));
  for (const name of ['SIGQUIT', 'SIGKILL'] as const) {
    // The processes end by themselves when they notice that the postmaster is gone, unless they are busy with
    // a long statement.
    await Promise.all(remaining.map((server) => waitUntilEnded(server, 2_000)));
    for (const server of remaining) signal(server, name);
  }
  await Promise.all(remaining.map((server) => waitUntilEnded(server, 2_000)));
  rmSync(join(cluster, 'postmaster.pid'), { force: true });
  for (const directory of sockets) {
    rmSync(join(directory, `.s.PGSQL.${PORT}`), { force: true });
    rmSync(join(directory, `.s.PGSQL.${PORT}.lock`), { force: true });
  }
}

/**
 * Starts the server and waits until it answers.
 * @throws EmbeddedPostgresError `start` with the last lines of the server's log
 */
export async function launch(plan: ServerPlan, stop: AbortSignal): Promise<RunningServer> {
  const { dataDir, address, version } = plan;
  const { file, args, options } = plan.command;
  const path = join(dataDir, 'postgres.log');
  const log = openLog(path);
  const logStart = statSync(path).size;
  giveToOwnerOf(dataDir, path);
  // The log is a file, because a pipe would break when this process dies, and the server would then stop. The
  // server is detached, because Ctrl-C signals the whole process group and would stop the server before the
  // program has drained.
  const child = spawn(file, args, { ...options, detached: true, stdio: ['ignore', log, log] });
  closeSync(log);
  const ended = once(child, 'exit').then(
    ([code, by]) => (by === null ? `exit code ${code}` : `signal ${by}`),
    (error: Error) => error.message,
  );
  // The child process of a running server does not keep the program from exiting.
  child.unref();
  const server = child.pid === undefined ? undefined : findProcess(child.pid);
  if (server !== undefined) {
    const record: ServerRecord = { ...server, socketDir: address.host, version, command: [file, ...args] };
    writeAtomically(join(dataDir, 'server.json'), JSON.stringify(record));
    giveToOwnerOf(dataDir, join(dataDir, 'server.json'));
    if ((await waitUntilReady(server, address, stop)) === 'ready') return { process: server, ended };
    await stopServer(server);
  }
  // The unreferenced child does not keep the event loop alive, but the program must live long enough to
  // report the error.
  const hold = setInterval(() => {}, 1_000);
  const end = await ended.finally(() => clearInterval(hold));
  const lines = lastLines(path, 12, logStart);
  throw new EmbeddedPostgresError(
    'start',
    `The embedded PostgreSQL did not start (${end}). ${path} ends with:\n${lines}`,
  );
}

/**
 * Stops the server with a fast shutdown, which disconnects clients and saves all data. If it does not end in
 * time, an immediate shutdown follows, then SIGKILL.
 */
export async function stopServer(server: ProcessRef, log: (line: string) => void = () => {}): Promise<void> {
  signal(server, 'SIGINT');
  if (await waitUntilEnded(server, FAST_STOP_MS)) return;
  log('the server takes long to stop; stopping it immediately, it recovers at the next start');
  signal(server, 'SIGQUIT');
  if (await waitUntilEnded(server, IMMEDIATE_STOP_MS)) return;
  signal(server, 'SIGKILL');
  await waitUntilEnded(server, IMMEDIATE_STOP_MS);
}

/**
 * Waits until the server is ready, and creates its database when it is missing. Resolves to `silent` when
 * the server never answers.
 */
async function waitUntilReady(
  server: ProcessRef,
  address: Address,
  stop: AbortSignal,
): Promise<ServerStatus> {
  let answeredAt = performance.now();
  for (;;) {
    const status = await checkServer(address);
    if (status === 'no_database') await createDatabase(address);
    else if (status === 'ready') return status;
    if (status !== 'silent') answeredAt = performance.now();
    if (stop.aborted || !isAlive(server) || performance.now() - answeredAt > SILENCE_LIMIT_MS)
      return 'silent';
    await sleep(10);
  }
}

async function pollUntilEnded(server: ProcessRef): Promise<string> {
  while (isAlive(server)) await sleep(POLL_MS, undefined, { ref: false });
  return 'cause unknown';
}

function openLog(path: string): number {
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  if (size > LOG_LIMIT_BYTES) renameSync(path, `${path}.1`);
  const fd = openSync(path, 'a', 0o600);
  fchmodSync(fd, 0o600);
  return fd;
}

function postmasterPid(cluster: string): number | undefined {
  try {
    const pid = Number(readFileSync(join(cluster, 'postmaster.pid'), 'utf8').split('\n')[0]);
    return Number.isInteger(pid) && pid > 0 ? pid : undefined;
  } catch {
    return undefined;
  }
}

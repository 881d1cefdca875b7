/** One run of the server: started, found again after a crash of ours, asked, stopped. */
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
import pg from 'pg';
import { createConnection } from '../connections.ts';
import { OWNER_ROLE } from './cluster.ts';
import { EmbeddedError, USE_OTHER_DATABASE } from './errors.ts';
import { giveToOwnerOf, lastLines, writeWhole } from './files.ts';
import type { Command } from './identity.ts';
import {
  commandLine,
  isAlive,
  type KnownProcess,
  known,
  serversIn,
  signal,
  startedAt,
  waitUntilGone,
} from './processes.ts';
import { PORT } from './scratch.ts';

export const DATABASE = 'dragoman';

/** What is written down about a running server, for the next owner and for guests. */
export interface Recorded extends KnownProcess {
  socketDir: string;
  version: string;
  /** The whole command: a server that was started differently is not adopted but started anew. */
  command: string[];
}

export interface Running {
  process: KnownProcess;
  /** Settles when the server has ended; says how, as far as that can be known. */
  ended: Promise<string>;
}

/** `starting` is also the answer of a server that recovers or stops. */
export type Answer = 'ready' | 'no_database' | 'starting' | 'silent';

const LOG_LIMIT_BYTES = 4 * 1024 * 1024;
/** How long a living server may say nothing at all. One that says it is recovering may take as long as it needs. */
const SILENCE_LIMIT_MS = 60_000;
/** A fast shutdown writes a checkpoint. Past this, the next start replays the log instead. */
const FAST_STOP_MS = 5_000;
const IMMEDIATE_STOP_MS = 5_000;
/** An adopted server is not our child, so its end is looked for. */
const WATCH_MS = 200;

const CANNOT_CONNECT_NOW = '57P03';
const NO_SUCH_DATABASE = '3D000';

export async function ask(socketDir: string, database = DATABASE): Promise<Answer> {
  const client = createConnection({
    host: socketDir,
    port: PORT,
    user: OWNER_ROLE,
    database,
    ssl: false,
    connectionTimeoutMillis: 2_000,
  });
  try {
    await client.connect();
    return 'ready';
  } catch (error) {
    const { code } = error as { code?: string };
    if (code === NO_SUCH_DATABASE) return 'no_database';
    if (code === CANNOT_CONNECT_NOW) return 'starting';
    // Any other answer in PostgreSQL's own words (too many connections) comes from a server that is up.
    return error instanceof pg.DatabaseError ? 'ready' : 'silent';
  } finally {
    await client.end().catch(() => {});
  }
}

export async function createDatabase(socketDir: string): Promise<void> {
  const client = createConnection({
    host: socketDir,
    port: PORT,
    user: OWNER_ROLE,
    database: 'postgres',
    ssl: false,
  });
  await client.connect();
  try {
    await client.query(`CREATE DATABASE ${DATABASE}`);
  } finally {
    await client.end();
  }
}

export function readRecord(dataDir: string): Recorded | undefined {
  try {
    return JSON.parse(readFileSync(join(dataDir, 'server.json'), 'utf8')) as Recorded;
  } catch {
    return undefined;
  }
}

export function removeRecord(dataDir: string): void {
  rmSync(join(dataDir, 'server.json'), { force: true });
}

/**
 * The server that a previous owner left running in this cluster. Recorded pid and start time prove it; without
 * a record (killed between start and record) the postmaster's own pid file and command line do.
 */
export function findLeftOver(dataDir: string, cluster: string): KnownProcess | undefined {
  const record = readRecord(dataDir);
  if (record !== undefined && isAlive(record)) return { pid: record.pid, started: record.started };
  const pid = postmasterPid(cluster);
  if (pid === undefined || startedAt(pid) === undefined) return undefined;
  const words = commandLine(pid);
  const serves = words.includes(cluster) || words.some((word) => word.includes(`-D ${cluster} `));
  return serves ? known(pid) : undefined;
}

/** A left-over server started exactly as `command` would: taken over once it answers. */
export async function adopt(
  record: Recorded,
  socketDir: string,
  stop: AbortSignal,
): Promise<Running | undefined> {
  const one = { pid: record.pid, started: record.started };
  if ((await untilAnswer(one, socketDir, stop)) !== 'ready') return undefined;
  return { process: one, ended: watch(one) };
}

/**
 * Clears what a dead server left: PostgreSQL itself takes a pid file as proof of life when its number is in use
 * again (or is a zombie's), and its last processes may still hold the memory. Only with the owner lock held,
 * and after `findLeftOver` found nothing.
 * @throws EmbeddedError `in_use` when a server answers that this process cannot see, as from another container
 */
export async function clearStale(dataDir: string, cluster: string, socketDir: string): Promise<void> {
  const sockets = new Set([socketDir, readRecord(dataDir)?.socketDir ?? socketDir]);
  for (const each of sockets) {
    if ((await ask(each)) === 'silent') continue;
    throw new EmbeddedError(
      'in_use',
      `A PostgreSQL server that cannot be seen from here (in another container?) serves ${cluster}. Stop it first.`,
    );
  }
  const remaining = serversIn(realpathSync(cluster));
  for (const name of ['SIGQUIT', 'SIGKILL'] as const) {
    // They end by themselves when they notice that the postmaster is gone, unless busy with a long statement.
    await Promise.all(remaining.map((one) => waitUntilGone(one, 2_000)));
    for (const one of remaining) signal(one, name);
  }
  await Promise.all(remaining.map((one) => waitUntilGone(one, 2_000)));
  rmSync(join(cluster, 'postmaster.pid'), { force: true });
  for (const each of sockets) {
    rmSync(join(each, `.s.PGSQL.${PORT}`), { force: true });
    rmSync(join(each, `.s.PGSQL.${PORT}.lock`), { force: true });
  }
}

/**
 * Starts the server and waits until it answers.
 * @throws EmbeddedError `start` with the last lines of its log
 */
export async function launch(
  dataDir: string,
  socketDir: string,
  version: string,
  { file, args, options }: Command,
  stop: AbortSignal,
): Promise<Running> {
  const path = join(dataDir, 'postgres.log');
  const log = openLog(path);
  const logStart = statSync(path).size;
  giveToOwnerOf(dataDir, path);
  // A file, not a pipe: a pipe breaks when this process dies, and the server with it. A session of its own:
  // Ctrl-C in a terminal goes to the whole group and would stop the server before the program has drained.
  const child = spawn(file, args, { ...options, detached: true, stdio: ['ignore', log, log] });
  closeSync(log);
  const ended = once(child, 'exit').then(
    ([code, by]) => (by === null ? `exit code ${code}` : `signal ${by}`),
    (error: Error) => error.message,
  );
  // The server is to serve the program, not to keep it running.
  child.unref();
  const one = child.pid === undefined ? undefined : known(child.pid);
  if (one !== undefined) {
    const record: Recorded = { ...one, socketDir, version, command: [file, ...args] };
    writeWhole(join(dataDir, 'server.json'), JSON.stringify(record));
    giveToOwnerOf(dataDir, join(dataDir, 'server.json'));
    if ((await untilAnswer(one, socketDir, stop)) === 'ready') return { process: one, ended };
    await stopServer(one);
  }
  // An event of an unreferenced child does not keep the loop alive; the program must live to say the error.
  const hold = setInterval(() => {}, 1_000);
  const end = await ended.finally(() => clearInterval(hold));
  const lines = lastLines(path, 12, logStart);
  throw new EmbeddedError(
    'start',
    `The embedded PostgreSQL did not start (${end}). ${path} ends with:\n${lines}\n${USE_OTHER_DATABASE}`,
  );
}

/** Fast shutdown (clients are cut, work is saved), then immediate, then by force. */
export async function stopServer(one: KnownProcess, log: (line: string) => void = () => {}): Promise<void> {
  signal(one, 'SIGINT');
  if (await waitUntilGone(one, FAST_STOP_MS)) return;
  log('the server takes long to stop: it is stopped at once and recovers at the next start');
  signal(one, 'SIGQUIT');
  if (await waitUntilGone(one, IMMEDIATE_STOP_MS)) return;
  signal(one, 'SIGKILL');
  await waitUntilGone(one, IMMEDIATE_STOP_MS);
}

/** Waits until the server is ready, making the database when it lacks it; any other answer means it is not to be. */
async function untilAnswer(one: KnownProcess, socketDir: string, stop: AbortSignal): Promise<Answer> {
  let heard = performance.now();
  for (;;) {
    const answer = await ask(socketDir);
    if (answer === 'no_database') await createDatabase(socketDir);
    else if (answer === 'ready') return answer;
    if (answer !== 'silent') heard = performance.now();
    if (stop.aborted || !isAlive(one) || performance.now() - heard > SILENCE_LIMIT_MS) return 'silent';
    await sleep(10);
  }
}

async function watch(one: KnownProcess): Promise<string> {
  while (isAlive(one)) await sleep(WATCH_MS, undefined, { ref: false });
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

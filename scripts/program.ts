/** Starts the service as a process of benchmarks and proofs, waits until it is ready, and kills or stops it. */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, openSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { delimiter, join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';
import { ROUTES, routeName } from '../packages/engines/src/apertium/routes.ts';
import { createApertium } from '../packages/engines/src/engines.ts';
import { createAccount as insertAccount } from '../packages/server/src/accounts/accounts.ts';
import { OperatorError } from '../packages/server/src/base/errors.ts';
import { createLog } from '../packages/server/src/base/log.ts';
import { replacePairs } from '../packages/server/src/languages/store.ts';
import { openStore } from '../packages/server/src/roles/program.ts';
import { loadSettings, type Settings } from '../packages/server/src/settings/settings.ts';
import { privateApertium, useTools } from './test-tools.ts';

useTools();

/** The path of the command that users start. */
export const DRAGOMAN = new URL('../packages/server/bin/dragoman.js', import.meta.url).pathname;

export interface Program {
  url: string;
  port: number;
  child: ChildProcess;
  /** Sends SIGKILL and waits until the process has ended. */
  kill(): Promise<void>;
  /**
   * Sends SIGTERM and waits until the process has ended.
   *
   * @throws Error when its exit status is not 0
   */
  stop(): Promise<void>;
}

const running = new Set<ChildProcess>();

/** Kills the services that a failed run left behind, and waits until they have ended. */
export async function killLeft(): Promise<void> {
  const ends = [...running].map((child) => once(child, 'exit'));
  for (const child of running) child.kill('SIGKILL');
  await Promise.all(ends);
}

/**
 * Starts `dragoman serve` and waits until it is ready. For a worker process, it only waits until the process
 * responds. Callbacks to loopback addresses are allowed.
 */
export async function startProgram(options: {
  directory: string;
  port?: number;
  role?: 'all' | 'api' | 'worker';
  environment?: Record<string, string>;
  /** The file for the output. Without it, stderr goes to the stderr of this process. */
  logFile?: string;
}): Promise<Program> {
  const port = options.port ?? (await freePort());
  const args = [
    'serve',
    '--data',
    options.directory,
    '--port',
    String(port),
    '--role',
    options.role ?? 'all',
  ];
  const log = options.logFile === undefined ? undefined : openSync(options.logFile, 'a');
  const child = spawn(process.execPath, [DRAGOMAN, ...args], {
    env: {
      ...process.env,
      DRAGOMAN_ALLOWED_NETWORKS: '127.0.0.0/8',
      // The rate limit of keys is off, because one key sends the load of many customers.
      DRAGOMAN_KEY_REQUESTS: '0',
      DRAGOMAN_LOG_LEVEL: 'warn',
      DRAGOMAN_SANDBOX_WORDS: '0', // The quota is off: a run needs more words than it allows.
      ...options.environment,
    },
    stdio: ['ignore', log ?? 'ignore', log ?? 'inherit'],
  });
  if (log !== undefined) closeSync(log); // The child process has its own copy of the file descriptor.
  const ended = once(child, 'exit');
  // The process is killed when this process exits, so that a failed run leaves nothing behind.
  const end = () => child.kill('SIGKILL');
  process.once('exit', end);
  running.add(child);
  void ended.then(() => {
    running.delete(child);
    process.off('exit', end);
  });
  const url = `http://127.0.0.1:${port}`;
  const answering = options.role === 'worker' ? '/healthz' : '/readyz';
  for (;;) {
    const { exitCode, signalCode } = child;
    if (exitCode !== null || signalCode !== null)
      throw new Error(`the program ended with status ${exitCode ?? signalCode}`);
    const response = await fetch(`${url}${answering}`).catch(() => undefined);
    if (response?.status === 200) break;
    await wait(20);
  }
  return {
    url,
    port,
    child,
    async kill() {
      child.kill('SIGKILL');
      await ended;
    },
    async stop() {
      child.kill('SIGTERM');
      const [status] = await ended;
      if (status !== 0) throw new Error(`the program ended with status ${status} after SIGTERM`);
    },
  };
}

/**
 * Sends a signal to the embedded PostgreSQL of a data directory. The process id is read from PostgreSQL's pid file.
 *
 * @throws Error when PostgreSQL does not run
 */
export function killDatabase(directory: string, signal: 'SIGKILL' | 'SIGQUIT' = 'SIGKILL'): void {
  const [pid] = readFileSync(join(directory, 'postgres', 'postmaster.pid'), 'utf8').split('\n');
  process.kill(Number(pid), signal);
}

export interface Credentials {
  username: string;
  production_key: string;
  sandbox_key: string;
  webhook_secret_production: string;
}

/**
 * Runs `dragoman` on a data directory.
 *
 * @returns its output
 * @throws Error with the exit status as `code`
 */
export const runCommand = (directory: string, ...args: string[]): Promise<string> =>
  runCommandWith({}, directory, ...args);

/** Runs a command with further environment variables. */
export async function runCommandWith(
  environment: Record<string, string>,
  directory: string,
  ...args: string[]
): Promise<string> {
  const line = [DRAGOMAN, ...args, '--data', directory];
  const env = { ...process.env, ...environment };
  const { stdout } = await promisify(execFile)(process.execPath, line, { env });
  return stdout;
}

/**
 * Creates an account without a credit limit. The server may be running or stopped.
 *
 * @param options.databaseUrl the database; without it, the embedded one of the data directory
 * @param options.secretKey the secret key of its secrets; without it, the one in the environment or the data directory
 */
export async function createAccount(
  directory: string,
  username: string,
  balanceCents = 0,
  { chat = false, databaseUrl, secretKey }: { chat?: boolean; databaseUrl?: string; secretKey?: string } = {},
): Promise<Credentials> {
  const store = await openStore(
    settingsOf(directory, databaseUrl, secretKey),
    'command',
    createLog('silent'),
  );
  try {
    const fields = {
      username,
      balanceCents,
      chat,
      email: undefined,
      dialect: 'spec',
      prepaid: false,
    } as const;
    return await insertAccount(store.database, store.vault, 'command', fields);
  } finally {
    await store.close();
  }
}

/** The languages of a run, by their codes. */
export interface Pair {
  from: string;
  to: string;
}

export const ENGLISH_TO_SPANISH: Pair = { from: 'en', to: 'es' };

/**
 * Records a passed self-test of one language pair. Otherwise a start would run forty-two self-tests, which take ten
 * seconds.
 *
 * @throws OperatorError when the engine does not offer the pair
 */
export async function believeEngine(
  directory: string,
  databaseUrl?: string,
  { from, to } = ENGLISH_TO_SPANISH,
): Promise<void> {
  const hops = ROUTES[`${from}>${to}`];
  if (hops === undefined) throw new OperatorError(`Apertium does not translate from ${from} to ${to}.`);
  const store = await openStore(settingsOf(directory, databaseUrl), 'command', createLog('silent'));
  try {
    const engine = createApertium(privateApertium());
    const tested = { name: engine.name, version: await engine.version() };
    const pair = { from, to, route: routeName(hops), hops: hops.length };
    await store.database.transaction((transaction) => replacePairs(transaction, tested, [pair]));
  } finally {
    await store.close();
  }
}

function settingsOf(directory: string, databaseUrl?: string, secretKey?: string): Settings {
  return loadSettings({
    DRAGOMAN_DATA: directory,
    ...(databaseUrl === undefined ? {} : { DATABASE_URL: databaseUrl }),
    ...(secretKey === undefined ? {} : { DRAGOMAN_SECRET_KEY: secretKey }),
  });
}

/** Returns whether a program is in the path, or exists if its name is a path. */
export function isInstalled(name: string): boolean {
  const folders = process.env.PATH?.split(delimiter) ?? [];
  return existsSync(name) || folders.some((folder) => existsSync(join(folder, name)));
}

/** Returns a port that was free a moment ago. */
export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

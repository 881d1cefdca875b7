/** The program as a process of its own, for benchmarks and proofs: started, ready, killed, stopped. */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';
import { createApertium } from '../packages/engines/src/engines.ts';
import { replacePairs } from '../packages/server/src/languages/store.ts';
import { createLog } from '../packages/server/src/log.ts';
import { openStore } from '../packages/server/src/program.ts';
import { loadSettings } from '../packages/server/src/settings.ts';

/** As its users start it. */
export const DRAGOMAN = new URL('../packages/server/bin/dragoman.js', import.meta.url).pathname;

export interface Program {
  url: string;
  port: number;
  child: ChildProcess;
  /** Kills it with -9 and waits for its end. */
  kill(): Promise<void>;
  /** Asks it to stop. @throws Error when it does not end with status 0 */
  stop(): Promise<void>;
}

/** What is running now. */
const running = new Set<ChildProcess>();

/** Kills what a run that ended in a fault has left behind, and waits for its end. */
export async function killLeft(): Promise<void> {
  const ends = [...running].map((child) => once(child, 'exit'));
  for (const child of running) child.kill('SIGKILL');
  await Promise.all(ends);
}

/** Starts `dragoman serve` and waits until it is ready, or a worker until it listens. Callbacks may reach the loopback. */
export async function startProgram(options: {
  directory: string;
  port?: number;
  role?: 'all' | 'api' | 'worker';
  environment?: Record<string, string>;
  /** Where what it says is written; its complaints go to ours otherwise. */
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
      DRAGOMAN_LOG_LEVEL: 'warn',
      ...options.environment,
    },
    stdio: ['ignore', log ?? 'ignore', log ?? 'inherit'],
  });
  if (log !== undefined) closeSync(log); // the child has its own
  const ended = once(child, 'exit');
  // A run that ends in a fault leaves nothing behind.
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

/** Kills the embedded server of a directory's running program, by the pid that the server itself wrote. */
export function killDatabase(directory: string): void {
  const [pid] = readFileSync(join(directory, 'postgres', 'postmaster.pid'), 'utf8').split('\n');
  process.kill(Number(pid), 'SIGKILL');
}

export interface Credentials {
  username: string;
  production_key: string;
  sandbox_key: string;
  webhook_secret_production: string;
}

/** Makes an account by the command line, beside the running server. */
export async function createAccount(
  directory: string,
  name: string,
  cents = 0,
  ...options: string[]
): Promise<Credentials> {
  const account = ['account', 'create', name, '--balance', String(cents), ...options];
  const args = [...account, '--data', directory, '--json'];
  const { stdout } = await promisify(execFile)(process.execPath, [DRAGOMAN, ...args]);
  return JSON.parse(stdout) as Credentials;
}

/**
 * As if a worker had tested English to Spanish in this directory today: for what is not about self-tests, of which
 * forty-two take ten seconds.
 */
export async function believeEngine(directory: string, databaseUrl?: string): Promise<void> {
  const settings = loadSettings({
    DRAGOMAN_DATA: directory,
    ...(databaseUrl === undefined ? {} : { DATABASE_URL: databaseUrl }),
  });
  const store = await openStore(settings, 'command', createLog('silent'));
  try {
    const engine = createApertium();
    const tested = { name: engine.name, version: await engine.version() };
    const pair = { from: 'en', to: 'es', route: 'apertium:eng-spa', hops: 1 };
    await store.database.transaction((transaction) => replacePairs(transaction, tested, [pair]));
  } finally {
    await store.close();
  }
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

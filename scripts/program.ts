/** The program as a process of its own, for benchmarks and proofs: started, ready, killed, stopped. */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';

const MAIN = new URL('../packages/server/src/main.ts', import.meta.url).pathname;

export interface Program {
  url: string;
  port: number;
  child: ChildProcess;
  /** Kills it with -9 and waits for its end. */
  kill(): Promise<void>;
  /** Asks it to stop. @throws Error when it does not end with status 0 */
  stop(): Promise<void>;
}

/** Starts `dragoman serve` and waits until it is ready. Callbacks may reach the loopback. */
export async function startProgram(options: {
  directory: string;
  port?: number;
  role?: 'all' | 'api' | 'worker';
  environment?: Record<string, string>;
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
  const child = spawn(process.execPath, [MAIN, ...args], {
    env: {
      ...process.env,
      DRAGOMAN_ALLOWED_NETWORKS: '127.0.0.0/8',
      DRAGOMAN_LOG_LEVEL: 'warn',
      ...options.environment,
    },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const ended = once(child, 'exit');
  const url = `http://127.0.0.1:${port}`;
  for (;;) {
    if (child.exitCode !== null) throw new Error(`the program ended with status ${child.exitCode}`);
    const response = await fetch(`${url}/readyz`).catch(() => undefined);
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
  const { stdout } = await promisify(execFile)(process.execPath, [MAIN, ...args]);
  return JSON.parse(stdout) as Credentials;
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** PgBouncer for tests, if it is installed: a pooler of connections before the database server of a test. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createConnection as connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { TOOLS } from '../../../../scripts/test-tools.ts';
import { createConnection } from '../database/connections.ts';
import type { Connection } from '../database/database.ts';
import { startDatabaseHost } from './database-hosts.ts';

const NOBODY = 65_534;

/** Returns the path of PgBouncer; undefined if it is not installed. */
export const findPgbouncer = () =>
  ['/usr/sbin/pgbouncer', join(TOOLS, 'usr/sbin/pgbouncer')].find((path) => existsSync(path));

export type PoolMode = 'session' | 'transaction' | 'statement';

export interface Pooler {
  /** The URL of a database through the pooler. */
  urlOf(database: string): string;
  stop(): Promise<void>;
}

/**
 * Starts PgBouncer with its defaults.
 * @param connection the database server, which listens on a Unix socket and trusts its users
 */
export async function startPooler(connection: Connection, mode: PoolMode): Promise<Pooler> {
  const { host, port, user } = createConnection(connection);
  const server = await startDatabaseHost({ host, port });
  const [serverHost, serverPort] = server.address.split(':');
  const directory = mkdtempSync(join(tmpdir(), 'dragoman-pooler-'));
  const own = await freePort();
  writeFileSync(join(directory, 'users'), `"${user}" ""\n`);
  writeFileSync(
    join(directory, 'ini'),
    `[databases]
* = host=${serverHost} port=${serverPort}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${own}
unix_socket_dir =
auth_type = trust
auth_file = ${join(directory, 'users')}
pool_mode = ${mode}
`,
  );
  chmodSync(directory, 0o755);
  // PgBouncer refuses to run as root.
  const identity = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {};
  const child = spawn(findPgbouncer()!, ['-q', join(directory, 'ini')], { stdio: 'ignore', ...identity });
  const ended = once(child, 'exit');
  while (!(await isListening(own))) await wait(20);
  return {
    urlOf: (database) => `postgres://${user}@127.0.0.1:${own}/${database}`,
    async stop() {
      child.kill('SIGKILL');
      await ended;
      await server.fail();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

function isListening(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => resolve(true)).on('error', () => resolve(false));
    socket.on('connect', () => socket.destroy());
  });
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  server.close();
  return port;
}

/** Installs and starts Debian's PostgreSQL, for tests and proofs on a server that is not the embedded one. */
import { execFileSync, type SpawnOptions, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { installPackages } from '@dragoman/engines/debian';

const HOME = '/usr/lib/postgresql';
const NOBODY = 65_534;

export interface DebianServer {
  /** The folder of its socket; the port is 5432, the superuser `owner`. */
  host: string;
  url(database: string): string;
  stop(): Promise<void>;
}

function newestBinaries(): string | undefined {
  const versions = existsSync(HOME) ? readdirSync(HOME).sort((a, b) => Number(b) - Number(a)) : [];
  return versions.map((version) => join(HOME, version, 'bin')).find((bin) => existsSync(join(bin, 'initdb')));
}

/**
 * Returns the folder of the programs of Debian's PostgreSQL. As root or with sudo, it installs a missing PostgreSQL and
 * PgBouncer. Undefined if that is not possible.
 */
export async function findDebianPostgresql(): Promise<string | undefined> {
  const missing = [
    ...(newestBinaries() === undefined ? ['postgresql'] : []),
    ...(existsSync('/usr/sbin/pgbouncer') ? [] : ['pgbouncer']),
  ];
  if (missing.length > 0) {
    const onProgress = (line: string) => console.error(`  ${line}`);
    await installPackages(missing, { onProgress }).catch((error) => console.error(error.message));
  }
  return newestBinaries();
}

/** Starts a new server with Debian's configuration and these settings. @param bin the folder of its programs */
export async function startDebianServer(
  bin: string,
  settings: Readonly<Record<string, string>> = {},
): Promise<DebianServer> {
  // The path is short, because the path of a Unix socket may have at most 107 bytes. Root starts the server as
  // `nobody`, so `nobody` must own the folder.
  const host = mkdtempSync('/tmp/pg-test-');
  const isRoot = process.getuid?.() === 0;
  if (isRoot) chownSync(host, NOBODY, NOBODY);
  const identity = isRoot ? { uid: NOBODY, gid: NOBODY } : {};
  const options: SpawnOptions = { cwd: host, stdio: ['ignore', 'ignore', 'inherit'], ...identity };
  const data = join(host, 'data');
  const init = ['-D', data, '-U', 'owner', '-A', 'trust', '-E', 'UTF8', '--no-locale', '--no-sync'];
  execFileSync(join(bin, 'initdb'), init, options);
  const all = {
    listen_addresses: '',
    unix_socket_directories: host,
    log_min_messages: 'fatal',
    ...settings,
  };
  const flags = Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const server = spawn(join(bin, 'postgres'), ['-D', data, ...flags], options);
  const ended = once(server, 'exit');
  while (!existsSync(join(host, '.s.PGSQL.5432'))) await wait(50);
  return {
    host,
    url: (database) => `postgres://owner@localhost/${database}?host=${encodeURIComponent(host)}`,
    async stop() {
      server.kill('SIGINT');
      await ended;
      rmSync(host, { recursive: true, force: true });
    },
  };
}

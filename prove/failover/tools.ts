/** The programs of the failover proof: PostgreSQL, Patroni and etcd from Debian's packages. */
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

export interface Tools {
  /** The folder with `postgres`, `initdb` and `pg_basebackup`. */
  postgresql: string;
  patroni: string;
  etcd: string;
  /** The versions of the programs, for the report. */
  versions: string;
}

const PACKAGES = ['postgresql-15', 'patroni', 'etcd-server'];
const POSTGRESQL = '/usr/lib/postgresql';

/**
 * Finds the programs. If a program is missing and this process runs as root, installs the packages first. Returns
 * undefined if a program is missing at the end.
 */
export function findTools(): Tools | undefined {
  const found = find();
  if (found !== undefined || process.getuid?.() !== 0) return found;
  const options = {
    stdio: 'ignore',
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '1' },
  } as const;
  try {
    execFileSync('apt-get', ['update', '-qq'], options);
    execFileSync('apt-get', ['install', '-y', '-qq', '--no-install-recommends', ...PACKAGES], options);
  } catch {
    return undefined;
  }
  return find();
}

function find(): Tools | undefined {
  const versions = existsSync(POSTGRESQL) ? readdirSync(POSTGRESQL) : [];
  const newest = versions.sort((a, b) => Number(b) - Number(a))[0];
  const tools = {
    postgresql: join(POSTGRESQL, newest ?? '', 'bin'),
    patroni: '/usr/bin/patroni',
    etcd: '/usr/bin/etcd',
  };
  const files = [join(tools.postgresql, 'postgres'), tools.patroni, tools.etcd];
  if (!files.every((file) => existsSync(file))) return undefined;
  const lines = files.map((file) => firstLine(file));
  return { ...tools, versions: lines.join(', ') };
}

function firstLine(program: string): string {
  return execFileSync(program, ['--version'], { encoding: 'utf8' }).split('\n')[0]!.trim();
}

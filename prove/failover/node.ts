/** One node of the cluster: Patroni and the PostgreSQL server that it starts, with its network links. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, mkdirSync, openSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '../../scripts/program.ts';
import { type Link, startLink } from '../scale/link.ts';
import type { Tools } from './tools.ts';

export interface Node {
  name: string;
  /** Kills the node's Patroni and PostgreSQL with SIGKILL, as if its machine lost power. */
  kill(): Promise<void>;
  /** Stops all processes of the node with SIGSTOP. */
  freeze(): void;
  /** Blocks the network links of the node. */
  cutOff(): void;
  /** Ends every fault of the node. */
  recover(): void;
}

/** Starts programs as an unprivileged user, because PostgreSQL refuses root. */
export interface Machine {
  directory: string;
  /** Creates a folder that belongs to the unprivileged user, and returns its path. */
  own(name: string): string;
  /** @param log the name of the file for the output */
  start(program: string, args: string[], log: string): ChildProcess;
}

/** The superuser of the cluster, who owns the schema. */
export const USER = 'dragoman_owner';
const NOBODY = 65_534;
/**
 * Patroni's times in seconds. The primary's key in etcd expires after `ttl`; a standby then needs a few more seconds
 * until it is promoted.
 */
const TIMES = { ttl: 8, loop_wait: 1, retry_timeout: 3 };

export function prepareMachine(directory: string): Machine {
  const isRoot = process.getuid?.() === 0;
  const identity = isRoot ? { uid: NOBODY, gid: NOBODY } : {};
  chmodSync(directory, 0o711); // The unprivileged user must reach its own folders in this directory.
  return {
    directory,
    own(name) {
      const path = join(directory, name);
      mkdirSync(path, { mode: 0o700 });
      if (isRoot) chownSync(path, NOBODY, NOBODY);
      return path;
    },
    start(program, args, log) {
      const output = openSync(join(directory, log), 'a');
      return spawn(program, args, {
        ...identity,
        cwd: '/',
        env: { PATH: process.env.PATH, HOME: directory, LC_ALL: 'C.UTF-8' },
        stdio: ['ignore', output, output],
      });
    },
  };
}

/**
 * Starts Patroni for one node, which starts PostgreSQL.
 *
 * @param etcd the port of etcd
 */
export async function startNode(name: string, tools: Tools, machine: Machine, etcd: number) {
  const [database, rest] = [await freePort(), await freePort()];
  const clients = await startLink({ host: '127.0.0.1', port: database });
  const status = await startLink({ host: '127.0.0.1', port: rest });
  const store = await startLink({ host: '127.0.0.1', port: etcd });
  const links = [clients, status, store];
  const home = machine.own(name);
  const file = join(machine.directory, `${name}.json`);
  // Patroni reads YAML. JSON is valid YAML.
  writeFileSync(
    file,
    JSON.stringify(settingsOf({ name, tools, home, database, rest, clients, status, store })),
  );
  let patroni: ChildProcess;
  const run = () => {
    patroni = machine.start(tools.patroni, [file], `${name}.log`);
  };
  const signal = (name: NodeJS.Signals) => {
    const roots = [patroni.pid, readServerId(home)].filter((pid) => pid !== undefined);
    for (const pid of withChildren(roots)) send(pid, name);
  };
  let dead = false;
  const node = {
    name,
    rest,
    clients,
    async kill() {
      dead = true;
      signal('SIGKILL');
      if (patroni.exitCode === null && patroni.signalCode === null) await once(patroni, 'exit');
    },
    freeze: () => signal('SIGSTOP'),
    cutOff() {
      for (const link of links) link.block();
    },
    recover() {
      for (const link of links) link.unblock('never');
      if (dead) run();
      else signal('SIGCONT');
      dead = false;
    },
    async stop() {
      signal('SIGCONT');
      await node.kill();
      await Promise.all(links.map((link) => link.close()));
    },
  };
  run();
  return node;
}

/** The settings of Patroni for one node. `docs/operating.md` has the same settings for three machines. */
function settingsOf({
  name,
  tools,
  home,
  database,
  rest,
  clients,
  status,
  store,
}: {
  name: string;
  tools: Tools;
  home: string;
  database: number;
  rest: number;
  clients: Link;
  status: Link;
  store: Link;
}) {
  const password = 'failover';
  return {
    scope: 'dragoman',
    name,
    restapi: { listen: `127.0.0.1:${rest}`, connect_address: `127.0.0.1:${status.port}` },
    // Version 2 of etcd's protocol. With version 3, a frozen primary of Patroni 3.0.2 takes the leader key back from the
    // new primary when it continues, and writes of the new primary are lost.
    // Without `use_proxies`, Patroni would ask etcd for its address and connect to it directly, so its network could
    // not be cut off.
    etcd: { host: `127.0.0.1:${store.port}`, use_proxies: true },
    bootstrap: {
      dcs: {
        ...TIMES,
        synchronous_mode: true,
        synchronous_mode_strict: false,
        primary_start_timeout: 0,
        postgresql: { use_pg_rewind: true, use_slots: true, parameters: { wal_log_hints: 'on' } },
      },
      initdb: [{ encoding: 'UTF8' }, 'no-locale'],
    },
    postgresql: {
      listen: `127.0.0.1:${database}`,
      connect_address: `127.0.0.1:${clients.port}`,
      data_dir: join(home, 'data'),
      bin_dir: tools.postgresql,
      pgpass: join(home, 'pgpass'),
      authentication: {
        superuser: { username: USER, password },
        replication: { username: 'replicator', password },
        rewind: { username: 'rewinder', password },
      },
      parameters: { unix_socket_directories: home, max_connections: 100 },
      pg_hba: [
        'local all all trust',
        'host all all 127.0.0.1/32 trust',
        'host replication all 127.0.0.1/32 trust',
      ],
    },
    watchdog: { mode: 'off' },
  };
}

function readServerId(home: string): number | undefined {
  try {
    return Number(readFileSync(join(home, 'data/postmaster.pid'), 'utf8').split('\n')[0]);
  } catch {
    return undefined;
  }
}

/** Returns the ids of processes and of all their descendants. */
function withChildren(roots: readonly number[]): number[] {
  const parents = new Map<number, number>();
  for (const entry of readdirSync('/proc')) {
    if (!/^\d+$/.test(entry)) continue;
    try {
      // The process name may contain spaces and parentheses, so fields are counted from the last closing parenthesis.
      const status = readFileSync(`/proc/${entry}/stat`, 'utf8');
      parents.set(Number(entry), Number(status.slice(status.lastIndexOf(')') + 2).split(' ')[1]));
    } catch {
      // The process has ended meanwhile.
    }
  }
  const found = new Set(roots);
  for (let size = -1; size !== found.size; ) {
    size = found.size;
    for (const [pid, parent] of parents) if (found.has(parent)) found.add(pid);
  }
  return [...found];
}

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // The process has ended meanwhile.
  }
}

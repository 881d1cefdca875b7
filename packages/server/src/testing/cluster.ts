/**
 * Starts one database server per test run, and creates one database per test file. The server is the embedded one or
 * that of DATABASE_URL. The databases are copies of a migrated template.
 */
import { mkdtempSync, readdirSync, rmSync, statfsSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { createConnection } from '../database/connections.ts';
import type { Connection } from '../database/database.ts';
import { startEmbedded } from '../database/embedded.ts';
import { distributeSchema, migrate } from '../database/migrate.ts';

declare module 'vitest' {
  interface ProvidedContext {
    cluster: ProvidedCluster;
  }
}

/**
 * The data need not survive the test run, so the server does not sync to disk. Crash tests use their own
 * servers (`packages/embedded-postgres`, `npm run prove -- crash`).
 */
const SETTINGS = {
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  max_wal_size: '256MB', // The log may lie in memory.
};

/** Matches the folders of runs, whose names have the process id of the run. */
const OWN_FOLDERS = /^dragoman-test-(\d+)-/;
const LONGEST_RUN_MILLISECONDS = 4 * 3_600_000;
/** Linux's file system in memory. Copying the template there takes a seventh of the processor time of a disk. */
const MEMORY = '/dev/shm';
/** The databases of a run need less than half of this. In a container, the file system is often smaller. */
const MEMORY_BYTES = 2 * 1024 ** 3;

interface ProvidedCluster {
  /** The database server of this test run. */
  connection: Connection;
  /** The name of its migrated template database. */
  template: string;
  /** Whether the tables of the template are distributed (Citus). */
  isDistributed: boolean;
}

interface Cluster {
  provided: ProvidedCluster;
  stop(): Promise<void>;
}

/** The shared server is kept in `globalThis`, because each test project loads this file separately. */
const shared = globalThis as { dragomanTestCluster?: { started: Promise<Cluster>; users: number } };

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  shared.dragomanTestCluster ??= { started: startCluster(), users: 0 };
  const cluster = shared.dragomanTestCluster;
  cluster.users += 1;
  const { provided, stop } = await cluster.started;
  project.provide('cluster', provided);
  return async () => {
    cluster.users -= 1;
    if (cluster.users > 0) return;
    delete shared.dragomanTestCluster;
    await stop();
  };
}

async function startCluster(): Promise<Cluster> {
  const folder = parentFolder();
  removeLeft(folder);
  const directory = mkdtempSync(join(folder, `dragoman-test-${process.pid}-`));
  const url = process.env.DATABASE_URL;
  const embedded =
    url === undefined
      ? await startEmbedded({ dataDir: directory, role: 'serve', settings: SETTINGS })
      : undefined;
  const connection: Connection = embedded?.connection ?? { connectionString: url! };
  const template = `dragoman_template_${process.pid}`;
  await administer(connection, `create database ${template}`);
  await migrate(withDatabase(connection, template));
  const isDistributed = url !== undefined && (await distributeTemplate(connection, template));
  return {
    provided: { connection, template, isDistributed },
    async stop() {
      await administer(connection, `drop database ${template}`);
      await embedded?.stop();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

/** Removes the data of test runs that were killed hours ago, because it may fill the memory. */
function removeLeft(folder: string): void {
  for (const name of readdirSync(folder)) {
    const [, pid] = OWN_FOLDERS.exec(name) ?? [];
    if (pid === undefined || isAlive(Number(pid))) continue;
    try {
      // A run in another container may use the same file system, and its processes are not seen here.
      const isOld = Date.now() - statSync(join(folder, name)).mtimeMs > LONGEST_RUN_MILLISECONDS;
      if (isOld) rmSync(join(folder, name), { recursive: true, force: true });
    } catch {
      // The folder belongs to another user, or another run has just removed it.
    }
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

function parentFolder(): string {
  try {
    const { bavail, bsize } = statfsSync(MEMORY);
    return bavail * bsize >= MEMORY_BYTES ? MEMORY : tmpdir();
  } catch {
    return tmpdir();
  }
}

/**
 * Distributes the tables of the template if the server of DATABASE_URL loads Citus. It then is a cluster of one node.
 * @returns whether the tables are distributed
 */
async function distributeTemplate(connection: Connection, template: string): Promise<boolean> {
  const [loaded] = await administer(connection, 'show shared_preload_libraries');
  if (!String(loaded!.shared_preload_libraries).includes('citus')) return false;
  const own = withDatabase(connection, template);
  await administer(own, 'create extension citus');
  await administer(own, `alter database ${template} set citus.shard_count = 4`);
  const node = `'localhost', current_setting('port')::integer`;
  await administer(own, `select citus_set_coordinator_host(${node})`);
  await administer(own, `select citus_set_node_property(${node}, 'shouldhaveshards', true)`);
  await distributeSchema(own);
  // The daemon that Citus runs in each database is a connection, and a database with connections cannot be copied.
  await administer(
    connection,
    `select pg_terminate_backend(pid, 10000) from pg_stat_activity where datname = '${template}'`,
  );
  return true;
}

/** Runs one statement about databases, such as `create database`, in the server's default database. */
export async function administer(
  connection: Connection,
  sql: string,
): Promise<readonly Record<string, unknown>[]> {
  const client = createConnection(connection);
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(sql)).rows;
  } finally {
    await client.end();
  }
}

export function withDatabase(connection: Connection, database: string): Connection {
  if (connection.connectionString === undefined) return { ...connection, database };
  const url = new URL(connection.connectionString);
  url.pathname = `/${database}`;
  return { connectionString: url.href };
}

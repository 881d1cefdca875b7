/** A cluster for tests: a primary and a standby that streams from it, both reachable at ports of 127.0.0.1. */
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createConnection } from '../database/connections.ts';
import type { Connection } from '../database/database.ts';
import { startEmbedded } from '../database/embedded.ts';
import { migrate } from '../database/migrate.ts';
import { type DatabaseHost, startDatabaseHost } from './database-hosts.ts';

interface Server {
  /** A connection as the superuser, which may stop and continue the replay. */
  connection: Connection;
  host: DatabaseHost;
  /** The connection string of this server alone. */
  url: string;
}

export interface StandbyCluster {
  primary: Server;
  standby: Server;
  /** Replaces both hosts, of which a test may have stopped one. The servers run on. */
  renewHosts(): Promise<void>;
  stop(): Promise<void>;
}

const SETTINGS = { fsync: 'off', wal_keep_size: '64MB', hot_standby_feedback: 'on' };

/** Starts the cluster, with a migrated database. */
export async function startStandbyCluster(): Promise<StandbyCluster> {
  const directory = mkdtempSync(join(tmpdir(), 'dragoman-standby-'));
  const [one, other] = [join(directory, 'primary'), join(directory, 'standby')];
  const first = await startEmbedded({ dataDir: one, role: 'serve', settings: SETTINGS });
  await migrate(first.connection);
  const copied = join(other, 'postgres');
  await withClient(first.connection, async (client) => {
    // A backup as pg_basebackup makes it, which the embedded server comes without.
    await client.query("select pg_backup_start('standby', fast => true)");
    cpSync(join(one, 'postgres'), copied, { recursive: true });
    const { rows } = await client.query<{ labelfile: string }>('select labelfile from pg_backup_stop(false)');
    writeFileSync(join(copied, 'backup_label'), rows[0]!.labelfile);
  });
  rmSync(join(copied, 'postmaster.pid'));
  writeFileSync(join(copied, 'standby.signal'), '');
  const { host, user } = first.connection;
  const second = await startEmbedded({
    dataDir: other,
    role: 'serve',
    settings: { ...SETTINGS, primary_conninfo: `host=${host} user=${user}` },
  });
  const reached: DatabaseHost[] = [];
  const reachBoth = async () => {
    await Promise.all(reached.splice(0).map((host) => host.fail().catch(() => {})));
    const both = await Promise.all([first, second].map(({ connection }) => reach(connection)));
    reached.push(...both.map(({ host }) => host));
    return both as [Server, Server];
  };
  const [primary, standby] = await reachBoth();
  const cluster: StandbyCluster = {
    primary,
    standby,
    async renewHosts() {
      [cluster.primary, cluster.standby] = await reachBoth();
    },
    async stop() {
      await Promise.all(reached.map((host) => host.fail().catch(() => {})));
      await second.stop();
      await first.stop();
      rmSync(directory, { recursive: true, force: true });
    },
  };
  return cluster;
}

async function reach(connection: Connection): Promise<Server> {
  const host = await startDatabaseHost(connection);
  return {
    connection,
    host,
    url: `postgres://${connection.user}@${host.address}/${connection.database}`,
  };
}

/** Runs one statement as the superuser of a server. */
export async function runAsOwner(connection: Connection, sql: string): Promise<void> {
  await withClient(connection, (client) => client.query(sql));
}

async function withClient<T>(
  connection: Connection,
  work: (client: ReturnType<typeof createConnection>) => Promise<T>,
): Promise<T> {
  const client = createConnection(connection);
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

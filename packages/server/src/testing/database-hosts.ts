/** Hosts of a database cluster, for tests of failover: TCP servers that forward to PostgreSQL servers. */
import { once } from 'node:events';
import { type AddressInfo, createConnection, createServer, type Socket } from 'node:net';
import type { Connection } from '../database/database.ts';

export interface DatabaseHost {
  address: string;
  /** Ends all open connections, and forwards new connections to another server. */
  forwardTo(server: Connection): void;
  /** Keeps all connections open and forwards nothing, like a server process that is stopped with SIGSTOP. */
  freeze(): void;
  /** Ends all open connections, and refuses new ones. */
  fail(): Promise<void>;
}

/** Starts a host on a free port of 127.0.0.1. `fail` stops it. */
export async function startDatabaseHost(first: Connection): Promise<DatabaseHost> {
  const open = new Set<Socket>();
  const track = (socket: Socket) => {
    open.add(socket);
    socket.on('close', () => open.delete(socket)).on('error', () => socket.destroy());
  };
  let target: Connection | undefined = first;
  const server = createServer((client) => {
    track(client);
    if (target === undefined) return;
    const upstream = createConnection(`${target.host}/.s.PGSQL.${target.port}`);
    track(upstream);
    client.pipe(upstream).pipe(client);
    upstream.on('close', () => client.destroy());
    client.on('close', () => upstream.destroy());
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const endAll = () => {
    for (const socket of open) socket.destroy();
  };
  return {
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    forwardTo(next) {
      target = next;
      endAll();
    },
    freeze() {
      target = undefined;
      for (const socket of open) socket.unpipe().pause();
    },
    async fail() {
      server.close();
      endAll();
      await once(server, 'close');
    },
  };
}

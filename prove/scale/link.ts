/** The network link between one process and a server: a proxy that can cut and block connections. */
import { type AddressInfo, connect, createServer, type NetConnectOpts, type Socket } from 'node:net';

export interface Link {
  port: number;
  /** Resets every connection. New connections are possible. */
  cut(): void;
  /** Simulates a network partition: no bytes pass, and no connection is closed. */
  block(): void;
  /** Ends the partition: delivers the blocked bytes, or resets the connections. */
  unblock(how: 'late' | 'never'): void;
  close(): Promise<void>;
}

/**
 * Starts a link.
 *
 * @param target the address of the server; for PostgreSQL, its Unix socket
 */
export async function startLink(target: NetConnectOpts): Promise<Link> {
  const pairs = new Set<[Socket, Socket]>();
  let blocked = false;

  function cut(): void {
    for (const [near, far] of pairs) {
      near.resetAndDestroy();
      far.destroy();
    }
  }

  const server = createServer((near) => {
    const far = connect(target);
    const pair: [Socket, Socket] = [near, far];
    pairs.add(pair);
    const pass = (from: Socket, to: Socket) => {
      from.on('data', (bytes) => {
        if (!to.write(bytes)) from.pause();
      });
      to.on('drain', () => {
        if (!blocked) from.resume();
      });
      // When one side closes, the other side is closed too, because PostgreSQL's protocol cannot use half a
      // connection.
      from.on('close', () => {
        pairs.delete(pair);
        to.destroy();
      });
      from.on('error', () => to.destroy());
      if (blocked) from.pause();
    };
    pass(near, far);
    pass(far, near);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    cut,
    block() {
      blocked = true;
      for (const each of [...pairs].flat()) each.pause();
    },
    unblock(how) {
      blocked = false;
      if (how === 'never') cut();
      for (const each of [...pairs].flat()) each.resume();
    },
    async close() {
      const closed = new Promise((resolve) => server.close(resolve));
      cut();
      await closed;
    },
  };
}

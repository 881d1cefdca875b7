/** The way from one process to PostgreSQL, which can be cut and held up. */

import type { AddressInfo } from 'node:net';
import { connect, createServer, type Socket } from 'node:net';

export interface Way {
  port: number;
  /** Every connection is reset. New ones are made as before. */
  cut(): void;
  /** Nothing goes through any more, and nobody is told: a partition. */
  block(): void;
  /** What was held up arrives after all, or its connections are reset. */
  open(how: 'late' | 'never'): void;
  close(): Promise<void>;
}

/** @param socketPath of PostgreSQL */
export async function startWay(socketPath: string): Promise<Way> {
  const pairs = new Set<[Socket, Socket]>();
  let blocked = false;

  function cut(): void {
    for (const [near, far] of pairs) {
      near.resetAndDestroy();
      far.destroy();
    }
  }

  const server = createServer((near) => {
    const far = connect(socketPath);
    const pair: [Socket, Socket] = [near, far];
    pairs.add(pair);
    const pass = (from: Socket, to: Socket) => {
      from.on('data', (bytes) => {
        if (!to.write(bytes)) from.pause();
      });
      to.on('drain', () => {
        if (!blocked) from.resume();
      });
      // Half a connection is of no use to PostgreSQL's protocol.
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
    open(how) {
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

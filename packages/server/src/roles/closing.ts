/** Stops the HTTP server: requests in progress are answered, and idle connections are closed. */
import type { Server as HttpServer } from 'node:http';
import type { Socket } from 'node:net';
import { setImmediate, setTimeout } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';

/** The interval at which a stopping server closes idle connections. */
const IDLE_CHECK_MILLISECONDS = 50;

/**
 * A connection that is younger may still get its request: a proxy connects and sends at once, and a reset would be a 502
 * for its client.
 */
const UNUSED_MILLISECONDS = 1_000;

/** The longest time for which a stopping server goes on accepting connections. */
const ACCEPT_MILLISECONDS = 1_000;

/** Within a turn of the event loop that is shorter, hardly any connection can arrive unnoticed. */
const SHORT_TURN_MILLISECONDS = 0.1;

/** Connections on which no byte has arrived, such as those that browsers open in advance. */
export interface UnusedConnections {
  close(): void;
}

/**
 * Tracks unused connections. `closeIdleConnections` does not close them, because Node counts a connection without a
 * request as busy.
 */
export function trackUnusedConnections(server: HttpServer): UnusedConnections {
  const open = new Map<Socket, number>();
  server.on('connection', (socket) => {
    open.set(socket, performance.now());
    socket.once('close', () => open.delete(socket));
  });
  server.on('request', ({ socket }) => open.delete(socket));
  return {
    close() {
      const latest = performance.now() - UNUSED_MILLISECONDS;
      for (const [socket, at] of open) if (socket.bytesRead === 0 && at < latest) socket.destroy();
    },
  };
}

/**
 * Serves on while load balancers notice that the process is not ready. Each answer closes its connection, so that no
 * proxy keeps one that is closed later.
 */
export async function drainApp(app: FastifyInstance, seconds: number): Promise<void> {
  if (seconds === 0) return;
  app.server.prependListener('request', (_, response) => {
    response.setHeader('connection', 'close');
  });
  await setTimeout(seconds * 1000);
}

/**
 * Closes the listener when no connection is waiting, because the kernel resets those that wait. Node accepts one
 * connection in each turn of the event loop, so the last turn must have accepted none. It must also be short: what
 * arrives after its accept is reset.
 */
async function closeListener({ server }: FastifyInstance): Promise<void> {
  let accepted = false;
  const accept = () => {
    accepted = true;
  };
  server.on('connection', accept);
  // `close` does the same before it closes the listener. With nothing left to do, it takes less time.
  server.closeIdleConnections();
  const latest = performance.now() + ACCEPT_MILLISECONDS;
  await setImmediate();
  for (let began = performance.now(), isShort = false; !isShort && began < latest; ) {
    accepted = false;
    await setImmediate();
    const now = performance.now();
    isShort = !accepted && now - began < SHORT_TURN_MILLISECONDS;
    began = now;
  }
  server.off('connection', accept);
  server.close();
}

/**
 * Refuses new connections, finishes requests, and closes the connections that are still open at the end of
 * the grace period. Idle and unused connections are closed early, because Node would wait for their
 * timeout.
 */
export async function closeApp(
  app: FastifyInstance,
  unused: UnusedConnections,
  graceMilliseconds: number,
): Promise<void> {
  const idle = setInterval(() => {
    app.server.closeIdleConnections();
    unused.close();
  }, IDLE_CHECK_MILLISECONDS);
  const last = globalThis.setTimeout(() => app.server.closeAllConnections(), graceMilliseconds);
  try {
    await closeListener(app);
    await app.close();
  } finally {
    clearInterval(idle);
    clearTimeout(last);
  }
}

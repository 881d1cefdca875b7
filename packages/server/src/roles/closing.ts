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
    // The kernel resets connections that are waiting to be accepted when the listener closes. Node has just accepted
    // all of them when this turn begins, so the listener is closed before Fastify prepares its own close.
    await setImmediate();
    app.server.close();
    await app.close();
  } finally {
    clearInterval(idle);
    clearTimeout(last);
  }
}

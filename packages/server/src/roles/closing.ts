/** Stops the HTTP server: requests in progress are answered, and idle connections are closed. */
import type { Server as HttpServer } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';

/** The interval at which a stopping server closes idle connections. */
const IDLE_CHECK_MILLISECONDS = 50;

/** Connections on which no byte has arrived, such as those that browsers open in advance. */
export interface UnusedConnections {
  close(): void;
}

/**
 * Tracks unused connections. `closeIdleConnections` does not close them, because Node counts a connection without a
 * request as busy.
 */
export function trackUnusedConnections(server: HttpServer): UnusedConnections {
  const open = new Set<Socket>();
  server.on('connection', (socket) => {
    open.add(socket);
    socket.once('close', () => open.delete(socket));
  });
  server.on('request', ({ socket }) => open.delete(socket));
  return {
    close() {
      for (const socket of open) if (socket.bytesRead === 0) socket.destroy();
    },
  };
}

/**
 * Refuses new connections, finishes requests, and closes the connections that are still open at the end of
 * the grace period. Idle and unused connections are closed at once, because Node would wait for their
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
  const last = setTimeout(() => app.server.closeAllConnections(), graceMilliseconds);
  try {
    await app.close();
  } finally {
    clearInterval(idle);
    clearTimeout(last);
  }
}

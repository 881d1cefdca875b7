/**
 * Load shedding: a process answers accepted requests in time and refuses further ones at once.
 *
 * Refusals cost processor time that accepted requests need, so three measures limit it. A surplus request is refused
 * before Fastify sees it. Each turn of the event loop starts only a few accepted requests, so a refusal waits for no
 * more than those. Connections of refused requests are paused and resumed in order, a few for each started request.
 * Otherwise clients that retry at once would be read first, in turns so long that nothing else proceeds (measured: 256
 * requests accepted in a second).
 */
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { ApiError } from '../base/errors.ts';

export interface LoadShedder {
  /**
   * Refuses surplus requests before their body or key is read, which costs a tenth of a refusal by Fastify (measured).
   * @param shed called for each refused request
   */
  guard(handle: RequestListener, shed: () => void): RequestListener;
  /** Counts the API requests in progress, and refuses surplus ones that passed the guard. */
  count(app: FastifyInstance): void;
}

const TOO_MANY = 'Too many requests are in progress. Try again.';
/** The paths of the API in both environments. A separate host of the sandbox has no prefix. */
const API_PATH = /^\/+(?:sandbox\/+)?(?:tapi|v2|chats|api\/+v1)(?:[/?]|$)/;
const BODY = JSON.stringify({ error: TOO_MANY });
const HEADERS = {
  'content-type': 'application/json; charset=utf-8',
  'content-length': Buffer.byteLength(BODY),
  'retry-after': '1',
};

/**
 * Requests started in one turn of the event loop; eight take two or three milliseconds. A long turn, which read and
 * refused many requests, starts more in proportion, so that refusals cannot take all the time. With two per
 * millisecond, a long turn made the next one long too.
 */
const STARTED_PER_TURN = { least: 8, perMillisecond: 1 };
/** Connections of refused requests that a turn resumes for each request that it may start. */
const RESUMED_PER_START = 2;

/**
 * Refuses requests while `most` are in progress or queued; later ones would be answered too late. A request counts from
 * the end of its body, so that slow uploads take no slot. Measured: 256 keep an API process busy; more only wait.
 * @param headers the headers of every answer
 * @param shared whether connections carry requests of several clients, as behind a proxy; these are not paused
 */
export function createLoadShedder(
  most: number,
  headers: Record<string, string>,
  shared: boolean,
): LoadShedder {
  let inProgress = 0;
  const turns = createTurns();
  const releasesOf = createSocketReleases();
  const own = { ...headers, ...HEADERS };

  function refuse(request: IncomingMessage, response: ServerResponse): void {
    response.writeHead(503, { ...own, 'x-request-id': crypto.randomUUID() });
    response.end(request.method === 'HEAD' ? undefined : BODY);
    turns.schedule();
    // Pauses after the request, because the end of its body resumes the connection.
    if (!shared) request.once('close', () => turns.resumeLater(request.socket));
  }

  return {
    guard: (handle, shed) => (request, response) => {
      if (!API_PATH.test(request.url!)) return handle(request, response);
      if (inProgress + turns.queued < most) return turns.start(() => handle(request, response));
      shed();
      refuse(request, response);
    },
    count(app) {
      app.addHook('preHandler', async ({ raw: { socket } }, { raw }) => {
        if (inProgress >= most) throw new ApiError('unavailable', TOO_MANY, { 'retry-after': '1' });
        // The client has disconnected, so neither of the events below will follow.
        if (socket.destroyed || raw.destroyed) return;
        inProgress++;
        const releases = releasesOf(socket);
        const release = () => {
          if (releases.delete(release)) inProgress--;
        };
        releases.add(release);
        // Sent, or the client disconnected. A pipelined answer gets no such event, so the socket's is needed too.
        raw.once('close', release);
      });
    },
  };
}

/** Starts requests and resumes connections in turns of the event loop. */
function createTurns() {
  const queue: (() => void)[] = [];
  const paused: Socket[] = [];
  /** How many more requests this turn may start. */
  let more = STARTED_PER_TURN.least;
  let scheduledAt: number | undefined;

  function turn(): void {
    const milliseconds = performance.now() - scheduledAt!;
    more = Math.max(STARTED_PER_TURN.least, Math.round(milliseconds * STARTED_PER_TURN.perMillisecond));
    scheduledAt = undefined;
    for (const socket of paused.splice(0, more * RESUMED_PER_START)) socket.resume();
    if (paused.length > 0) schedule();
    for (const request of queue.splice(0, more)) run(request);
  }

  /** Schedules the next turn. Sockets are read before it begins. */
  function schedule(): void {
    if (scheduledAt !== undefined) return;
    scheduledAt = performance.now();
    setImmediate(turn);
  }

  function run(request: () => void): void {
    more--;
    schedule();
    request();
  }

  return {
    get queued() {
      return queue.length;
    },
    start(request: () => void): void {
      if (more > 0) run(request);
      else queue.push(request);
    },
    schedule,
    resumeLater(socket: Socket): void {
      socket.pause();
      paused.push(socket);
      schedule();
    },
  };
}

/** Returns the callbacks that run when a socket closes. All requests of a socket share one listener. */
function createSocketReleases(): (socket: Socket) => Set<() => void> {
  const bySocket = new WeakMap<Socket, Set<() => void>>();
  return (socket) => {
    const known = bySocket.get(socket);
    if (known !== undefined) return known;
    const releases = new Set<() => void>();
    bySocket.set(socket, releases);
    socket.once('close', () => {
      for (const release of releases) release();
    });
    return releases;
  };
}

/**
 * Load shedding: a process accepts only as many requests as it can answer in time, and refuses further
 * requests at once.
 *
 * Refusals cost processor time that accepted requests need, so three measures limit this cost:
 * - A surplus request is refused before Fastify sees it.
 * - Each turn of the event loop starts only a few accepted requests, so a refusal waits only for these few
 *   requests.
 * - The connection of a refused request is paused. Connections are resumed in order, a few for each started
 *   request.
 *
 * Without the pause, clients that retry at once would keep the event loop busy with reading and refusing.
 * Measured: a process then accepted only 256 requests in a second.
 */
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { ApiError } from '../base/errors.ts';

export interface LoadShedder {
  /**
   * Refuses surplus requests before their body or key is read. Measured: this takes a tenth of the processor
   * time of a refusal by Fastify.
   * @param shed a function that is called for each refused request
   */
  guard(handle: RequestListener, shed: () => void): RequestListener;
  /**
   * Counts the API requests in progress. Refuses a request that `guard` let pass if too many are in progress when its
   * body ends.
   */
  count(app: FastifyInstance): void;
}

const TOO_MANY = 'Too many requests are in progress. Try again.';
/** Matches the paths of the API in both environments. A separate host for the sandbox has no prefix. */
const API_PATH = /^\/+(?:sandbox\/+)?(?:tapi|v2|chats|mcp|api\/+v1)(?:[/?]|$)/;
/**
 * Returns the path that the router reads in a request target: of an absolute URL, and without percent-encoding. Such
 * targets are rare, so others are not copied.
 */
function pathOf(target: string): string {
  if (target.startsWith('/') && !target.includes('%')) return target;
  try {
    return decodeURI(target.replace(/^https?:\/\/[^/?#]*/i, '').split('?')[0]!);
  } catch {
    return target;
  }
}
const BODY = JSON.stringify({ error: TOO_MANY });
const HEADERS = {
  'content-type': 'application/json; charset=utf-8',
  'content-length': Buffer.byteLength(BODY),
  'retry-after': '1',
};

/**
 * The number of requests that one turn of the event loop starts: at least eight, which take two or three
 * milliseconds. After a long turn, in which many requests were read and refused, the next turn starts one
 * request for each millisecond of the long turn. Refusals therefore cannot take all the time. With two
 * requests per millisecond, a long turn made the next turn long too.
 */
const STARTED_PER_TURN = { least: 8, perMillisecond: 1 };
/**
 * In each turn of the event loop, up to this number of paused connections is resumed for each request that the turn
 * may start.
 */
const RESUMED_PER_START = 2;

/**
 * Creates a load shedder. It refuses requests while `most` are in progress or queued, because further
 * requests would be answered too late. A request counts from the end of its body, so slow uploads occupy no
 * slot. Measured: 256 requests keep an API process busy; further requests would only wait.
 * @param headers the headers of every answer
 * @param shared whether a connection carries requests of several clients, as behind a proxy; after a refusal, such a
 * connection is not paused, because the other clients would wait too
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
    // Pauses the connection only after the request is closed, because the end of the request's body resumes
    // the connection.
    if (!shared) request.once('close', () => turns.resumeLater(request.socket));
  }

  return {
    guard: (handle, shed) => (request, response) => {
      if (!API_PATH.test(pathOf(request.url!))) return handle(request, response);
      if (inProgress + turns.queued < most) return turns.start(() => handle(request, response));
      shed();
      refuse(request, response);
    },
    count(app) {
      app.addHook('preHandler', async ({ raw: { socket } }, { raw }) => {
        if (inProgress >= most) throw new ApiError('unavailable', TOO_MANY, { 'retry-after': '1' });
        // The client has disconnected. No `close` event will follow, so the request must not be counted.
        if (socket.destroyed || raw.destroyed) return;
        inProgress++;
        const releases = releasesOf(socket);
        const release = () => {
          if (releases.delete(release)) inProgress--;
        };
        releases.add(release);
        // Releases the slot when the answer is sent or the client disconnects. A pipelined answer gets no
        // `close` event, so the socket's event is needed too.
        raw.once('close', release);
      });
    },
  };
}

/** Starts requests and resumes connections in turns of the event loop. */
function createTurns() {
  const queue: (() => void)[] = [];
  const paused: Socket[] = [];
  /** The number of requests that the current turn may still start. */
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

  /** Schedules the next turn. Node reads the sockets before that turn begins. */
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

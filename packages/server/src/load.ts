/**
 * More requests than a process can work on: what it takes it answers in time, what it refuses it refuses at once.
 *
 * Refusing costs little, and still decides what is left for the others, so three things hold it down. A request that is
 * too many is refused before the app sees it. What is taken is begun a few in each turn of the event loop, so that a
 * refusal waits for no more than those, however many wait. And connections that were refused are read again in turn, a few
 * for each request that is begun: else those that ask again at once would be all that is ever read, and reading them
 * all at the same moment makes a turn so long that nothing else gets on (measured: 256 taken in a second).
 */
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { ApiError } from './errors.ts';

/** How many requests of the interface are being worked on, and what is done with those that are too many. */
export interface Load {
  /**
   * Refuses a request before anything is made of it: neither its body nor its key is read (measured: a tenth of what
   * that costs inside the app).
   * @param shed called for each that is refused
   */
  guard(handle: RequestListener, shed: () => void): RequestListener;
  /** Counts the requests of the interface, and refuses those that the guard let through too many. */
  count(app: FastifyInstance): void;
}

const TOO_MANY = 'Too many requests are under way; try again.';
/** Both interfaces, in both environments; a host of the sandbox's own leaves its prefix out. */
const INTERFACE = /^\/+(?:sandbox\/+)?(?:tapi|v2|chats|api\/+v1)(?:[/?]|$)/;
const BODY = JSON.stringify({ error: TOO_MANY });
const HEADERS = {
  'content-type': 'application/json; charset=utf-8',
  'content-length': Buffer.byteLength(BODY),
  'retry-after': '1',
};

/**
 * Requests that are begun in one turn of the event loop: with what is done for each, two or three milliseconds. A turn
 * that took long, because it read and refused many, begins more in proportion: else refusing would leave nothing over.
 * With two a millisecond a long turn made the next a long one too.
 */
const BEGUN = { least: 8, aMillisecond: 1 };
/** Connections that were refused and are read again in a turn, for each request that is begun in it. */
const READ_AGAIN = 2;

/**
 * Refuses what comes while `most` requests are being worked on or wait for it: what waited longer would be answered too
 * late to be of use. Counted from the end of the body, so that somebody who trickles one takes nobody's place. Measured:
 * 256 keep an api process busy; more only wait.
 * @param headers of every answer
 * @param shared connections carry the requests of many, as behind a proxy: who was refused is read on as the others are
 */
export function createLoad(most: number, headers: Record<string, string>, shared: boolean): Load {
  let working = 0;
  const turns = createTurns();
  const endsOf = createEnds();
  const own = { ...headers, ...HEADERS };

  function refuse(request: IncomingMessage, response: ServerResponse): void {
    response.writeHead(503, { ...own, 'x-request-id': crypto.randomUUID() });
    response.end(request.method === 'HEAD' ? undefined : BODY);
    turns.look();
    // Not before: the end of a body has its connection read on.
    if (!shared) request.once('close', () => turns.readLater(request.socket));
  }

  return {
    guard: (handle, shed) => (request, response) => {
      if (!INTERFACE.test(request.url!)) return handle(request, response);
      if (working + turns.waiting < most) return turns.begin(() => handle(request, response));
      shed();
      refuse(request, response);
    },
    count(app) {
      app.addHook('preHandler', async ({ raw: { socket } }, { raw }) => {
        if (working >= most) throw new ApiError('unavailable', TOO_MANY, { 'retry-after': '1' });
        // Its caller has gone away, and both ends below have been told already.
        if (socket.destroyed || raw.destroyed) return;
        working++;
        const onSocket = endsOf(socket);
        const end = () => {
          if (onSocket.delete(end)) working--;
        };
        onSocket.add(end);
        // Sent, or its caller went away. An answer that stands behind another of its connection hears no such thing.
        raw.once('close', end);
      });
    },
  };
}

/** What is begun in each turn of the event loop, and which connections are read again in it. */
function createTurns() {
  const waiting: (() => void)[] = [];
  const unread: Socket[] = [];
  /** How many more may be begun in this turn. */
  let more = BEGUN.least;
  let turnedAt: number | undefined;

  function turn(): void {
    more = Math.max(BEGUN.least, Math.round((performance.now() - turnedAt!) * BEGUN.aMillisecond));
    turnedAt = undefined;
    for (const socket of unread.splice(0, more * READ_AGAIN)) socket.resume();
    if (unread.length > 0) look();
    for (const begin of waiting.splice(0, more)) start(begin);
  }

  /** This turn has something to do; what has arrived meanwhile is read before the next begins. */
  function look(): void {
    if (turnedAt !== undefined) return;
    turnedAt = performance.now();
    setImmediate(turn);
  }

  function start(begin: () => void): void {
    more--;
    look();
    begin();
  }

  return {
    get waiting() {
      return waiting.length;
    },
    begin(begin: () => void): void {
      if (more > 0) start(begin);
      else waiting.push(begin);
    },
    look,
    readLater(socket: Socket): void {
      socket.pause();
      unread.push(socket);
      look();
    },
  };
}

/** What ends with a connection: one listener for all its requests. */
function createEnds(): (socket: Socket) => Set<() => void> {
  const ends = new WeakMap<Socket, Set<() => void>>();
  return (socket) => {
    const known = ends.get(socket);
    if (known !== undefined) return known;
    const own = new Set<() => void>();
    ends.set(socket, own);
    socket.once('close', () => {
      for (const end of own) end();
    });
    return own;
  };
}

/**
 * A receiver with every fault that a real receiver may have. It records all requests.
 *
 *   good      accepts everything: 200 or 204
 *   hostile   misbehaves at most twice for each delivery, then accepts it
 *   tls       uses TLS; one connection in three gets garbage, a wrong certificate, or a reset
 *
 * A request to a path that starts with `held-` gets no response until the run calls `release`. Such requests
 * use up the connections to a host.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import {
  type AddressInfo,
  connect,
  createServer as createTcpServer,
  type Server,
  type Socket,
} from 'node:net';
import {
  parseSecret,
  type SignatureHeaders,
  verify,
} from '../../packages/server/src/deliveries/signature.ts';
import { selfSigned } from '../../packages/server/src/testing/certificate.ts';
import type { Random } from '../harness/random.ts';
import type { Host, SinkArrival } from './checks.ts';

/** The prefix of the paths to which the receiver sends no response until the run calls `release`. */
export const HELD = 'held-';

export interface Sink {
  arrivals: SinkArrival[];
  urls: Record<Host, string>;
  /** The receiver's certificate in PEM format. The service must trust it. */
  certificate: string;
  /** Sets the webhook secret with which signatures are checked. */
  setSecret(secret: string): void;
  /** The number of requests that wait for their response. */
  readonly held: number;
  /**
   * Responds to the requests that wait for their response.
   *
   * @returns the time at which the first of these requests ended, in Unix milliseconds: the current time, or
   * an earlier time at which the sender timed out
   */
  release(): number;
  close(): Promise<void>;
}

/** The reaction to a request that was read and recorded. */
type Behaviour = (request: IncomingMessage, response: ServerResponse, arrival: SinkArrival) => void;

const status =
  (code: number, headers: Record<string, string> = {}): Behaviour =>
  (_, response, arrival) => {
    arrival.answer = code;
    response.writeHead(code, headers).end('no');
  };

const FAULTS: Behaviour[] = [
  ...[301, 302, 307].map((code) => status(code, { location: 'http://127.0.0.1:1/' })),
  ...[400, 401, 404, 500, 502, 503].map((code) => status(code)),
  (_, response, arrival) => {
    arrival.retryAfter = 1;
    status(429, { 'retry-after': '1' })(_, response, arrival);
  },
  // A `Retry-After` longer than the lifetime of a delivery. The service uses its longest interval instead.
  status(503, { 'retry-after': '604800' }),
  status(429, { 'retry-after': 'Fri, 31 Dec 9999 23:59:59 GMT' }),
  (request) => request.socket.resetAndDestroy(),
  // Sends the headers of an error response, then resets the connection.
  (request, response, arrival) => {
    arrival.answer = 500;
    response.writeHead(500, { 'content-length': '100' });
    response.write('half', () => request.socket.resetAndDestroy());
  },
  // Sends no response, so the sender times out.
  () => {},
  // Sends a status line of one byte per second that never ends.
  ({ socket }) => {
    const bytes = [...'HTTP/1.1 200 OK and so on'];
    const dripping = setInterval(() => socket.write(bytes.shift() ?? '.'), 1000);
    socket.on('close', () => clearInterval(dripping));
    socket.on('error', () => {});
  },
];

/** Responses with status 2xx. The delivery has succeeded even if the body is broken. */
const SUCCESSES: Behaviour[] = [
  status(200),
  status(204),
  status(202, { 'x-odd': 'ÿ' }),
  // Sends an endless body.
  (_, response, arrival) => {
    arrival.answer = 200;
    response.writeHead(200);
    const pour = () => {
      while (!response.destroyed && response.write('z'.repeat(16_384)));
    };
    response.on('drain', pour).on('error', () => {});
    pour();
  },
  // Sends a body of one byte per second.
  (_, response, arrival) => {
    arrival.answer = 200;
    response.writeHead(200);
    response.write('.');
    const dripping = setInterval(() => response.write('.'), 1000);
    response.on('close', () => clearInterval(dripping));
  },
  // Sends status 2xx and resets the connection in the middle of the body.
  (request, response, arrival) => {
    arrival.answer = 200;
    arrival.reset = true;
    response.writeHead(200, { 'content-length': '100' });
    response.write('half', () => setTimeout(() => request.socket.resetAndDestroy(), 20));
  },
];
const MOST_FAULTS = 2;

/** Starts the servers of a receiver. Closing them resets every connection. */
function createListener() {
  const sockets = new Set<Socket>();
  const servers: Server[] = [];
  return {
    /**
     * Listens on a free port.
     *
     * @returns the port
     */
    async listen(server: Server): Promise<number> {
      servers.push(server);
      server.on('connection', (socket: Socket) => {
        sockets.add(socket);
        socket.on('error', () => {});
        socket.on('close', () => sockets.delete(socket));
      });
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      return (server.address() as AddressInfo).port;
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
    },
  };
}

/** Returns a function that chooses the reaction to a request. */
function createChoice(random: Random, hostile: boolean): (host: Host, name: string) => Behaviour {
  const faults = new Map<string, number>();
  return (host, name) => {
    if (!hostile || host !== 'hostile') return SUCCESSES[hostile ? random.below(2) : 0]!;
    const before = faults.get(name) ?? 0;
    if (before < MOST_FAULTS && random.below(3) === 0) {
      faults.set(name, before + 1);
      return FAULTS[random.below(FAULTS.length)]!;
    }
    // Most responses are plain, because each of the other responses occupies a connection until the sender times out.
    return SUCCESSES[random.below(10) === 0 ? random.below(SUCCESSES.length) : random.below(2)]!;
  };
}

/**
 * Passes connections to the TLS servers and gives one connection in three a fault.
 *
 * @param ports the ports of the servers with the right and the wrong certificate
 */
function createTlsFront(random: Random, hostile: boolean, ports: { right: number; wrong: number }): Server {
  return createTcpServer((socket) => {
    const fault = hostile ? random.below(9) : 8;
    if (fault === 0) {
      socket.end('this is not TLS\r\n');
      return;
    }
    if (fault === 1) {
      socket.resetAndDestroy();
      return;
    }
    const behind = connect(fault === 2 ? ports.wrong : ports.right, '127.0.0.1');
    behind.on('error', () => socket.destroy());
    socket.on('error', () => behind.destroy());
    socket.on('close', () => behind.destroy());
    socket.pipe(behind).pipe(socket);
  });
}

export async function startSink(random: Random, hostile: boolean): Promise<Sink> {
  const arrivals: SinkArrival[] = [];
  const choose = createChoice(random, hostile);
  const listener = createListener();
  const held = new Set<ServerResponse>();
  let secrets: Buffer[] = [];
  /** The time at which the sender first timed out on a request without a response. */
  let cutAt: number | undefined;

  function hold(response: ServerResponse): void {
    held.add(response);
    response.on('close', () => {
      if (held.delete(response)) cutAt ??= Date.now();
    });
  }

  const handle = (host: Host) => (request: IncomingMessage, response: ServerResponse) => {
    const chunks: Buffer[] = [];
    request.on('error', () => {});
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks);
      const headers = request.headers as unknown as SignatureHeaders;
      const arrival: SinkArrival = {
        name: (request.url ?? '').slice(1),
        webhookId: String(headers['webhook-id']),
        // `latin1` maps each byte to one character, so that bodies can be compared byte for byte.
        body: body.toString('latin1'),
        signed: verify(secrets, headers, body, new Date()).ok,
        at: Date.now(),
        answer: undefined,
      };
      arrivals.push(arrival);
      if (arrival.name.startsWith(HELD)) hold(response);
      else choose(host, arrival.name)(request, response, arrival);
    });
  };

  const { cert, key } = selfSigned('localhost');
  const plain = { keepAliveTimeout: 60_000 };
  const good = await listener.listen(createServer(plain, handle('good')));
  const bad = await listener.listen(createServer(plain, handle('hostile')));
  const right = await listener.listen(createTlsServer({ cert, key, ...plain }, handle('tls')));
  const wrong = await listener.listen(createTlsServer(selfSigned('elsewhere.test'), handle('tls')));
  const front = await listener.listen(createTlsFront(random, hostile, { right, wrong }));
  return {
    arrivals,
    urls: {
      good: `http://127.0.0.1:${good}`,
      hostile: `http://127.0.0.1:${bad}`,
      tls: `https://localhost:${front}`,
    },
    certificate: cert,
    setSecret(secret) {
      secrets = [parseSecret(secret)!];
    },
    get held() {
      return held.size;
    },
    release() {
      const ended = cutAt ?? Date.now();
      for (const response of held) response.writeHead(200).end();
      held.clear();
      return ended;
    },
    close: () => listener.close(),
  };
}

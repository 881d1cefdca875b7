/**
 * A receiver with every fault that a receiver may have. What it saw is what happened.
 *
 *   good      takes everything: 200 or 204
 *   hostile   misbehaves at most twice for each delivery, then takes it
 *   tls       behind TLS; one connection in three gets garbage, a wrong certificate, or a reset
 *
 * A path that starts with `held-` is not answered until the run releases it, to fill a host.
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

/** The paths that are not answered before `release`. */
export const HELD = 'held-';

export interface Sink {
  arrivals: SinkArrival[];
  urls: Record<Host, string>;
  /** As PEM; the program must trust it. */
  certificate: string;
  /** Sets the webhook secret that signatures are checked with. */
  setSecret(secret: string): void;
  /** The number of held requests. */
  readonly held: number;
  /** Answers the held requests. @returns when the first ended: now, or when the sender gave up (Unix milliseconds) */
  release(): number;
  close(): Promise<void>;
}

/** What happens after a request was read and recorded. */
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
  // Longer than a delivery lives. It counts as the schedule's longest step.
  status(503, { 'retry-after': '604800' }),
  status(429, { 'retry-after': 'Fri, 31 Dec 9999 23:59:59 GMT' }),
  (request) => request.socket.resetAndDestroy(),
  // Headers of a failure, and then a reset.
  (request, response, arrival) => {
    arrival.answer = 500;
    response.writeHead(500, { 'content-length': '100' });
    response.write('half', () => request.socket.resetAndDestroy());
  },
  // No answer: the sender times out.
  () => {},
  // A status line of a byte a second that never ends.
  ({ socket }) => {
    const bytes = [...'HTTP/1.1 200 OK and so on'];
    const dripping = setInterval(() => socket.write(bytes.shift() ?? '.'), 1000);
    socket.on('close', () => clearInterval(dripping));
    socket.on('error', () => {});
  },
];

/** The status is 2xx, so the delivery is taken, whatever happens to the body. */
const SUCCESSES: Behaviour[] = [
  status(200),
  status(204),
  status(202, { 'x-odd': 'ÿ' }),
  // An endless body.
  (_, response, arrival) => {
    arrival.answer = 200;
    response.writeHead(200);
    const pour = () => {
      while (!response.destroyed && response.write('z'.repeat(16_384)));
    };
    response.on('drain', pour).on('error', () => {});
    pour();
  },
  // A body of a byte a second.
  (_, response, arrival) => {
    arrival.answer = 200;
    response.writeHead(200);
    response.write('.');
    const dripping = setInterval(() => response.write('.'), 1000);
    response.on('close', () => clearInterval(dripping));
  },
  // A 2xx, and a reset in the middle of the body.
  (request, response, arrival) => {
    arrival.answer = 200;
    arrival.reset = true;
    response.writeHead(200, { 'content-length': '100' });
    response.write('half', () => setTimeout(() => request.socket.resetAndDestroy(), 20));
  },
];
const MOST_FAULTS = 2;

/** Starts the servers of a receiver. Closing it resets every connection. */
function createListener() {
  const sockets = new Set<Socket>();
  const servers: Server[] = [];
  return {
    /** @returns the port */
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

/** Returns a function that chooses what happens to a request. */
function createChoice(random: Random, hostile: boolean): (host: Host, name: string) => Behaviour {
  const faults = new Map<string, number>();
  return (host, name) => {
    if (!hostile || host !== 'hostile') return SUCCESSES[hostile ? random.below(2) : 0]!;
    const before = faults.get(name) ?? 0;
    if (before < MOST_FAULTS && random.below(3) === 0) {
      faults.set(name, before + 1);
      return FAULTS[random.below(FAULTS.length)]!;
    }
    // Mostly the plain ones: each of the others holds a connection until the sender times out.
    return SUCCESSES[random.below(10) === 0 ? random.below(SUCCESSES.length) : random.below(2)]!;
  };
}

/** Passes connections to the TLS servers, one in three with a fault. @param ports of the right and the wrong certificate */
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
  /** When the sender gave up on a held request. */
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
        body: body.toString('latin1'), // byte for byte
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

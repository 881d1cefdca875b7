/**
 * A sink that is everything a receiver should not be. It is the oracle of the run: what it saw, happened.
 *
 *   good      takes everything: 200 or 204
 *   hostile   misbehaves at most twice for each delivery, then takes it
 *   held-…    a path that is not answered until the run releases it, to fill a host
 *   tls       behind TLS; one connection in three speaks garbage, shows another's certificate, or is cut
 */
import { createHash } from 'node:crypto';
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
import type { Random } from '../random.ts';
import type { Arrival, Host } from './history.ts';

export interface Sink {
  arrivals: Arrival[];
  urls: Record<Host, string>;
  /** What the program must trust, as PEM. */
  certificate: string;
  /** The account's secret, once it is known. */
  setSecret(secret: string): void;
  /** Requests of paths that begin with `held-` that wait for their answer. */
  readonly held: number;
  /** Answers them. @returns when the first of them ended: now, or when the sender's patience did (Unix milliseconds) */
  release(): number;
  close(): Promise<void>;
}

/** Misbehaviour: what is answered, if anything. It runs after the request is read and on record. */
type Trick = (request: IncomingMessage, response: ServerResponse, arrival: Arrival) => void;

const status =
  (code: number, headers: Record<string, string> = {}): Trick =>
  (_, response, arrival) => {
    arrival.answer = code;
    response.writeHead(code, headers).end('no');
  };

const TRICKS: Trick[] = [
  ...[301, 302, 307].map((code) => status(code, { location: 'http://127.0.0.1:1/' })),
  ...[400, 401, 404, 500, 502, 503].map((code) => status(code)),
  (_, response, arrival) => {
    arrival.retryAfter = 1;
    status(429, { 'retry-after': '1' })(_, response, arrival);
  },
  // A maintenance page: longer than a delivery lives. It counts as the schedule's longest step.
  status(503, { 'retry-after': '604800' }),
  status(429, { 'retry-after': 'Fri, 31 Dec 9999 23:59:59 GMT' }),
  (request) => request.socket.resetAndDestroy(),
  // Headers of a failure, and then a reset.
  (request, response, arrival) => {
    arrival.answer = 500;
    response.writeHead(500, { 'content-length': '100' });
    response.write('half', () => request.socket.resetAndDestroy());
  },
  // Never answers; the sender's patience ends.
  () => {},
  // A byte a second, of a status line that never ends.
  ({ socket }) => {
    const bytes = [...'HTTP/1.1 200 OK and so on'];
    const dripping = setInterval(() => socket.write(bytes.shift() ?? '.'), 1000);
    socket.on('close', () => clearInterval(dripping));
    socket.on('error', () => {});
  },
];

/** Takes it, in odd ways: the answer is 2xx, whatever becomes of its body. */
const TAKES: Trick[] = [
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
    arrival.overtaken = true;
    response.writeHead(200, { 'content-length': '100' });
    response.write('half', () => setTimeout(() => request.socket.resetAndDestroy(), 20));
  },
];
const MOST_TRICKS = 2;

export async function startSink(random: Random, hostile: boolean): Promise<Sink> {
  const arrivals: Arrival[] = [];
  const tricked = new Map<string, number>();
  let secrets: Buffer[] = [];
  const sockets = new Set<Socket>();
  const servers: Server[] = [];

  const held = new Set<ServerResponse>();
  let cutAt: number | undefined;

  /** Keeps a request without an answer until all are released. */
  function hold(response: ServerResponse): void {
    held.add(response);
    response.on('close', () => {
      if (held.delete(response)) cutAt ??= Date.now();
    });
  }

  function answer(host: Host, request: IncomingMessage, response: ServerResponse, arrival: Arrival): void {
    if (arrival.name.startsWith('held-')) {
      hold(response);
      return;
    }
    if (!hostile || host !== 'hostile') {
      TAKES[hostile ? random.below(2) : 0]!(request, response, arrival);
      return;
    }
    const before = tricked.get(arrival.name) ?? 0;
    if (before < MOST_TRICKS && random.below(3) === 0) {
      tricked.set(arrival.name, before + 1);
      TRICKS[random.below(TRICKS.length)]!(request, response, arrival);
      return;
    }
    // Most in the plain way: each of the odd ones holds a connection until the sender's time is over.
    TAKES[random.below(10) === 0 ? random.below(TAKES.length) : random.below(2)]!(request, response, arrival);
  }

  const handle = (host: Host) => (request: IncomingMessage, response: ServerResponse) => {
    const chunks: Buffer[] = [];
    request.on('error', () => {});
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks);
      const headers = request.headers as unknown as SignatureHeaders;
      const arrival: Arrival = {
        name: (request.url ?? '').slice(1),
        webhookId: String(headers['webhook-id']),
        digest: createHash('sha256').update(body).digest('base64'),
        signed: verify(secrets, headers, body, new Date()).ok,
        at: Date.now(),
        answer: undefined,
      };
      arrivals.push(arrival);
      answer(host, request, response, arrival);
    });
  };

  async function listen(server: Server): Promise<number> {
    servers.push(server);
    server.on('connection', (socket: Socket) => {
      sockets.add(socket);
      socket.on('error', () => {});
      socket.on('close', () => sockets.delete(socket));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return (server.address() as AddressInfo).port;
  }

  const { cert, key } = selfSigned('localhost');
  const plain = { keepAliveTimeout: 60_000 };
  const good = await listen(createServer(plain, handle('good')));
  const bad = await listen(createServer(plain, handle('hostile')));
  const right = await listen(createTlsServer({ cert, key, ...plain }, handle('tls')));
  const wrong = await listen(createTlsServer(selfSigned('elsewhere.test'), handle('tls')));
  const front = await listen(
    createTcpServer((socket) => {
      const trick = hostile ? random.below(9) : 8;
      if (trick === 0) {
        socket.end('this is not TLS\r\n');
        return;
      }
      if (trick === 1) {
        socket.resetAndDestroy();
        return;
      }
      const behind = connect(trick === 2 ? wrong : right, '127.0.0.1');
      behind.on('error', () => socket.destroy());
      socket.on('error', () => behind.destroy());
      socket.on('close', () => behind.destroy());
      socket.pipe(behind).pipe(socket);
    }),
  );

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
    async close() {
      for (const socket of sockets) socket.destroy();
      await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
    },
  };
}
